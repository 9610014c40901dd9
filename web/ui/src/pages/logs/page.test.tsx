import { Route, Routes } from "react-router";
import { beforeEach, expect, test, vi } from "vitest";
import type { PodView } from "../../api/schema";
import { serve, show, until } from "../../testing/service";
import { t } from "../../texts";
import { Component } from "./page";

const container = { name: "main", init: false, state: "running", ready: true, restarts: 0 };
const pod = {
  namespace: "training",
  name: "train-0",
  node: "hyperpod-i-1234abcd",
  phase: "Running",
  reason: "",
  owner: "Job/train",
  restarts: 0,
  deleting: false,
  containers: [container, { ...container, name: "agent", restarts: 2 }],
} as unknown as PodView;

class Socket {
  static made: Socket[] = [];
  readonly url: string;
  onopen = () => {};
  onmessage = (_: { data: string }) => {};
  onclose = (_: { code: number; reason: string }) => {};
  constructor(url: string) {
    this.url = url;
    Socket.made.push(this);
  }
  close() {}
  tell(...texts: string[]) {
    const lines = texts.map((text) => ({ at: "2026-03-01T09:00:00.000000000Z", text }));
    this.onmessage({ data: JSON.stringify({ kind: "lines", lines, cursor: "t#1" }) });
  }
}

beforeEach(() => {
  Socket.made = [];
  vi.stubGlobal("WebSocket", Socket);
  serve({ "GET /api/v1/clusters/prod/pods": { items: [pod], next: null, parts: [] } });
});

async function open(query = "") {
  const routes = (
    <Routes>
      <Route path="/clusters/:cluster/pods/:namespace/:pod" element={<Component />} />
    </Routes>
  );
  const shown = show(routes, { path: `/clusters/prod/pods/training/train-0${query}` });
  await until(() => expect(Socket.made.length).toBeGreaterThan(0));
  const socket = () => {
    const last = Socket.made.at(-1);
    if (last === undefined) throw new Error("none was opened");
    return last;
  };
  socket().onopen();
  const button = (text: string) => shown.page.findAllButtons().find((one) => one.getElement().textContent === text);
  return { ...shown, socket, button, text: () => shown.page.getElement().textContent ?? "" };
}

test("of a pod with several containers the first is read, with its last lines", async () => {
  const { socket, text } = await open();
  expect(socket().url).toContain("/clusters/prod/pods/training/train-0/logs?tail=1000&container=main");
  socket().tell("one", "two");
  await until(() => expect(text()).toContain(t.logs.lines(2)));
  expect(text()).toContain(t.logs.states.open);
  expect(text()).toContain("Job/train");
});

test("another container is another reading, and its life before this one is offered", async () => {
  const { page, socket, text, router } = await open("?container=agent&from=all");
  expect(socket().url).toContain("since=1970-01-01T00%3A00%3A00Z&container=agent");
  expect(text()).toContain(t.logs.lives.before);
  page.findAllSelects()[0]?.openDropdown();
  page.findAllSelects()[0]?.selectOptionByValue("main");
  await until(() => expect(Socket.made.at(-1)?.url).toContain("container=main"));
  expect(router.state.location.search).toBe("?container=main&from=all");
  expect(text()).not.toContain(t.logs.lives.before);
});

test("a pause is told, and going on asks for what is behind the last line", async () => {
  const { socket, button, text } = await open();
  socket().tell("one");
  await until(() => expect(text()).toContain(t.logs.lines(1)));
  button(t.logs.pause)?.click();
  await until(() => expect(text()).toContain(t.logs.states.paused));
  button(t.logs.resume)?.click();
  await until(() => expect(Socket.made).toHaveLength(2));
  expect(socket().url).toContain("since=t%231");
});

test("matches are counted while lines come, and gone through", async () => {
  const { page, socket, text } = await open();
  socket().tell("loss 1", "other", "LOSS 2");
  await until(() => expect(text()).toContain(t.logs.lines(3)));
  page.findTextFilter()?.findInput().setInputValue("loss");
  await until(() => expect(text()).toContain(t.logs.found(null, 2)));
  page.find(`[aria-label="${t.logs.next}"]`)?.click();
  await until(() => expect(text()).toContain(t.logs.found(1, 2)));
  page.find(`[aria-label="${t.logs.previous}"]`)?.click();
  await until(() => expect(text()).toContain(t.logs.found(2, 2)));
  socket().tell("loss 3");
  await until(() => expect(text()).toContain(t.logs.found(2, 3)));
});

test("a time that is none is told and asks for nothing", async () => {
  const { page, text } = await open("?from=1000");
  page.findAllSelects()[1]?.openDropdown();
  page.findAllSelects()[1]?.selectOptionByValue("at");
  await until(() => expect(text()).toContain(t.logs.atHint));
  const count = Socket.made.length;
  page.findInput()?.focus();
  page.findInput()?.setInputValue("yesterday");
  page.findInput()?.blur();
  await until(() => expect(text()).toContain(t.logs.atBad));
  expect(Socket.made).toHaveLength(count);
  page.findInput()?.focus();
  page.findInput()?.setInputValue("2026-03-01 08:00");
  page.findInput()?.blur();
  await until(() => expect(Socket.made.at(-1)?.url).toContain("since=2026-03-01T08%3A00%3A00.000Z"));
});
