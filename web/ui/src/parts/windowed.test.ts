import { expect, test } from "vitest";
import { inBlocks } from "./windowed";

test.each<[number, number, number, number, number, string]>([
  [0, 12, 500, 0, 25, "at the top"],
  [205, 222, 500, 195, 235, "two blocks above and below what is seen"],
  [488, 499, 500, 475, 500, "at the end"],
  [3, 10, 40, 0, 40, "a short list is made whole"],
])("lines %i to %i of %i are made from %i to %i: %s", (startIndex, endIndex, count, from, to) => {
  const made = inBlocks({ startIndex, endIndex, count, overscan: 1 });
  expect([made[0], (made.at(-1) ?? -1) + 1, made.length]).toEqual([from, to, to - from]);
});

test("an empty list", () => {
  expect(inBlocks({ startIndex: 0, endIndex: 0, count: 0, overscan: 1 })).toEqual([]);
});
