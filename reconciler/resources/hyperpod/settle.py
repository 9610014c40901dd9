"""What a look says about an op of the lane `hyperpod/<cluster>`.

CreateCluster closes when the cluster has left Creating. UpdateCluster closes when Target and Desired show what was
asked; instances may take days after that and keep nobody waiting.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reconciler.resources.handler import Settlement, Verdict, World
from reconciler.resources.hyperpod.calls import fingerprint
from reconciler.resources.hyperpod.look import cluster_key, group_key
from schemas.journal import OpRecord, Phase
from schemas.resource import Observed, Presence
from schemas.values import digest


def settled_update(world: World, op: OpRecord) -> Settlement | None:
    """None if the op is no UpdateCluster: cluster creation, deletion and marks read as everywhere else."""
    if op.call != "sagemaker:UpdateCluster":
        return None
    cluster = world.observed.get(cluster_key(world.cluster))
    if cluster is None or cluster.presence is Presence.UNKNOWN:
        return Settlement(verdict=Verdict.UNREADABLE, reason=cluster.reason if cluster else "NotLooked")
    if not cluster.present:
        return Settlement(verdict=Verdict.SUBJECT_GONE, reason="ClusterGone", message="the cluster is gone")
    if "deleted" in op.before:
        return _deleted(world, cluster, op)
    if "nodeRecovery" in op.before:
        shown = cluster.spec.get("nodeRecovery") == op.before["nodeRecovery"]
        return Settlement(verdict=Verdict.HAPPENED) if shown else _not_shown(world, op, "node recovery")
    return _asked(world, cluster, op)


def created(world: World, op: OpRecord) -> Settlement | None:
    """A cluster still Creating keeps its op open."""
    cluster = world.observed.get(op.key)
    if op.call != "sagemaker:CreateCluster" or cluster is None or not cluster.present:
        return None
    if cluster.reason == "NotEks":
        return Settlement(verdict=Verdict.TAKEN, reason="NameTaken", message=cluster.message)
    if cluster.op == op.op and cluster.attrs.get("status") == "Creating":
        return Settlement(verdict=Verdict.PENDING, ref={"arn": cluster.attrs["arn"]}, reason="Creating")
    return None


def _deleted(world: World, cluster: Observed, op: OpRecord) -> Settlement:
    if op.before.get("cluster") != digest(cluster.identity)[:12]:
        return Settlement(verdict=Verdict.SUBJECT_GONE, reason="Replaced", message="another cluster has the name now")
    seen = [world.observed.get(group_key(world.cluster, name)) for name in op.before["deleted"]]
    standing = [group for group in seen if group is not None and group.present]
    if not standing:
        return Settlement(verdict=Verdict.HAPPENED)
    if any(group.attrs.get("status") == "Deleting" for group in standing):
        return Settlement(verdict=Verdict.PENDING, reason="Deleting")
    return _not_shown(world, op, standing[0].name)


def _asked(world: World, cluster: Observed, op: OpRecord) -> Settlement:
    if cluster.reason == "RolledBack":
        return Settlement(verdict=Verdict.FAILED, reason="RolledBack", message=cluster.message)
    if not cluster.detail.get("continuous") and cluster.attrs.get("status") != "InService":
        return Settlement(verdict=Verdict.PENDING, reason=str(cluster.attrs.get("status")))  # it may still roll back
    asked: Mapping[str, Mapping[str, Any]] = op.before.get("asked", {})
    for name, fields in asked.items():
        group = world.observed.get(group_key(world.cluster, name))
        if group is None or not group.present:
            return _not_shown(world, op, name)
        for field, value in fields.items():
            if fingerprint(field, group.spec.get(field)) != value:
                return _not_shown(world, op, f"{field} of {name}")
    return Settlement(verdict=Verdict.HAPPENED)


def _not_shown(world: World, op: OpRecord, what: str) -> Settlement:
    if op.phase in (Phase.INTENT, Phase.REFUSED):
        return Settlement(verdict=Verdict.ABSENT, reason="NotShown", message=f"DescribeCluster does not show {what}")
    if _age(world, op) > op.settle:
        # It was accepted, and accepted changes show at once: somebody asked for something else since. The lane must
        # not wait for what will never show; whatever differs now is planned anew.
        said = f"{what} was changed again by somebody else before it showed"
        return Settlement(verdict=Verdict.SUBJECT_GONE, reason="Overtaken", message=said)
    return Settlement(
        verdict=Verdict.PENDING, reason="NotShownYet", message=f"DescribeCluster does not show {what} yet"
    )


def _age(world: World, op: OpRecord) -> float:
    """Seconds since the intent."""
    return (world.clock.now() - datetime.fromisoformat(op.at)).total_seconds() if op.at else 0.0
