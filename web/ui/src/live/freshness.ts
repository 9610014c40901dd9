/**
 * Which reads an event makes old. By path, so that a new page is fresh without a line of its own:
 * a journal line what is below /clusters/{cluster} and the list, a change what is below /changes, a look all clusters.
 */
import type { Query, QueryClient } from "@tanstack/react-query";
import type { StreamEvent } from "./stream";

type Key = readonly [method: string, path: string, init?: { readonly params?: { readonly path?: object } }];

const PLAN = "/api/v1/changes/{change}/plan";
const STORED = "/api/v1/clusters/{cluster}/storages/{storage}/objects"; // nothing that happens here tells of a bucket

export function makesOld(event: StreamEvent, key: readonly unknown[]): boolean {
  const [method, path, init] = key as Partial<Key>;
  if (method !== "get" || typeof path !== "string") return false;
  const named: Readonly<Record<string, unknown>> = { ...init?.params?.path };
  switch (event.kind) {
    case "gap":
      return true;
    case "journal":
      if (path === STORED) return false;
      return isBelow(path, "clusters") && ("cluster" in named ? named.cluster === event.cluster : true);
    case "change":
      if (event.state !== "open" && path === PLAN) return false; // what has ended has no plan
      if (event.state === "open" && "change" in named) return isBelow(path, "changes") && named.change === event.id;
      return isBelow(path, "changes"); // a merge moves the branch, and with it what every other one is laid over
    case "tick":
      if (path === STORED) return false; // each listing costs calls of S3: it is read again by its button
      return isBelow(path, "clusters");
  }
}

function isBelow(path: string, noun: string): boolean {
  const root = `/api/v1/${noun}`;
  return path === root || path.startsWith(`${root}/`);
}

const PAUSE = 80; // milliseconds between two rounds

/**
 * Reads again what events made old: one round at a time, so that many events cost few reads and the last one counts.
 * Not what a form was filled from (`meta: { isKept: true }`): who sends it must not be told that they saw what they did not.
 */
export function makeRefresher(queries: QueryClient): (event: StreamEvent) => void {
  let waiting: StreamEvent[] = [];
  let running = false;

  async function run() {
    running = true;
    while (waiting.length > 0) {
      const events = waiting;
      waiting = [];
      const predicate = (query: Query) =>
        query.meta?.isKept !== true && events.some((event) => makesOld(event, query.queryKey));
      await queries.invalidateQueries({ predicate });
      await new Promise((done) => setTimeout(done, PAUSE));
    }
    running = false;
  }

  return (event) => {
    waiting.push(event);
    if (!running) void run();
  };
}
