"""IAM and EKS."""

from __future__ import annotations

from typing import Any

from reconciler.plan.equality import same_members
from reconciler.plan.rules import Field, Rule
from schemas.plan import Cost
from schemas.resource import Stage

_NEW_CLUSTER = "EKS cannot change this later: make a new cluster and move over"


def _downgrade(observed: Any, wanted: Any) -> tuple[str, str] | None:
    """EKS goes forward only."""
    live, asked = _minor(observed), _minor(wanted)
    if live is None or asked is None or asked >= live:
        return None
    text = f"Kubernetes {observed} is live, and EKS does not go back to {wanted}"
    return text, f'write kubernetesVersion: "{observed}"'


def _elsewhere(observed: Any, wanted: Any) -> tuple[str, str]:
    text = f"the EKS cluster is in {observed}, and the document says {wanted}"
    return text, f"write {observed} under network.vpc or adopt.vpc, or name another EKS cluster"


def _minor(version: Any) -> tuple[int, int] | None:
    major, _, minor = str(version).partition(".")
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else None


RULES = (
    Rule(
        type="iam.Role",
        stage=Stage.CONTROL_PLANE,
        lane="iam/{name}",
        fields={
            "trust": Field(cost=Cost.IN_PLACE),
            "managed": Field(cost=Cost.IN_PLACE, default=[], same=same_members),
            "inline": Field(cost=Cost.IN_PLACE, default={}),
        },
    ),
    Rule(
        type="iam.OpenIDConnectProvider",
        stage=Stage.CONTROL_PLANE,
        lane="iam/oidc/{cluster}",
        fields={"url": Field(), "audiences": Field(cost=Cost.IN_PLACE, default=[], same=same_members, shared=True)},
    ),
    Rule(
        type="eks.Cluster",
        stage=Stage.CONTROL_PLANE,
        lane="eks/{cluster}",
        fields={
            "version": Field(cost=Cost.ROLLING, forget=True, forbids=_downgrade),
            "vpc": Field(forbids=_elsewhere),
            "endpoint": Field(cost=Cost.IN_PLACE, forget=True, shared=True),
            "logging": Field(cost=Cost.IN_PLACE, default=[], same=same_members),
            "authenticationMode": Field(cost=Cost.IN_PLACE, forget=True),
            "tags": Field(cost=Cost.IN_PLACE, default={}, shared=True),
            "role": Field(way_out=_NEW_CLUSTER),
            "subnets": Field(way_out=_NEW_CLUSTER, same=same_members),
            "securityGroups": Field(way_out=_NEW_CLUSTER, same=same_members),
        },
        way_out=_NEW_CLUSTER,
        apart=("tags", "authenticationMode", "endpoint", "logging", "version"),
    ),
    Rule(
        type="eks.AccessEntry",
        stage=Stage.CONTROL_PLANE,
        lane="eks/{cluster}",
        fields={
            "principal": Field(way_out="write a second access entry for the other principal"),
            "policies": Field(cost=Cost.IN_PLACE, default={}),
        },
        child_of="eks.Cluster",
        inside="eks.Cluster",
    ),
    Rule(
        type="eks.Addon",
        stage=Stage.DEPENDENCIES,
        lane="eks/{cluster}",
        inside="eks.Cluster",
        fields={
            "version": Field(cost=Cost.ROLLING, forget=True),
            "role": Field(cost=Cost.ROLLING, default=None),
            "values": Field(cost=Cost.ROLLING, default={}, shared=True),
        },
    ),
    Rule(
        type="helm.Release",
        stage=Stage.DEPENDENCIES,
        lane="helm/{cluster}/{name}",
        fields={
            "chart": Field(cost=Cost.ROLLING),
            "namespace": Field(),
            "values": Field(cost=Cost.ROLLING, default={}),
        },
    ),
)
