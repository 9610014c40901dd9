import { expect, test } from "vitest";
import { cellsOf, KeptLines } from "./kept-lines";
import { visible } from "./visible";

const lines = (from: number, count: number, text = "x") =>
  Array.from({ length: count }, (_, index) => ({ at: "", text: `${from + index} ${text}` }));

test("the newest lines are kept, each under its number, and what was let go is counted", () => {
  const kept = new KeptLines(100);
  for (let from = 0; from < 1000; from += 7) kept.add(lines(from, 7));
  expect(kept.end).toBe(1001);
  expect(kept.count).toBeLessThanOrEqual(100);
  expect(kept.count).toBeGreaterThanOrEqual(90);
  expect(kept.first).toBe(1001 - kept.count);
  expect(kept.at(kept.first)?.text).toBe(`${kept.first} x`);
  expect(kept.at(1000)?.text).toBe("1000 x");
  expect([kept.at(kept.first - 1), kept.at(kept.end)]).toEqual([undefined, undefined]);
});

test("long lines are bounded by their size", () => {
  const kept = new KeptLines(100, 5000);
  kept.add(lines(0, 60, "y".repeat(96)));
  expect(kept.first).toBeGreaterThan(0);
  expect(kept.text().join("").length).toBeLessThan(5200);
  expect(kept.at(59)?.text).toContain("59 y");
});

test("one line that is larger than all that may be kept is kept alone", () => {
  const kept = new KeptLines(100, 50);
  kept.add(lines(0, 3, "z".repeat(90)));
  expect([kept.first, kept.count]).toEqual([2, 1]);
});

test.each([
  [98, 2, true, "they fit"],
  [98, 3, false, "one too many"],
])("with %i lines there is room for %i more: %s (%s)", (count, more, hasRoom) => {
  const kept = new KeptLines(100);
  kept.add(lines(0, count));
  expect(kept.hasRoom(lines(count, more))).toBe(hasRoom);
});

test("what the page says between lines is told apart, also in the file", () => {
  const kept = new KeptLines();
  kept.add([{ at: "2026-03-01T10:00:00.000000000Z", text: "before" }]);
  kept.mark("began anew");
  expect(kept.text()).toEqual(["2026-03-01T10:00:00.000000000Z before\n", "# began anew\n"]);
});

test.each([
  ["plain", 5, "a letter is a cell"],
  ["a\tb", 9, "a tab goes to the next eight"],
  ["訓練", 4, "wide letters are two"],
  ["e\u0301", 1, "an accent is on its letter"],
  ["", 0, "nothing is nothing"],
])("%j takes %i cells: %s", (text, cells) => {
  expect(cellsOf(text)).toBe(cells);
});

test.each([
  ["a\tb", "a\tb", "a tab only makes room"],
  ["\u001b[2J", "␛[2J", "an escape is shown, not done"],
  ["a\rb\u0007", "a␍b␇", "nothing is overwritten and nothing rings"],
  ["x\u202eevil", "x\ufffdevil", "the direction of writing stays"],
  ["a\u200bb\u2028c\u007f", "a\ufffdb\ufffdc␡", "nothing is hidden"],
  ["क्\u200dष", "क्\u200dष", "scripts that need joiners have them"],
  ["<b>&amp;", "<b>&amp;", "markup is text anyway"],
])("%j is shown as %j: %s", (text, shown) => {
  expect(visible(text)).toBe(shown);
});
