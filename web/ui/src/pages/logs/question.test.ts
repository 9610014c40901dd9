import { expect, test } from "vitest";
import type { ContainerView, PodView } from "../../api/schema";
import { chosenContainer, momentOf, readWish, startOf, writeWish } from "./question";

const NOW = Date.parse("2026-03-01T10:00:00Z");
const read = (address: string) => readWish(new URLSearchParams(address));

test.each<[string, object | null, string]>([
  ["", { tail: 1000 }, "nothing was said"],
  ["from=10000", { tail: 10_000 }, "many lines"],
  ["from=15m", { since: "2026-03-01T09:45:00.000Z" }, "some minutes before the engine's now"],
  ["from=all", { since: "1970-01-01T00:00:00Z" }, "everything"],
  ["from=at&at=2026-03-01T09:00", { since: "2026-03-01T09:00:00.000Z" }, "a time"],
  ["from=at", null, "no time yet"],
  ["from=at&at=soon", null, "no time at all"],
  ["from=__proto__", { tail: 1000 }, "an address somebody made up"],
])("?%s begins with %j: %s", (address, start) => {
  expect(startOf(read(address), NOW)).toEqual(start);
});

test("before the engine's time is known nothing begins that depends on it", () => {
  expect([startOf(read("from=1h"), null), startOf(read("from=200"), null)]).toEqual([null, { tail: 200 }]);
});

test.each<[string, string | null, string]>([
  ["2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000Z", "RFC 3339"],
  ["2026-03-01 10:00", "2026-03-01T10:00:00.000Z", "as people write; UTC"],
  ["2026-03-01T10:00:00+02:00", "2026-03-01T08:00:00.000Z", "with a zone"],
  ["2026-13-01T10:00", null, "no such month"],
  ["10:00", null, "a time without a day"],
  ["1", null, "a number that a browser would take for a year"],
])("%j is %s: %s", (text, moment) => {
  expect(momentOf(text)).toBe(moment);
});

test("an address holds what is not as usual, and leaves the rest of it alone", () => {
  const wish = { container: "main", from: "1h", at: "x", isPast: true } as const;
  const written = writeWish(new URLSearchParams("other=1&at=old"), wish);
  expect(written.toString()).toBe("other=1&container=main&from=1h&life=before");
  expect(readWish(written)).toEqual({ ...wish, at: "" });
  expect(writeWish(written, { ...wish, from: "1000", isPast: false }).toString()).toBe("other=1&container=main");
});

const container = (name: string, init = false) => ({ name, init }) as ContainerView;
const pod = (...containers: ContainerView[]) => ({ containers }) as unknown as PodView;

test.each<[PodView | undefined, string | undefined, string | undefined, string]>([
  [pod(container("setup", true), container("main")), undefined, "main", "the first that is no init container"],
  [pod(container("setup", true), container("main")), "setup", "setup", "the one that was asked for"],
  [pod(container("main")), "gone", "main", "one that is not there any more"],
  [pod(container("setup", true)), undefined, "setup", "there is no other"],
  [undefined, "main", "main", "nobody knows the pod"],
])("of %o and %s it is %s: %s", (of, wanted, expected) => {
  expect(chosenContainer(of, wanted)).toBe(expected);
});
