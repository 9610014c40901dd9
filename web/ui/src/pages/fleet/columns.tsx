/** What is told of each cluster, from left to right: which, how it is, what goes on, and what it is made of. */
import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { SummaryView } from "../../api/schema";
import { RouteLink } from "../../frame/route-link";
import { short } from "../../parts/commits";
import { ConditionSign } from "../../parts/condition";
import type { Column } from "../../parts/listing";
import { WrittenBy } from "../../parts/written-by";
import { t } from "../../texts";
import { needsAttention } from "./attention";
import { Gpus } from "./gpus";
import { Now } from "./now";

export const columns: readonly [Column<SummaryView>, ...Column<SummaryView>[]] = [
  {
    id: "cluster",
    header: t.fleet.columns.cluster,
    cell: (line) => (
      <>
        <RouteLink to={`/clusters/${line.cluster}`} fontSize="inherit">
          {line.cluster}
        </RouteLink>
        <Box variant="small" color="text-body-secondary" display="block">
          {line.region}
        </Box>
      </>
    ),
    value: (line) => line.cluster,
    filter: true,
    width: 110,
  },
  {
    id: "condition",
    header: t.fleet.columns.condition,
    cell: (line) => <ConditionSign condition={line.condition} />,
    value: (line) => t.conditions[line.condition] ?? line.condition,
    filter: true,
    width: 150,
    half: true,
  },
  { id: "now", header: t.fleet.columns.now, cell: (line) => <Now line={line} />, width: 160 },
  {
    id: "gpus",
    header: t.fleet.columns.gpus,
    cell: (line) => <Gpus gpus={line.gpus} />,
    value: (line) => line.gpus.used ?? undefined,
    width: 120,
    half: true,
  },
  {
    id: "nodes",
    header: t.fleet.columns.nodes,
    cell: ({ instances: { ready, desired } }) =>
      ready == null ? t.fleet.nodes.wanted(desired) : t.fleet.nodes.ready(ready, desired),
    value: (line) => line.instances.desired,
    width: 90,
    half: true,
  },
  {
    id: "drift",
    header: t.fleet.columns.drift,
    cell: (line) => <Drift count={line.drift ?? null} />,
    value: (line) => line.drift ?? undefined,
    width: 80,
    half: true,
  },
  { id: "revision", header: t.fleet.columns.revision, cell: (line) => <Revision line={line} />, width: 150 },
  plain("region", t.fleet.columns.region, (line) => line.region),
  plain("types", t.fleet.columns.types, typesOf),
  plain("zones", t.fleet.columns.zones, (line) => line.zones.join(", ")),
  plain("kubernetes", t.fleet.columns.kubernetes, (line) => line.kubernetes_version),
  plain("account", t.fleet.columns.account, (line) => line.account),
  plain("attention", t.fleet.columns.attention, (line) => (needsAttention(line) ? t.fleet.yes : t.fleet.no)),
];

/** Text that is sorted and filtered by what it shows. */
function plain(id: string, header: string, value: (line: SummaryView) => string, hidden = true): Column<SummaryView> {
  return { id, header, cell: value, value, filter: true, hidden, width: 110 };
}

function typesOf({ instance_types }: SummaryView): string {
  return Object.entries(instance_types)
    .map(([type, count]) => `${count} × ${type.replace(/^ml\./, "")}`)
    .join(", ");
}

function Drift({ count }: { readonly count: number | null }) {
  if (count === null) return <Box color="text-status-inactive">{t.common.unknown}</Box>;
  if (count === 0) return <Box color="text-body-secondary">{t.fleet.drift.none}</Box>;
  return <StatusIndicator type="warning">{t.fleet.drift.some(count)}</StatusIndicator>;
}

/** The revision that is applied, what it says and who wrote it. */
function Revision({ line: { revision } }: { readonly line: SummaryView }) {
  if (revision == null) return <Box color="text-status-inactive">{t.common.none}</Box>;
  return (
    <>
      <div className="wrap-anywhere">
        <Box variant="code">{short(revision.commit)}</Box> {revision.subject}
      </div>
      <WrittenBy of={revision} />
    </>
  );
}
