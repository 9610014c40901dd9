/** What an action does to what runs, mild or not. */
import Badge, { type BadgeProps } from "@cloudscape-design/components/badge";
import type { ActionView } from "../../api/schema";
import { t } from "../../texts";

const COLOURS: Readonly<Record<string, BadgeProps["color"]>> = {
  none: "grey",
  inPlace: "green",
  rolling: "blue",
  replace: "severity-high",
  delete: "severity-critical",
  refused: "severity-critical",
};

export function Cost({ action }: { readonly action: ActionView }) {
  const gone = nodesGone(action);
  if (gone > 0) return <Badge color={COLOURS.delete}>{t.plan.nodesGone(gone)}</Badge>;
  const { cost } = action;
  return <Badge color={COLOURS[cost] ?? "grey"}>{t.plan.costs[cost] ?? cost}</Badge>;
}

/** A group is changed in place also where it becomes smaller; its nodes are not. */
export function nodesGone({ type, verb, changes }: Pick<ActionView, "type" | "verb" | "changes">): number {
  if (type !== GROUP || verb !== "update") return 0;
  const count = changes.find(({ path }) => path === "/count");
  if (typeof count?.before !== "number") return 0;
  return Math.max(0, count.before - (typeof count.after === "number" ? count.after : 0));
}

const GROUP = "hyperpod.InstanceGroup";
