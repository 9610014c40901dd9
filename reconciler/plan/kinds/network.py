"""EC2 networking: identity is the mark; what carries addresses cannot be changed in place."""

from __future__ import annotations

from reconciler.plan.equality import same_members, subset
from reconciler.plan.rules import Field, Rule
from schemas.plan import Cost

_NEW_CLUSTER = "a cluster keeps its network for life: make a new cluster and move over"

RULES = (
    Rule(type="ec2.Zones"),
    Rule(
        type="ec2.Vpc",
        fields={
            "cidr": Field(way_out=_NEW_CLUSTER),
            "dnsSupport": Field(cost=Cost.IN_PLACE, default=True),
            "dnsHostnames": Field(cost=Cost.IN_PLACE, default=False),
        },
    ),
    Rule(type="ec2.InternetGateway", fields={"vpc": Field(cost=Cost.IN_PLACE)}),
    Rule(
        type="ec2.Subnet",
        fields={
            "vpc": Field(way_out=_NEW_CLUSTER),
            "public": Field(cost=Cost.IN_PLACE, default=False),
            "tags": Field(cost=Cost.IN_PLACE, default={}, same=subset),
        },
    ),
    Rule(type="ec2.Address"),
    Rule(type="ec2.NatGateway", fields={"subnet": Field(), "address": Field()}),
    Rule(
        type="ec2.RouteTable",
        fields={
            "vpc": Field(way_out=_NEW_CLUSTER),
            "routes": Field(cost=Cost.IN_PLACE, default={}),
            "subnets": Field(cost=Cost.IN_PLACE, default=[], same=same_members),
        },
    ),
    Rule(
        type="ec2.VpcEndpoint",
        fields={
            "vpc": Field(way_out=_NEW_CLUSTER),
            "service": Field(),
            "routeTables": Field(cost=Cost.IN_PLACE, default=[], same=same_members),
        },
    ),
    Rule(
        type="ec2.SecurityGroup",
        fields={
            "vpc": Field(way_out=_NEW_CLUSTER),
            "ingress": Field(cost=Cost.IN_PLACE, default=[]),
            "egress": Field(cost=Cost.IN_PLACE, default=[]),
        },
    ),
)
