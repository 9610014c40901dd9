/**
 * Of a long list only what can be seen, and a little above and below: rows are made while one scrolls, in blocks, so
 * that most frames make none. Room for the others is kept (frame.css), and screen readers are told of all of them by
 * the table's `firstIndex` and `totalItemsCount`.
 */
import { defaultRangeExtractor, type Range, useWindowVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";

/** What is made of a list now: from `start` up to, and without, `end`. */
export interface Slice {
  readonly start: number;
  readonly end: number;
}

export interface WindowedProps {
  readonly count: number;
  readonly keyOf: (index: number) => string;
  /** Asked again only when it is another function, or other rows are to be made. */
  readonly children: (slice: Slice) => ReactNode;
}

const BLOCK = 10;
const WHOLE = 60; // as many are always made at once
const HEIGHT = 44; // until some are measured

export function Windowed({ count, keyOf, children }: WindowedProps) {
  const place = useRef<HTMLDivElement>(null);
  const [margin, setMargin] = useState(0);
  const height = useRef<number>(null); // of a row, as the first that were made have it
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => height.current ?? HEIGHT,
    getItemKey: keyOf,
    rangeExtractor: inBlocks,
    scrollMargin: margin,
    useFlushSync: false,
    onChange: (one) =>
      letGo(
        place.current,
        one.getVirtualItems().map(({ index }) => index),
      ),
  });
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  const start = first?.index ?? 0;
  const end = last === undefined ? Math.min(count, WHOLE) : last.index + 1;
  const content = useMemo(() => children({ start, end }), [children, start, end]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: measured when other rows were made
  useLayoutEffect(() => {
    const list = place.current?.querySelector("tbody");
    if (!list) return;
    const measure = () => {
      setMargin(Math.round(list.getBoundingClientRect().top + globalThis.scrollY));
      if (list.children.length !== end - start) return; // a line that says that they are on their way
      const heights = heightsOf(list);
      const all = heights.reduce((sum, one) => sum + one, 0);
      if (height.current === null && all > 0) {
        height.current = all / heights.length;
        virtual.measure();
      }
      heights.forEach((one, index) => {
        if (one > 0) virtual.resizeItem(start + index, one);
      });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(list);
    return () => observer.disconnect();
  }, [virtual, content]);

  const above = first === undefined ? 0 : first.start - margin;
  const below = last === undefined ? 0 : Math.max(0, virtual.getTotalSize() - (last.end - margin));
  const room = { "--above": `${above}px`, "--below": `${below}px` } as CSSProperties;
  return (
    <div ref={place} className="windowed" style={room} tabIndex={-1}>
      {content}
    </div>
  );
}

/** Whole blocks around what can be seen; everything of a short list. */
export function inBlocks(range: Range): number[] {
  const { startIndex, endIndex, count } = range;
  if (count <= WHOLE) return defaultRangeExtractor({ ...range, startIndex: 0, endIndex: count - 1, overscan: 0 });
  const from = Math.max(0, (Math.floor(startIndex / BLOCK) - 1) * BLOCK);
  const to = Math.min(count, (Math.floor(endIndex / BLOCK) + 2) * BLOCK);
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}

/** From the top of each row to that of the next, so that what lies between them is counted. */
function heightsOf(list: Element): number[] {
  const boxes = [...list.children].map((row) => row.getBoundingClientRect());
  const gap = boxes[0] && boxes[1] ? Math.max(0, boxes[1].top - boxes[0].bottom) : 0;
  return boxes.map((box, index) => (boxes[index + 1]?.top ?? box.bottom + gap) - box.top);
}

/** A row that goes away must not hold the focus: the table would look for another one, and scroll back to it. */
function letGo(place: HTMLElement | null, made: readonly number[]) {
  const row = document.activeElement?.closest("tbody > tr");
  if (!row || !place?.contains(row)) return;
  const index = Number(row.getAttribute("aria-rowindex")) - 2; // from 0, after the header
  if (!made.includes(index)) place.focus({ preventScroll: true });
}
