import { expect, test } from "vitest";
import { engineTime } from "../live/engine-clock";
import { t } from "../texts";
import { ago } from "./times";

const NOW = Date.parse("2026-03-01T10:00:00Z");

test.each([
  ["2026-03-01T09:59:30Z", t.common.justNow, "half a minute"],
  ["2026-03-01T09:58:01Z", "1 minute ago", "not yet two"],
  ["2026-03-01T07:00:00Z", "3 hours ago", "hours"],
  ["2026-02-27T10:00:00Z", "2 days ago", "days"],
  ["2026-03-01T10:00:02Z", t.common.justNow, "clocks that differ a little"],
  ["2026-03-01T10:00:40Z", "in 40 seconds", "soon"],
  ["2026-03-04T10:00:00Z", "in 3 days", "to come"],
])("%s is %s: %s", (at, told) => {
  expect(ago(at, NOW)).toBe(told);
});

test("over the simulated cloud time passes faster", () => {
  expect(engineTime({ now: NOW, read: 1000, rate: 60 }, 3000)).toBe(NOW + 120_000);
});
