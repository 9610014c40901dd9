/** Which of the kept lines hold a text, in any case: kept up while lines come and go. */
import type { KeptLines } from "./kept-lines";

export class Matches {
  readonly #lines: KeptLines;
  readonly #needle: string;
  #numbers: readonly number[] = [];
  #looked: number;

  constructor(lines: KeptLines, text: string) {
    this.#lines = lines;
    this.#needle = text.toLowerCase();
    this.#looked = lines.first;
    this.update();
  }

  /** Numbers of lines, oldest first; another array whenever it says something else. */
  get numbers(): readonly number[] {
    return this.#numbers;
  }

  update(): void {
    const { first, end } = this.#lines;
    const found: number[] = [];
    for (let number = Math.max(first, this.#looked); number < end; number += 1) {
      if (this.#lines.at(number)?.text.toLowerCase().includes(this.#needle)) found.push(number);
    }
    this.#looked = end;
    const isOld = this.#numbers.length > 0 && (this.#numbers[0] ?? 0) < first;
    if (!isOld && found.length === 0) return;
    this.#numbers = [...(isOld ? this.#numbers.filter((number) => number >= first) : this.#numbers), ...found];
  }
}

/** The match behind (1) or before (-1) a line, round from the end to the beginning; null: there is none. */
export function step(numbers: readonly number[], from: number | null, way: 1 | -1): number | null {
  if (numbers.length === 0) return null;
  const [first, last] = [numbers[0] ?? null, numbers[numbers.length - 1] ?? null];
  if (from === null) return way === 1 ? first : last;
  if (way === 1) return numbers.find((number) => number > from) ?? first;
  return numbers.findLast((number) => number < from) ?? last;
}

/** A line in pieces; every second one is a match. */
export function pieces(text: string, needle: string): readonly string[] {
  if (needle === "") return [text];
  const found: string[] = [];
  const [low, wanted] = [text.toLowerCase(), needle.toLowerCase()];
  if (low.length !== text.length) return [text]; // letters that are longer when small: nothing is marked at a wrong place
  let from = 0;
  for (let at = low.indexOf(wanted); at !== -1; at = low.indexOf(wanted, from)) {
    found.push(text.slice(from, at), text.slice(at, at + wanted.length));
    from = at + wanted.length;
  }
  return [...found, text.slice(from)];
}
