"""HyperPod clusters, instance groups and once-only operations on nodes."""

from __future__ import annotations

from typing import Any

from reconciler.plan.equality import same_members
from reconciler.plan.rules import Field, Rule
from schemas.plan import Cost
from schemas.resource import Stage

_NEW_GROUP = "add a new group with the new value, move the work over, then delete this group"
_PUT_BACK = f"put it back as it is, or {_NEW_GROUP}"
_NEW_CLUSTER = "HyperPod cannot change this later: make a new cluster and move over"


def _elsewhere(observed: Any, wanted: Any) -> tuple[str, str]:
    """A HyperPod cluster is bound to its EKS cluster for life."""
    text = f"the HyperPod cluster runs on {observed}, not on {wanted}"
    return text, f"name {str(observed).rpartition('/')[2]} under adopt.eks, or another HyperPod cluster"


RULES = (
    Rule(
        type="hyperpod.Cluster",
        stage=Stage.COMPUTE,
        lane="hyperpod/{cluster}",
        fields={
            "eks": Field(forbids=_elsewhere),
            "nodeRecovery": Field(cost=Cost.IN_PLACE, default="Automatic"),
            "tags": Field(cost=Cost.IN_PLACE, default={}, shared=True),
            "provisioning": Field(way_out=_NEW_CLUSTER),
            "subnets": Field(way_out=_NEW_CLUSTER, same=same_members),
            "securityGroups": Field(way_out=_NEW_CLUSTER, same=same_members),
        },
        way_out=_NEW_CLUSTER,
    ),
    Rule(
        type="hyperpod.InstanceGroup",
        stage=Stage.COMPUTE,
        lane="hyperpod/{cluster}",
        fields={
            "instanceType": Field(way_out=_NEW_GROUP),
            "count": Field(cost=Cost.IN_PLACE, default=0),
            "minCount": Field(cost=Cost.IN_PLACE, default=None),
            "zone": Field(way_out=_NEW_GROUP, forget=True),
            "subnets": Field(way_out=_NEW_GROUP, same=same_members),
            "securityGroups": Field(way_out=_NEW_GROUP, same=same_members),
            "executionRole": Field(way_out=_NEW_GROUP),
            "lifecycle": Field(cost=Cost.IN_PLACE, forget=True),
            "threadsPerCore": Field(way_out=_PUT_BACK),
            "volume": Field(cost=Cost.IN_PLACE, default=None),
            "deepHealthChecks": Field(cost=Cost.IN_PLACE, default=[], same=same_members),
            "labels": Field(cost=Cost.IN_PLACE, default={}),
            "taints": Field(cost=Cost.IN_PLACE, default=[]),
            "capacity": Field(way_out=_NEW_GROUP),
            "trainingPlan": Field(cost=Cost.IN_PLACE, default=None),
            "interface": Field(way_out=_PUT_BACK),
        },
        child_of="hyperpod.Cluster",
        inside="hyperpod.Cluster",
        marked=False,
        way_out=_NEW_GROUP,
    ),
    Rule(
        type="hyperpod.Reboot",
        stage=Stage.OPERATIONS,
        lane="node/{name}",
        fields={"instance": Field()},
        create=Cost.ROLLING,
        once=True,
    ),
)
