import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { ChangeSummary } from "../../api/schema";
import { t } from "../../texts";

const SIGNS: Readonly<Record<ChangeSummary["state"], StatusIndicatorProps.Type>> = {
  open: "in-progress",
  merged: "success",
  closed: "stopped",
};

export function StateSign({ state }: { readonly state: ChangeSummary["state"] }) {
  return <StatusIndicator type={SIGNS[state]}>{t.changes.states[state]}</StatusIndicator>;
}
