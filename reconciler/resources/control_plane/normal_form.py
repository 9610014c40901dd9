"""EKS answers in the normal form of their resources. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml

from reconciler.resources.drafts import as_list, as_map
from schemas.resource import Health
from schemas.values import JsonObject, JsonValue

NO_REPLICAS = "InsufficientNumberOfReplicas"
WAITING = "WaitingForNodes"


def cluster_spec(cluster: Mapping[str, Any]) -> JsonObject:
    network = as_map(cluster.get("resourcesVpcConfig"))
    return {
        "version": cluster.get("version"),
        "vpc": network.get("vpcId"),
        "endpoint": {
            "public": bool(network.get("endpointPublicAccess")),
            "private": bool(network.get("endpointPrivateAccess")),
            "publicCidrs": sorted(str(cidr) for cidr in as_list(network.get("publicAccessCidrs"))),
        },
        "logging": _log_types(as_map(cluster.get("logging"))),
        "authenticationMode": as_map(cluster.get("accessConfig")).get("authenticationMode"),
        "role": cluster.get("roleArn"),
        "subnets": sorted(str(subnet) for subnet in as_list(network.get("subnetIds"))),
        "securityGroups": sorted(str(group) for group in as_list(network.get("securityGroupIds"))),
    }


def identity_of(cluster: Mapping[str, Any]) -> str:
    """Another EKS cluster of the same name has the same ARN, and was made at another time."""
    arn = cluster.get("arn")
    return f"{arn}@{cluster.get('createdAt', '')}" if arn else ""


def cluster_attrs(cluster: Mapping[str, Any]) -> JsonObject:
    """What others build on; what EKS does not show yet is left out, so that Refs to it stay open."""
    issuer = str(as_map(as_map(cluster.get("identity")).get("oidc")).get("issuer") or "")
    found: JsonObject = {
        "arn": cluster.get("arn"),
        "id": identity_of(cluster),
        "endpoint": cluster.get("endpoint"),
        "ca": as_map(cluster.get("certificateAuthority")).get("data"),
        "issuer": issuer,
        "issuerHost": issuer.removeprefix("https://"),
        "securityGroup": as_map(cluster.get("resourcesVpcConfig")).get("clusterSecurityGroupId"),
        "version": cluster.get("version"),
        "createdAt": cluster.get("createdAt"),
    }
    return {name: value for name, value in found.items() if value}


def cluster_health(cluster: Mapping[str, Any]) -> tuple[Health, bool, str, str]:
    """Health, ready, reason, message."""
    status = str(cluster.get("status", ""))
    code, text = first_issue(as_list(as_map(cluster.get("health")).get("issues")))
    match status:
        case "ACTIVE" if code:  # it serves, but somebody has to do something
            return Health.FAILED, True, code, text
        case "ACTIVE":
            return Health.HEALTHY, True, "", ""
        case "UPDATING":
            return Health.PROGRESSING, True, "EksUpdating", text
        case "DELETING":
            return Health.DELETING, False, "EksDeleting", text
        case "FAILED":
            return Health.FAILED, False, code or "EksFailed", text or "EKS gives no reason"
        case _:
            return Health.PROGRESSING, False, "EksCreating", text


def addon_spec(addon: Mapping[str, Any]) -> JsonObject:
    spec: JsonObject = {"version": addon.get("addonVersion"), "values": read_values(addon.get("configurationValues"))}
    if addon.get("serviceAccountRoleArn"):
        spec["role"] = addon["serviceAccountRoleArn"]
    return spec


def addon_health(addon: Mapping[str, Any], *, has_nodes: bool) -> tuple[Health, bool, str, str]:
    """Health, ready, reason, message. An add-on that only waits for its first node holds nothing back."""
    status = str(addon.get("status", ""))
    issues = as_list(as_map(addon.get("health")).get("issues"))
    code, text = first_issue(issues)
    only_replicas = bool(issues) and all(as_map(issue).get("code") == NO_REPLICAS for issue in issues)
    match status:
        case "ACTIVE":
            return Health.HEALTHY, True, "", ""
        case "CREATING" | "DEGRADED" if only_replicas:
            return Health.PROGRESSING, True, WAITING, text
        case "CREATING" if not has_nodes and not issues:
            return Health.PROGRESSING, True, WAITING, "its pods wait for the first node"
        case "CREATING":
            return Health.PROGRESSING, False, code or "AddonCreating", text
        case "DEGRADED":  # its pods are not all up now; EKS goes on trying, and so it often passes
            return Health.PROGRESSING, True, code or "AddonDegraded", text
        case "UPDATING":
            return Health.PROGRESSING, True, code or "AddonUpdating", text
        case "DELETING":
            return Health.DELETING, False, "AddonDeleting", text
        case "UPDATE_FAILED":  # the former version still runs
            return Health.FAILED, True, code or "AddonUpdateFailed", text
        case _:
            return Health.FAILED, False, code or f"Addon{status.title().replace('_', '')}", text or status


def read_values(text: JsonValue) -> JsonObject:
    """Configuration values: EKS gives back the string it was given, JSON or YAML."""
    if not text:
        return {}
    try:
        value: JsonValue = json.loads(str(text))
    except ValueError:
        try:
            value = yaml.safe_load(str(text))
        except yaml.YAMLError:
            value = None
    return as_map(value) if isinstance(value, Mapping) else {"unreadable": str(text)}


def overlaid(seen: Mapping[str, Any], wanted: Mapping[str, Any]) -> JsonObject:
    """What is live with the wanted leaves over it: an update replaces whole and must not lose what others wrote."""
    merged = dict(seen)
    for name, value in wanted.items():
        below = merged.get(name)
        both = isinstance(value, Mapping) and isinstance(below, Mapping)
        merged[name] = overlaid(as_map(below), as_map(value)) if both else value
    return merged


def without(values: Mapping[str, Any], pointer: str) -> JsonObject:
    """The values without what a JSON pointer names."""
    first, _, rest = pointer.removeprefix("/").partition("/")
    name = first.replace("~1", "/").replace("~0", "~")
    if not rest:
        return {k: v for k, v in values.items() if k != name}
    below = values.get(name)
    if not isinstance(below, Mapping):
        return dict(values)
    return {**values, name: without(as_map(below), f"/{rest}")}


def scope_form(scope: Mapping[str, Any]) -> JsonObject:
    """An access scope; namespaces mean something only if the scope is namespaces."""
    if scope.get("type") != "namespace":
        return {"type": "cluster"}
    return {"type": "namespace", "namespaces": sorted(str(each) for each in as_list(scope.get("namespaces")))}


def next_version(live: str, wanted: str) -> str | None:
    """One minor towards `wanted`; None if it is not ahead."""
    (major, minor), (to_major, to_minor) = _numbers(live), _numbers(wanted)
    if major != to_major or to_minor <= minor:
        return None
    return f"{major}.{minor + 1}"


def first_issue(issues: list[Any]) -> tuple[str, str]:
    """Code and text of the first issue, the text naming what it is about."""
    if not issues:
        return "", ""
    issue = as_map(issues[0])
    about = ", ".join(str(each) for each in as_list(issue.get("resourceIds")))
    text = str(issue.get("message") or "")
    return str(issue.get("code") or "Other"), f"{text} ({about})" if about and about not in text else text


def first_error(errors: list[Any]) -> tuple[str, str]:
    """Code and text of the first error of an update."""
    renamed = [{"code": each["errorCode"], "message": each["errorMessage"], **each} for each in map(_error, errors)]
    return first_issue(renamed)


def _error(value: JsonValue) -> JsonObject:
    return {"errorCode": "Other", "errorMessage": "", **as_map(value)}


def _log_types(logging: Mapping[str, Any]) -> list[str]:
    found: set[str] = set()
    for group in as_list(logging.get("clusterLogging")):
        if as_map(group).get("enabled"):
            found |= {str(each) for each in as_list(as_map(group).get("types"))}
    return sorted(found)


def _numbers(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return int(major), int(minor)
