/**
 * Of a long list only what can be seen, and a little above and below: rows are made while one scrolls, in blocks. Room
 * for the others is kept, and screen readers are told of all of them by
 * the table's `firstIndex` and `totalItemsCount`.
 */
import {
  defaultRangeExtractor,
  observeWindowOffset,
  observeWindowRect,
  type Range,
  Virtualizer,
  type VirtualizerOptions,
  windowScroll,
} from "@tanstack/react-virtual";
import { type ReactNode, startTransition, useLayoutEffect, useMemo, useReducer, useRef, useState } from "react";

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

const BLOCK = 5;
const WHOLE = 60; // as many are always made at once
const AROUND = 2; // blocks above and below what is seen: as much as comes while they are made
const HEIGHT = 44; // until some are measured
const NONE: Slice = { start: 0, end: 0 };

export function Windowed({ count, keyOf, children }: WindowedProps) {
  const place = useRef<HTMLDivElement>(null);
  const rows = useRows(place, count, keyOf);
  const { start, end } = rows;
  const content = useMemo(() => children({ start, end }), [children, start, end]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: measured when other rows were made
  useLayoutEffect(() => rows.laid({ start, end }), [content]);

  return (
    <div ref={place} className="windowed" tabIndex={-1}>
      {content}
    </div>
  );
}

/**
 * Which rows are to be made, and the room for the others. Other rows are a transition: they are made in pieces between
 * frames, and scrolling goes on meanwhile. Nothing is rendered for a step that needs no other rows.
 */
function useRows(place: { readonly current: HTMLElement | null }, count: number, keyOf: (index: number) => string) {
  const [, render] = useReducer((times: number) => times + 1, 0);
  const own = useRef({ asked: NONE, made: NONE, margin: 0, above: 0, height: HEIGHT, isMeasured: false }).current;
  const options: VirtualizerOptions<Window, Element> = {
    count,
    getScrollElement: () => globalThis.window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    initialOffset: () => globalThis.scrollY,
    estimateSize: () => own.height,
    getItemKey: keyOf,
    rangeExtractor: inBlocks,
    scrollMargin: own.margin,
    onChange: (one) => {
      const next = sliceOf(one, count);
      letGo(place.current, next);
      if (isSame(next, own.asked)) room();
      else {
        own.asked = next;
        startTransition(render);
      }
    },
  };
  const [virtual] = useState(() => new Virtualizer(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  const wanted = sliceOf(virtual, count);
  own.asked = wanted;

  /** On the two elements themselves: a custom property around the table would have every cell styled anew. */
  function room() {
    const list = place.current?.querySelector("tbody");
    const around = list?.closest("table")?.parentElement;
    if (!list || !around) return;
    const [first, last] = [virtual.measurementsCache[own.made.start], virtual.measurementsCache[own.made.end - 1]];
    own.above = first === undefined ? 0 : first.start - own.margin;
    const below = last === undefined ? 0 : Math.max(0, virtual.getTotalSize() - (last.end - own.margin));
    list.style.transform = own.above === 0 ? "" : `translateY(${own.above}px)`;
    around.style.paddingBlockEnd = `${own.above + below}px`;
  }

  /** These rows stand there now. Gives what ends the measuring of them. */
  function laid(slice: Slice): (() => void) | undefined {
    own.made = slice;
    room();
    const list = place.current?.querySelector("tbody");
    if (!list) return;
    const measure = () => {
      const margin = Math.round(list.getBoundingClientRect().top - own.above + globalThis.scrollY);
      if (margin !== own.margin) {
        own.margin = margin;
        virtual.setOptions({ ...virtual.options, scrollMargin: margin });
      }
      if (list.children.length !== slice.end - slice.start) return; // a line that says that they are on their way
      const heights = heightsOf(list);
      const all = heights.reduce((sum, one) => sum + one, 0);
      if (!own.isMeasured && all > 0) {
        own.isMeasured = true;
        own.height = all / heights.length;
        virtual.measure();
      }
      heights.forEach((one, index) => {
        if (one > 0) virtual.resizeItem(slice.start + index, one);
      });
      room();
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(list);
    return () => observer.disconnect();
  }

  return { ...wanted, laid };
}

function sliceOf(virtual: Virtualizer<Window, Element>, count: number): Slice {
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  return { start: first?.index ?? 0, end: last === undefined ? Math.min(count, WHOLE) : last.index + 1 };
}

function isSame(one: Slice, other: Slice): boolean {
  return one.start === other.start && one.end === other.end;
}

/** Whole blocks around what can be seen; everything of a short list. */
export function inBlocks(range: Range): number[] {
  const { startIndex, endIndex, count } = range;
  if (count <= WHOLE) return defaultRangeExtractor({ ...range, startIndex: 0, endIndex: count - 1, overscan: 0 });
  const from = Math.max(0, (Math.floor(startIndex / BLOCK) - AROUND) * BLOCK);
  const to = Math.min(count, (Math.floor(endIndex / BLOCK) + 1 + AROUND) * BLOCK);
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}

/** From the top of each row to that of the next, so that what lies between them is counted. */
function heightsOf(list: Element): number[] {
  const boxes = [...list.children].map((row) => row.getBoundingClientRect());
  const gap = boxes[0] && boxes[1] ? Math.max(0, boxes[1].top - boxes[0].bottom) : 0;
  return boxes.map((box, index) => (boxes[index + 1]?.top ?? box.bottom + gap) - box.top);
}

/** A row that goes away must not hold the focus: the table would look for another one, and scroll back to it. */
function letGo(place: HTMLElement | null, { start, end }: Slice) {
  const row = document.activeElement?.closest("tbody > tr");
  if (!row || !place?.contains(row)) return;
  const index = Number(row.getAttribute("aria-rowindex")) - 2; // from 0, after the header
  if (index < start || index >= end) place.focus({ preventScroll: true });
}
