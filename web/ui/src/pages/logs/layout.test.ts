import { expect, test } from "vitest";
import { KeptLines } from "./kept-lines";
import { heightOf, indexAtTop, indexOf, layOut, numberAt, ROW } from "./layout";

const NONE = new Map<number, number>();

function kept(...widths: number[]): KeptLines {
  const lines = new KeptLines();
  lines.add(widths.map((width) => ({ at: "", text: "x".repeat(width) })));
  return lines;
}

test.each<[number | null, readonly number[], string]>([
  [10, [1, 1, 2, 3], "a row for each ten letters, and one for nothing"],
  [null, [1, 1, 1, 1], "unwrapped each is one row"],
])("with %s columns the rows are %j: %s", (columns, rows) => {
  const layout = layOut(kept(0, 10, 11, 30), null, columns, NONE);
  const found = rows.map((_, index) => ((layout.tops[index + 1] ?? 0) - (layout.tops[index] ?? 0)) / ROW);
  expect(found).toEqual(rows);
  expect(heightOf(layout)).toBe(ROW * rows.reduce((sum, count) => sum + count, 0));
});

test("what was measured counts more than what letters say", () => {
  expect(heightOf(layOut(kept(5, 5), null, 10, new Map([[1, 3]])))).toBe(4 * ROW);
});

test.each([
  [-5, 0, "above the beginning"],
  [0, 0, "at the beginning"],
  [ROW - 1, 0, "the end of the first"],
  [ROW, 1, "the second begins"],
  [3 * ROW, 1, "its last row"],
  [4 * ROW, 2, "the third"],
  [99 * ROW, 2, "beyond the end"],
])("at %i pixels stands line %i: %s", (top, index) => {
  expect(indexAtTop(layOut(kept(1, 25, 1), null, 10, NONE), top)).toBe(index);
});

test("numbers stay when older lines were let go, and in a choice of lines", () => {
  const lines = new KeptLines(10);
  lines.add(Array.from({ length: 25 }, () => ({ at: "", text: "x" })));
  const all = layOut(lines, null, 10, NONE);
  expect([numberAt(all, 0), indexOf(all, 24), indexOf(all, 3)]).toEqual([lines.first, lines.count - 1, 0]);
  const some = layOut(lines, [17, 20, 24], 10, NONE);
  expect(some.count).toBe(3);
  expect([numberAt(some, 1), indexOf(some, 20), indexOf(some, 21), indexOf(some, 99)]).toEqual([20, 1, 2, 2]);
});

test("nothing has no height", () => {
  const layout = layOut(new KeptLines(), null, 80, NONE);
  expect([heightOf(layout), indexAtTop(layout, 100), indexOf(layout, 5)]).toEqual([0, 0, 0]);
});
