"""The network handler against the sandbox: built, compared, repaired, adopted, taken down."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from reconciler.resources.network.handler import NetworkHandler
from schemas.plan import Verb
from schemas.resource import Health, Mark, Presence, Resource
from tests.resources_support import Place, operations, ref, resource

LANE = "vpc/prod"
ANY = "0.0.0.0/0"
SELF = {"protocol": "-1", "peer": "self"}
OUT = {"protocol": "-1", "peer": ANY}


def network(vpc: dict[str, Any] | None = None) -> list[Resource]:
    """The network of a cluster, as the desired state spells it."""
    here = {"vpc": ref("ec2.Vpc/prod")}

    def subnet(what: str, zone: int, prefix: int, *, public: bool = False, tags: dict[str, str]) -> Resource:
        return resource(
            f"ec2.Subnet/prod/{what}",
            {**here, "public": public, "tags": tags},
            initial={"zone": ref("ec2.Zones/prod", f"{zone}.name"), "prefix": prefix},
            lane=LANE,
        )

    private = [ref(f"ec2.Subnet/prod/{what}") for what in ("private-1", "private-2", "compute-usw2-az1")]
    return [
        resource("ec2.Zones/prod", reference=True, lane=LANE),
        resource(
            "ec2.Vpc/prod",
            {"cidr": "10.0.0.0/16", "dnsSupport": True, "dnsHostnames": True} if vpc is None else vpc,
            lane=LANE,
        ),
        resource("ec2.InternetGateway/prod", here, lane=LANE),
        subnet("public-1", 0, 24, public=True, tags={"kubernetes.io/role/elb": "1"}),
        subnet("private-1", 0, 24, tags={"kubernetes.io/role/internal-elb": "1"}),
        subnet("private-2", 1, 24, tags={"kubernetes.io/role/internal-elb": "1"}),
        subnet("compute-usw2-az1", 0, 20, tags={}),
        resource("ec2.Address/prod/nat", lane=LANE),
        resource(
            "ec2.NatGateway/prod",
            {"subnet": ref("ec2.Subnet/prod/public-1"), "address": ref("ec2.Address/prod/nat")},
            after=("ec2.RouteTable/prod/public",),
            lane=LANE,
        ),
        resource(
            "ec2.RouteTable/prod/public",
            {**here, "routes": {ANY: ref("ec2.InternetGateway/prod")}, "subnets": [ref("ec2.Subnet/prod/public-1")]},
            lane=LANE,
        ),
        resource(
            "ec2.RouteTable/prod/private",
            {**here, "routes": {ANY: ref("ec2.NatGateway/prod")}, "subnets": private},
            lane=LANE,
        ),
        resource(
            "ec2.VpcEndpoint/prod/s3",
            {**here, "service": "com.amazonaws.us-west-2.s3", "routeTables": [ref("ec2.RouteTable/prod/private")]},
            lane=LANE,
        ),
        resource("ec2.SecurityGroup/prod/nodes", {**here, "ingress": [SELF], "egress": [SELF, OUT]}, lane=LANE),
    ]


def part(*keys: str) -> list[Resource]:
    """Zones, VPC, and what these words name: a test makes no more than it needs."""
    return [r for r in network() if r.type in ("ec2.Zones", "ec2.Vpc") or r.key.removeprefix("ec2.") in keys]


def build(place: Place, resources: list[Resource]) -> Place:
    place.want(*resources)
    place.converge(NetworkHandler())
    return place


@pytest.fixture
def built(place: Place) -> Place:
    return build(place, network())


def test_a_whole_network_is_built_and_then_nothing_is_left_to_do(place: Place) -> None:
    place.want(*network())
    plan = place.converge(NetworkHandler())
    assert plan.empty
    seen = place.observed
    assert all(each.mark is Mark.OURS for each in seen.values() if each.type != "ec2.Zones")
    blocks = [ip_network(each.attrs["cidr"]) for each in seen.values() if each.type == "ec2.Subnet"]
    assert sorted(block.prefixlen for block in blocks) == [20, 24, 24, 24]
    assert not any(a.overlaps(b) for number, a in enumerate(blocks) for b in blocks[:number])
    assert seen["ec2.Subnet/prod/compute-usw2-az1"].attrs["zoneId"] == "usw2-az1"
    group = seen["ec2.SecurityGroup/prod/nodes"]
    assert group.spec["ingress"] == [SELF] and group.spec["egress"] == [SELF, OUT], "EFA: itself, in and out"
    before = len(operations(place))
    place.look(NetworkHandler())
    reads = operations(place)[before:]
    assert all(name.startswith("Describe") for name in reads)
    assert len(reads) == 11, f"one listing per type, two VPC attributes: {sorted(reads)}"


def test_what_was_changed_by_hand_is_put_back(built: Place) -> None:
    ec2 = built.sandbox.client("ec2")
    seen = built.observed
    table = seen["ec2.RouteTable/prod/private"]
    group = seen["ec2.SecurityGroup/prod/nodes"].identity
    ec2.delete_route(RouteTableId=table.identity, DestinationCidrBlock=ANY)
    ec2.create_route(
        RouteTableId=table.identity,
        DestinationCidrBlock="192.168.0.0/16",
        NatGatewayId=seen["ec2.NatGateway/prod"].identity,
    )
    ec2.disassociate_route_table(AssociationId=next(iter(table.detail["associations"].values())))
    rule = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": ANY}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    ec2.revoke_security_group_egress(
        GroupId=group, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    )
    ec2.modify_subnet_attribute(
        SubnetId=seen["ec2.Subnet/prod/public-1"].identity, MapPublicIpOnLaunch={"Value": False}
    )
    ec2.modify_vpc_attribute(VpcId=seen["ec2.Vpc/prod"].identity, EnableDnsHostnames={"Value": False})
    built.look(NetworkHandler())
    assert built.observed["ec2.RouteTable/prod/private"].reason == "Unfinished"
    assert {a.verb for a in built.plan().actions} == {Verb.UPDATE}
    assert built.converge(NetworkHandler()).empty


def test_a_tag_is_changed_by_the_tagging_call(place: Place) -> None:
    """A32: no replacement, no dead end; tags of others stay."""
    wanted = part("Subnet/prod/private-1")
    built = build(place, wanted)
    subnet = built.observed["ec2.Subnet/prod/private-1"].identity
    ec2 = built.sandbox.client("ec2")
    ec2.create_tags(Resources=[subnet], Tags=[{"Key": "team", "Value": "b"}])
    changed = [
        replace(r, spec={**r.spec, "tags": {"kubernetes.io/role/internal-elb": "0"}})
        if r.key == "ec2.Subnet/prod/private-1"
        else r
        for r in wanted
    ]
    built.want(*changed)
    assert built.converge(NetworkHandler()).empty
    tags = {t["Key"]: t["Value"] for t in ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["Tags"]}
    assert tags["kubernetes.io/role/internal-elb"] == "0" and tags["team"] == "b"


def test_it_is_taken_down_in_reverse_and_nothing_stays(built: Place) -> None:
    built.want()
    built.converge(
        NetworkHandler(),
        until=lambda plan: plan.empty and not any(s.present and s.ours for s in built.observed.values()),
    )
    ec2 = built.sandbox.client("ec2")
    ours = [{"Name": "tag:instantstart:cluster", "Values": ["prod"]}]
    assert ec2.describe_vpcs(Filters=ours)["Vpcs"] == []
    assert ec2.describe_addresses(Filters=ours)["Addresses"] == []


def test_a_group_that_interfaces_hold_names_its_holders(place: Place) -> None:
    built = build(place, part("Subnet/prod/private-1", "SecurityGroup/prod/nodes"))
    seen = built.observed
    ec2 = built.sandbox.client("ec2")
    interface = ec2.create_network_interface(
        SubnetId=seen["ec2.Subnet/prod/private-1"].identity,
        Groups=[seen["ec2.SecurityGroup/prod/nodes"].identity],
        Description="ENI of a node that is gone",
    )["NetworkInterface"]["NetworkInterfaceId"]
    built.want(*part("Subnet/prod/private-1"))
    handler = NetworkHandler()
    built.look(handler)
    (call,) = handler.calls(built.world(), built.plan().actions)
    with pytest.raises(Exception, match=f"{interface} .*ENI of a node that is gone") as caught:
        built.send(handler, call)
    assert getattr(caught.value, "reason", "") == "StillInUse"


def test_two_objects_with_one_key_leave_nobody_sure(place: Place) -> None:
    """Unknown is not absent: nothing is made and nothing is deleted."""
    built = build(place, part())
    twin = built.sandbox.client("ec2").create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    tags = [{"Key": "instantstart:cluster", "Value": "prod"}, {"Key": "instantstart:key", "Value": "ec2.Vpc/prod"}]
    built.sandbox.client("ec2").create_tags(Resources=[twin], Tags=tags)
    seen = built.look(NetworkHandler())["ec2.Vpc/prod"]
    assert (seen.presence, seen.reason) == (Presence.UNKNOWN, "DuplicateMark")
    assert not [a for a in built.plan().actions if a.key == "ec2.Vpc/prod"]


def test_what_is_not_ours_is_not_seen(place: Place) -> None:
    """A10: things of the account without our tag, or with another cluster's, appear nowhere."""
    built = build(place, part())
    ec2 = built.sandbox.client("ec2")
    for number in range(3):
        ec2.create_vpc(CidrBlock=f"10.{20 + number}.0.0/16")
    tag = {"Key": "instantstart:cluster", "Value": "prod-2"}
    ec2.create_internet_gateway(TagSpecifications=[{"ResourceType": "internet-gateway", "Tags": [tag]}])
    assert set(built.look(NetworkHandler())) == {r.key for r in part()}


def test_a_name_that_is_taken_is_shown_as_foreign(place: Place) -> None:
    handler = NetworkHandler()
    build(place, part())
    vpc = place.observed["ec2.Vpc/prod"].identity
    place.sandbox.client("ec2").create_security_group(GroupName="prod-nodes", Description="x", VpcId=vpc)
    place.want(*part("SecurityGroup/prod/nodes"))
    seen = place.look(handler)["ec2.SecurityGroup/prod/nodes"]
    assert seen.present and seen.mark is Mark.FOREIGN


def test_a_vpc_that_was_there_is_used_and_given_back(place: Place) -> None:
    """An adopted VPC is marked, our subnets go where theirs are not, and at the end only our tags go."""
    ec2 = place.sandbox.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")
    wanted = [
        replace(r, spec={}, adopt=vpc) if r.type == "ec2.Vpc" else r
        for r in network()
        if r.type in ("ec2.Zones", "ec2.Vpc", "ec2.Subnet")
    ]
    place.want(*wanted)
    handler = NetworkHandler()
    place.look(handler)
    assert [a.verb for a in place.plan().actions if a.type == "ec2.Vpc"] == [Verb.ADOPT]
    assert place.converge(handler).empty
    assert place.observed["ec2.Vpc/prod"].mark is Mark.ADOPTED
    assert "10.0.0.0/24" not in [s.attrs.get("cidr") for s in place.observed.values() if s.type == "ec2.Subnet"]
    place.want()
    place.converge(handler, until=lambda plan: plan.empty)
    (left,) = ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"]
    assert not [t for t in left.get("Tags", []) if t["Key"].startswith("instantstart:")]


def test_a_full_vpc_says_the_way_out(place: Place) -> None:
    """The failure is one of the op, so that it is recorded like any other."""
    place.want(*network({"cidr": "10.0.0.0/22", "dnsSupport": True, "dnsHostnames": True}))
    handler = NetworkHandler()
    with pytest.raises(Exception, match=r"no free /20 is left in .*: associate another CIDR block"):
        place.converge(handler)


def test_what_is_built_on_something_waits_for_it(place: Place) -> None:
    """A NAT gateway in a VPC whose internet gateway is not attached yet would only fail."""
    place.want(*network())
    handler = NetworkHandler()
    place.look(handler)
    first = {call.key for call in handler.calls(place.world(), place.plan().actions)}
    assert first == {"ec2.Vpc/prod", "ec2.Address/prod/nat"}


def test_a_failed_gateway_says_why_until_another_stands(built: Place) -> None:
    handler = NetworkHandler()
    backend = built.sandbox.cloud.world.moto.backend("ec2", built.sandbox.account, built.sandbox.region)
    gateway = backend.nat_gateways[built.observed["ec2.NatGateway/prod"].identity]
    gateway.state = "failed"
    seen = built.look(handler)["ec2.NatGateway/prod"]
    assert (seen.health, seen.ready, seen.reason) == (Health.FAILED, False, "NatGatewayFailed")
