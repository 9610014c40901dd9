/** What merging a change would do: how far it reaches, what is missing, and the plan of each cluster it touches. */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, client } from "../../api/client";
import type { ChangeView as Change, ChangePlanView, ReachView } from "../../api/schema";
import { ProblemAlert } from "../../frame/problem-alert";
import { Absent } from "../../parts/card";
import { Plan } from "../../parts/plan/plan";
import { Ago } from "../../parts/times";
import { t } from "../../texts";

export function ChangePlan({ change }: { readonly change: Change }) {
  if (change.state !== "open") return <Box color="text-body-secondary">{t.change.planOver}</Box>;
  return <OpenPlan id={change.id} />;
}

export function planQuery(id: string) {
  return api.queryOptions("get", "/api/v1/changes/{change}/plan", { params: { path: { change: id } } });
}

function OpenPlan({ id }: { readonly id: string }) {
  const plan = api.useQuery("get", "/api/v1/changes/{change}/plan", { params: { path: { change: id } } });
  const { data } = plan;
  if (data === undefined) return <Absent error={plan.error} onRetry={() => void plan.refetch()} />;
  return (
    <SpaceBetween size="l">
      <Looked id={id} at={data.looked_at} />
      <InTheWay plan={data} />
      {data.reach.length > 0 && <Reach reach={data.reach} />}
      {data.clusters.map(({ cluster, plan: shown, introduced }) => (
        <SpaceBetween key={cluster} size="s">
          <Header variant="h3">{cluster}</Header>
          <Plan plan={shown} introduced={introduced} />
        </SpaceBetween>
      ))}
      {data.clusters.length === 0 && data.commit !== null && <Box>{t.plan.nothing}</Box>}
    </SpaceBetween>
  );
}

function Looked({ id, at }: { readonly id: string; readonly at: string }) {
  const queries = useQueryClient();
  const [isLooking, setLooking] = useState(false);
  const [error, setError] = useState<unknown>();

  async function look() {
    setLooking(true);
    setError(undefined);
    try {
      const params = { path: { change: id }, query: { fresh: true } };
      const { data } = await client.GET("/api/v1/changes/{change}/plan", { params });
      queries.setQueryData(planQuery(id).queryKey, data);
      await queries.invalidateQueries({ queryKey: ["get", "/api/v1/changes/{change}"] });
    } catch (found) {
      setError(found);
    }
    setLooking(false);
  }

  return (
    <SpaceBetween size="s">
      <SpaceBetween direction="horizontal" size="s" alignItems="center">
        <Box color="text-body-secondary">
          {t.change.lookedAt} <Ago at={at} />
        </Box>
        <Button iconName="refresh" loading={isLooking} onClick={() => void look()}>
          {t.change.lookAgain}
        </Button>
      </SpaceBetween>
      {error !== undefined && <ProblemAlert error={error} onDismiss={() => setError(undefined)} />}
    </SpaceBetween>
  );
}

function InTheWay({ plan: { problems, refused, commit } }: { readonly plan: ChangePlanView }) {
  return (
    <SpaceBetween size="s">
      {refused != null && <Alert type="error">{refused}</Alert>}
      {commit === null && <Box color="text-body-secondary">{t.change.unknowable}</Box>}
      {problems.length > 0 && (
        <Alert type="error" header={t.change.problems}>
          <ul className="plain-list wrap-anywhere">
            {problems.map(({ text }) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </Alert>
      )}
    </SpaceBetween>
  );
}

function Reach({ reach }: { readonly reach: readonly ReachView[] }) {
  const { title, names, of } = t.change.reach;
  return (
    <section aria-label={title}>
      <KeyValuePairs
        columns={4}
        minColumnWidth={130}
        items={reach
          .filter(({ what, found }) => found > 0 || what === "nodes" || what === "deletes")
          .map(({ what, found, most }) => ({
            label: names[what],
            value: <Box color={found > most ? "text-status-error" : undefined}>{of(found, most)}</Box>,
          }))}
      />
    </section>
  );
}
