/** HyperPod's machines and Kubernetes' nodes, one row each: health, GPUs, pods; and a reboot, as a change. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMemo, useState } from "react";
import { api } from "../../api/client";
import { everyPage, useEveryPage } from "../../api/lists";
import type { NodeView } from "../../api/schema";
import { useSession } from "../../api/session";
import { RouteLink } from "../../frame/route-link";
import { Absent } from "../../parts/card";
import { type Column, Listing } from "../../parts/listing";
import { t } from "../../texts";
import { Reboot } from "./reboot";

const words = t.nodes;

export function Nodes({ cluster }: { readonly cluster: string }) {
  const { may } = useSession();
  const params = { path: { cluster }, query: { limit: 500 } };
  const query = api.useInfiniteQuery("get", "/api/v1/clusters/{cluster}/nodes", { params }, everyPage);
  const list = useEveryPage<NodeView>(query as Parameters<typeof useEveryPage<NodeView>>[0]);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [rebooted, setRebooted] = useState<readonly NodeView[]>([]);
  const mayPropose = may("propose");
  const columns = useMemo(() => columnsOf(cluster, mayPropose, (node) => setRebooted([node])), [cluster, mayPropose]);
  const all = list.data ?? [];
  const chosen = all.filter((node) => marked.has(node.id) && canReboot(node));
  const [first, ...more] = rebooted;
  const lack = !mayPropose
    ? t.common.missingScope("propose")
    : chosen.length === 0
      ? words.reboot.none
      : chosen.length > MOST
        ? words.reboot.tooMany(MOST)
        : undefined;
  if (list.data === undefined && list.error) {
    return <Absent error={list.error} onRetry={() => void list.refetch()} />;
  }
  return (
    <>
      <Listing
        title={words.title}
        showTitle
        items={all}
        isLoading={list.data === undefined}
        isPartial={!list.isComplete}
        columns={columns}
        trackBy={idOf}
        searchText={words.search}
        matches={words.matches}
        empty={words.empty}
        keep="nodes"
        selection={{ marked, onChange: setMarked, canMark: canReboot, label: ({ id }) => id, words: words.marking }}
        actions={
          <Button disabled={lack !== undefined} disabledReason={lack} onClick={() => setRebooted(chosen)}>
            {chosen.length === 0 ? words.reboot.action : words.reboot.selected(chosen.length)}
          </Button>
        }
      />
      {first && <Reboot cluster={cluster} nodes={[first, ...more]} onClose={() => setRebooted([])} />}
    </>
  );
}

const MOST = 100; // nodes in one Operation
const idOf = ({ id }: NodeView) => id;
const canReboot = ({ instance }: NodeView) => instance !== "";

/** One word for how a node is; what is not seen now is never shown as well. */
export function healthOf({ node }: NodeView): {
  readonly type: "success" | "warning" | "error" | "pending";
  text: string;
} {
  if (node == null) return { type: "pending", text: words.provisioning };
  if (node.ready === null) return { type: "warning", text: words.silent };
  if (!node.ready) return { type: "error", text: words.notReady };
  return node.takes_pods ? { type: "success", text: words.ready } : { type: "warning", text: words.cordoned };
}

function Health({ view }: { readonly view: NodeView }) {
  const { type, text } = healthOf(view);
  const faults = view.node?.faults ?? [];
  return (
    <>
      <StatusIndicator type={type}>{text}</StatusIndicator>
      {faults.length > 0 && (
        <Box variant="small" color="text-status-error" display="block">
          {faults.join(", ")}
        </Box>
      )}
    </>
  );
}

function columnsOf(
  cluster: string,
  mayPropose: boolean,
  onReboot: (node: NodeView) => void,
): readonly [Column<NodeView>, ...Column<NodeView>[]] {
  return [
    {
      id: "id",
      header: words.columns.id,
      cell: ({ id }) => <span className="wrap-anywhere">{id}</span>,
      value: ({ id }) => id,
      filter: true,
      width: 190,
    },
    {
      id: "group",
      header: words.columns.group,
      cell: ({ group }) => group || t.common.none,
      value: ({ group }) => group,
      filter: true,
      width: 90,
      half: true,
    },
    {
      id: "health",
      header: words.columns.health,
      cell: (view) => <Health view={view} />,
      value: (view) => healthOf(view).text,
      filter: true,
      width: 185,
      half: true,
    },
    {
      id: "machine",
      header: words.columns.machine,
      cell: ({ machine }) => machine?.status ?? words.unseen,
      value: ({ machine }) => machine?.status,
      filter: true,
      width: 100,
      half: true,
    },
    {
      id: "gpus",
      header: words.columns.gpus,
      cell: ({ gpus, gpus_used }) =>
        !gpus ? t.fleet.gpus.none : gpus_used == null ? t.common.unknown : t.fleet.gpus.used(gpus_used, gpus),
      value: ({ gpus_used }) => gpus_used ?? undefined,
      width: 90,
      half: true,
    },
    {
      id: "pods",
      header: words.columns.pods,
      cell: ({ pods, node }) =>
        pods && node ? (
          <RouteLink to={`/clusters/${cluster}?tab=pods&node=${node.name}`}>{pods}</RouteLink>
        ) : (
          (pods ?? t.common.unknown)
        ),
      value: ({ pods }) => pods ?? undefined,
      width: 70,
      half: true,
    },
    plain("type", words.columns.type, ({ instance_type }) => instance_type),
    plain("zone", words.columns.zone, ({ zone_id, zone }) => zone_id || zone),
    plain("kubelet", words.columns.kubelet, ({ node }) => node?.kubelet ?? ""),
    {
      id: "actions",
      header: words.columns.actions,
      cell: (view) => (
        <Button
          variant="inline-link"
          ariaLabel={words.reboot.title(view.id)}
          disabled={!mayPropose || view.instance === ""}
          disabledReason={view.instance === "" ? words.reboot.notThere : t.common.missingScope("propose")}
          onClick={() => onReboot(view)}
        >
          {words.reboot.action}
        </Button>
      ),
      width: 80,
    },
  ];
}

function plain(id: string, header: string, value: (view: NodeView) => string): Column<NodeView> {
  return { id, header, cell: (view) => value(view) || t.common.unknown, value, filter: true, hidden: true, width: 110 };
}
