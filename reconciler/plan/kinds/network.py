"""EC2 networking: identity is the mark; what carries addresses cannot be changed in place."""

from __future__ import annotations

from reconciler.plan.equality import same_members
from reconciler.plan.rules import Field, Rule
from schemas.plan import Cost
from schemas.resource import Stage

_NEW_CLUSTER = "a cluster keeps its network for life: make a new cluster and move over"

RULES = (
    Rule(type="ec2.Zones", stage=Stage.NETWORK, lane="vpc/{cluster}"),
    Rule(
        type="ec2.Vpc",
        stage=Stage.NETWORK,
        lane="vpc/{cluster}",
        fields={
            "cidr": Field(way_out=_NEW_CLUSTER),
            "dnsSupport": Field(cost=Cost.IN_PLACE, default=True),
            "dnsHostnames": Field(cost=Cost.IN_PLACE, default=False),
        },
    ),
    Rule(
        type="ec2.InternetGateway", stage=Stage.NETWORK, lane="vpc/{cluster}", fields={"vpc": Field(cost=Cost.IN_PLACE)}
    ),
    Rule(
        type="ec2.Subnet",
        stage=Stage.NETWORK,
        lane="vpc/{cluster}",
        fields={
            "vpc": Field(way_out=_NEW_CLUSTER),
            "public": Field(cost=Cost.IN_PLACE, default=False),
            "tags": Field(cost=Cost.IN_PLACE, default={}, shared=True),
        },
    ),
    Rule(type="ec2.Address", stage=Stage.NETWORK, lane="vpc/{cluster}"),
    Rule(
        type="ec2.NatGateway", stage=Stage.NETWORK, lane="vpc/{cluster}", fields={"subnet": Field(), "address": Field()}
    ),
    Rule(
        type="ec2.RouteTable",
        stage=Stage.NETWORK,
        lane="vpc/{cluster}",
        fields={
            "vpc": Field(way_out=_NEW_CLUSTER),
            "routes": Field(cost=Cost.IN_PLACE, default={}),
            "subnets": Field(cost=Cost.IN_PLACE, default=[], same=same_members),
        },
    ),
    Rule(
        type="ec2.VpcEndpoint",
        stage=Stage.NETWORK,
        lane="vpc/{cluster}",
        fields={
            "vpc": Field(way_out=_NEW_CLUSTER),
            "service": Field(),
            "routeTables": Field(cost=Cost.IN_PLACE, default=[], same=same_members),
        },
    ),
    Rule(
        type="ec2.SecurityGroup",
        stage=Stage.NETWORK,
        lane="vpc/{cluster}",
        fields={
            "vpc": Field(way_out=_NEW_CLUSTER),
            "ingress": Field(cost=Cost.IN_PLACE, default=[]),
            "egress": Field(cost=Cost.IN_PLACE, default=[]),
        },
    ),
)
