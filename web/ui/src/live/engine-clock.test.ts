import { afterEach, expect, test, vi } from "vitest";
import { makeQueryClient } from "../api/client";
import { VERSION } from "../testing/service";
import { renewClock } from "./engine-clock";
import type { StreamEvent } from "./stream";

afterEach(() => vi.useRealTimers());

const tick = (at: string): StreamEvent => ({ kind: "tick", at, problem: null });

test.each<[StreamEvent, number, boolean, string]>([
  [tick("2026-03-01T10:00:05.000Z"), 1, false, "an event may come before the clock was read"],
  [tick("2026-03-01T10:30:00.000Z"), 1, true, "the clock was set forward"],
  [tick("2026-03-01T10:30:00.000Z"), 1000, false, "a fast clock gets there by itself"],
  [tick("2026-03-01T09:00:00.000Z"), 1, false, "what is past says nothing"],
  [{ kind: "journal", cluster: "prod", line: { t: "op", at: "2026-03-01T12:00:00Z", say: "" } }, 1, true, "a line too"],
  [{ kind: "gap" }, 1, false, "no time is told"],
])("%j at rate %i asks for the clock: %s (%s)", async (event, rate, asks) => {
  vi.useFakeTimers({ now: Date.parse("2027-01-01T00:00:10Z") });
  const queries = makeQueryClient();
  const key = ["get", "/api/v1/version", {}];
  const read = { updatedAt: Date.now() - 10_000 };
  queries.setQueryData(key, { ...VERSION, clock_rate: rate }, read);
  renewClock(queries, event);
  expect(queries.getQueryState(key)?.isInvalidated).toBe(asks);
});
