/** One cluster: how far it is and what it waits for, its groups and nodes, what drifted, and what happened. */
import Alert from "@cloudscape-design/components/alert";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { lazy, type ReactNode, Suspense } from "react";
import { useParams, useSearchParams } from "react-router";
import { api } from "../../api/client";
import type { ClusterView } from "../../api/schema";
import { Page } from "../../frame/page";
import { Absent } from "../../parts/card";
import { ConditionSign } from "../../parts/condition";
import { Loading } from "../../parts/loading";
import { Said } from "../../parts/said";
import { Sources } from "../../parts/sources";
import { t } from "../../texts";
import { Overview } from "./overview";

// The overview is what one comes for; the rest is loaded when it is opened.
const Drift = lazy(async () => ({ default: (await import("./drift")).Drift }));
const Events = lazy(async () => ({ default: (await import("./events/events")).Events }));
const Groups = lazy(async () => ({ default: (await import("./groups/groups")).Groups }));
const Nodes = lazy(async () => ({ default: (await import("./nodes")).Nodes }));
const Pods = lazy(async () => ({ default: (await import("./pods")).Pods }));
const Storages = lazy(async () => ({ default: (await import("./storage/storages")).Storages }));
const Settings = lazy(async () => ({ default: (await import("./settings/settings")).Settings }));
const Timeline = lazy(async () => ({ default: (await import("./timeline")).Timeline }));

const ABOVE = [{ text: t.fleet.title, href: "/" }];

export function Component() {
  const { cluster = "" } = useParams();
  const query = api.useQuery("get", "/api/v1/clusters/{cluster}", { params: { path: { cluster } } });
  const { data } = query;
  return (
    <Page
      title={cluster}
      above={ABOVE}
      description={
        data && (
          <>
            <ConditionSign condition={data.condition} />{" "}
            {data.condition !== "Ready" && data.message && (
              <>
                · <Said text={data.message} />
              </>
            )}
          </>
        )
      }
    >
      {data === undefined ? (
        <Absent error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <SpaceBetween size="l">
          <Warnings view={data} />
          <Parts view={data} />
        </SpaceBetween>
      )}
    </Page>
  );
}

function Warnings({ view: { desired, problem, doubt, parts } }: { readonly view: ClusterView }) {
  return (
    <SpaceBetween size="s">
      {desired.suspend && <Alert type="info">{t.cluster.suspended}</Alert>}
      {desired.problems.length > 0 && (
        <Alert type="error" header={t.cluster.documents}>
          <ul className="plain-list wrap-anywhere">
            {desired.problems.map(({ text }) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </Alert>
      )}
      {problem && (
        <Alert type="error" header={t.cluster.problem}>
          {problem}
        </Alert>
      )}
      {doubt && (
        <Alert type="warning" header={t.cluster.doubt}>
          {doubt}
        </Alert>
      )}
      <Sources parts={parts} />
    </SpaceBetween>
  );
}

function Parts({ view }: { readonly view: ClusterView }) {
  const [search, setSearch] = useSearchParams();
  const words = t.cluster.tabs;
  const drifted = view.drift ? ` (${view.drift})` : "";
  return (
    <Tabs
      activeTabId={search.get("tab") ?? "overview"}
      onChange={({ detail }) => setSearch({ tab: detail.activeTabId }, { replace: true })}
      tabs={[
        { id: "overview", label: words.overview, content: <Overview view={view} /> },
        { id: "groups", label: words.groups, content: later(<Groups cluster={view.cluster} />) },
        { id: "nodes", label: words.nodes, content: later(<Nodes cluster={view.cluster} />) },
        { id: "pods", label: words.pods, content: later(<Pods cluster={view.cluster} />) },
        { id: "storage", label: words.storage, content: later(<Storages view={view} />) },
        { id: "events", label: words.events, content: later(<Events view={view} />) },
        { id: "drift", label: `${words.drift}${drifted}`, content: later(<Drift view={view} />) },
        { id: "timeline", label: words.timeline, content: later(<Timeline cluster={view.cluster} />) },
        { id: "settings", label: words.settings, content: later(<Settings view={view} />) },
      ]}
    />
  );
}

function later(content: ReactNode): ReactNode {
  return <Suspense fallback={<Loading />}>{content}</Suspense>;
}
