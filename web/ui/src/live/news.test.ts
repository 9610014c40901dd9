import { expect, test } from "vitest";
import { noticeOf } from "./news";
import type { Notice } from "./notices";
import type { JournalLine } from "./stream";

const key = "hyperpod.InstanceGroup/prod/gpu";

test.each<[Partial<JournalLine>, Notice["type"] | null, string]>([
  [{ t: "hold", key, reason: "ApprovalMissing" }, "warning", "somebody has to say yes"],
  [{ t: "hold", key, state: "released" }, null, "somebody did"],
  [{ t: "op", phase: "failed", key }, "error", "it went wrong"],
  [{ t: "op", phase: "unknown", key }, "warning", "a person must say what happened"],
  [{ t: "op", phase: "intent", key }, null, "daily business"],
  [{ t: "stage", stage: "compute", state: "Failed" }, "error", "a stage failed"],
  [{ t: "stage", stage: "compute", state: "Ready" }, null, "the page shows that"],
])("%j is %s: %s", (line, type) => {
  const event = { kind: "journal", cluster: "prod", line: { t: "", at: "", say: "", ...line } } as const;
  const notice = noticeOf(event);
  expect(notice?.type ?? null).toBe(type);
  if (notice !== null) expect(notice.link?.to).toBe("/clusters/prod");
});
