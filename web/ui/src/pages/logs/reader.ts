/**
 * Reads a log and goes on reading it: over a WebSocket, which is opened again behind the last line whenever it breaks,
 * so that no line is lost and none comes twice. Of a container's life before this one, page by page.
 */
import { client } from "../../api/client";
import { asProblem, isPassing, type ProblemError } from "../../api/problems";
import type { Frame, LogLine } from "../../api/schema";

export interface Place {
  readonly cluster: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string | undefined;
}

/** Where to begin: with so many of the last lines, or at a time. */
export type Start = { readonly tail: number } | { readonly since: string };

/**
 * opening  nothing has come yet        open      lines come as they are written
 * waiting  the container has not begun lost      the connection broke; it is tried again by itself
 * paused   nothing is read until `resume`; `full`: what one looks at would have been let go for newer lines
 * ended    nothing more comes          refused   it cannot be read, and another try would end the same
 */
export type ReaderState =
  | { readonly kind: "opening" | "open" }
  | { readonly kind: "waiting"; readonly reason: string }
  | { readonly kind: "lost"; readonly since: number; readonly why: string }
  | { readonly kind: "paused"; readonly isFull: boolean }
  | { readonly kind: "ended"; readonly reason: string; readonly exitCode: number | null; readonly message: string }
  | { readonly kind: "refused"; readonly problem: ProblemError };

export interface ReaderListener {
  /** false: they are not taken; reading pauses before them. */
  lines(lines: readonly LogLine[]): boolean;
  restarted(reason: string): void;
  state(state: ReaderState): void;
  /** The session may be over. */
  loggedOut(): void;
}

export interface Reader {
  pause(): void;
  resume(): void;
  close(): void;
}

/** As it is on the wire: what has its default is left out. */
type Told = Pick<Frame, "kind"> & Partial<Frame>;

const COME_BACK = [500, 1000, 2000, 5000, 10_000] as const;
const POLICY = 1008; // a wrong question, a slow reader, or a session that ended
const LOGS = "/api/v1/clusters/{cluster}/pods/{namespace}/{pod}/logs";

export class Follower implements Reader {
  readonly #place: Place;
  readonly #start: Start;
  readonly #listener: ReaderListener;
  #socket: WebSocket | null = null;
  #cursor = "";
  #again: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #lostSince = 0;
  #isClosed = false;
  #isPaused = false;

  constructor(place: Place, start: Start, listener: ReaderListener) {
    this.#place = place;
    this.#start = start;
    this.#listener = listener;
    listener.state({ kind: "opening" });
    this.#open();
  }

  pause(): void {
    this.#pause(false);
  }

  resume(): void {
    if (!this.#isPaused || this.#isClosed) return;
    this.#isPaused = false;
    this.#listener.state({ kind: "opening" });
    this.#open();
  }

  close(): void {
    this.#isClosed = true;
    this.#letGo();
  }

  #pause(isFull: boolean): void {
    if (this.#isPaused || this.#isClosed) return;
    this.#isPaused = true;
    this.#letGo();
    this.#listener.state({ kind: "paused", isFull });
  }

  #letGo(): void {
    clearTimeout(this.#again);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #open(): void {
    clearTimeout(this.#again);
    const socket = new WebSocket(addressOf(this.#place, this.#cursor === "" ? this.#start : { since: this.#cursor }));
    this.#socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.#failures = 0;
      this.#lostSince = 0;
      if (socket === this.#socket) this.#listener.state({ kind: "open" });
    };
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      if (socket === this.#socket) this.#take(parsed(data));
    };
    socket.onclose = ({ code, reason }) => {
      if (socket !== this.#socket) return;
      this.#socket = null;
      if (wasOpen) this.#broke(code, reason);
      else void this.#askWhy();
    };
  }

  #take(frame: Told | null): void {
    if (frame === null) return;
    const { kind, lines = [], cursor = "", reason = "", message = "", exit_code = null } = frame;
    switch (kind) {
      case "lines":
        if (!this.#listener.lines(lines)) {
          this.#pause(true);
          return;
        }
        this.#listener.state({ kind: "open" });
        break;
      case "waiting":
        this.#listener.state({ kind: "waiting", reason });
        break;
      case "restarted":
        this.#listener.restarted(reason);
        break;
      case "lost":
        this.#listener.state({ kind: "lost", since: Date.now(), why: message || reason });
        break;
      case "end":
        this.#isClosed = true;
        this.#letGo();
        this.#listener.state({ kind: "ended", reason, exitCode: exit_code, message });
        break;
      case "slow":
        break; // the close frame that follows opens it again
    }
    if (cursor !== "") this.#cursor = cursor;
  }

  #broke(code: number, reason: string): void {
    if (code === POLICY && reason.startsWith("NotLoggedIn")) this.#listener.loggedOut();
    if (code === POLICY && !reason.startsWith("slow")) void this.#askWhy();
    else this.#comeBack(reason);
  }

  #comeBack(why: string): void {
    if (this.#isClosed || this.#isPaused) return;
    this.#lostSince ||= Date.now();
    this.#listener.state({ kind: "lost", since: this.#lostSince, why });
    this.#again = setTimeout(() => this.#open(), COME_BACK[Math.min(this.#failures, COME_BACK.length - 1)]);
    this.#failures += 1;
  }

  /** A browser does not tell why a WebSocket was not opened; the same question over HTTP does. */
  async #askWhy(): Promise<void> {
    try {
      const { container, ...path } = this.#place;
      await client.GET(LOGS, { params: { path, query: { tail: 1, limit: 1, ...(container && { container }) } } });
      this.#comeBack("");
    } catch (error) {
      const problem = asProblem(error);
      if (this.#isClosed || this.#isPaused) return;
      if (problem.status === 401) this.#listener.loggedOut();
      if (isPassing(problem)) this.#comeBack(problem.status === 0 ? "" : problem.detail);
      else this.#listener.state({ kind: "refused", problem });
    }
  }
}

/** The life of a container before this one. It is over, so it is read once. */
export class PastReader implements Reader {
  #isPaused = false;
  #isClosed = false;
  #isReading = false;
  #next: Start;
  readonly #place: Place;
  readonly #listener: ReaderListener;

  constructor(place: Place, start: Start, listener: ReaderListener) {
    this.#place = place;
    this.#next = start;
    this.#listener = listener;
    listener.state({ kind: "opening" });
    void this.#read();
  }

  pause(): void {
    if (this.#isClosed || this.#isPaused) return;
    this.#isPaused = true;
    this.#listener.state({ kind: "paused", isFull: false });
  }

  resume(): void {
    if (!this.#isPaused || this.#isClosed) return;
    this.#isPaused = false;
    this.#listener.state({ kind: "opening" });
    if (!this.#isReading) void this.#read();
  }

  close(): void {
    this.#isClosed = true;
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    const { container, ...path } = this.#place;
    try {
      while (!this.#isClosed && !this.#isPaused) {
        const query = { ...this.#next, previous: true, limit: 5000, ...(container && { container }) };
        const { data } = await client.GET(LOGS, { params: { path, query } });
        if (data === undefined || this.#isClosed || this.#isPaused) break;
        if (!this.#listener.lines(data.items)) {
          this.#isPaused = true;
          this.#listener.state({ kind: "paused", isFull: true });
          break;
        }
        this.#next = { since: data.cursor };
        if (!data.more) {
          this.#isClosed = true;
          this.#listener.state({ kind: "ended", reason: "", exitCode: null, message: "" });
        }
      }
    } catch (error) {
      if (!this.#isClosed) this.#listener.state({ kind: "refused", problem: asProblem(error) });
    }
    this.#isReading = false;
  }
}

export function addressOf({ cluster, namespace, pod, container }: Place, start: Start): string {
  const { protocol, host } = globalThis.location;
  const path = [cluster, "pods", namespace, pod].map(encodeURIComponent).join("/");
  const query = new URLSearchParams(Object.entries(start).map(([name, value]) => [name, String(value)]));
  if (container) query.set("container", container);
  return `${protocol === "https:" ? "wss" : "ws"}://${host}/api/v1/clusters/${path}/logs?${query}`;
}

function parsed(data: string): Told | null {
  try {
    const told: unknown = JSON.parse(data);
    return typeof told === "object" && told !== null && "kind" in told ? (told as Told) : null;
  } catch {
    return null;
  }
}
