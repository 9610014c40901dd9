"""Stage network: a VPC with NAT, subnets in two zones for EKS, one compute subnet per zone of the groups, a gateway
endpoint for S3, and the security group that EFA needs. Ranges are chosen by one function where they are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reconciler.desired.names import Names
from schemas.documents.cluster import Cluster
from schemas.resource import Ref, Resource, Source, Stage
from schemas.values import JsonObject

_PUBLIC = ("public-1", "public-2")
_PRIVATE = ("private-1", "private-2")
ANY = "0.0.0.0/0"
SMALL, COMPUTE = 24, 20


def network(cluster: Cluster, names: Names, zones: Iterable[str | None], source: Source) -> list[Resource]:
    """Resources of the network stage. `zones`: the compute groups' zones as written (ids or names); None, where a
    group leaves the choice to us, is the first zone. In a VPC that is there already subnets are added, and its own way
    out is used; beside an EKS cluster that is there already only what something needs is added."""
    spec = cluster.spec
    vpc = names.ref("ec2.Vpc")
    compute = [compute_subnet(zone) for zone in dict.fromkeys(zones)]
    existing = spec.network.vpc or spec.adopt.vpc

    def resource(type_: str, what: str, wanted: JsonObject, **rest: Any) -> Resource:
        return Resource(
            key=names.key(type_, what),
            type=type_,
            name=rest.pop("name", f"{names.cluster}-{what}" if what else names.cluster),
            cluster=names.cluster,
            stage=Stage.NETWORK,
            lane=names.vpc_lane,
            spec=wanted,
            source=source,
            on_demand=spec.adopt.eks is not None and type_ not in ("ec2.Zones", "ec2.Vpc"),
            **rest,
        )

    def subnet(what: str, zone: Ref, prefix: int, *, public: bool = False, tags: dict[str, str]) -> Resource:
        wanted: JsonObject = {"vpc": vpc, "public": public, "tags": tags}
        return resource("ec2.Subnet", what, wanted, initial={"zone": zone, "prefix": prefix})

    made: JsonObject = {"cidr": spec.network.vpc_cidr, "dnsSupport": True, "dnsHostnames": True}
    found = [
        resource("ec2.Zones", "", {}, name=names.region, reference=True),
        resource(
            "ec2.Vpc",
            "",
            {} if existing else made,
            name=existing or names.cluster,
            adopt=existing,
            reference=spec.network.vpc is not None,
        ),
        *(
            subnet(what, _nth_zone(names, index), SMALL, tags={"kubernetes.io/role/internal-elb": "1"})
            for index, what in enumerate(_PRIVATE)
        ),
        *(subnet(compute_subnet(zone), _in(names, zone), COMPUTE, tags={}) for zone in dict.fromkeys(zones)),
        resource("ec2.SecurityGroup", "nodes", {"vpc": vpc, "ingress": [_self()], "egress": [_self(), _out()]}),
    ]
    # Beside an EKS cluster that was there, a route table serves those subnets that something needed.
    weak = spec.adopt.eks is not None
    private = [Ref(names.key("ec2.Subnet", what), weak=weak) for what in (*_PRIVATE, *compute)]
    # A VPC that was there has its way out already; one that is ours gets a NAT gateway.
    nat = names.ref("ec2.Vpc", attr="nat") if existing else names.ref("ec2.NatGateway")
    found += [
        resource("ec2.RouteTable", "private", {"vpc": vpc, "routes": {ANY: nat}, "subnets": private}),
        resource(
            "ec2.VpcEndpoint",
            "s3",
            {
                "vpc": vpc,
                "service": f"com.amazonaws.{names.region}.s3",
                "routeTables": [names.ref("ec2.RouteTable", "private")],
            },
        ),
    ]
    if existing:
        return found
    found += [
        resource("ec2.InternetGateway", "", {"vpc": vpc}),
        *(
            subnet(what, _nth_zone(names, index), SMALL, public=True, tags={"kubernetes.io/role/elb": "1"})
            for index, what in enumerate(_PUBLIC)
        ),
        resource("ec2.Address", "nat", {}),
        resource(
            "ec2.NatGateway",
            "",
            {"subnet": names.ref("ec2.Subnet", "public-1"), "address": names.ref("ec2.Address", "nat")},
            after=(names.key("ec2.RouteTable", "public"),),
        ),
        resource(
            "ec2.RouteTable",
            "public",
            {
                "vpc": vpc,
                "routes": {ANY: names.ref("ec2.InternetGateway")},
                "subnets": [names.ref("ec2.Subnet", what) for what in _PUBLIC],
            },
        ),
    ]
    return found


def compute_subnet(zone: str | None) -> str:
    """What the compute subnet of a zone is called."""
    return f"compute-{zone or 1}"


def eks_subnets(names: Names) -> list[Ref]:
    """EKS wants subnets in two zones at least."""
    return [names.ref("ec2.Subnet", what) for what in _PRIVATE]


def way_out(names: Names) -> tuple[str, ...]:
    """What a node needs to reach the world and S3: nothing is to be started in a subnet before these stand."""
    return (names.key("ec2.RouteTable", "private"), names.key("ec2.VpcEndpoint", "s3"))


def _nth_zone(names: Names, index: int) -> Ref:
    return names.ref("ec2.Zones", attr=f"{index}.name")


def _in(names: Names, zone: str | None) -> Ref:
    return _nth_zone(names, 0) if zone is None else names.ref("ec2.Zones", attr=f"name:{zone}")


def _self() -> JsonObject:
    """EFA wants everything open from and to the group itself, in both directions."""
    return {"protocol": "-1", "peer": "self"}


def _out() -> JsonObject:
    return {"protocol": "-1", "peer": ANY}
