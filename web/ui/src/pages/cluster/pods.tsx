/** The pods of a cluster, or of one node, by namespace; each leads to its log. */
import Button from "@cloudscape-design/components/button";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMemo } from "react";
import { useSearchParams } from "react-router";
import { api } from "../../api/client";
import { everyPage, useEveryPage } from "../../api/lists";
import type { PodView } from "../../api/schema";
import { RouteLink } from "../../frame/route-link";
import { Absent } from "../../parts/card";
import { type Column, Listing } from "../../parts/listing";
import { phaseSign } from "../../parts/pod-state";
import { type PartView, Sources } from "../../parts/sources";
import { Ago } from "../../parts/times";
import { t } from "../../texts";

const words = t.pods;

export function Pods({ cluster }: { readonly cluster: string }) {
  const [search, setSearch] = useSearchParams();
  const node = search.get("node") ?? undefined;
  const params = { path: { cluster }, query: { limit: 500, ...(node && { node }) } };
  const query = api.useInfiniteQuery("get", "/api/v1/clusters/{cluster}/pods", { params }, everyPage);
  const list = useEveryPage<PodView>(query as Parameters<typeof useEveryPage<PodView>>[0]);
  const columns = useMemo(() => columnsOf(cluster), [cluster]);
  if (list.data === undefined && list.error) {
    return <Absent error={list.error} onRetry={() => void list.refetch()} />;
  }
  const parts = (query.data as { readonly pages: readonly { readonly parts: readonly PartView[] }[] } | undefined)
    ?.pages;
  const all = node && <Button onClick={() => setSearch({ tab: "pods" })}>{words.all}</Button>;
  return (
    <>
      <Sources parts={parts?.[0]?.parts ?? []} />
      <Listing
        title={node ? words.onNode(node) : words.title}
        showTitle
        items={list.data ?? []}
        isLoading={list.data === undefined}
        columns={columns}
        trackBy={({ namespace, name }) => `${namespace}/${name}`}
        searchText={words.search}
        matches={words.matches}
        actions={all}
        empty={node ? { ...words.emptyNode, action: all } : words.empty}
        keep="pods"
      />
    </>
  );
}

export function logsOf(cluster: string, { namespace, name }: Pick<PodView, "namespace" | "name">): string {
  return `/clusters/${cluster}/pods/${namespace}/${name}`;
}

function State({ pod }: { readonly pod: PodView }) {
  const { type, text } = phaseSign(pod);
  return (
    <StatusIndicator type={type} wrapText>
      {text}
    </StatusIndicator>
  );
}

function columnsOf(cluster: string): readonly [Column<PodView>, ...Column<PodView>[]] {
  return [
    {
      id: "name",
      header: words.columns.name,
      cell: (pod) => (
        <RouteLink to={logsOf(cluster, pod)} fontSize="inherit" ariaLabel={words.logsOf(pod.name)}>
          <span className="wrap-anywhere">{pod.name}</span>
        </RouteLink>
      ),
      value: ({ name }) => name,
      filter: true,
      width: 150,
    },
    {
      id: "namespace",
      header: words.columns.namespace,
      cell: ({ namespace }) => namespace,
      value: ({ namespace }) => namespace,
      filter: true,
      width: 120,
      half: true,
    },
    {
      id: "state",
      header: words.columns.state,
      cell: (pod) => <State pod={pod} />,
      value: (pod) => phaseSign(pod).text,
      filter: true,
      width: 140,
      half: true,
    },
    {
      id: "ready",
      header: words.columns.ready,
      cell: ({ ready }) => ready,
      value: ({ ready }) => ready,
      width: 70,
      half: true,
    },
    {
      id: "restarts",
      header: words.columns.restarts,
      cell: ({ restarts }) => restarts,
      value: ({ restarts }) => restarts,
      width: 80,
      half: true,
    },
    {
      id: "gpus",
      header: words.columns.gpus,
      cell: ({ gpus }) => gpus || t.common.none,
      value: ({ gpus }) => gpus,
      width: 70,
      half: true,
    },
    {
      id: "node",
      header: words.columns.node,
      cell: ({ node }) => <span className="wrap-anywhere">{node || words.notPlaced}</span>,
      value: ({ node }) => node,
      filter: true,
      width: 130,
    },
    {
      id: "created",
      header: words.columns.age,
      cell: ({ created }) => (created ? <Ago at={created} /> : t.common.unknown),
      value: ({ created }) => created,
      width: 110,
      half: true,
    },
    {
      id: "owner",
      header: words.columns.owner,
      cell: ({ owner }) => owner || t.common.none,
      value: ({ owner }) => owner,
      filter: true,
      width: 120,
      hidden: true,
    },
    {
      id: "efa",
      header: words.columns.efa,
      cell: ({ efa_interfaces }) => efa_interfaces || t.common.none,
      value: ({ efa_interfaces }) => efa_interfaces,
      width: 80,
      hidden: true,
    },
  ];
}
