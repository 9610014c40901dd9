"""What a moto call really changed.

A convergent call that finds its wish fulfilled changes nothing. So the thing it aims at is fingerprinted before and
after; creates and deletes tell by themselves.
"""

from __future__ import annotations

import re
from typing import Any

from reconciler.sandbox.aws.calls import Call, is_mutating
from reconciler.sandbox.aws.errors import Reply
from reconciler.sandbox.aws.moto_bridge import Moto
from reconciler.sandbox.aws.wire import Request

Params = dict[str, str]

_MADE_IN_EC2 = {
    "CreateVpc": "vpcId",
    "CreateSubnet": "subnetId",
    "CreateInternetGateway": "internetGatewayId",
    "CreateNatGateway": "natGatewayId",
    "CreateRouteTable": "routeTableId",
    "CreateSecurityGroup": "groupId",
    "CreateVpcEndpoint": "vpcEndpointId",
    "AllocateAddress": "allocationId",
}


class MotoEffects:
    def __init__(self, moto: Moto) -> None:
        self._moto = moto

    def fingerprint(self, call: Call, params: Params, request: Request) -> str | None:
        """The state of what the call aims at; None where we have no eye for it."""
        if not is_mutating(call.operation):
            return None
        if call.service == "iam":
            return self._iam(call, params)
        if call.service == "s3":
            return self._s3(call, request)
        return self._ec2(call, params) if call.service == "ec2" else None

    def note(self, call: Call, params: Params, reply: Reply, before: str | None, after: str | None) -> None:
        if reply.status >= 300 or not is_mutating(call.operation):
            return
        if before is not None and before == after:
            return
        kind = f"{call.service}.{_noun(call.operation)}"
        identity = _made(call, reply) or _aimed_at(params) or call.operation
        call.changed(_verb(call.operation), kind, identity, _key_tag(params))

    def _iam(self, call: Call, params: Params) -> str | None:
        backend = self._moto.backend("iam", call.account, "aws")
        if name := params.get("RoleName"):
            for role in backend.roles.values():
                if role.name == name:
                    policies = sorted(role.managed_policies)
                    return repr((role.policies, policies, role.tags, str(role.assume_role_policy_document)))
            return "absent"
        if arn := params.get("OpenIDConnectProviderArn"):
            provider = backend.open_id_providers.get(arn)
            return _state(provider)
        return None

    def _s3(self, call: Call, request: Request) -> str | None:
        bucket, _, key = request.path.lstrip("/").partition("/")
        backend = self._moto.backend("s3", call.account, "aws")
        held: Any = backend.buckets.get(bucket)
        if held is None:
            return "absent"
        if key:
            item = held.keys.get(key)
            return "absent" if item is None else repr((item.etag, item.size, getattr(item, "metadata", None)))
        return _state(held, "keys", "multiparts") + repr(backend.tagger.get_tag_dict_for_resource(held.arn))

    def _ec2(self, call: Call, params: Params) -> str | None:
        backend = self._moto.backend("ec2", call.account, call.region)
        if call.operation in ("CreateTags", "DeleteTags"):
            ids = [value for name, value in params.items() if name.startswith("ResourceId.")]
            return repr([dict(backend.tags.get(wanted, {})) for wanted in ids])
        if call.operation == "ModifyVpcAttribute":
            vpc = backend.vpcs.get(params.get("VpcId"))
            return repr((vpc.enable_dns_support, vpc.enable_dns_hostnames)) if vpc else None
        if call.operation == "ModifySubnetAttribute":
            subnet = self._moto.subnet(call.account, call.region, params.get("SubnetId", ""))
            return repr(subnet.map_public_ip_on_launch) if subnet else None
        return None


def _state(thing: Any, *leave_out: str) -> str:
    if thing is None:
        return "absent"
    values: dict[str, Any] = thing.__dict__
    return repr({name: getattr(v, "__dict__", v) for name, v in values.items() if name not in leave_out})


def _made(call: Call, reply: Reply) -> str | None:
    tag = _MADE_IN_EC2.get(call.operation)
    found = re.search(rf"<{tag}>([^<]+)</{tag}>", reply.body.decode(errors="replace")) if tag else None
    return found[1] if found else None


def _aimed_at(params: Params) -> str | None:
    names = [name for name in params if re.search(r"(Id|Name|Arn|Bucket|Url|Id\.\d+)$", name)]
    named = [params[name] for name in names if not name.startswith(("Client", "TagSpec", "Tag.", "Tags."))]
    return ", ".join(named[:2]) or None


def _key_tag(params: Params) -> str:
    for name, value in params.items():
        if value == "instantstart:key" and name.endswith(".Key"):
            return "key=" + params.get(name[: -len("Key")] + "Value", "")
    return ""


def _verb(operation: str) -> str:
    if operation.startswith(("Create", "Allocate", "Run")):
        return "updated" if operation in ("CreateTags", "CreateRoute") else "created"
    if operation.startswith(("Delete", "Release")):
        return "updated" if operation in ("DeleteTags", "DeleteRoute") else "deleted"
    return "updated"


def _noun(operation: str) -> str:
    return re.sub(r"^(Create|Delete|Allocate|Release|Put|Modify|Update|Attach|Detach|Associate)", "", operation).lower()
