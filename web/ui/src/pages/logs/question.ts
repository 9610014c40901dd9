/** What somebody wants to read, as the page's address has it, so that it can be sent to somebody else. */
import type { PodView } from "../../api/schema";
import { t } from "../../texts";
import type { Start } from "./reader";

export type From = keyof typeof t.logs.starts;

export interface Wish {
  readonly container: string | undefined;
  readonly from: From;
  /** For `from=at`: as it was written. */
  readonly at: string;
  /** The container's life before this one. */
  readonly isPast: boolean;
}

export const FROM_FIRST: From = "1000";
const BEGINNING = "1970-01-01T00:00:00Z";
const MINUTES: Readonly<Record<string, number>> = { "15m": 15, "1h": 60, "24h": 1440 };

export function readWish(search: URLSearchParams): Wish {
  const from = search.get("from") ?? "";
  return {
    container: search.get("container") ?? undefined,
    from: Object.hasOwn(t.logs.starts, from) ? (from as From) : FROM_FIRST,
    at: search.get("at") ?? "",
    isPast: search.get("life") === "before",
  };
}

export function writeWish(before: URLSearchParams, { container, from, at, isPast }: Wish): URLSearchParams {
  const search = new URLSearchParams(before);
  const told = {
    container: container ?? "",
    from: from === FROM_FIRST ? "" : from,
    at: from === "at" ? at : "",
    life: isPast ? "before" : "",
  };
  for (const [name, value] of Object.entries(told)) {
    if (value === "") search.delete(name);
    else search.set(name, value);
  }
  return search;
}

/**
 * null: there is no time to begin at yet. `now`: milliseconds since 1970 of the clock that the logs have; null: it is not
 * known yet.
 */
export function startOf({ from, at }: Wish, now: number | null): Start | null {
  const minutes = MINUTES[from];
  if (minutes !== undefined) return now === null ? null : { since: new Date(now - minutes * 60_000).toISOString() };
  if (from === "all") return { since: BEGINNING };
  if (from !== "at") return { tail: Number(from) };
  const moment = momentOf(at);
  return moment === null ? null : { since: moment };
}

const MOMENT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?$/i;

/** A time as somebody writes it, in RFC 3339; null: it is none. */
export function momentOf(text: string): string | null {
  const found = MOMENT.exec(text.trim());
  if (found === null) return null;
  const [, day, time, zone = "Z"] = found;
  const moment = new Date(`${day}T${time}${zone.toUpperCase()}`);
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString();
}

/** Of several, the first one that is the pod's own; undefined: nobody knows which there are. */
export function chosenContainer(pod: PodView | undefined, wanted: string | undefined): string | undefined {
  if (pod === undefined || pod.containers.some(({ name }) => name === wanted)) return wanted;
  return (pod.containers.find(({ init }) => !init) ?? pod.containers[0])?.name;
}
