/**
 * The engine's clock: real time, or, over the simulated cloud, one that runs faster. The journal tells its times.
 */
import { type QueryClient, useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import type { VersionView } from "../api/schema";
import type { StreamEvent } from "./stream";
import { useWorldNow } from "./ticker";

export interface Known {
  /** What it said, in milliseconds since 1970, and when in real time that was. */
  readonly now: number;
  readonly read: number;
  readonly rate: number;
}

export function engineTime({ now, read, rate }: Known, world: number): number {
  return now + (world - read) * rate;
}

const version = api.queryOptions("get", "/api/v1/version", {}, { staleTime: 600_000 });
const AHEAD = 10_000; // real milliseconds: more than an event is on its way

/** A simulated clock may be set forward. What the engine says of a later time than is known: its clock is asked anew. */
export function renewClock(queries: QueryClient, event: StreamEvent): void {
  const at = event.kind === "tick" ? event.at : event.kind === "journal" ? event.line.at : "";
  const { data, dataUpdatedAt } = queries.getQueryState<VersionView>(version.queryKey) ?? {};
  if (data === undefined || dataUpdatedAt === undefined) return;
  const known = { now: Date.parse(data.clock), read: dataUpdatedAt, rate: data.clock_rate };
  if (Date.parse(at) > engineTime(known, Date.now() + AHEAD)) {
    void queries.invalidateQueries({ queryKey: version.queryKey });
  }
}

/** Milliseconds since 1970 as the engine has them, renewed every ten of its seconds, at most once a second; null until
 * it has said. */
export function useEngineNow(): number | null {
  const { data, dataUpdatedAt } = useQuery(version);
  const rate = data?.clock_rate ?? 1;
  const world = useWorldNow(Math.max(1000, 10_000 / rate));
  return data ? engineTime({ now: Date.parse(data.clock), read: dataUpdatedAt, rate }, world) : null;
}
