import { expect, test } from "vitest";
import { instanceOf, isAny, queryOf, readWish, writeWish } from "./wish";

test.each<[string, string | null, string]>([
  ["i-0a1b2c3d4e5f60001", "i-0a1b2c3d4e5f60001", "an id"],
  [" I-0A1B2C3D4E5F60001 ", "i-0a1b2c3d4e5f60001", "as it was copied from somewhere"],
  ["hyperpod-i-0a1b2c3d4e5f60001", "i-0a1b2c3d4e5f60001", "the node's name in Kubernetes"],
  ["i-1234abcd", "i-1234abcd", "a short one"],
  ["i-", null, "not written to its end"],
  ["train-0", null, "a pod"],
  ["", null, "nothing"],
])("%j is the instance %s: %s", (text, instance) => {
  expect(instanceOf(text)).toBe(instance);
});

test("an address says what is wanted, and is written as it is read", () => {
  const wish = readWish(new URLSearchParams("tab=events&level=warning,error,loud&source=hyperpod&group=gpu&node=i-1"));
  expect(wish).toEqual({ levels: ["error", "warning"], source: "hyperpod", group: "gpu", node: "i-1" });
  expect(readWish(new URLSearchParams(writeWish(wish)))).toEqual(wish);
});

test.each<[string, object, string]>([
  ["", { limit: 50 }, "everything"],
  ["level=error,info", { limit: 50, level: ["error", "info"] }, "two levels"],
  ["source=elsewhere", { limit: 50 }, "a source that is none"],
  ["node=i-12", { limit: 50 }, "half an id asks for nothing"],
  ["node=hyperpod-i-1234abcd&group=gpu", { limit: 50, node: "i-1234abcd", group: "gpu" }, "a node of a group"],
])("?%s asks for %j: %s", (address, query) => {
  expect(queryOf(readWish(new URLSearchParams(address)))).toEqual(query);
});

test("whether anything is left out", () => {
  expect(isAny(readWish(new URLSearchParams("tab=events")))).toBe(true);
  expect(isAny(readWish(new URLSearchParams("node=x")))).toBe(false);
});
