/**
 * The engine's clock: real time, or, over the simulated cloud, one that runs faster. The journal tells its times.
 */
import { api } from "../api/client";
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

/** Milliseconds since 1970 as the engine has them, renewed every ten of its seconds, at most once a second; null until
 * it has said. */
export function useEngineNow(): number | null {
  const { data, dataUpdatedAt } = api.useQuery("get", "/api/v1/version", {}, { staleTime: 600_000 });
  const rate = data?.clock_rate ?? 1;
  const world = useWorldNow(Math.max(1000, 10_000 / rate));
  return data ? engineTime({ now: Date.parse(data.clock), read: dataUpdatedAt, rate }, world) : null;
}
