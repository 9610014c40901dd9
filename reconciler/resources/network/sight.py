"""Reading EC2: one listing per type, all of them side by side.

Things inside the VPC are listed by VPC once it is known (all subnets are needed to pick free addresses, and a name
may be taken by something that is not ours); everything else is listed by our tag. What a document adopts by id and
neither listing shows is asked for by id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from reconciler.live.aws.sessions import AwsSession
from reconciler.resources.base import TAG_CLUSTER, tag_map
from schemas.values import JsonObject


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """How one type is listed, and where its id and state stand."""

    operation: str
    result: str
    id: str
    id_filter: str
    in_vpc: bool = False
    gone: frozenset[str] = frozenset()  # states of what no longer exists
    passing: frozenset[str] = frozenset()  # states of what something new may stand beside


LISTINGS: dict[str, Listing] = {
    "ec2.Vpc": Listing(operation="DescribeVpcs", result="Vpcs", id="VpcId", id_filter="vpc-id"),
    "ec2.InternetGateway": Listing(
        operation="DescribeInternetGateways",
        result="InternetGateways",
        id="InternetGatewayId",
        id_filter="internet-gateway-id",
    ),
    "ec2.Subnet": Listing(
        operation="DescribeSubnets", result="Subnets", id="SubnetId", id_filter="subnet-id", in_vpc=True
    ),
    "ec2.Address": Listing(
        operation="DescribeAddresses", result="Addresses", id="AllocationId", id_filter="allocation-id"
    ),
    "ec2.NatGateway": Listing(
        operation="DescribeNatGateways",
        result="NatGateways",
        id="NatGatewayId",
        id_filter="nat-gateway-id",
        in_vpc=True,
        gone=frozenset({"deleted"}),
        passing=frozenset({"failed", "deleting"}),
    ),
    "ec2.RouteTable": Listing(
        operation="DescribeRouteTables",
        result="RouteTables",
        id="RouteTableId",
        id_filter="route-table-id",
        in_vpc=True,
    ),
    "ec2.VpcEndpoint": Listing(
        operation="DescribeVpcEndpoints",
        result="VpcEndpoints",
        id="VpcEndpointId",
        id_filter="vpc-endpoint-id",
        gone=frozenset({"deleted", "expired"}),
        passing=frozenset({"failed", "rejected", "deleting"}),
    ),
    "ec2.SecurityGroup": Listing(
        operation="DescribeSecurityGroups",
        result="SecurityGroups",
        id="GroupId",
        id_filter="group-id",
        in_vpc=True,
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Live:
    """One EC2 object as listed."""

    type: str
    id: str
    raw: JsonObject
    tags: Mapping[str, str]
    passing: bool = False


Sight = dict[str, list[Live]]  # type -> what is there


def see(aws: AwsSession, cluster: str, adopted: Mapping[str, Sequence[str]]) -> Sight:
    """Everything of the network that may concern `cluster`. `adopted`: ids to look for, by type."""
    by_tag = [{"Name": f"tag:{TAG_CLUSTER}", "Values": [cluster]}]
    vpcs = _list(aws, "ec2.Vpc", by_tag, adopted.get("ec2.Vpc", ()))
    by_vpc = [{"Name": "vpc-id", "Values": [vpc.id for vpc in vpcs]}] if vpcs else by_tag

    def listed(kind: str) -> list[Live]:
        return _list(aws, kind, by_vpc if LISTINGS[kind].in_vpc else by_tag, adopted.get(kind, ()))

    rest = [kind for kind in LISTINGS if kind != "ec2.Vpc"]
    with ThreadPoolExecutor(max_workers=len(rest)) as pool:
        return {"ec2.Vpc": vpcs} | dict(zip(rest, pool.map(listed, rest), strict=True))


def zones(aws: AwsSession) -> list[JsonObject]:
    """The available zones of the region, local zones left out, sorted by id."""
    found = aws.pages(
        "ec2",
        "DescribeAvailabilityZones",
        "AvailabilityZones",
        Filters=[{"Name": "state", "Values": ["available"]}],
    )
    usual = [zone for zone in found if zone.get("ZoneType", "availability-zone") == "availability-zone"]
    return sorted(usual, key=lambda zone: str(zone["ZoneId"]))


def dns_of(aws: AwsSession, vpc: str) -> tuple[bool, bool]:
    """Whether the VPC has DNS support and DNS host names: two attributes that no listing shows."""
    support = aws.read("ec2", "DescribeVpcAttribute", VpcId=vpc, Attribute="enableDnsSupport")
    names = aws.read("ec2", "DescribeVpcAttribute", VpcId=vpc, Attribute="enableDnsHostnames")
    return bool(support["EnableDnsSupport"]["Value"]), bool(names["EnableDnsHostnames"]["Value"])


def interfaces(aws: AwsSession, filter_name: str, value: str) -> list[JsonObject]:
    """Network interfaces that hold a group, a subnet or a VPC."""
    return aws.pages(
        "ec2",
        "DescribeNetworkInterfaces",
        "NetworkInterfaces",
        Filters=[{"Name": filter_name, "Values": [value]}],
    )


def _list(aws: AwsSession, kind: str, filters: list[dict[str, Any]], ids: Sequence[str]) -> list[Live]:
    how = LISTINGS[kind]
    raw = aws.pages("ec2", how.operation, how.result, Filters=filters)
    seen = {str(item[how.id]) for item in raw if item.get(how.id)}
    missing = sorted(set(ids) - seen)
    if missing:
        raw += aws.pages("ec2", how.operation, how.result, Filters=[{"Name": how.id_filter, "Values": missing}])
    found = [_live(kind, how, item) for item in raw if item.get(how.id)]
    return [live for live in found if str(live.raw.get("State", "")).lower() not in how.gone]


def _live(kind: str, how: Listing, item: JsonObject) -> Live:
    return Live(
        type=kind,
        id=str(item[how.id]),
        raw=item,
        tags=tag_map(item.get("Tags")),
        passing=str(item.get("State", "")).lower() in how.passing,
    )
