/** A log as the page holds it: its lines, how reading goes, and word to whoever shows it, once a frame at most. */
import { KeptLines } from "./kept-lines";
import { Follower, PastReader, type Place, type Reader, type ReaderState, type Start } from "./reader";

export interface LogQuestion extends Place {
  readonly start: Start;
  /** Of the container's life before this one. */
  readonly isPast: boolean;
}

export interface LogWords {
  restarted(reason: string): string;
}

export class Log {
  readonly lines: KeptLines;
  /** Whether the newest lines are what is looked at; else none is let go for newer ones. */
  isAtEnd = true;
  #state: ReaderState = { kind: "opening" };
  #version = 0;
  #isTold = true;
  readonly #listeners = new Set<() => void>();
  readonly #reader: Reader;

  constructor(question: LogQuestion, words: LogWords, onLoggedOut: () => void, lines = new KeptLines()) {
    this.lines = lines;
    const { isPast, start, ...place } = question;
    const listener = {
      lines: (found: Parameters<KeptLines["add"]>[0]) => {
        if (!this.isAtEnd && !lines.hasRoom(found)) return false;
        lines.add(found);
        this.#changed();
        return true;
      },
      restarted: (reason: string) => {
        lines.mark(words.restarted(reason));
        this.#changed();
      },
      state: (state: ReaderState) => {
        this.#state = state;
        this.#changed();
      },
      loggedOut: onLoggedOut,
    };
    this.#reader = isPast ? new PastReader(place, start, listener) : new Follower(place, start, listener);
  }

  get state(): ReaderState {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Another number whenever something is different. */
  readonly version = (): number => this.#version;

  pause(): void {
    this.#reader.pause();
  }

  resume(): void {
    this.#reader.resume();
  }

  close(): void {
    this.#reader.close();
    this.#listeners.clear();
  }

  /** Thousands of lines come in many messages; what is drawn is told once for all that came before the next frame. */
  #changed(): void {
    if (!this.#isTold) return;
    this.#isTold = false;
    requestAnimationFrame(() => {
      this.#isTold = true;
      this.#version += 1;
      for (const told of this.#listeners) told();
    });
  }
}
