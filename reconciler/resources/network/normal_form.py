"""EC2 objects in the normal form of their resources. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reconciler.resources.drafts import as_list, as_map
from reconciler.resources.network.rules import rules_of
from reconciler.resources.network.sight import Live, Sight
from schemas.resource import Health
from schemas.values import JsonObject

_TARGETS = (
    "NatGatewayId",
    "TransitGatewayId",
    "VpcPeeringConnectionId",
    "NetworkInterfaceId",
    "InstanceId",
    "EgressOnlyInternetGatewayId",
    "LocalGatewayId",
    "CarrierGatewayId",
    "CoreNetworkArn",
    "GatewayId",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """What one EC2 object is, in our words."""

    spec: JsonObject
    attrs: JsonObject
    health: Health = Health.HEALTHY
    ready: bool = True
    reason: str = ""
    message: str = ""
    detail: JsonObject = field(default_factory=dict[str, Any])


def form_of(live: Live, sight: Sight, dns: Mapping[str, tuple[bool, bool]]) -> Form:
    """`dns`: DNS support and host names per VPC id."""
    if live.type == "ec2.Vpc":
        return _vpc(live, sight, dns[live.id])
    if live.type == "ec2.RouteTable":
        return _route_table(live, sight)
    return _FORMS[live.type](live)


def zones_form(zones: Iterable[Mapping[str, Any]]) -> Form:
    """Zones by id and by name, both ways, and by position in the order of their ids."""
    attrs: JsonObject = {}
    for index, zone in enumerate(zones):
        zone_id, name = str(zone["ZoneId"]), str(zone["ZoneName"])
        attrs |= {f"{index}.id": zone_id, f"{index}.name": name}
        attrs |= {f"id:{each}": zone_id for each in (zone_id, name)}
        attrs |= {f"name:{each}": name for each in (zone_id, name)}
    return Form(spec={}, attrs=attrs)


def _vpc(live: Live, sight: Sight, dns: tuple[bool, bool]) -> Form:
    raw = live.raw
    associated = [
        str(each["CidrBlock"])
        for each in as_list(raw.get("CidrBlockAssociationSet"))
        if each.get("CidrBlockState", {}).get("State", "associated") == "associated"
    ]
    cidr = str(raw["CidrBlock"])
    taken = [str(subnet.raw["CidrBlock"]) for subnet in sight["ec2.Subnet"] if subnet.raw.get("VpcId") == live.id]
    available = raw.get("State", "available") == "available"
    attrs: JsonObject = {"id": live.id, "cidr": cidr}
    gateways = sorted(
        gateway.id
        for gateway in sight["ec2.NatGateway"]
        if gateway.raw.get("VpcId") == live.id and gateway.raw.get("State") == "available"
    )
    if gateways:  # the way out of a VPC that was there before us
        attrs["nat"] = gateways[0]
    for subnet in sight["ec2.Subnet"]:
        if subnet.raw.get("VpcId") == live.id:  # where things are that stand in subnets of others
            attrs[f"zone:{subnet.id}"] = subnet.raw.get("AvailabilityZoneId", "")
    return Form(
        spec={"cidr": cidr, "dnsSupport": dns[0], "dnsHostnames": dns[1]},
        attrs=attrs,
        health=Health.HEALTHY if available else Health.PROGRESSING,
        ready=available,
        detail={"blocks": [cidr, *(block for block in associated if block != cidr)], "taken": sorted(taken)},
    )


def _internet_gateway(live: Live) -> Form:
    attached = [str(each["VpcId"]) for each in as_list(live.raw.get("Attachments")) if each.get("State") != "detached"]
    return Form(
        spec={"vpc": attached[0] if attached else None},
        attrs={"id": live.id},
        health=Health.HEALTHY if attached else Health.PROGRESSING,
        ready=bool(attached),
        reason="" if attached else "NotAttached",
    )


def _subnet(live: Live) -> Form:
    raw = live.raw
    available = raw.get("State", "available") == "available"
    return Form(
        spec={"vpc": raw["VpcId"], "public": bool(raw.get("MapPublicIpOnLaunch")), "tags": dict(live.tags)},
        attrs={
            "id": live.id,
            "cidr": raw["CidrBlock"],
            "zone": raw["AvailabilityZone"],
            "zoneId": raw.get("AvailabilityZoneId", ""),
            "freeAddresses": int(raw.get("AvailableIpAddressCount", 0)),
        },
        health=Health.HEALTHY if available else Health.PROGRESSING,
        ready=available,
    )


def _address(live: Live) -> Form:
    return Form(spec={}, attrs={"id": live.id, "ip": live.raw.get("PublicIp", "")})


def _nat_gateway(live: Live) -> Form:
    raw = live.raw
    addresses: list[JsonObject] = list(as_list(raw.get("NatGatewayAddresses")))
    primary = next((a for a in addresses if a.get("IsPrimary")), addresses[0] if addresses else {})
    health, ready = _stateful(str(raw.get("State", "")))
    code = str(raw.get("FailureCode", ""))
    return Form(
        spec={"subnet": raw.get("SubnetId"), "address": primary.get("AllocationId")},
        attrs={"id": live.id},
        health=health,
        ready=ready,
        reason=("NatGatewayFailed" if health is Health.FAILED else ""),
        message=": ".join(part for part in (code, str(raw.get("FailureMessage", ""))) if part),
    )


def _route_table(live: Live, sight: Sight) -> Form:
    routes: JsonObject = {}
    for route in as_list(live.raw.get("Routes")):
        cidr = route.get("DestinationCidrBlock") or route.get("DestinationIpv6CidrBlock")
        target = next((str(route[name]) for name in _TARGETS if route.get(name)), "")
        # Local routes come with the VPC, routes to prefix lists with gateway endpoints.
        if cidr and target != "local" and not target.startswith("vpce-"):
            routes[str(cidr)] = target
    mine = _associations(live)
    elsewhere: dict[str, str] = {}
    for other in sight["ec2.RouteTable"]:
        if other.id != live.id:
            elsewhere |= _associations(other)
    return Form(
        spec={"vpc": live.raw["VpcId"], "routes": routes, "subnets": sorted(mine)},
        attrs={"id": live.id},
        detail={"associations": mine, "elsewhere": elsewhere},
    )


def _endpoint(live: Live) -> Form:
    raw = live.raw
    health, ready = _stateful(str(raw.get("State", "")))
    error = as_map(raw.get("LastError"))
    return Form(
        spec={
            "vpc": raw["VpcId"],
            "service": raw["ServiceName"],
            "routeTables": sorted(str(table) for table in as_list(raw.get("RouteTableIds"))),
        },
        attrs={"id": live.id},
        health=health,
        ready=ready,
        reason=str(error.get("Code", "")) or ("EndpointFailed" if health is Health.FAILED else ""),
        message=str(error.get("Message", "")),
    )


def _security_group(live: Live) -> Form:
    return Form(
        spec={
            "vpc": live.raw.get("VpcId"),
            "ingress": rules_of(as_list(live.raw.get("IpPermissions")), live.id),
            "egress": rules_of(as_list(live.raw.get("IpPermissionsEgress")), live.id),
        },
        attrs={"id": live.id},
    )


_FORMS: dict[str, Callable[[Live], Form]] = {
    "ec2.InternetGateway": _internet_gateway,
    "ec2.Subnet": _subnet,
    "ec2.Address": _address,
    "ec2.NatGateway": _nat_gateway,
    "ec2.VpcEndpoint": _endpoint,
    "ec2.SecurityGroup": _security_group,
}


def _associations(live: Live) -> dict[str, str]:
    """Subnet id -> association id; the implicit association of a main table is none."""
    return {
        str(each["SubnetId"]): str(each["RouteTableAssociationId"])
        for each in as_list(live.raw.get("Associations"))
        if each.get("SubnetId") and each.get("AssociationState", {}).get("State") not in ("disassociated", "failed")
    }


def _stateful(state: str) -> tuple[Health, bool]:
    match state.lower():
        case "available":
            return Health.HEALTHY, True
        case "deleting":
            return Health.DELETING, False
        case "failed" | "rejected":
            return Health.FAILED, False
        case _:
            return Health.PROGRESSING, False
