/**
 * The lines themselves: only those in sight are in the document, however many are kept. The view stays where somebody
 * reads; at the end it goes along with what comes.
 */
import {
  borderRadiusContainer,
  colorBackgroundContainerContent,
  colorBackgroundStatusWarning,
  colorBorderDividerDefault,
  colorBorderItemFocused,
  colorTextBodyDefault,
  colorTextBodySecondary,
  colorTextStatusError,
  colorTextStatusWarning,
  fontFamilyMonospace,
} from "@cloudscape-design/design-tokens";
import {
  type CSSProperties,
  type KeyboardEvent,
  memo,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Entry } from "./kept-lines";
import { heightOf, indexAtTop, indexOf, layOut, numberAt, ROW } from "./layout";
import { levelOf } from "./levels";
import type { Log } from "./log";
import { pieces } from "./matches";
import "./logs.css";

export interface ViewHandle {
  toEnd(): void;
  /** Brings a line into sight. */
  show(number: number): void;
}

export interface ViewProps {
  readonly log: Log;
  readonly version: number;
  readonly label: string;
  /** Numbers of the lines that are shown; null: all. */
  readonly shown: readonly number[] | null;
  /** What is marked in the lines. */
  readonly needle: string;
  readonly current: number | null;
  readonly isWrapped: boolean;
  readonly hasTimes: boolean;
  /** Whether the view is at the end, and goes along with what comes. */
  readonly onEnd: (isAtEnd: boolean) => void;
  readonly handle: React.Ref<ViewHandle>;
}

interface Size {
  readonly columns: number;
  readonly height: number;
}

const NO_SIZE: Size = { columns: 80, height: 400 };
const PROBE = "m".repeat(100);
const BLOCK = 10; // lines by which what is drawn moves

export function View({ log, version, label, shown, needle, current, isWrapped, hasTimes, onEnd, handle }: ViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLSpanElement>(null);
  const drawn = useRef<HTMLDivElement>(null);
  const anchor = useRef({ number: 0, within: 0 });
  const measured = useRef(new Map<number, number>());
  const [corrections, setCorrections] = useState(0);
  const [size, setSize] = useState(NO_SIZE);
  const columns = isWrapped ? size.columns : null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines and what was measured change in place
  const layout = useMemo(
    () => layOut(log.lines, shown, columns, columns === null ? NOTHING_MEASURED : measured.current),
    [log, version, shown, columns, corrections],
  );
  const height = heightOf(layout);
  const [top, setTop] = useState(0);

  const isAtEnd = useCallback(() => log.isAtEnd, [log]);
  const moved = useCallback(() => {
    const { current: element } = box;
    if (element === null) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    const atEnd = scrollTop + clientHeight >= scrollHeight - 2;
    if (atEnd !== log.isAtEnd) {
      log.isAtEnd = atEnd;
      onEnd(atEnd);
    }
    const index = indexAtTop(layout, scrollTop);
    anchor.current = { number: numberAt(layout, index), within: scrollTop - (layout.tops[index] ?? 0) };
    setTop(scrollTop);
  }, [log, layout, onEnd]);

  const goTo = useCallback((where: number) => {
    if (box.current !== null) box.current.scrollTop = where;
  }, []);

  // How many cells fit into a row, whenever the view or its font has another size.
  useLayoutEffect(() => {
    const { current: element } = box;
    if (element === null || probe.current === null) return;
    const look = () => {
      const cell = (probe.current?.getBoundingClientRect().width ?? 0) / PROBE.length;
      const text = probe.current?.parentElement?.getBoundingClientRect().width ?? 0;
      if (cell === 0 || text === 0) return;
      const next = { columns: Math.max(10, Math.floor(text / cell)), height: element.clientHeight };
      setSize((before) => {
        if (before.columns === next.columns && before.height === next.height) return before;
        if (before.columns !== next.columns) measured.current.clear();
        return next;
      });
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    if (probe.current.parentElement) observer.observe(probe.current.parentElement);
    return () => observer.disconnect();
  }, []);

  // Before it is drawn: at the end stay there, else where one reads.
  useLayoutEffect(() => {
    const { number, within } = anchor.current;
    const where = isAtEnd() ? heightOf(layout) : (layout.tops[indexOf(layout, number)] ?? 0) + within;
    goTo(where);
    setTop(box.current?.scrollTop ?? where);
  }, [layout, goTo, isAtEnd]);

  const from = Math.max(0, blockOf(indexAtTop(layout, top - size.height), -1));
  const to = Math.min(layout.count, blockOf(indexAtTop(layout, top + 2 * size.height) + 1, 1));

  // What is drawn higher than its letters say is believed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is drawn anew is measured
  useLayoutEffect(() => {
    if (columns === null || drawn.current === null) return;
    let isDifferent = false;
    for (const row of drawn.current.children) {
      const number = Number((row as HTMLElement).dataset.number);
      const index = indexOf(layout, number);
      const expected = ((layout.tops[index + 1] ?? 0) - (layout.tops[index] ?? 0)) / ROW;
      const found = Math.round((row as HTMLElement).offsetHeight / ROW);
      if (found > 0 && found !== expected) {
        measured.current.set(number, found);
        isDifferent = true;
      }
    }
    if (isDifferent) setCorrections((count) => count + 1);
  }, [layout, columns, from, to]);

  useEffect(() => {
    for (const number of measured.current.keys()) if (number < layout.first) measured.current.delete(number);
  }, [layout.first]);

  useImperativeHandle(
    handle,
    () => ({
      toEnd() {
        log.isAtEnd = true;
        onEnd(true);
        goTo(height);
      },
      show(number) {
        const { current: element } = box;
        if (element === null) return;
        const index = indexOf(layout, number);
        const [above, below] = [layout.tops[index] ?? 0, layout.tops[index + 1] ?? 0];
        if (above < element.scrollTop || below > element.scrollTop + element.clientHeight) {
          goTo(Math.max(0, above - element.clientHeight / 3));
        }
      },
    }),
    [log, layout, height, onEnd, goTo],
  );

  function press({ key, ctrlKey, metaKey, altKey, target, currentTarget }: KeyboardEvent) {
    if (ctrlKey || metaKey || altKey || target !== currentTarget) return;
    if (key === "Home") goTo(0);
    if (key === "End") goTo(height);
  }

  const rows: React.ReactNode[] = [];
  for (let index = from; index < to; index += 1) {
    const number = numberAt(layout, index);
    const entry = log.lines.at(number);
    if (entry === undefined) continue;
    rows.push(
      <Row
        key={number}
        number={number}
        entry={entry}
        needle={needle}
        isCurrent={number === current}
        hasTimes={hasTimes}
      />,
    );
  }
  return (
    <div
      ref={box}
      className={`log-view${isWrapped ? "" : " log-long"}`}
      style={STYLE}
      role="log"
      aria-label={label}
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      onScroll={moved}
      onKeyDown={press}
    >
      <div className="log-line log-probe" aria-hidden="true">
        {hasTimes && <span className="log-time">{TIME}</span>}
        <span className="log-text">
          <span ref={probe}>{PROBE}</span>
        </span>
      </div>
      <div className="log-whole" style={{ blockSize: height }}>
        <div ref={drawn} className="log-drawn" style={{ insetBlockStart: layout.tops[from] ?? 0 }}>
          {rows}
        </div>
      </div>
    </div>
  );
}

const NOTHING_MEASURED: ReadonlyMap<number, number> = new Map();
const TIME = "00:00:00.000";
const STYLE = {
  "--log-font": fontFamilyMonospace,
  "--log-text": colorTextBodyDefault,
  "--log-dim": colorTextBodySecondary,
  "--log-error": colorTextStatusError,
  "--log-warning": colorTextStatusWarning,
  "--log-match": colorBackgroundStatusWarning,
  "--log-current": colorBorderItemFocused,
  "--log-background": colorBackgroundContainerContent,
  "--log-border": colorBorderDividerDefault,
  "--log-radius": borderRadiusContainer,
  "--log-row": `${ROW}px`,
} as CSSProperties;

interface RowProps {
  readonly number: number;
  readonly entry: Entry;
  readonly needle: string;
  readonly isCurrent: boolean;
  readonly hasTimes: boolean;
}

const Row = memo(function Row({ number, entry: { kind, at, text }, needle, isCurrent, hasTimes }: RowProps) {
  const level = kind === "mark" ? "mark" : levelOf(text);
  return (
    <div
      className={`log-line log-${level}${isCurrent ? " log-current" : ""}`}
      data-number={number}
      aria-current={isCurrent || undefined}
    >
      {hasTimes && (
        <span className="log-time" title={at}>
          {at.slice(11, 23) || " "}
        </span>
      )}{" "}
      <span className="log-text">
        {pieces(text, needle).map((piece, index) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no other name
          index % 2 === 1 ? <mark key={index}>{piece}</mark> : piece,
        )}
      </span>
    </div>
  );
});

function blockOf(index: number, way: 1 | -1): number {
  return (way === 1 ? Math.ceil(index / BLOCK) : Math.floor(index / BLOCK)) * BLOCK;
}
