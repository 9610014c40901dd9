import type { SummaryView } from "../../api/schema";

/** It does not go on, or not all of it, before a person does something. */
export function needsAttention({ condition, held, failed_ops }: SummaryView): boolean {
  return condition === "Stalled" || held > 0 || failed_ops > 0;
}
