"""The one call that makes each EC2 type. Whatever takes more calls follows as an update."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from reconciler.resources.base import tag_list
from reconciler.resources.drafts import OP, Draft, Step, as_list, as_map, needs_stand, new_marks, resolved, step
from reconciler.resources.handler import World
from reconciler.resources.network.blocks import NoFreeBlock, free_block
from schemas.journal import EffectClass
from schemas.plan import Action
from schemas.resource import Observed

TAG_SETTLE = 120
NAME_SETTLE = 120
TOKEN_LIFE = 6 * 3600
DEADLINE = 1800

_TAGGED_AS = {
    "ec2.Vpc": "vpc",
    "ec2.InternetGateway": "internet-gateway",
    "ec2.Subnet": "subnet",
    "ec2.Address": "elastic-ip",
    "ec2.NatGateway": "natgateway",
    "ec2.RouteTable": "route-table",
    "ec2.VpcEndpoint": "vpc-endpoint",
    "ec2.SecurityGroup": "security-group",
}
_IDS = {
    "Vpc": "VpcId",
    "InternetGateway": "InternetGatewayId",
    "Subnet": "SubnetId",
    "NatGateway": "NatGatewayId",
    "RouteTable": "RouteTableId",
    "VpcEndpoint": "VpcEndpointId",
}

Spec = Mapping[str, Any]
Maker = Callable[[Action, Spec, list[dict[str, Any]]], Step]


def draft(world: World, action: Action) -> Draft | None:
    """Any type but the subnet. None while something it refers to is not known yet."""
    spec = resolved(world, _needed(action))
    if spec is None:
        return None
    cls, settle, life = _effect(action.type)
    return Draft(
        steps=[_MAKERS[action.type](action, spec, _tagged(world, action))],
        say=f"Create {action.type} {action.name}",
        cls=cls,
        settle=settle,
        token_life=life,
        deadline=DEADLINE,
    )


def subnet(world: World, action: Action, picked: dict[str, list[str]]) -> Draft | None:
    """A subnet with the first free block of its VPC. `picked`: blocks given away since the look, by VPC id."""
    spec = resolved(world, _needed(action))
    initial = resolved(world, world.desired[action.key].initial) if action.key in world.desired else None
    vpc = _observed_vpc(world, spec["vpc"]) if spec else None
    if spec is None or initial is None or vpc is None or not needs_stand(world, action):
        return None
    params: dict[str, Any] = {
        "VpcId": spec["vpc"],
        "AvailabilityZone": initial["zone"],
        "TagSpecifications": _tagged(world, action),
    }
    say = f"Create subnet {action.name} in {initial['zone']}"
    stop: dict[str, Any] = {}
    given = picked.setdefault(spec["vpc"], [])
    try:
        block = free_block(vpc.detail["blocks"], [*vpc.detail["taken"], *given], int(initial["prefix"]))
    except NoFreeBlock as error:
        stop = {"stop": error}  # said when it is sent, so that the failure is recorded like any other
    else:
        given.append(block)
        params["CidrBlock"] = block
        say = f"Create subnet {action.name}, {block} in {initial['zone']}"
    return Draft(
        steps=[step("ec2", "CreateSubnet", **params)],
        say=say,
        cls=EffectClass.TAG,
        settle=TAG_SETTLE,
        deadline=DEADLINE,
        params=stop,
    )


def made(answers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The id of what was made."""
    for answer in answers:
        for name, field in _IDS.items():
            if name in answer:
                return {"id": answer[name][field]}
        for field in ("AllocationId", "GroupId"):
            if field in answer:
                return {"id": answer[field]}
    return {}


def _needed(action: Action) -> dict[str, Any]:
    """What of the target a creation uses: routes, rules and attachments follow later and may still be open."""
    fields = {
        "ec2.Vpc": ("cidr",),
        "ec2.Subnet": ("vpc", "tags"),
        "ec2.NatGateway": ("subnet", "address"),
        "ec2.RouteTable": ("vpc",),
        "ec2.VpcEndpoint": ("vpc", "service", "routeTables"),
        "ec2.SecurityGroup": ("vpc",),
    }.get(action.type, ())
    return {name: action.want[name] for name in fields if name in action.want}


def _observed_vpc(world: World, vpc_id: str) -> Observed | None:
    vpcs = (seen for seen in world.observed.values() if seen.type == "ec2.Vpc" and seen.present)
    return next((seen for seen in vpcs if seen.attrs.get("id") == vpc_id), None)


def _tagged(world: World, action: Action) -> list[dict[str, Any]]:
    tags = {"Name": action.name, **_authored(action.want), **new_marks(world, action)}
    return [{"ResourceType": _TAGGED_AS[action.type], "Tags": tag_list(tags)}]


def _authored(spec: Spec) -> dict[str, str]:
    return {str(k): str(v) for k, v in as_map(spec.get("tags")).items()}


def _effect(kind: str) -> tuple[EffectClass, int, int]:
    match kind:
        case "ec2.NatGateway" | "ec2.VpcEndpoint":
            return EffectClass.TOKEN, TAG_SETTLE, TOKEN_LIFE
        case "ec2.SecurityGroup":
            return EffectClass.NAME, NAME_SETTLE, 0
        case _:
            return EffectClass.TAG, TAG_SETTLE, 0


def _vpc(_action: Action, spec: Spec, tags: list[dict[str, Any]]) -> Step:
    return step("ec2", "CreateVpc", CidrBlock=spec["cidr"], TagSpecifications=tags)


def _internet_gateway(_action: Action, _spec: Spec, tags: list[dict[str, Any]]) -> Step:
    return step("ec2", "CreateInternetGateway", TagSpecifications=tags)


def _address(_action: Action, _spec: Spec, tags: list[dict[str, Any]]) -> Step:
    return step("ec2", "AllocateAddress", Domain="vpc", TagSpecifications=tags)


def _nat_gateway(_action: Action, spec: Spec, tags: list[dict[str, Any]]) -> Step:
    return step(
        "ec2",
        "CreateNatGateway",
        SubnetId=spec["subnet"],
        AllocationId=spec["address"],
        ClientToken=OP,
        TagSpecifications=tags,
    )


def _route_table(_action: Action, spec: Spec, tags: list[dict[str, Any]]) -> Step:
    return step("ec2", "CreateRouteTable", VpcId=spec["vpc"], TagSpecifications=tags)


def _endpoint(_action: Action, spec: Spec, tags: list[dict[str, Any]]) -> Step:
    return step(
        "ec2",
        "CreateVpcEndpoint",
        VpcEndpointType="Gateway",
        VpcId=spec["vpc"],
        ServiceName=spec["service"],
        RouteTableIds=as_list(spec.get("routeTables")),
        ClientToken=OP,
        TagSpecifications=tags,
    )


def _security_group(action: Action, spec: Spec, tags: list[dict[str, Any]]) -> Step:
    return step(
        "ec2",
        "CreateSecurityGroup",
        GroupName=action.name,
        Description=f"Nodes of cluster {action.key.split('/')[1]}",
        VpcId=spec["vpc"],
        TagSpecifications=tags,
    )


_MAKERS: dict[str, Maker] = {
    "ec2.Vpc": _vpc,
    "ec2.InternetGateway": _internet_gateway,
    "ec2.Address": _address,
    "ec2.NatGateway": _nat_gateway,
    "ec2.RouteTable": _route_table,
    "ec2.VpcEndpoint": _endpoint,
    "ec2.SecurityGroup": _security_group,
}
