/** A plan of one cluster: what is refused, what the look ahead found, and the actions by stage with their costs. */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ActionView, FindingView, PlanView, RefusalView } from "../../api/schema";
import { t } from "../../texts";
import { Action } from "./action";
import { byStage } from "./stages";

interface PlanProps {
  readonly plan: PlanView;
  /** Digests of the actions that the change at hand brings; without it all are shown alike. */
  readonly introduced?: readonly string[];
}

export function Plan({ plan, introduced }: PlanProps) {
  const own =
    introduced === undefined ? plan.actions : plan.actions.filter(({ digest }) => introduced.includes(digest));
  const others = introduced === undefined ? [] : plan.actions.filter(({ digest }) => !introduced.includes(digest));
  const isNothing = plan.unplanned == null && plan.refusals.length === 0 && own.length === 0;
  return (
    <SpaceBetween size="m">
      {plan.unplanned != null && <Unplanned plan={plan} why={plan.unplanned} />}
      {plan.refusals.length > 0 && <Refusals refusals={plan.refusals} />}
      <Findings findings={plan.findings} />
      {isNothing && <Box color="text-body-secondary">{t.plan.nothing}</Box>}
      <Stages actions={own} />
      {others.length > 0 && (
        <ExpandableSection headerText={`${t.plan.already} (${others.length})`}>
          <Stages actions={others} />
        </ExpandableSection>
      )}
      {plan.unknown.length > 0 && (
        <Alert type="warning" header={t.plan.unknown}>
          {plan.unknown.map(({ key, message }) => (
            <div key={key} className="wrap-anywhere">
              {key} {message}
            </div>
          ))}
        </Alert>
      )}
    </SpaceBetween>
  );
}

const FEW = 12; // as many actions are read at a glance; of more the stages with their counts are

function Stages({ actions }: { readonly actions: readonly ActionView[] }) {
  return byStage(actions).map(({ stage, actions: inside }) => (
    <ExpandableSection
      key={stage}
      defaultExpanded={actions.length <= FEW}
      headingTagOverride="h4"
      headerText={`${t.stages[stage] ?? stage} (${inside.length})`}
    >
      <SpaceBetween size="s">
        {inside.map((action) => (
          <Action key={action.digest} action={action} />
        ))}
      </SpaceBetween>
    </ExpandableSection>
  ));
}

function Unplanned({ plan, why }: { readonly plan: PlanView; readonly why: string }) {
  return (
    <Alert type="error" header={t.plan.unplanned(plan.cluster)}>
      {why}
      <ul className="plain-list wrap-anywhere">
        {plan.problems.map(({ text }) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </Alert>
  );
}

function Refusals({ refusals }: { readonly refusals: readonly RefusalView[] }) {
  return (
    <Alert type="error" header={t.plan.refusals}>
      <SpaceBetween size="xs">
        {refusals.map(({ key, message, way_out, where }) => (
          <div key={`${key} ${message}`} className="wrap-anywhere">
            {where && `${where}: `}
            {message}
            {way_out && (
              <div>
                <strong>{t.problems.wayOut}:</strong> {way_out}
              </div>
            )}
          </div>
        ))}
      </SpaceBetween>
    </Alert>
  );
}

const TYPES = { error: "error", warning: "warning" } as const;

function Findings({ findings }: { readonly findings: readonly FindingView[] }) {
  if (findings.length === 0) return null;
  const worst = (["error", "warning"] as const).find((one) => findings.some(({ severity }) => severity === one));
  return (
    <Alert type={worst === undefined ? "info" : TYPES[worst]} header={t.plan.findings}>
      <ul className="plain-list wrap-anywhere">
        {findings.map(({ severity, message, where, reason }) => (
          <li key={`${reason} ${message} ${where}`}>
            {t.plan.severities[severity] ?? severity}: {message}
            {where && ` (${where})`}
          </li>
        ))}
      </ul>
    </Alert>
  );
}
