/**
 * The lines of a log that a page keeps: the newest ones, bounded in number and in size. Each has a number that it keeps
 * for good, counted from the first line that came; how many were let go is known.
 */
import type { LogLine } from "../../api/schema";
import { visible } from "./visible";

export const MOST_LINES = 50_000;
export const MOST_CHARACTERS = 20_000_000;
const SLACK = 1000; // lines that are let go at once, so that each one that comes moves nothing

/** `mark`: what the page says between lines: that the container began anew. */
export interface Entry {
  readonly kind: "line" | "mark";
  readonly at: string;
  readonly text: string;
  /** How wide it is in cells of a fixed font, as far as that can be told without drawing it. */
  readonly cells: number;
}

export class KeptLines {
  #entries: Entry[] = [];
  #first = 0;
  #characters = 0;
  readonly #most: number;
  readonly #mostCharacters: number;

  constructor(most = MOST_LINES, mostCharacters = MOST_CHARACTERS) {
    this.#most = most;
    this.#mostCharacters = mostCharacters;
  }

  /** The number of the oldest that is kept, and so how many were let go. */
  get first(): number {
    return this.#first;
  }

  /** The number that the next one will have. */
  get end(): number {
    return this.#first + this.#entries.length;
  }

  get count(): number {
    return this.#entries.length;
  }

  /** Whether so many more can be kept without letting go of any. */
  hasRoom(lines: readonly LogLine[]): boolean {
    const size = lines.reduce((sum, { text }) => sum + text.length, 0);
    return this.count + lines.length <= this.#most && this.#characters + size <= this.#mostCharacters;
  }

  at(number: number): Entry | undefined {
    return this.#entries[number - this.#first];
  }

  add(lines: readonly LogLine[]): void {
    for (const { at, text } of lines) this.#push({ kind: "line", at, ...shown(text) });
    this.#letGo();
  }

  mark(text: string): void {
    this.#push({ kind: "mark", at: "", ...shown(text) });
    this.#letGo();
  }

  /** All that is kept, as text: a line each, with its time. */
  text(): string[] {
    return this.#entries.map(({ kind, at, text }) => (kind === "mark" ? `# ${text}\n` : `${at} ${text}\n`));
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
    this.#characters += entry.text.length;
  }

  #letGo(): void {
    if (this.count <= this.#most && this.#characters <= this.#mostCharacters) return;
    const slack = Math.min(SLACK, Math.ceil(this.#most / 10));
    let gone = Math.max(0, this.count - this.#most + slack);
    let size = 0;
    for (let index = 0; index < this.count - 1; index += 1) {
      const fits = this.#characters - size <= this.#mostCharacters;
      if (index >= gone && fits) break;
      size += this.#entries[index]?.text.length ?? 0;
      gone = Math.max(gone, index + 1);
    }
    this.#entries.splice(0, gone);
    this.#first += gone;
    this.#characters -= size;
  }
}

function shown(raw: string): { text: string; cells: number } {
  const text = visible(raw);
  return { text, cells: cellsOf(text) };
}

const PLAIN = /^[ -~]*$/;
const TAB = 8;

/** Letters of other scripts are taken as one cell or two; what is drawn otherwise is measured then. */
export function cellsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let cells = 0;
  for (const letter of text) {
    if (letter === "\t") cells += TAB - (cells % TAB);
    else if (!/\p{Mark}/u.test(letter)) cells += (letter.codePointAt(0) ?? 0) >= 0x1100 && isWide(letter) ? 2 : 1;
  }
  return cells;
}

function isWide(letter: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u.test(
    letter,
  );
}
