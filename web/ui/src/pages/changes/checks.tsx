/** Checks of a change: in a line for the list, and each with what it says. */
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import { api } from "../../api/client";
import type { ChangeSummary, CheckView } from "../../api/schema";
import { t } from "../../texts";

const SIGNS: Readonly<Record<CheckView["state"], StatusIndicatorProps.Type>> = {
  ok: "success",
  failed: "error",
  waiting: "pending",
  unknown: "warning",
};
const WORST: readonly CheckView["state"][] = ["failed", "unknown", "waiting"];

/** The check that a person should know of first; undefined: all are fine. */
export function pressing(checks: readonly CheckView[]): CheckView | undefined {
  for (const state of WORST) {
    const found = checks.find((check) => check.state === state);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The list tells no checks, for each costs a plan: what is open and in sight asks for its own. */
export function ListedChecks({ change }: { readonly change: ChangeSummary }) {
  if (change.state !== "open") return <Box color="text-body-secondary">{t.changes.checks.ended}</Box>;
  return <OpenChecks id={change.id} />;
}

function OpenChecks({ id }: { readonly id: string }) {
  const { data, error } = api.useQuery("get", "/api/v1/changes/{change}", { params: { path: { change: id } } });
  if (data === undefined) {
    if (error) return <Box color="text-status-inactive">{t.common.unknown}</Box>;
    return <StatusIndicator type="loading">{t.common.loading}</StatusIndicator>;
  }
  const found = pressing(data.checks);
  if (found === undefined) return <StatusIndicator type="success">{t.changes.checks.ready}</StatusIndicator>;
  const { names, states } = t.changes.checks;
  return (
    <StatusIndicator type={SIGNS[found.state]}>
      {names[found.name]}: {states[found.state]}
    </StatusIndicator>
  );
}

const MOST = 6;

export function Checks({ checks }: { readonly checks: readonly CheckView[] }) {
  const { names, states, more } = t.changes.checks;
  return (
    <SpaceBetween size="s">
      {checks.map(({ name, state, says }) => (
        <div key={name}>
          <StatusIndicator type={SIGNS[state]}>
            <strong>{names[name]}</strong>: {states[state]}
          </StatusIndicator>
          <ul className="plain-list wrap-anywhere">
            {says.slice(0, MOST).map((text) => (
              <li key={text}>{text}</li>
            ))}
            {says.length > MOST && <li>{more(says.length - MOST)}</li>}
          </ul>
        </div>
      ))}
    </SpaceBetween>
  );
}
