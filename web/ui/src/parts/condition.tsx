/** The one word for a cluster, a revision or a stage, with its sign. */
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import { t } from "../texts";

const SIGNS: Readonly<Record<string, StatusIndicatorProps.Type>> = {
  Ready: "success",
  Reconciling: "in-progress",
  Stalled: "error",
  Superseded: "stopped",
  Gone: "stopped",
  Unknown: "pending",
  // stages
  Waiting: "pending",
  Progressing: "in-progress",
  Failed: "error",
};

export function signOf(condition: string): StatusIndicatorProps.Type {
  return SIGNS[condition] ?? "info";
}

export function ConditionSign({ condition }: { readonly condition: string }) {
  return <StatusIndicator type={signOf(condition)}>{t.conditions[condition] ?? condition}</StatusIndicator>;
}
