/** Which events are news for a person: what waits for their word, what went wrong, and what is done. */
import { t } from "../texts";
import type { Notice } from "./notices";
import type { StreamEvent } from "./stream";

export function noticeOf(event: StreamEvent): Notice | null {
  if (event.kind !== "journal") return null;
  const { cluster, line } = event;
  const link = { text: t.news.open(cluster), to: `/clusters/${cluster}` };
  const why = line.msg || line.reason || "";
  if (line.t === "hold" && line.state !== "released") {
    return { id: `hold ${cluster}`, type: "warning", header: t.news.held(cluster, line.key ?? ""), content: why, link };
  }
  if (line.t === "op" && line.phase === "failed") {
    return { id: `op ${cluster}`, type: "error", header: t.news.failed(cluster, line.key ?? ""), content: why, link };
  }
  if (line.t === "op" && line.phase === "unknown") {
    return {
      id: `op ${cluster}`,
      type: "warning",
      header: t.news.unknown(cluster, line.key ?? ""),
      content: why,
      link,
    };
  }
  if (line.t === "stage" && line.state === "Failed") {
    const header = t.news.stageFailed(cluster, line.stage ?? "");
    return { id: `stage ${cluster}`, type: "error", header, content: why, link };
  }
  return null;
}
