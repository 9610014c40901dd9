/** A unified difference (`diff -u`) as lines, and as pairs that stand side by side. */
export interface DiffLine {
  readonly kind: "same" | "add" | "remove" | "hunk";
  readonly text: string;
  /** Line numbers before and after, where there is such a line. */
  readonly old?: number;
  readonly new?: number;
}

export interface DiffPair {
  readonly old?: DiffLine;
  readonly new?: DiffLine;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function linesOf(unified: string): DiffLine[] {
  const found: DiffLine[] = [];
  let before = 0;
  let after = 0;
  for (const line of unified.replace(/\n$/, "").split("\n")) {
    const hunk = HUNK.exec(line);
    const rest = line.slice(1);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      found.push({ kind: "hunk", text: line });
    } else if (found.length === 0) {
      // the two names at its head
    } else if (line.startsWith("+")) {
      found.push({ kind: "add", text: rest, new: after++ });
    } else if (line.startsWith("-")) {
      found.push({ kind: "remove", text: rest, old: before++ });
    } else if (!line.startsWith("\\")) {
      found.push({ kind: "same", text: rest, old: before++, new: after++ });
    }
  }
  return found;
}

/** Lines removed stand beside those added in their place. */
export function pairsOf(lines: readonly DiffLine[]): DiffPair[] {
  const found: DiffPair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      found.push({ old: removed[index], new: added[index] });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "remove") {
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.kind === "add") added.push(line);
    else {
      flush();
      found.push({ old: line, new: line });
    }
  }
  flush();
  return found;
}
