/** Instance groups as wanted and as they are, with a small form for each thing that can be changed. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMemo, useState } from "react";
import { api } from "../../../api/client";
import { everyPage, useEveryPage } from "../../../api/lists";
import type { GroupView } from "../../../api/schema";
import { useSession } from "../../../api/session";
import { Absent } from "../../../parts/card";
import { type Column, Listing } from "../../../parts/listing";
import { t } from "../../../texts";
import { AddGroup } from "./add";
import { Labels } from "./labels";
import { Remove } from "./remove";
import { Scale } from "./scale";

type Deed = "scale" | "labels" | "remove";
type Asked = { readonly deed: Deed; readonly group: GroupView } | { readonly deed: "add" };
const DEEDS: readonly Deed[] = ["scale", "labels", "remove"];
const words = t.groups;

export function Groups({ cluster }: { readonly cluster: string }) {
  const { may } = useSession();
  const params = { path: { cluster }, query: { limit: 500 } };
  const groups = useEveryPage(api.useInfiniteQuery("get", "/api/v1/clusters/{cluster}/groups", { params }, everyPage));
  const [asked, setAsked] = useState<Asked | null>(null);
  const mayPropose = may("propose");
  const columns = useMemo(() => columnsOf(mayPropose, (deed, group) => setAsked({ deed, group })), [mayPropose]);
  const close = () => setAsked(null);
  const add = (
    <Button
      onClick={() => setAsked({ deed: "add" })}
      disabled={!mayPropose}
      disabledReason={t.common.missingScope("propose")}
    >
      {words.actions.add}
    </Button>
  );
  if (groups.data === undefined && groups.error) {
    return <Absent error={groups.error} onRetry={() => void groups.refetch()} />;
  }
  return (
    <>
      <Listing
        title={words.title}
        showTitle
        items={groups.data ?? []}
        isLoading={groups.data === undefined}
        isPartial={!groups.isComplete}
        columns={columns}
        trackBy={({ name }) => name}
        searchText={words.search}
        matches={words.matches}
        actions={add}
        empty={{ ...words.empty, action: add }}
        keep="groups"
      />
      {asked?.deed === "add" && (
        <AddGroup cluster={cluster} taken={(groups.data ?? []).map(({ name }) => name)} onClose={close} />
      )}
      {asked?.deed === "scale" && <Scale cluster={cluster} group={asked.group} onClose={close} />}
      {asked?.deed === "labels" && <Labels cluster={cluster} group={asked.group} onClose={close} />}
      {asked?.deed === "remove" && <Remove cluster={cluster} group={asked.group} onClose={close} />}
    </>
  );
}

function columnsOf(
  mayPropose: boolean,
  onAsk: (deed: Deed, group: GroupView) => void,
): readonly [Column<GroupView>, ...Column<GroupView>[]] {
  return [
    {
      id: "name",
      header: words.columns.name,
      cell: ({ name }) => name,
      value: ({ name }) => name,
      filter: true,
      width: 110,
    },
    {
      id: "type",
      header: words.columns.type,
      cell: ({ instance_type }) => instance_type,
      value: ({ instance_type }) => instance_type,
      filter: true,
      width: 140,
      half: true,
    },
    {
      id: "count",
      header: words.columns.count,
      cell: ({ nodes, desired }) =>
        nodes.ready == null
          ? t.cluster.facts.wanted(desired?.count ?? nodes.desired)
          : t.cluster.facts.of(nodes.ready, nodes.desired),
      value: ({ nodes }) => nodes.desired,
      width: 100,
      half: true,
    },
    {
      id: "gpus",
      header: words.columns.gpus,
      cell: ({ gpus: { used, ready } }) => (used == null ? t.common.unknown : t.cluster.facts.of(used, ready ?? 0)),
      value: ({ gpus }) => gpus.used ?? undefined,
      width: 100,
      half: true,
    },
    { id: "state", header: words.columns.state, cell: (group) => <State group={group} />, width: 140, half: true },
    {
      id: "zone",
      header: words.columns.zone,
      cell: ({ zone }) => zone || t.common.none,
      value: ({ zone }) => zone,
      filter: true,
      width: 90,
      half: true,
    },
    {
      id: "capacity",
      header: words.columns.capacity,
      cell: ({ desired }) => (desired ? (words.capacities[desired.capacity] ?? desired.capacity) : t.common.unknown),
      value: ({ desired }) => desired?.capacity,
      width: 100,
      half: true,
      hidden: true,
    },
    {
      id: "labels",
      header: words.columns.labels,
      cell: ({ desired }) => labelText(desired?.labels) || t.common.none,
      value: ({ desired }) => labelText(desired?.labels),
      width: 140,
      hidden: true,
    },
    {
      id: "actions",
      header: words.columns.actions,
      cell: (group) => (
        <ButtonDropdown
          variant="inline-icon"
          ariaLabel={words.actions.of(group.name)}
          expandToViewport
          disabled={group.desired == null || !mayPropose}
          disabledReason={group.desired == null ? words.notAsked : t.common.missingScope("propose")}
          items={DEEDS.map((id) => ({ id, text: words.actions[id] }))}
          onItemClick={({ detail }) => onAsk(detail.id as Deed, group)}
        />
      ),
      width: 80,
    },
  ];
}

function labelText(labels: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");
}

function State({ group: { desired, health, reason, message, planned, held, status } }: { readonly group: GroupView }) {
  const type = held ? "warning" : health === "healthy" ? "success" : health ? "in-progress" : "pending";
  const text = desired == null ? words.notAsked : planned.length > 0 ? verbsOf(planned) : status || words.asWritten;
  return (
    <SpaceBetween size="xxxs">
      <StatusIndicator type={type} wrapText>
        {text}
        {held && `, ${words.held}`}
      </StatusIndicator>
      {(message || (health !== "healthy" && reason)) && (
        <Box variant="small" color="text-body-secondary">
          {message || reason}
        </Box>
      )}
    </SpaceBetween>
  );
}

function verbsOf(planned: readonly string[]): string {
  return words.planned(planned.map((verb) => (t.plan.verbs[verb] ?? verb).toLowerCase()).join(", "));
}
