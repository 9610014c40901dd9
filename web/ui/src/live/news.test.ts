import { expect, test } from "vitest";
import { isOver, noticeOf, orderId } from "./news";
import type { Notice } from "./notices";
import type { JournalLine } from "./stream";

const key = "hyperpod.InstanceGroup/prod/gpu";

test.each<[Partial<JournalLine>, Notice["type"] | null, string]>([
  [{ t: "hold", key, reason: "ApprovalMissing" }, "warning", "somebody has to say yes"],
  [{ t: "hold", key, state: "released" }, null, "somebody did"],
  [{ t: "op", phase: "failed", key }, null, "its stage says it too"],
  [{ t: "stage", stage: "operations", state: "Failed", reason: "OutcomeUnknown" }, "warning", "a person must say"],
  [{ t: "op", phase: "intent", key }, null, "daily business"],
  [{ t: "stage", stage: "compute", state: "Failed" }, "error", "a stage failed"],
  [{ t: "stage", stage: "compute", state: "Ready" }, null, "the page shows that"],
])("%j is %s: %s", (line, type) => {
  const event = { kind: "journal", cluster: "prod", line: { t: "", at: "", say: "", ...line } } as const;
  const notice = noticeOf(event);
  expect(notice?.type ?? null).toBe(type);
  if (notice !== null) expect(notice.link?.to).toBe("/clusters/prod");
});

test.each<[string, Partial<JournalLine>, boolean, string]>([
  ["stage prod compute", { t: "stage", stage: "compute", state: "Ready" }, true, "it works now"],
  ["stage prod compute", { t: "stage", stage: "compute", state: "Progressing" }, true, "it is tried again"],
  ["stage prod compute", { t: "stage", stage: "compute", state: "Failed" }, false, "it still fails"],
  ["stage prod compute", { t: "stage", stage: "network", state: "Ready" }, false, "another stage"],
  ["stage prod compute", { t: "rollout" }, true, "another revision is at work"],
  ["stage production compute", { t: "rollout" }, false, "another cluster"],
  ["hold prod", { t: "hold", key, state: "released" }, true, "somebody said so"],
  ["hold prod", { t: "hold", key }, false, "one more waits"],
  [orderId("prod", key), { t: "order" }, true, "the engine took it up"],
  [orderId("production", key), { t: "order" }, false, "another cluster's order"],
  ["change 01J", { t: "order" }, false, "it is about something else"],
])("%s after %j is over: %s (%s)", (id, line, over) => {
  const event = { kind: "journal", cluster: "prod", line: { t: "", at: "", say: "", ...line } } as const;
  expect(isOver({ id, type: "info" }, event)).toBe(over);
});
