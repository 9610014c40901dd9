import { expect, test } from "vitest";
import { KeptLines } from "./kept-lines";
import { levelOf } from "./levels";
import { Matches, pieces, step } from "./matches";

const add = (lines: KeptLines, ...texts: string[]) => lines.add(texts.map((text) => ({ at: "", text })));

test("matches follow the lines that come and those that are let go", () => {
  const lines = new KeptLines(10);
  add(lines, "an Error", "fine", "ERROR again");
  const found = new Matches(lines, "error");
  expect(found.numbers).toEqual([0, 2]);
  const before = found.numbers;
  add(lines, "fine");
  found.update();
  expect(found.numbers).toBe(before);
  add(lines, "one more error");
  found.update();
  expect(found.numbers).toEqual([0, 2, 4]);
  add(lines, ...Array.from({ length: 8 }, () => "fine"));
  found.update();
  expect(found.numbers.every((number) => number >= lines.first)).toBe(true);
  expect(found.numbers).toContain(4);
});

test.each<[number | null, 1 | -1, number | null, string]>([
  [null, 1, 3, "from nowhere on: the first"],
  [null, -1, 9, "from nowhere back: the last"],
  [3, 1, 5, "the next"],
  [9, 1, 3, "round to the beginning"],
  [3, -1, 9, "round to the end"],
  [4, 1, 5, "from between"],
  [4, -1, 3, "from between back"],
])("from %s by %i is %s: %s", (from, way, expected) => {
  expect(step([3, 5, 9], from, way)).toBe(expected);
});

test("where nothing matches one goes nowhere", () => {
  expect(step([], 4, 1)).toBe(null);
});

test.each<[string, string, readonly string[], string]>([
  ["a Loss b loss", "loss", ["a ", "Loss", " b ", "loss", ""], "in any case, every one"],
  ["aaaa", "aa", ["", "aa", "", "aa", ""], "none over another"],
  ["abc", "", ["abc"], "nothing is searched"],
  ["abc", "(", ["abc"], "signs are signs"],
  ["İx", "x", ["İx"], "a letter that grows when small shifts no mark"],
])("%j with %j is %j: %s", (text, needle, expected) => {
  expect(pieces(text, needle)).toEqual(expected);
});

test.each<[string, string, string]>([
  ["2026-03-01 ERROR no", "error", "as most loggers write"],
  ["Traceback (most recent call last):", "error", "as Python ends"],
  ["torch.OutOfMemoryError: CUDA out of memory", "error", "the name of an error"],
  ["E0301 10:00:00.000000 1 main.go:1] no", "error", "as Kubernetes writes"],
  ["W0301 10:00:00.000000 1 main.go:1] hm", "warning", "a warning of Kubernetes"],
  ["level=warn msg=slow", "warning", "as logfmt"],
  ["0 errors, no warnings", "plain", "words in a sentence"],
  [`${"x".repeat(500)} ERROR`, "plain", "far from the beginning it is no level"],
])("%j is %s: %s", (text, level) => {
  expect(levelOf(text)).toBe(level);
});
