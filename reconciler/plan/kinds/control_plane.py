"""IAM and EKS."""

from __future__ import annotations

from reconciler.plan.equality import same_members
from reconciler.plan.rules import Field, Rule
from schemas.plan import Cost
from schemas.resource import Stage

_NEW_CLUSTER = "EKS cannot change this later: make a new cluster and move over"

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
            "version": Field(cost=Cost.ROLLING, forget=True),
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
    ),
    Rule(
        type="eks.Addon",
        stage=Stage.DEPENDENCIES,
        lane="eks/{cluster}",
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
