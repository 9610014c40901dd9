import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LogLine } from "../../api/schema";
import { problem, serve, until } from "../../testing/service";
import { addressOf, Follower, PastReader, type ReaderState } from "./reader";

const PLACE = { cluster: "prod", namespace: "training", pod: "train-0", container: "main" };
const LOGS = "GET /api/v1/clusters/prod/pods/training/train-0/logs";
const line = (text: string): LogLine => ({ at: "", text });

/** The other side of the WebSockets that were opened. */
class Socket {
  static made: Socket[] = [];
  static get last(): Socket {
    const last = Socket.made.at(-1);
    if (last === undefined) throw new Error("none was opened");
    return last;
  }

  readonly url: string;
  isClosed = false;
  onopen = () => {};
  onmessage = (_: { data: string }) => {};
  onclose = (_: { code: number; reason: string }) => {};

  constructor(url: string) {
    this.url = url;
    Socket.made.push(this);
  }

  close() {
    this.isClosed = true;
  }

  tell(frame: object) {
    this.onmessage({ data: JSON.stringify(frame) });
  }

  end(code: number, reason = "") {
    this.onclose({ code, reason });
  }
}

function listening() {
  const texts: string[] = [];
  const states: ReaderState[] = [];
  const taken = { is: true };
  const loggedOut = vi.fn();
  const restarted = vi.fn();
  const lines = (found: readonly LogLine[]) => {
    if (taken.is) texts.push(...found.map(({ text }) => text));
    return taken.is;
  };
  const state = (told: ReaderState) => void states.push(told);
  return { texts, states, taken, loggedOut, restarted, lines, state };
}

function following() {
  const heard = listening();
  const reader = new Follower(PLACE, { tail: 10 }, heard);
  Socket.last.onopen();
  return { heard, reader, kind: () => heard.states.at(-1)?.kind };
}

beforeEach(() => {
  Socket.made = [];
  vi.stubGlobal("WebSocket", Socket);
});
afterEach(() => vi.useRealTimers());

test("the address says where to begin, and hides nothing in a name", () => {
  expect(addressOf(PLACE, { tail: 10 })).toBe(
    "ws://localhost:3000/api/v1/clusters/prod/pods/training/train-0/logs?tail=10&container=main",
  );
  expect(addressOf({ ...PLACE, pod: "a/../b?c", container: undefined }, { since: "x#1" })).toBe(
    "ws://localhost:3000/api/v1/clusters/prod/pods/training/a%2F..%2Fb%3Fc/logs?since=x%231",
  );
});

test("a connection that breaks is opened again behind the last line", () => {
  vi.useFakeTimers();
  const { heard, kind } = following();
  Socket.last.tell({ kind: "lines", lines: [line("one")], cursor: "t#1" });
  Socket.last.end(1006);
  expect(kind()).toBe("lost");
  vi.advanceTimersByTime(500);
  expect(Socket.made).toHaveLength(2);
  expect(new URL(Socket.last.url).searchParams.get("since")).toBe("t#1");
  Socket.last.onopen();
  expect(kind()).toBe("open");
  Socket.last.tell({ kind: "lines", lines: [line("two")], cursor: "t#2" });
  expect(heard.texts).toEqual(["one", "two"]);
});

test("what the service loses itself is told, and that it goes on", () => {
  const { heard, kind } = following();
  Socket.last.tell({ kind: "lost", reason: "ServerError", message: "the API server is away", cursor: "t#1" });
  expect(heard.states.at(-1)).toMatchObject({ kind: "lost", why: "the API server is away" });
  Socket.last.tell({ kind: "lines", cursor: "t#1" });
  expect(kind()).toBe("open");
});

test("paused nothing is read, and it goes on behind the last line", () => {
  const { heard, reader, kind } = following();
  const first = Socket.last;
  first.tell({ kind: "lines", lines: [line("one")], cursor: "t#1" });
  reader.pause();
  expect([kind(), first.isClosed]).toEqual(["paused", true]);
  first.tell({ kind: "lines", lines: [line("late")], cursor: "t#2" });
  reader.resume();
  expect(new URL(Socket.last.url).searchParams.get("since")).toBe("t#1");
  expect(heard.texts).toEqual(["one"]);
});

test("lines for which there is no room pause it before them", () => {
  const { heard, reader } = following();
  Socket.last.tell({ kind: "lines", lines: [line("one")], cursor: "t#1" });
  heard.taken.is = false;
  Socket.last.tell({ kind: "lines", lines: [line("two")], cursor: "t#2" });
  expect(heard.states.at(-1)).toEqual({ kind: "paused", isFull: true });
  heard.taken.is = true;
  reader.resume();
  expect(new URL(Socket.last.url).searchParams.get("since")).toBe("t#1");
});

test.each([
  [
    { kind: "waiting", reason: "ContainerCreating" },
    { kind: "waiting", reason: "ContainerCreating" },
  ],
  [
    { kind: "end", reason: "Error", exit_code: 1 },
    { kind: "ended", reason: "Error", exitCode: 1, message: "" },
  ],
])("%j is %j", (frame, state) => {
  const { heard } = following();
  Socket.last.tell(frame);
  expect(heard.states.at(-1)).toEqual(state);
});

test("after the end nothing is opened any more", () => {
  vi.useFakeTimers();
  const { reader, kind } = following();
  Socket.last.tell({ kind: "end", reason: "PodGone" });
  Socket.last.end(1000);
  reader.resume();
  vi.advanceTimersByTime(60_000);
  expect([kind(), Socket.made.length]).toEqual(["ended", 1]);
});

test("that a container began anew is told between its lines", () => {
  const { heard } = following();
  Socket.last.tell({ kind: "restarted", reason: "OOMKilled", cursor: "t#1" });
  expect(heard.restarted).toHaveBeenCalledWith("OOMKilled");
});

test("why it was refused is asked for, because a browser does not say", async () => {
  serve({ [LOGS]: () => problem(422, "NoContainer", "there is: main") });
  const heard = listening();
  new Follower(PLACE, { tail: 10 }, heard);
  Socket.last.end(1006);
  await until(() => expect(heard.states.at(-1)?.kind).toBe("refused"));
  expect(heard.states.at(-1)).toMatchObject({ problem: { reason: "NoContainer", detail: "there is: main" } });
});

test("who was logged out is asked who they are", async () => {
  serve({ [LOGS]: () => problem(401, "NotLoggedIn", "") });
  const { heard } = following();
  Socket.last.end(1008, "NotLoggedIn");
  expect(heard.loggedOut).toHaveBeenCalled();
});

test("a service that is away is waited for, longer each time", async () => {
  serve({ [LOGS]: () => problem(503, "ServerError", "away") });
  const heard = listening();
  const reader = new Follower(PLACE, { tail: 10 }, heard);
  Socket.last.end(1006);
  await until(() => expect(heard.states.at(-1)).toMatchObject({ kind: "lost", why: "away" }));
  await until(() => expect(Socket.made).toHaveLength(2));
  reader.close();
});

test("a frame that is none is no end of the page", () => {
  const { heard } = following();
  Socket.last.onmessage({ data: "<html>" });
  Socket.last.tell({ kind: "lines", lines: [line("one")], cursor: "t#1" });
  expect(heard.texts).toEqual(["one"]);
});

test("the life before is read page by page to its end", async () => {
  const page = (items: LogLine[], cursor: string, more: boolean) => ({ items, cursor, more, container: "main" });
  const service = serve({
    [`${LOGS}?tail=10&previous=true&limit=5000&container=main`]: page([line("one")], "t#1", true),
    [`${LOGS}?since=t%231&previous=true&limit=5000&container=main`]: page([line("two")], "t#2", false),
  });
  const heard = listening();
  new PastReader(PLACE, { tail: 10 }, heard);
  await until(() => expect(heard.states.at(-1)?.kind).toBe("ended"));
  expect(heard.texts).toEqual(["one", "two"]);
  expect(service.asked).toHaveLength(2);
});
