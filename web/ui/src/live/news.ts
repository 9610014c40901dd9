/** Which events are news for a person: what waits for their word, and what went wrong; and which news are over. */
import { t } from "../texts";
import type { Notice } from "./notices";
import type { StreamEvent } from "./stream";

export function noticeOf(event: StreamEvent): Notice | null {
  if (event.kind !== "journal") return null;
  const { cluster, line } = event;
  const link = { text: t.news.open(cluster), to: `/clusters/${cluster}` };
  const content = line.msg || line.reason || "";
  if (line.t === "hold" && line.state !== "released") {
    return { id: `hold ${cluster}`, type: "warning", header: t.news.held(cluster, line.key ?? ""), content, link };
  }
  // What failed fails its stage too, which tells the same: one notice is enough.
  if (line.t === "stage" && line.state === "Failed") {
    const stage = t.stages[line.stage ?? ""] ?? line.stage ?? "";
    const header = line.reason === UNKNOWN ? t.news.unknown(cluster, stage) : t.news.stageFailed(cluster, stage);
    return { id: stageId(event), type: line.reason === UNKNOWN ? "warning" : "error", header, content, link };
  }
  return null;
}

/** Whether a notice is no longer true, or its answer came. */
export function isOver({ id }: Notice, event: StreamEvent): boolean {
  if (event.kind !== "journal") return false;
  const { cluster, line } = event;
  switch (line.t) {
    case "stage":
      return line.state !== "Failed" && id === stageId(event);
    case "hold":
      return line.state === "released" && id === `hold ${cluster}`;
    case "order":
      return id === `hold ${cluster}` || id.startsWith(`${orderId(cluster)} `);
    case "rollout":
      return id === `hold ${cluster}` || id.startsWith(`stage ${cluster} `);
    default:
      return false;
  }
}

/** Of the notice that an order was given; the engine's word about it takes it away. */
export function orderId(cluster: string, subject = ""): string {
  return `order ${cluster} ${subject}`.trim();
}

const UNKNOWN = "OutcomeUnknown";

function stageId({ cluster, line }: StreamEvent & { kind: "journal" }): string {
  return `stage ${cluster} ${line.stage}`;
}
