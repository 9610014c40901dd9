/** One change: what it is and who wants it, what it waits for, its plan, its differences, and what was said. */
import Alert from "@cloudscape-design/components/alert";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useParams, useSearchParams } from "react-router";
import { api } from "../../api/client";
import type { ChangeView as Change } from "../../api/schema";
import { Page } from "../../frame/page";
import { Absent, Card } from "../../parts/card";
import { Conflicts } from "../../parts/conflicts";
import { t } from "../../texts";
import { Checks } from "../changes/checks";
import { StateSign } from "../changes/state";
import { Actions } from "./actions";
import { Diff } from "./diff";
import { Facts } from "./facts";
import { ChangePlan } from "./plan";
import { Talk } from "./talk";

const ABOVE = [{ text: t.changes.title, href: "/changes" }];

export function Component() {
  const { change: id = "" } = useParams();
  const query = api.useQuery("get", "/api/v1/changes/{change}", { params: { path: { change: id } } });
  const { data } = query;
  if (data === undefined) {
    return (
      <Page title={t.changes.columns.title} above={ABOVE}>
        <Absent error={query.error} onRetry={() => void query.refetch()} />
      </Page>
    );
  }
  return (
    <Page
      title={data.title}
      above={ABOVE}
      description={
        <>
          <StateSign state={data.state} /> {data.state === "open" && `· ${t.change.notMade}`}
        </>
      }
      actions={<Actions change={data} />}
    >
      <SpaceBetween size="l">
        <Warnings change={data} />
        <Facts change={data} />
        {data.state === "open" && (
          <Card title={t.changes.checks.title} query={query}>
            {({ checks }) => <Checks checks={checks} />}
          </Card>
        )}
        <Parts change={data} />
      </SpaceBetween>
    </Page>
  );
}

function Warnings({ change }: { readonly change: Change }) {
  const { losses, findings, conflicts } = change;
  return (
    <SpaceBetween size="s">
      {conflicts.length > 0 && (
        <Alert type="error" header={t.change.conflicts.title}>
          {t.change.conflicts.text}
          <Conflicts found={conflicts} />
        </Alert>
      )}
      {losses.length > 0 && <Lines type="warning" title={t.change.losses} lines={losses} />}
      {findings.length > 0 && <Lines type="warning" title={t.change.findings} lines={findings} />}
    </SpaceBetween>
  );
}

function Lines({ type, title, lines }: { type: "warning"; title: string; lines: readonly string[] }) {
  return (
    <Alert type={type} header={title}>
      <ul className="plain-list wrap-anywhere">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </Alert>
  );
}

function Parts({ change }: { readonly change: Change }) {
  const [search, setSearch] = useSearchParams();
  const words = t.change.tabs;
  return (
    <Tabs
      variant="container"
      activeTabId={search.get("tab") ?? "plan"}
      onChange={({ detail }) => setSearch({ tab: detail.activeTabId }, { replace: true })}
      tabs={[
        { id: "plan", label: words.plan, content: <ChangePlan change={change} /> },
        { id: "diff", label: `${words.diff} (${change.files.length})`, content: <Diff id={change.id} /> },
        { id: "talk", label: words.talk, content: <Talk change={change} /> },
      ]}
    />
  );
}
