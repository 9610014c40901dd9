"""Steps that take an EC2 object away, what holds it if it cannot go, and errors that hide in a 200."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reconciler.resources.drafts import Draft, Step, as_list, as_map, removing
from reconciler.resources.handler import World
from reconciler.resources.network.rules import SELF, permission_of
from reconciler.resources.network.sight import interfaces
from schemas.errors import InstantStartError, Refused
from schemas.plan import Action
from schemas.resource import Observed

NAMED_HOLDERS = 5
_HOLD_FILTER = {"ec2.SecurityGroup": "group-id", "ec2.Subnet": "subnet-id", "ec2.Vpc": "vpc-id"}


def draft(action: Action, seen: Observed) -> Draft | None:
    steps = _steps(seen)
    return Draft(steps=steps, say=f"Delete {action.type} {action.name} ({seen.identity})", deadline=1800)


def holders(world: World, kind: str, identity: str) -> str:
    """Who keeps the object from going, in words; "" if nobody can be named."""
    if kind not in _HOLD_FILTER or not identity:
        return ""
    try:
        found = interfaces(world.aws, _HOLD_FILTER[kind], identity)
    except InstantStartError:
        return ""
    words = [_holder(each) for each in found[:NAMED_HOLDERS]]
    if len(found) > NAMED_HOLDERS:
        words.append(f"and {len(found) - NAMED_HOLDERS} more")
    return f"held by {', '.join(words)}" if words else ""


def check(answers: Iterable[Mapping[str, Any]]) -> None:
    """DeleteVpcEndpoints says in a 200 what it did not delete."""
    for answer in answers:
        for item in as_list(answer.get("Unsuccessful")):
            error = as_map(item.get("Error"))
            code = str(error.get("Code", ""))
            if not code.endswith("NotFound"):
                raise Refused(f"{item.get('ResourceId')}: {code}: {error.get('Message', '')}", reason="NotDeleted")


def _steps(seen: Observed) -> list[Step]:
    one = seen.identity
    match seen.type:
        case "ec2.Vpc":
            return [removing("ec2", "DeleteVpc", VpcId=one)]
        case "ec2.Subnet":
            return [removing("ec2", "DeleteSubnet", SubnetId=one)]
        case "ec2.Address":
            return [removing("ec2", "ReleaseAddress", AllocationId=one)]
        case "ec2.NatGateway":
            return [removing("ec2", "DeleteNatGateway", NatGatewayId=one)]
        case "ec2.VpcEndpoint":
            return [removing("ec2", "DeleteVpcEndpoints", VpcEndpointIds=[one])]
        case "ec2.InternetGateway":
            return [*_detach(seen), removing("ec2", "DeleteInternetGateway", InternetGatewayId=one)]
        case "ec2.RouteTable":
            return [*_disassociate(seen), removing("ec2", "DeleteRouteTable", RouteTableId=one)]
        case "ec2.SecurityGroup":
            return [*_forget_self(seen), removing("ec2", "DeleteSecurityGroup", GroupId=one)]
        case _:
            return []


def _detach(seen: Observed) -> list[Step]:
    vpc = seen.spec.get("vpc")
    return [removing("ec2", "DetachInternetGateway", InternetGatewayId=seen.identity, VpcId=vpc)] if vpc else []


def _disassociate(seen: Observed) -> list[Step]:
    associations: dict[str, str] = seen.detail.get("associations", {})
    return [
        removing("ec2", "DisassociateRouteTable", AssociationId=associations[subnet]) for subnet in sorted(associations)
    ]


def _forget_self(seen: Observed) -> list[Step]:
    """A group that names itself in a rule holds itself."""
    steps: list[Step] = []
    for name, suffix in (("ingress", "Ingress"), ("egress", "Egress")):
        own = [permission_of(rule, seen.identity) for rule in as_list(seen.spec.get(name)) if rule.get("peer") == SELF]
        if own:
            body = {"GroupId": seen.identity, "IpPermissions": own}
            steps.append(removing("ec2", f"RevokeSecurityGroup{suffix}", **body))
    return steps


def _holder(interface: Mapping[str, Any]) -> str:
    attached = as_map(interface.get("Attachment"))
    owner = attached.get("InstanceId") or interface.get("RequesterId") or interface.get("InterfaceType") or ""
    text = str(interface.get("Description") or owner or "no description")
    return f"{interface.get('NetworkInterfaceId')} ({text})"
