/** What an action does to what runs, mild or not. */
import Badge, { type BadgeProps } from "@cloudscape-design/components/badge";
import { t } from "../../texts";

const COLOURS: Readonly<Record<string, BadgeProps["color"]>> = {
  none: "grey",
  inPlace: "green",
  rolling: "blue",
  replace: "severity-high",
  delete: "severity-critical",
  refused: "severity-critical",
};

export function Cost({ cost }: { readonly cost: string }) {
  return <Badge color={COLOURS[cost] ?? "grey"}>{t.plan.costs[cost] ?? cost}</Badge>;
}
