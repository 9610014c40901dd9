import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { makeRefresher, makesOld } from "./freshness";
import type { StreamEvent } from "./stream";

const journal: StreamEvent = { kind: "journal", cluster: "prod", line: { t: "stage", at: "", say: "" } };
const change: StreamEvent = { kind: "change", id: "01j", state: "open" };
const merged: StreamEvent = { ...change, state: "merged" };
const tick: StreamEvent = { kind: "tick", at: "", problem: null };
const of = (cluster: string) => ({ params: { path: { cluster } } });

test.each<[StreamEvent, readonly unknown[], boolean, string]>([
  [
    journal,
    ["get", "/api/v1/clusters", { params: { query: { limit: 500 } } }],
    true,
    "the list tells of every cluster",
  ],
  [journal, ["get", "/api/v1/clusters/{cluster}", of("prod")], true, "its own page"],
  [journal, ["get", "/api/v1/clusters/{cluster}/nodes", of("prod")], true, "what is below it"],
  [journal, ["get", "/api/v1/clusters/{cluster}", of("staging")], false, "another cluster"],
  [journal, ["get", "/api/v1/tokens"], false, "nothing of clusters"],
  [change, ["get", "/api/v1/changes/{change}", { params: { path: { change: "01j" } } }], true, "the change"],
  [change, ["get", "/api/v1/changes/{change}", { params: { path: { change: "01k" } } }], false, "another change"],
  [merged, ["get", "/api/v1/changes/{change}", { params: { path: { change: "01k" } } }], true, "the branch moved"],
  [merged, ["get", "/api/v1/changes/{change}/plan", { params: { path: { change: "01j" } } }], false, "it has none now"],
  [change, ["get", "/api/v1/clusters"], false, "a change that is open moves no cluster"],
  [tick, ["get", "/api/v1/clusters/{cluster}", of("staging")], true, "everything was looked at"],
  [
    tick,
    ["get", "/api/v1/clusters/{cluster}/storages/{storage}/objects", of("prod")],
    false,
    "a bucket is not listed at each look",
  ],
  [
    journal,
    ["get", "/api/v1/clusters/{cluster}/storages/{storage}/objects", of("prod")],
    false,
    "nor because the engine did something",
  ],
  [{ kind: "gap" }, ["get", "/api/v1/session"], true, "nobody knows what was missed"],
  [journal, ["post", "/api/v1/clusters"], false, "no read"],
])("%o and %o: %s (%s)", (event, key, expected) => {
  expect(makesOld(event, key)).toBe(expected);
});

test("many events cost few reads, and the last one is read for", async () => {
  const queries = new QueryClient();
  let reads = 0;
  const queryFn = async () => {
    reads += 1;
    await new Promise((done) => setTimeout(done, 20));
    return reads;
  };
  const observer = queries.getQueryCache().build(queries, { queryKey: ["get", "/api/v1/clusters"], queryFn });
  await observer.fetch();
  const invalidate = vi.spyOn(queries, "invalidateQueries").mockImplementation(async () => {
    await observer.fetch();
  });
  const refresh = makeRefresher(queries);
  for (let count = 0; count < 50; count += 1) refresh(journal);
  await vi.waitFor(() => expect(reads).toBe(3));
  await new Promise((done) => setTimeout(done, 200));
  expect(reads).toBe(3); // one for the first event, one for the other forty-nine
  expect(invalidate).toHaveBeenCalledTimes(2);
});

test("what a form was filled from stays as it was read, whatever happens meanwhile", async () => {
  const queries = new QueryClient();
  const queryKey = ["get", "/api/v1/clusters/{cluster}/documents/{kind}/{name}", of("prod")];
  const other = ["get", "/api/v1/clusters/{cluster}", of("prod")];
  await queries.fetchQuery({ queryKey, queryFn: async () => 1, meta: { isKept: true } });
  await queries.fetchQuery({ queryKey: other, queryFn: async () => 1 });
  makeRefresher(queries)(journal);
  await vi.waitFor(() => expect(queries.getQueryState(other)?.isInvalidated).toBe(true));
  expect(queries.getQueryState(queryKey)?.isInvalidated).toBe(false);
});
