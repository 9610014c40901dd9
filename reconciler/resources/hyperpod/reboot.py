"""Reboot of one node, once. Whether it happened is told by the node's boot id, never by an answer that got lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reconciler.live.errors import NotFound
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from reconciler.resources.base import BaseHandler, of_types
from reconciler.resources.handler import Call, Reply, Settlement, Verdict, World
from reconciler.resources.hyperpod.look import cluster_key
from reconciler.resources.hyperpod.write_form import member
from schemas.errors import InstantStartError
from schemas.journal import EffectClass, OpRecord
from schemas.plan import Action, Verb
from schemas.resource import Health, Mark, Observed, Presence, Resource, absent, unknown
from schemas.values import digest

REBOOT = "hyperpod.Reboot"
DEADLINE = 1200  # seconds until a node that shows no new boot id is given up


class Reboots(BaseHandler):
    """One call and one op per instance: each has a fate of its own."""

    types: tuple[str, ...] = (REBOOT,)
    looks_after: tuple[str, ...] = ("hyperpod.Cluster", "eks.Cluster")

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        resources = of_types(wanted, REBOOT)
        if not resources:
            return []
        cluster = world.observed.get(cluster_key(world.cluster))
        if cluster is None or cluster.presence is Presence.UNKNOWN:
            return [unknown(resource, "ClusterUnknown", "cannot see the HyperPod cluster") for resource in resources]
        statuses: dict[str, str] = cluster.detail.get("nodes", {}) if cluster.present else {}
        return [_look(world, resource, statuses, mark=cluster.mark) for resource in resources]

    def calls(self, world: World, actions: Sequence[Action]) -> Sequence[Call]:
        drafts = [_draft(world, action) for action in actions if action.type == REBOOT and action.verb is Verb.RUN]
        return [call for call in drafts if call is not None]

    def send(self, world: World, call: Call, op: str) -> Reply:
        node = str(call.params["node"])
        answer = world.aws.mutate(
            "sagemaker", "BatchRebootClusterNodes", op=op, ClusterName=call.params["cluster"], NodeIds=[node]
        )
        errors: list[dict[str, Any]] = answer.get("Failed") or []
        return Reply(
            ref={"id": node},
            failures={
                str(e.get("NodeId") or node): (str(e.get("ErrorCode", "Failed")), str(e.get("Message", "")))
                for e in errors
            },
        )

    def settled(self, world: World, op: OpRecord) -> Settlement:
        """Asks the node itself, as the document may be gone from git by now."""
        node = op.key.rpartition("#")[2]
        cluster = world.observed.get(cluster_key(world.cluster))
        if cluster is None or cluster.presence is Presence.UNKNOWN:
            return Settlement(verdict=Verdict.UNREADABLE, reason="ClusterUnknown")
        if not cluster.present or node not in cluster.detail.get("nodes", {}):
            return Settlement(verdict=Verdict.SUBJECT_GONE, reason="NodeGone", message=f"{node} is gone", how="probe")
        try:
            boot = boot_id(world.kube(), node)
        except InstantStartError as error:
            return Settlement(verdict=Verdict.UNREADABLE, reason=error.reason, message=error.message)
        before = op.before.get("bootId")
        if boot and before and boot != before:
            return Settlement(verdict=Verdict.HAPPENED, message="bootID changed", how="probe")
        # The same boot id says "not yet": a reboot takes minutes. A second one must not be sent on its strength.
        return Settlement(verdict=Verdict.PENDING, reason="NotRebootedYet", how="probe")


def boot_id(kube: KubeCluster, node: str) -> str:
    """The node's boot id; empty while it is not in Kubernetes."""
    try:
        found = kube.get(Gvk("v1", "Node"), None, f"hyperpod-{node}")
    except NotFound:
        return ""
    return str(member(member(found, "status"), "nodeInfo").get("bootID") or "")


def _look(world: World, resource: Resource, statuses: dict[str, str], *, mark: Mark) -> Observed:
    node = str(resource.spec["instance"])
    if node not in statuses:
        return absent(resource)
    try:
        boot = boot_id(world.kube(), node)
    except InstantStartError as error:
        return unknown(resource, error.reason, error.message)
    return Observed(
        key=resource.key,
        type=REBOOT,
        name=node,
        presence=Presence.PRESENT,
        spec={"instance": node},
        attrs={"bootId": boot, "status": statuses[node]},
        health=Health.HEALTHY if statuses[node] == "Running" else Health.PROGRESSING,
        ready=True,
        message=_said(statuses[node], boot),
        mark=Mark.FOREIGN if mark is Mark.FOREIGN else Mark.CHILD,
        identity=node,
    )


def _said(status: str, boot: str) -> str:
    if not boot:
        return "the node is not in Kubernetes, so nobody could tell whether it was rebooted"
    return "" if status == "Running" else f"the node is {status}"


def _draft(world: World, action: Action) -> Call | None:
    seen = world.observed.get(action.key)
    cluster = world.observed.get(cluster_key(world.cluster))
    if seen is None or not seen.present or not seen.ours or cluster is None:
        return None  # no node, no reboot
    if not seen.attrs.get("bootId"):
        return None  # without evidence of before nobody could ever tell whether it happened
    return Call(
        key=action.key,
        lane=action.lane,
        verb=Verb.RUN.value,
        call="sagemaker:BatchRebootClusterNodes",
        cls=EffectClass.ONCE,
        want=digest({"reboot": seen.name}),
        say=f"reboot {seen.name}",
        actions=(action,),
        params={"cluster": cluster.name, "node": seen.name},
        before={"bootId": seen.attrs["bootId"], "status": seen.attrs["status"]},
        deadline=DEADLINE,
        closes_on_reply=False,
    )
