/** Storages as they are asked for and as they are, one row each. Pure. */
import type { StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { StorageWish, ThingView } from "../../../api/schema";
import { t } from "../../../texts";

export interface StorageRow {
  readonly name: string;
  /** null: no document asks for it any more. */
  readonly wish: StorageWish | null;
  /** null: nobody has looked yet. */
  readonly thing: ThingView | null;
}

const TYPE = "k8s.Storage";

export function rowsOf(
  cluster: string,
  wishes: readonly StorageWish[],
  things: readonly ThingView[],
): readonly StorageRow[] {
  const start = `Storage/${cluster}/`;
  const seen = new Map(
    things.filter(({ type }) => type === TYPE).map((thing) => [thing.key.replace(start, ""), thing] as const),
  );
  const wanted = wishes.map((wish) => ({ name: wish.name, wish, thing: seen.get(wish.name) ?? null }));
  const names = new Set(wishes.map(({ name }) => name));
  const others = [...seen].filter(([name]) => !names.has(name)).map(([name, thing]) => ({ name, wish: null, thing }));
  return [...wanted, ...others];
}

const SIGNS: Readonly<Record<string, StatusIndicatorProps.Type>> = {
  healthy: "success",
  progressing: "in-progress",
  deleting: "in-progress",
  failed: "error",
  degraded: "warning",
  unknown: "warning",
  absent: "pending",
};

/** One word for how a Storage is, and what is planned for it. */
export function signOf({ wish, thing }: StorageRow): {
  readonly type: StatusIndicatorProps.Type;
  readonly text: string;
} {
  const words = t.storage;
  const state = thing === null ? "unknown" : thing.presence === "present" ? thing.health || "unknown" : thing.presence;
  const told = [words.states[state] ?? state];
  if (thing?.planned) told.push(words.planned((t.plan.verbs[thing.planned] ?? thing.planned).toLowerCase()));
  if (thing?.held) told.push(words.held);
  if (wish === null) told.push(words.notAsked);
  return { type: thing?.held ? "warning" : (SIGNS[state] ?? "info"), text: told.join(", ") };
}
