"""Nodes: HyperPod's machine and Kubernetes' node as one row."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from instantstart_mcp.api import ApiProblem, Json, part, rows
from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import reads
from instantstart_mcp.words import Answer, ClusterName, Cursor, Limit, Part, Word, unseen

_PAGE = 500
NodeId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][-A-Za-z0-9._]{0,252}$", description="i-… or the node's name")]


class NodeRow(Answer):
    id: str
    group: Word = ""
    instance_type: Word = ""
    zone: Word = ""
    machine: Word = ""
    ready: bool | None = None
    takes_pods: bool | None = None
    health: Word = ""
    deep_check: Word = ""
    faults_untrusted: tuple[str, ...] = ()
    gpus: int | None = None
    gpus_used: int | None = None
    pods: int | None = None


class NodeList(Answer):
    items: tuple[NodeRow, ...]
    next_cursor: str | None = None
    unseen: tuple[Part, ...] = ()


class NodeCondition(Answer):
    type: Word
    status: Word
    reason: Word = ""
    since: str = ""
    message_untrusted: str = ""


class NodeAnswer(NodeRow):
    name: Word = ""
    machine_message_untrusted: str = ""
    launched: str = ""
    image_status: Word = ""
    cordoned: bool | None = None
    taints_untrusted: tuple[str, ...] = ()
    conditions: tuple[NodeCondition, ...] = ()
    boot_id: Word = ""
    kubelet: Word = ""
    efa_interfaces: int | None = None
    observed_at: str | None = None
    unseen: tuple[Part, ...] = ()


async def node_list(
    call: Call,
    cluster: ClusterName,
    group: Annotated[str, Field(max_length=100, description="Only of this group")] = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> NodeList:
    """Nodes by group: HyperPod's status, ready, health labels, GPUs used. A field that is missing is not known now."""
    told = await call.api.get("clusters", cluster, "nodes", group=group, limit=limit, cursor=cursor)
    found = tuple(NodeRow(**_row(item)) for item in told["items"])
    return NodeList(items=found, next_cursor=told.get("next"), unseen=unseen(told.get("parts")))


async def node_get(call: Call, cluster: ClusterName, node: NodeId) -> NodeAnswer:
    """One node: conditions, taints, health and deep check, faults, boot id."""
    item, told = await find(call, cluster, node)
    kube, machine = part(item, "node"), part(item, "machine")
    return NodeAnswer(
        **_row(item),
        name=kube.get("name", ""),
        machine_message_untrusted=machine.get("message", ""),
        launched=machine.get("launched", ""),
        image_status=machine.get("image_status", ""),
        cordoned=kube.get("cordoned"),
        taints_untrusted=_texts(kube, "taints"),
        conditions=tuple(NodeCondition.model_validate(one) for one in rows(kube, "conditions")),
        boot_id=kube.get("boot_id", ""),
        kubelet=kube.get("kubelet", ""),
        efa_interfaces=item.get("efa_interfaces"),
        observed_at=told.get("observed_at"),
        unseen=unseen(told.get("parts")),
    )


async def find(call: Call, cluster: str, node: str) -> tuple[Json, Json]:
    """(the node, the page it was on) by instance id or name. Raises ApiProblem."""
    cursor = ""
    while True:
        told = await call.api.get("clusters", cluster, "nodes", limit=_PAGE, cursor=cursor)
        for item in told["items"]:
            if node in (item["id"], item["instance"], part(item, "node").get("name")):
                return item, told
        cursor = told.get("next") or ""
        if not cursor:
            text = f"{cluster} has no node {node}; node_list shows those that it has"
            raise ApiProblem("UnknownNode", text, status=404)


def _row(item: Json) -> Json:
    kube, machine = part(item, "node"), part(item, "machine")
    return {
        **{name: item[name] for name in ("id", "group", "instance_type", "zone", "gpus", "gpus_used", "pods")},
        "machine": machine.get("status", ""),
        "ready": kube.get("ready"),
        "takes_pods": kube.get("takes_pods"),
        "health": kube.get("health", ""),
        "deep_check": kube.get("deep_check", ""),
        "faults_untrusted": _texts(kube, "faults"),
    }


def _texts(told: Json, name: str) -> tuple[str, ...]:
    return tuple(str(text) for text in told.get(name) or ())


TOOLS = (reads(node_list), reads(node_get))
