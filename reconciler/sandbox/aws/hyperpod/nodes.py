"""Nodes: lists and details, and the batch calls with an outcome per node."""

from __future__ import annotations

from collections.abc import Callable

from reconciler.sandbox.aws.calls import Call, Handler, Json, each
from reconciler.sandbox.aws.errors import AwsError
from reconciler.sandbox.aws.hyperpod import describe, limits
from reconciler.sandbox.aws.hyperpod.provisioning import Provisioning
from reconciler.sandbox.aws.hyperpod.records import HyperPodCluster, Node, cluster_of, conflict, invalid, not_found
from reconciler.sandbox.aws.world import World

_MOST_DELETED = 99
_MOST_TREATED = 25

Refuse = Callable[[HyperPodCluster, Node], tuple[str, str] | None]


class Nodes:
    def __init__(self, world: World, provisioning: Provisioning) -> None:
        self._world, self._provisioning = world, provisioning

    def handlers(self) -> dict[str, Handler]:
        return {
            "ListClusterNodes": self.list,
            "DescribeClusterNode": self.describe,
            "BatchDeleteClusterNodes": self.delete,
            "BatchRebootClusterNodes": self.reboot,
            "BatchReplaceClusterNodes": self.replace,
            "ListClusterEvents": self.events,
            "DescribeClusterEvent": self.describe_event,
        }

    def list(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        contains, logical = str(params.get("InstanceGroupNameContains", "")), params.get("IncludeNodeLogicalIds", False)
        found = [node for node in cluster.nodes.values() if contains in node.group]
        found.sort(key=lambda node: (node.launched, node.id), reverse=params.get("SortOrder") == "Descending")
        return limits.paged([describe.node_summary(n, logical=logical) for n in found], "ClusterNodeSummaries", params)

    def describe(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        wanted = params.get("NodeId") or params.get("NodeLogicalId")
        if not wanted or ("NodeId" in params and "NodeLogicalId" in params):
            raise invalid("Exactly one of NodeId and NodeLogicalId must be given")
        for node in cluster.nodes.values():
            if node.id == params.get("NodeId") or (node.logical == params.get("NodeLogicalId") and not node.leaving):
                return {"NodeDetails": describe.node_details(cluster, node)}
        raise not_found(f"Node {wanted} not found in cluster {cluster.name}")

    def delete(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        if len(each(params, "NodeIds")) > _MOST_DELETED:
            raise invalid(f"At most {_MOST_DELETED} nodes can be deleted in one call")
        if cluster.status not in ("InService",):
            raise conflict(f"Cluster {cluster.name} is {cluster.status}; nodes cannot be deleted now")

        def refuse(found: HyperPodCluster, node: Node) -> tuple[str, str] | None:
            group = found.groups[node.group]
            if node.leaving or group.status == "Deleting":
                return "InvalidNodeStatus", f"Node {node.id} is already being deleted"
            if group.minimum and not self._provisioning.minimum_reached(found, group):
                return "NodeIdInUse", f"Instance group {group.name} has not reached its minimum count"
            return None

        def act(node: Node) -> None:
            cluster.groups[node.group].target -= 1
            self._provisioning.terminate(cluster, node)
            call.changed("deleted", "hyperpod.node", node.id, f"target of {node.group} lowered by 1")

        return self._batch(call, cluster, params, "NodeId", refuse, act)

    def reboot(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)

        def act(node: Node) -> None:
            self._provisioning.reboot(cluster, node)
            call.changed("rebooted", "hyperpod.node", node.id)

        return self._treat(call, cluster, params, act)

    def replace(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)

        def act(node: Node) -> None:
            self._provisioning.replace(cluster, node)
            call.changed("replaced", "hyperpod.node", node.id)

        return self._treat(call, cluster, params, act)

    def events(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        if not cluster.continuous:
            raise invalid("Cluster events are available only for clusters with continuous node provisioning")
        filters = {"InstanceGroupName": "InstanceGroupName", "NodeId": "InstanceId", "ResourceType": "ResourceType"}
        after, before = float(params.get("EventTimeAfter", 0)), float(params.get("EventTimeBefore", "inf"))
        found = [
            event
            for event in reversed(cluster.events)
            if all(params.get(name) in (None, event.get(member)) for name, member in filters.items())
            and after <= event["EventTime"] <= before
        ]
        return limits.paged(found, "Events", params)

    def describe_event(self, call: Call, params: Json) -> Json:
        for event in self._cluster(call, params).events:
            if event["EventId"] == params["EventId"]:
                return {"EventDetails": event}
        raise not_found(f"Event {params['EventId']} not found")

    def _cluster(self, call: Call, params: Json) -> HyperPodCluster:
        return cluster_of(self._world, call.account, call.region, params["ClusterName"])

    def _treat(self, call: Call, cluster: HyperPodCluster, params: Json, act: Callable[[Node], None]) -> Json:
        for member in ("NodeIds", "NodeLogicalIds"):
            if len(params.get(member) or []) > _MOST_TREATED:
                raise invalid(f"At most {_MOST_TREATED} {member} can be given in one call")
        if params.get("NodeLogicalIds") and not cluster.continuous:
            raise invalid("NodeLogicalIds need continuous node provisioning")

        def refuse(_cluster: HyperPodCluster, node: Node) -> tuple[str, str] | None:
            if node.status in ("Running", "Failure"):
                return None
            return "InvalidInstanceStatus", f"Instance {node.id} is {node.status}"

        return self._batch(call, cluster, params, "InstanceId", refuse, act)

    def _batch(
        self,
        call: Call,
        cluster: HyperPodCluster,
        params: Json,
        noun: str,
        refuse: Refuse,
        act: Callable[[Node], None],
    ) -> Json:
        """Act on each named node or say why not; only if not one succeeded is the whole call an error."""
        answer: Json = {"Successful": [], "Failed": []}
        logical: Json = {"SuccessfulNodeLogicalIds": [], "FailedNodeLogicalIds": []}
        wanted = [("NodeId", one) for one in each(params, "NodeIds")]
        wanted += [("NodeLogicalId", one) for one in each(params, "NodeLogicalIds")]
        if not wanted:
            raise invalid("NodeIds or NodeLogicalIds must be given")
        spoilt = call.partial
        for kind, one in dict.fromkeys(wanted):
            good, bad = (
                (answer["Successful"], answer["Failed"])
                if kind == "NodeId"
                else (logical["SuccessfulNodeLogicalIds"], logical["FailedNodeLogicalIds"])
            )
            node = _find(cluster, kind, one)
            why = (f"{noun}NotFound", f"Node {one} was not found") if node is None else refuse(cluster, node)
            if spoilt:
                spoilt, why = False, (f"{noun}Refused", f"Node {one} cannot be treated now")
            if node is None or why is not None:
                code, message = why or ("", "")
                bad.append({"Code" if noun == "NodeId" else "ErrorCode": code, "Message": message, kind: one})
                continue
            act(node)
            good.append(one)
        if not call.partial and not answer["Successful"] and not logical["SuccessfulNodeLogicalIds"]:
            failed = answer["Failed"] + logical["FailedNodeLogicalIds"]
            text = "; ".join(f"{item.get('Code') or item.get('ErrorCode')}: {item['Message']}" for item in failed)
            raise AwsError("ValidationException", f"The request failed for all nodes. {text}")
        return {name: value for name, value in {**answer, **logical}.items() if value}


def _find(cluster: HyperPodCluster, kind: str, wanted: str) -> Node | None:
    if kind == "NodeId":
        return cluster.nodes.get(wanted)
    return next((n for n in cluster.nodes.values() if n.logical == wanted and not n.leaving), None)
