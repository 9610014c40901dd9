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

/**
 * How long ago something was. `by="engine"` is for what the engine and its journal say (its clock may be a simulated
 * one), `by="world"` for what keeps real time: tokens and sessions.
 */
export function Ago({ at, by = "engine" }: { readonly at: Moment; readonly by?: "engine" | "world" }) {
  const engine = useEngineNow();
  const world = useWorldNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={full.format(new Date(at))}>
      {ago(at, by === "engine" ? engine : world)}
    </time>
  );
}
