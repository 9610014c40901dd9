"""Steps from the observed state of an EC2 object to its target. Each may be repeated without harm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reconciler.resources.base import tag_list
from reconciler.resources.drafts import (
    Draft,
    Step,
    adding,
    as_list,
    as_map,
    dropped,
    fields_of,
    removing,
    resolved,
    step,
)
from reconciler.resources.handler import World
from reconciler.resources.network.rules import normal_rules, permission_of
from schemas.plan import Action
from schemas.resource import Observed
from schemas.values import JsonObject

Want = Mapping[str, Any]
Stepper = Callable[[Action, Observed, Want], list[Step]]


def draft(world: World, action: Action, seen: Observed) -> Draft | None:
    """None while something it refers to is not known yet."""
    touched = fields_of(action)
    want = resolved(world, {name: value for name, value in action.want.items() if name in touched})
    if want is None:
        return None
    steps = _STEPPERS[action.type](action, seen, want) if action.type in _STEPPERS else []
    return Draft(steps=steps, say=f"Update {action.type} {action.name}: {', '.join(sorted(touched))}", deadline=900)


def _vpc(_action: Action, seen: Observed, want: Want) -> list[Step]:
    steps: list[Step] = []
    for name, parameter in (("dnsSupport", "EnableDnsSupport"), ("dnsHostnames", "EnableDnsHostnames")):
        if name in want and want[name] != seen.spec.get(name):
            value = {parameter: {"Value": bool(want[name])}}
            steps.append(step("ec2", "ModifyVpcAttribute", VpcId=seen.identity, **value))
    return steps


def _internet_gateway(_action: Action, seen: Observed, want: Want) -> list[Step]:
    attached, vpc = seen.spec.get("vpc"), want.get("vpc")
    if vpc is None or attached == vpc:
        return []
    # Never detached from another VPC here: what runs there would lose its way out.
    return [adding("ec2", "AttachInternetGateway", InternetGatewayId=seen.identity, VpcId=vpc)]


def _subnet(action: Action, seen: Observed, want: Want) -> list[Step]:
    steps: list[Step] = []
    if "public" in want and want["public"] != seen.spec.get("public"):
        value = {"Value": bool(want["public"])}
        steps.append(step("ec2", "ModifySubnetAttribute", SubnetId=seen.identity, MapPublicIpOnLaunch=value))
    if "tags" not in fields_of(action):
        return steps
    there = as_map(seen.spec.get("tags"))
    tags: dict[str, str] = {k: str(v) for k, v in as_map(want.get("tags")).items() if there.get(k) != v}
    if tags:
        steps.append(step("ec2", "CreateTags", Resources=[seen.identity], Tags=tag_list(tags)))
    stale = dropped(action, "tags", there)
    if stale:
        keys = [{"Key": name} for name in stale]
        steps.append(removing("ec2", "DeleteTags", Resources=[seen.identity], Tags=keys))
    return steps


def _route_table(action: Action, seen: Observed, want: Want) -> list[Step]:
    steps: list[Step] = []
    table = seen.identity
    there = as_map(seen.spec.get("routes"))
    for cidr, target in sorted(as_map(want.get("routes")).items()):
        if there.get(cidr) == target:
            continue
        operation = "ReplaceRoute" if cidr in there else "CreateRoute"
        steps.append(adding("ec2", operation, RouteTableId=table, **_destination(cidr), **_target(str(target))))
    if "routes" in fields_of(action):
        for cidr in dropped(action, "routes", there):
            steps.append(removing("ec2", "DeleteRoute", RouteTableId=table, **_destination(cidr)))
    if "subnets" in want:
        steps += _associations(seen, [str(subnet) for subnet in as_list(want["subnets"])])
    return steps


def _associations(seen: Observed, wanted: list[str]) -> list[Step]:
    mine: dict[str, str] = seen.detail.get("associations", {})
    elsewhere: dict[str, str] = seen.detail.get("elsewhere", {})
    steps: list[Step] = []
    for subnet in wanted:
        if subnet in mine:
            continue
        if subnet in elsewhere:
            moved = {"AssociationId": elsewhere[subnet], "RouteTableId": seen.identity}
            steps.append(step("ec2", "ReplaceRouteTableAssociation", **moved))
        else:
            steps.append(adding("ec2", "AssociateRouteTable", RouteTableId=seen.identity, SubnetId=subnet))
    for subnet in sorted(set(mine) - set(wanted)):
        steps.append(removing("ec2", "DisassociateRouteTable", AssociationId=mine[subnet]))
    return steps


def _endpoint(_action: Action, seen: Observed, want: Want) -> list[Step]:
    if "routeTables" not in want:
        return []
    wanted = {str(table) for table in as_list(want["routeTables"])}
    there = {str(table) for table in as_list(seen.spec.get("routeTables"))}
    change: JsonObject = {}
    if wanted - there:
        change["AddRouteTableIds"] = sorted(wanted - there)
    if there - wanted:
        change["RemoveRouteTableIds"] = sorted(there - wanted)
    return [step("ec2", "ModifyVpcEndpoint", VpcEndpointId=seen.identity, **change)] if change else []


def _security_group(_action: Action, seen: Observed, want: Want) -> list[Step]:
    """New rules come before old ones go, so that no peer is cut off in between."""
    group = seen.identity
    authorize: list[Step] = []
    revoke: list[Step] = []
    for name, suffix in (("ingress", "Ingress"), ("egress", "Egress")):
        if name not in want:
            continue
        wanted = normal_rules(as_list(want[name]), group)
        there = normal_rules(as_list(seen.spec.get(name)), group)
        for rule in wanted:
            if rule not in there:
                body = {"GroupId": group, "IpPermissions": [permission_of(rule, group)]}
                authorize.append(adding("ec2", f"AuthorizeSecurityGroup{suffix}", **body))
        for rule in there:
            if rule not in wanted:
                body = {"GroupId": group, "IpPermissions": [permission_of(rule, group)]}
                revoke.append(removing("ec2", f"RevokeSecurityGroup{suffix}", **body))
    return authorize + revoke


_STEPPERS: dict[str, Stepper] = {
    "ec2.Vpc": _vpc,
    "ec2.InternetGateway": _internet_gateway,
    "ec2.Subnet": _subnet,
    "ec2.RouteTable": _route_table,
    "ec2.VpcEndpoint": _endpoint,
    "ec2.SecurityGroup": _security_group,
}


def _destination(cidr: str) -> dict[str, str]:
    return {"DestinationIpv6CidrBlock": cidr} if ":" in cidr else {"DestinationCidrBlock": cidr}


def _target(target: str) -> dict[str, str]:
    """The parameter of CreateRoute that takes this kind of id."""
    for prefix, parameter in (
        ("nat-", "NatGatewayId"),
        ("tgw-", "TransitGatewayId"),
        ("pcx-", "VpcPeeringConnectionId"),
        ("eni-", "NetworkInterfaceId"),
    ):
        if target.startswith(prefix):
            return {parameter: target}
    return {"GatewayId": target}
