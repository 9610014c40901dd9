/** Moments as people read them: how long ago, with the exact time at hand. */
import { useEngineNow } from "../live/engine-clock";
import { useWorldNow } from "../live/ticker";
import { t } from "../texts";

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat(t.locale, { numeric: "auto", style: "long" });
const full = new Intl.DateTimeFormat(t.locale, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(t.locale, { dateStyle: "medium" });
const clock = new Intl.DateTimeFormat(t.locale, { timeStyle: "medium", hourCycle: "h23" });

export type Moment = string | number | Date;

/** The local time; with the day, unless it is today. */
export function exact(moment: Moment): string {
  const at = new Date(moment);
  return at.toDateString() === new Date().toDateString() ? clock.format(at) : full.format(at);
}

export function dayOf(moment: Moment): string {
  return day.format(new Date(moment));
}

/** "4 minutes ago", "in 2 days". What is under a minute ago is "just now", so that nothing flickers. */
export function ago(moment: Moment, now: number): string {
  const seconds = (new Date(moment).getTime() - now) / 1000;
  const [unit, length] = UNITS.find(([, least]) => Math.abs(seconds) >= least) ?? ["second", 1];
  if (unit === "second") return seconds > 5 ? relative.format(Math.round(seconds), unit) : t.common.justNow;
  return relative.format(Math.trunc(seconds / length), unit);
}

interface TimeProps {
  readonly at: Moment;
  readonly by?: "engine" | "world";
}

/**
 * How long ago something was. `by="engine"` is for what the engine and its journal say (its clock may be a simulated
 * one), `by="world"` for what keeps real time: tokens and sessions. Clocks never agree wholly, and what has happened is
 * not to come.
 */
export function Ago({ at, by }: TimeProps) {
  return <Time at={at} by={by} upTo={0} />;
}

/** When something is due: "in 2 days", and "just now" or "1 hour ago" if it should have been. */
export function Due({ at, by }: TimeProps) {
  return <Time at={at} by={by} upTo={Number.POSITIVE_INFINITY} />;
}

function Time({ at, by = "engine", upTo }: TimeProps & { readonly upTo: number }) {
  const engine = useEngineNow();
  const world = useWorldNow();
  const now = by === "engine" ? engine : world;
  return (
    <time dateTime={new Date(at).toISOString()} title={full.format(new Date(at))}>
      {now === null ? exact(at) : ago(Math.min(new Date(at).getTime(), now + upTo), now)}
    </time>
  );
}
