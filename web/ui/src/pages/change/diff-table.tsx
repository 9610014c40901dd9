/** Lines of a difference. A sign stands before what comes and goes, so that colour alone says nothing. */
import {
  colorBackgroundNotificationGreen,
  colorBackgroundNotificationRed,
  colorBorderDividerDefault,
  colorTextBodySecondary,
} from "@cloudscape-design/design-tokens";
import type { CSSProperties } from "react";
import { useMemo } from "react";
import { t } from "../../texts";
import "./diff.css";
import { type DiffLine, linesOf, pairsOf } from "./diff-lines";

interface DiffTableProps {
  readonly unified: string;
  readonly path: string;
  readonly isSplit: boolean;
}

const SIGN = { same: " ", add: "+", remove: "-", hunk: "" } as const;
const LOOK = {
  "--diff-added": colorBackgroundNotificationGreen,
  "--diff-removed": colorBackgroundNotificationRed,
  "--diff-border": colorBorderDividerDefault,
  "--diff-quiet": colorTextBodySecondary,
} as CSSProperties;

export function DiffTable({ unified, path, isSplit }: DiffTableProps) {
  const lines = useMemo(() => linesOf(unified), [unified]);
  const words = t.change.diff;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than its place is scrolled by keys
    <section className="diff" style={LOOK} aria-label={words.lines(path)} tabIndex={0}>
      {isSplit ? <Split lines={lines} /> : <Unified lines={lines} />}
    </section>
  );
}

function Unified({ lines }: { readonly lines: readonly DiffLine[] }) {
  const words = t.change.diff;
  return (
    <table className="diff-table">
      <thead className="diff-head">
        <tr>
          <th scope="col">{words.old}</th>
          <th scope="col">{words.new}</th>
          <th scope="col">{words.after}</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <tr key={`${line.kind} ${line.old} ${line.new} ${line.text}`} className={`diff-${line.kind}`}>
            <td className="diff-number">{line.old}</td>
            <td className="diff-number">{line.new}</td>
            <Text line={line} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Split({ lines }: { readonly lines: readonly DiffLine[] }) {
  const words = t.change.diff;
  return (
    <table className="diff-table diff-split">
      <colgroup>
        <col className="diff-number" />
        <col />
        <col className="diff-number" />
        <col />
      </colgroup>
      <thead className="diff-head">
        <tr>
          <th scope="col">{words.old}</th>
          <th scope="col">{words.before}</th>
          <th scope="col">{words.new}</th>
          <th scope="col">{words.after}</th>
        </tr>
      </thead>
      <tbody>
        {pairsOf(lines).map((pair) => (
          <tr key={`${pair.old?.old} ${pair.new?.new} ${pair.old?.text} ${pair.new?.text}`}>
            <td className="diff-number">{pair.old?.old}</td>
            <Text line={pair.old} />
            <td className="diff-number">{pair.new?.new}</td>
            <Text line={pair.new} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Text({ line }: { readonly line: DiffLine | undefined }) {
  if (line === undefined) return <td />;
  return (
    <td className={`diff-text diff-${line.kind}`}>
      <span className="diff-sign">{SIGN[line.kind]}</span>
      {line.text}
    </td>
  );
}
