"""Where EC2 is stricter or slower than moto: things that take time, and things that hold other things.

A rule speaks before moto (refuse, or answer a repeated token) or after it (make a finished thing a started one).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Any

from reconciler.sandbox.aws.agenda import Agenda
from reconciler.sandbox.aws.calls import Call
from reconciler.sandbox.aws.errors import AwsError, Reply
from reconciler.sandbox.aws.moto_bridge import Moto
from reconciler.sandbox.aws.pace import Pace

Params = dict[str, str]

_TOKEN_CALLS = ("CreateNatGateway", "CreateVpcEndpoint")
_REMEMBERED = 3600.0  # simulated seconds a deleted gateway stays listed


class NetworkRules:
    def __init__(self, moto: Moto, agenda: Agenda, pace: Pace) -> None:
        self._moto, self._agenda, self._pace = moto, agenda, pace
        self._tokens: dict[tuple[str, str, str, str], tuple[Params, Reply]] = {}

    def before(self, call: Call, params: Params) -> Reply | None:
        backend = self._moto.backend("ec2", call.account, call.region)
        if call.operation in _TOKEN_CALLS and (known := self._repeated(call, params)):
            return known
        check = getattr(self, f"_before_{call.operation}", None)
        if check:
            check(backend, params)
        return None

    def after(self, call: Call, params: Params, reply: Reply) -> Reply:
        if reply.status >= 300:
            return reply
        backend = self._moto.backend("ec2", call.account, call.region)
        follow = getattr(self, f"_after_{call.operation}", None)
        if follow:
            reply = follow(backend, params, reply)
        if call.operation in _TOKEN_CALLS and params.get("ClientToken"):
            self._tokens[self._token_key(call, params)] = (params, reply)
        return reply

    def clear(self) -> None:
        self._tokens.clear()

    # ---- refusals

    def _before_DeleteVpc(self, backend: Any, params: Params) -> None:
        vpc = params.get("VpcId", "")
        if any(True for _ in _inside_vpc(backend, vpc)):
            raise _held(f"The vpc '{vpc}' has dependencies and cannot be deleted.")

    def _before_DeleteSubnet(self, backend: Any, params: Params) -> None:
        subnet = params.get("SubnetId", "")
        busy = any(eni.subnet.id == subnet for eni in backend.get_all_network_interfaces())
        if busy or any(gateway.subnet_id == subnet for gateway in _gateways(backend)):
            raise _held(f"The subnet '{subnet}' has dependencies and cannot be deleted.")

    def _before_DeleteSecurityGroup(self, backend: Any, params: Params) -> None:
        group = params.get("GroupId", "")
        found = backend.get_security_group_from_id(group)
        if found is not None and found.name == "default":
            raise AwsError("CannotDelete", "the specified group: " + group + ' name: "default" cannot be deleted')
        if group in _groups_in_use(backend):
            raise _held(f"resource {group} has a dependent object")

    def _before_DetachInternetGateway(self, backend: Any, params: Params) -> None:
        vpc = params.get("VpcId", "")
        if any(gateway.vpc_id == vpc and gateway.connectivity_type == "public" for gateway in _gateways(backend)):
            raise _held(
                f"Network {vpc} has some mapped public address(es). "
                "Please unmap those public address(es) before detaching the gateway."
            )

    def _before_ReleaseAddress(self, backend: Any, params: Params) -> None:
        allocation = params.get("AllocationId", "")
        for gateway in _gateways(backend):
            if any(address.get("allocationId") == allocation for address in gateway.address_set):
                raise AwsError("InvalidIPAddress.InUse", f"Address with allocation {allocation} is in use.")

    def _before_DisassociateVpcCidrBlock(self, backend: Any, params: Params) -> None:
        wanted = params.get("AssociationId", "")
        for vpc in list(backend.vpcs.values()):
            for block in vpc.get_cidr_block_association_set():
                if block["association_id"] == wanted and _subnets_within(backend, vpc.id, block["cidr_block"]):
                    raise AwsError("InvalidCidrBlock.InUse", f"The CIDR block {block['cidr_block']} is in use.")

    def _before_CreateNatGateway(self, backend: Any, params: Params) -> None:
        allocation = params.get("AllocationId")
        if params.get("ConnectivityType", "public") == "public" and not allocation:
            raise AwsError("MissingParameter", "The request must include the AllocationId parameter.")
        if any(a.get("allocationId") == allocation for g in _gateways(backend) for a in g.address_set if allocation):
            raise AwsError("Resource.AlreadyAssociated", f"Elastic IP address [{allocation}] is already associated")

    def _before_DeleteNatGateway(self, backend: Any, params: Params) -> None:
        gateway = params.get("NatGatewayId", "")
        if gateway not in backend.nat_gateways:
            raise AwsError("NatGatewayNotFound", f"The Nat Gateway {gateway} was not found")

    def _before_CreateVpcEndpoint(self, backend: Any, params: Params) -> None:
        if params.get("VpcEndpointType", "Gateway") != "Gateway":
            return
        tables = {value for name, value in params.items() if name.startswith("RouteTableId.")}
        for endpoint in backend.vpc_end_points.values():
            same = endpoint.service_name == params.get("ServiceName") and endpoint.state != "deleted"
            if same and tables & set(endpoint.route_table_ids):
                table = min(tables & set(endpoint.route_table_ids))
                raise AwsError("RouteAlreadyExists", f"route table {table} already has a route for this endpoint")

    # ---- things that take time

    def _after_CreateNatGateway(self, backend: Any, _params: Params, reply: Reply) -> Reply:
        gateway = backend.nat_gateways[_first(reply, "natGatewayId")]
        gateway.connectivity_type = gateway.connectivity_type or "public"
        gateway.state = "pending"

        def available() -> None:
            if gateway.state == "pending":
                gateway.state = "available"

        self._agenda.after(self._pace.nat_create, available)
        return _with_state(reply, "pending")

    def _after_DeleteNatGateway(self, backend: Any, params: Params, reply: Reply) -> Reply:
        gateway = backend.nat_gateways[params["NatGatewayId"]]
        gateway.state = "deleting"

        def deleted() -> None:
            gateway.state = "deleted"
            for address in gateway.address_set:
                if address.get("publicIp"):
                    backend.disassociate_address(address=address["publicIp"])
            backend.enis.pop(gateway._eni.id, None)
            self._agenda.after(_REMEMBERED, lambda: backend.nat_gateways.pop(gateway.id, None))

        self._agenda.after(self._pace.nat_delete, deleted)
        return reply

    def _after_CreateVpcEndpoint(self, backend: Any, _params: Params, reply: Reply) -> Reply:
        endpoint = backend.vpc_end_points[_first(reply, "vpcEndpointId")]
        if not endpoint.vpc_endpoint_type:  # moto leaves the default unsaid
            endpoint.vpc_endpoint_type = "Gateway"
            return _changed(reply, rb"</vpcEndpointId>", b"</vpcEndpointId><vpcEndpointType>Gateway</vpcEndpointType>")
        if endpoint.vpc_endpoint_type == "Gateway":
            return reply
        for interface in endpoint.network_interface_ids:
            backend.enis[interface]._group_set = [
                backend.get_security_group_from_id(group) for group in endpoint.security_group_ids
            ]
        endpoint.state = "pending"

        def available() -> None:
            if endpoint.state == "pending":
                endpoint.state = "available"

        self._agenda.after(self._pace.endpoint_create, available)
        return _with_state(reply, "pending")

    def _after_DeleteVpcEndpoints(self, backend: Any, params: Params, reply: Reply) -> Reply:
        for name, wanted in params.items():
            endpoint = backend.vpc_end_points.get(wanted) if name.startswith("VpcEndpointId.") else None
            if endpoint is not None:
                backend.vpc_end_points.pop(wanted)
        return reply

    # ---- tokens

    def _repeated(self, call: Call, params: Params) -> Reply | None:
        known = self._tokens.get(self._token_key(call, params)) if params.get("ClientToken") else None
        if known is None:
            return None
        if known[0] != params:
            raise AwsError("IdempotentParameterMismatch", "The token was used before with other parameters.")
        return known[1]

    @staticmethod
    def _token_key(call: Call, params: Params) -> tuple[str, str, str, str]:
        return (call.account, call.region, call.operation, params.get("ClientToken", ""))


def _held(message: str) -> AwsError:
    return AwsError("DependencyViolation", message)


def _gateways(backend: Any) -> list[Any]:
    """NAT gateways that still hold their address and interface."""
    return [gateway for gateway in list(backend.nat_gateways.values()) if gateway.state != "deleted"]


def _inside_vpc(backend: Any, vpc: str) -> Iterator[Any]:
    yield from (gateway for gateway in backend.internet_gateways.values() if gateway.vpc and gateway.vpc.id == vpc)
    yield from (gateway for gateway in _gateways(backend) if gateway.vpc_id == vpc)
    yield from (point for point in backend.vpc_end_points.values() if point.vpc_id == vpc and point.state != "deleted")
    yield from (eni for eni in backend.get_all_network_interfaces() if eni.subnet.vpc_id == vpc)
    yield from (group for group in backend.groups.get(vpc, {}).values() if group.name != "default")


def _groups_in_use(backend: Any) -> set[str]:
    used = {group.id for eni in backend.get_all_network_interfaces() for group in eni.group_set if group}
    for groups in list(backend.groups.values()):
        for group in list(groups.values()):
            for rule in (*group.ingress_rules, *group.egress_rules):
                named = str(rule.source_group.get("GroupId", group.id))
                used |= {named} - {group.id}
    return used


def _subnets_within(backend: Any, vpc: str, block: str) -> bool:
    outer = ipaddress.ip_network(block)
    return any(
        subnet.vpc_id == vpc and subnet.cidr.subnet_of(outer)
        for zone in backend.subnets.values()
        for subnet in zone.values()
    )


def _first(reply: Reply, tag: str) -> str:
    found = re.search(rf"<{tag}>([^<]+)</{tag}>", reply.body.decode())
    return found[1] if found else ""


def _with_state(reply: Reply, state: str) -> Reply:
    return _changed(reply, rb"<state>available</state>", f"<state>{state}</state>".encode())


def _changed(reply: Reply, pattern: bytes, replacement: bytes) -> Reply:
    body = re.sub(pattern, replacement, reply.body, count=1)
    headers = {name: value for name, value in reply.headers.items() if name != "content-length"}
    return Reply(status=reply.status, body=body, headers=headers)
