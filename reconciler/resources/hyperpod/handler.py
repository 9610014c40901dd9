"""The handler of HyperPod clusters and instance groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reconciler.resources.base import BaseHandler
from reconciler.resources.handler import Call, Reply, Settlement, World
from reconciler.resources.hyperpod import calls, look, send, settle
from schemas.journal import OpRecord
from schemas.plan import Action
from schemas.resource import Observed, Resource


class HyperPod(BaseHandler):
    """Cluster and groups together: they share UpdateCluster, its lane, and one look."""

    types: tuple[str, ...] = (look.CLUSTER, look.GROUP)
    looks_after: tuple[str, ...] = (
        "ec2.Subnet",
        "ec2.SecurityGroup",
        "iam.Role",
        "eks.Cluster",
        "s3.Bucket",
        "s3.Objects",
    )

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        return look.look(world, wanted)

    def calls(self, world: World, actions: Sequence[Action]) -> Sequence[Call]:
        return calls.draft(world, actions)

    def send(self, world: World, call: Call, op: str) -> Reply:
        return send.send(world, call, op)

    def settled(self, world: World, op: OpRecord) -> Settlement:
        own = settle.settled_update(world, op) or settle.created(world, op)
        return own or super().settled(world, op)
