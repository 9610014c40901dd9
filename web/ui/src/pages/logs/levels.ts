/** How bad a line says it is, by the words that loggers use. A guess for the eye; nothing is decided by it. */
export type Level = "error" | "warning" | "plain";

const ERROR = /\b(?:ERROR|FATAL|CRITICAL|PANIC|panic:|Traceback|[A-Z]\w*(?:Error|Exception):|level=(?:error|fatal))/;
const WARNING = /\b(?:WARN|WARNING|level=warn(?:ing)?)\b/;
const KLOG = /^(?<level>[EFW])\d{4} \d\d:\d\d:\d\d\./; // of Kubernetes' own programs
const LOOKED_AT = 400; // a level stands at the beginning of a line

export function levelOf(text: string): Level {
  const head = text.slice(0, LOOKED_AT);
  const klog = KLOG.exec(head)?.groups?.level;
  if (klog !== undefined) return klog === "W" ? "warning" : "error";
  if (ERROR.test(head)) return "error";
  return WARNING.test(head) ? "warning" : "plain";
}
