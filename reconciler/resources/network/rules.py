"""Rules of a security group between their two spellings. Pure.

Ours: one rule per peer, `{"protocol", "peer", "from"?, "to"?}`, the peer being "self", a CIDR, or a group's id.
EC2's: permissions that bundle peers by protocol and ports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv6Network, ip_network
from typing import Any

from reconciler.resources.drafts import as_list
from schemas.values import JsonObject, canonical

SELF = "self"
_LOAD_BALANCER = "elbv2.k8s.aws/"  # the AWS load balancer controller keeps rules of its own in node groups


def rules_of(permissions: Iterable[Mapping[str, Any]], group: str) -> list[JsonObject]:
    """EC2's permissions as our rules, sorted."""
    found: list[JsonObject] = []
    for permission in permissions:
        base: JsonObject = {"protocol": str(permission.get("IpProtocol", "-1"))}
        if base["protocol"] != "-1" and permission.get("FromPort") is not None:
            base |= {"from": int(permission["FromPort"]), "to": int(permission["ToPort"])}
        found.extend(base | {"peer": peer} for peer in _peers(permission, group))
    return sorted(found, key=canonical)


def permission_of(rule: Mapping[str, Any], group: str) -> JsonObject:
    """One of our rules as an EC2 permission."""
    permission: JsonObject = {"IpProtocol": str(rule["protocol"])}
    if rule.get("from") is not None:
        permission |= {"FromPort": int(rule["from"]), "ToPort": int(rule.get("to", rule["from"]))}
    peer = str(rule["peer"])
    if peer == SELF or peer.startswith("sg-"):
        permission["UserIdGroupPairs"] = [{"GroupId": group if peer == SELF else peer}]
    elif peer.startswith("pl-"):
        permission["PrefixListIds"] = [{"PrefixListId": peer}]
    elif isinstance(ip_network(peer), IPv6Network):
        permission["Ipv6Ranges"] = [{"CidrIpv6": peer}]
    else:
        permission["IpRanges"] = [{"CidrIp": peer}]
    return permission


def normal_rules(rules: Iterable[Mapping[str, Any]], group: str) -> list[JsonObject]:
    """Our rules through EC2's spelling and back: two lists that mean the same become equal."""
    return rules_of([permission_of(rule, group) for rule in rules], group)


def _peers(permission: Mapping[str, Any], group: str) -> Iterable[str]:
    for pair in as_list(permission.get("UserIdGroupPairs")):
        if not str(pair.get("Description", "")).startswith(_LOAD_BALANCER):
            yield SELF if pair.get("GroupId") == group else str(pair.get("GroupId"))
    for each in as_list(permission.get("IpRanges")):
        if not str(each.get("Description", "")).startswith(_LOAD_BALANCER):
            yield str(each["CidrIp"])
    for each in as_list(permission.get("Ipv6Ranges")):
        yield str(each["CidrIpv6"])
    for each in as_list(permission.get("PrefixListIds")):
        yield str(each["PrefixListId"])
