/** Where each line of a log is drawn: how many rows it takes, and what is at a height. Pure. */
import type { KeptLines } from "./kept-lines";

export const ROW = 20; // pixels

export interface Layout {
  /** Numbers of the lines that are shown; null: all that are kept, from `first` on. */
  readonly shown: readonly number[] | null;
  readonly first: number;
  readonly count: number;
  /** Pixels above each line, and below the last one. */
  readonly tops: Float64Array;
}

/**
 * `columns`: cells of a row; null: lines are not wrapped. `measured`: rows of lines that were drawn and are higher or
 * lower than their letters say.
 */
export function layOut(
  lines: KeptLines,
  shown: readonly number[] | null,
  columns: number | null,
  measured: ReadonlyMap<number, number>,
): Layout {
  const count = shown === null ? lines.count : shown.length;
  const tops = new Float64Array(count + 1);
  let top = 0;
  for (let index = 0; index < count; index += 1) {
    tops[index] = top;
    const number = shown === null ? lines.first + index : (shown[index] ?? 0);
    top += ROW * (measured.get(number) ?? rowsOf(lines.at(number)?.cells ?? 0, columns));
  }
  tops[count] = top;
  return { shown, first: lines.first, count, tops };
}

export function rowsOf(cells: number, columns: number | null): number {
  return columns === null ? 1 : Math.max(1, Math.ceil(cells / columns));
}

export function heightOf({ tops, count }: Layout): number {
  return tops[count] ?? 0;
}

export function numberAt(layout: Layout, index: number): number {
  return layout.shown === null ? layout.first + index : (layout.shown[index] ?? 0);
}

/** Where a line stands; of one that is not shown, where it would. */
export function indexOf({ shown, first, count }: Layout, number: number): number {
  if (shown === null) return Math.min(Math.max(0, number - first), Math.max(0, count - 1));
  return Math.min(
    lowest(shown.length, (index) => (shown[index] ?? 0) >= number),
    Math.max(0, shown.length - 1),
  );
}

/** The line at a height; of what is beyond the end, the last one. */
export function indexAtTop({ tops, count }: Layout, top: number): number {
  return Math.max(
    0,
    Math.min(
      count,
      lowest(count + 1, (index) => (tops[index] ?? 0) > top),
    ) - 1,
  );
}

/** The lowest index for which something holds that holds for all above it too. */
function lowest(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
