import { counted } from "./common";

const number = (value: number) => value.toLocaleString("en");

/** The logs of a pod. */
export const logs = {
  above: "Pods",
  facts: { phase: "Phase", node: "Node", owner: "Owner", none: "None", restarts: "Restarts" },
  gone: "This pod is not there now, and its log went with it. What was read before stays here until you leave.",
  container: "Container",
  containerHint: (name: string, state: string) => `${name} (${state})`,
  init: "init",
  from: "Begin with",
  starts: {
    "200": "The last 200 lines",
    "1000": "The last 1,000 lines",
    "10000": "The last 10,000 lines",
    "15m": "The last 15 minutes",
    "1h": "The last hour",
    "24h": "The last day",
    all: "All there is",
    at: "A time …",
  },
  at: "Time",
  atHint: "As in 2026-03-01T10:00:00Z; without a zone it is UTC.",
  atBad: "A time is wanted, such as 2026-03-01T10:00:00Z.",
  life: "Life",
  lives: { now: "This one", before: "The one before" },
  find: "Find in the lines",
  found: (at: number | null, all: number) =>
    all === 0 ? "No line" : at === null ? counted(all, "line") : `${number(at)} of ${counted(all, "line")}`,
  next: "Next match",
  previous: "Previous match",
  only: "Only these",
  pause: "Pause",
  resume: "Go on",
  again: "Read again",
  download: "Download",
  downloadMeans: (lines: number) => `The ${counted(lines, "line")} kept here, as a text file`,
  view: "How it is shown",
  wrap: "Wrap long lines",
  times: "Times (UTC)",
  newest: (lines: number) => (lines > 0 ? `${counted(lines, "new line")} below` : "To the newest lines"),
  label: (pod: string, container: string) => `Log of ${pod}, container ${container}`,
  lines: (count: number) => counted(count, "line"),
  dropped: (count: number) => `${counted(count, "older line")} let go: the page keeps the newest ones only.`,
  droppedWay: "To see them, begin at an earlier time and pause.",
  noLines: "Nothing was written yet.",
  noLinesFrom: "Nothing was written in this time.",
  noneMatch: "No line matches.",
  restarted: (reason: string) =>
    `The container began anew${reason === "" ? "" : ` (${reason})`}. What follows is of its new life.`,
  states: {
    opening: "Reading …",
    open: "Following",
    waiting: (reason: string) => `The container has not begun${reason === "" ? "" : `: ${reason}`}. It is waited for.`,
    lost: (since: string, why: string) =>
      `Not connected since ${since}${why === "" ? "" : `: ${why}`}. It is tried again, and goes on behind the last line.`,
    paused: "Paused. Nothing is lost: it goes on behind the last line.",
    full: "Paused, so that the lines you look at stay: there is no room for more. Going on lets go of the oldest.",
    past: "That was the life before this one.",
    ended: (reason: string, code: number | null) =>
      `Nothing more comes: ${reason === "" ? "it ended" : reason}${code === null ? "" : `, exit code ${number(code)}`}.`,
    gone: "Nothing more comes: the pod is gone.",
  },
  refused: "This log cannot be read",
};

/** The pods of a cluster. */
export const pods = {
  title: "Pods",
  search: "Search and filter pods",
  matches: (count: number) => counted(count, "match", "matches"),
  columns: {
    name: "Pod",
    namespace: "Namespace",
    state: "State",
    ready: "Ready",
    restarts: "Restarts",
    node: "Node",
    gpus: "GPUs",
    efa: "EFA interfaces",
    owner: "Owner",
    age: "Created",
    logs: "Logs",
  },
  logsOf: (name: string) => `Logs of ${name}`,
  deleting: "Is deleted",
  empty: { title: "No pods", text: "Nothing runs in this cluster." },
  emptyNode: { title: "No pods on this node", text: "Nothing was placed there." },
  onNode: (node: string) => `Pods on ${node}`,
  all: "Show all pods",
  notPlaced: "Not placed",
};
