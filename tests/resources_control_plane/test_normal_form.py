"""EKS answers in normal form."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.resources.control_plane.normal_form import (
    addon_health,
    addon_spec,
    cluster_attrs,
    cluster_health,
    cluster_spec,
    first_error,
    next_version,
    overlaid,
    read_values,
    scope_form,
    without,
)
from schemas.resource import Health

NO_REPLICAS = {"code": "InsufficientNumberOfReplicas", "message": "no nodes", "resourceIds": ["coredns"]}
CONFLICT = {"code": "ConfigurationConflict", "message": "conflicts: ConfigMap coredns .data.Corefile"}


@pytest.mark.parametrize(
    ("why", "addon", "nodes", "expected"),
    [
        ("runs", {"status": "ACTIVE"}, True, (Health.HEALTHY, True, "")),
        ("no node yet", {"status": "CREATING"}, False, (Health.PROGRESSING, True, "WaitingForNodes")),
        ("nodes are there", {"status": "CREATING"}, True, (Health.PROGRESSING, False, "AddonCreating")),
        (
            "EKS says that only replicas are missing",
            {"status": "DEGRADED", "health": {"issues": [NO_REPLICAS]}},
            True,
            (Health.PROGRESSING, True, "WaitingForNodes"),
        ),
        (
            "degraded for another reason: EKS goes on trying, and the reason is said",
            {"status": "DEGRADED", "health": {"issues": [CONFLICT, NO_REPLICAS]}},
            True,
            (Health.PROGRESSING, True, "ConfigurationConflict"),
        ),
        (
            "B49: installed before us",
            {"status": "CREATE_FAILED", "health": {"issues": [CONFLICT]}},
            False,
            (Health.FAILED, False, "ConfigurationConflict"),
        ),
        (
            "an update keeps the old one running",
            {"status": "UPDATING"},
            True,
            (Health.PROGRESSING, True, "AddonUpdating"),
        ),
        ("a failed update, too", {"status": "UPDATE_FAILED"}, True, (Health.FAILED, True, "AddonUpdateFailed")),
        ("on its way out", {"status": "DELETING"}, True, (Health.DELETING, False, "AddonDeleting")),
        ("failed without a reason", {"status": "DELETE_FAILED"}, True, (Health.FAILED, False, "AddonDeleteFailed")),
    ],
)
def test_health_of_an_addon(why: str, addon: dict[str, Any], nodes: bool, expected: tuple[Health, bool, str]) -> None:
    health, ready, reason, _ = addon_health(addon, has_nodes=nodes)
    assert (health, ready, reason) == expected, why


@pytest.mark.parametrize(
    ("why", "cluster", "expected"),
    [
        ("serves", {"status": "ACTIVE"}, (Health.HEALTHY, True, "")),
        ("being made", {"status": "CREATING"}, (Health.PROGRESSING, False, "EksCreating")),
        ("others may build on it during an update", {"status": "UPDATING"}, (Health.PROGRESSING, True, "EksUpdating")),
        (
            "E13: the root reason is the first thing said",
            {"status": "FAILED", "health": {"issues": [{"code": "Ec2SubnetNotFound", "message": "subnet-1 is gone"}]}},
            (Health.FAILED, False, "Ec2SubnetNotFound"),
        ),
        (
            "serves, but somebody has to do something",
            {"status": "ACTIVE", "health": {"issues": [{"code": "InsufficientFreeAddresses", "message": "m"}]}},
            (Health.FAILED, True, "InsufficientFreeAddresses"),
        ),
    ],
)
def test_health_of_a_cluster(why: str, cluster: dict[str, Any], expected: tuple[Health, bool, str]) -> None:
    health, ready, reason, _ = cluster_health(cluster)
    assert (health, ready, reason) == expected, why


@pytest.mark.parametrize(
    ("why", "text", "expected"),
    [
        ("JSON", '{"env":{"A":"1"}}', {"env": {"A": "1"}}),
        ("YAML", "env:\n  A: '1'\n", {"env": {"A": "1"}}),
        ("nothing", "", {}),
        ("null", None, {}),
        ("what nobody can read is shown, not lost", ": : :", {"unreadable": ": : :"}),
    ],
)
def test_configuration_values_are_opaque_text(why: str, text: str | None, expected: dict[str, Any]) -> None:
    assert read_values(text) == expected, why


@pytest.mark.parametrize(
    ("live", "wanted", "expected"),
    [
        ("1.31", "1.32", "1.32"),
        ("1.31", "1.34", "1.32"),
        ("1.32", "1.32", None),
        ("1.33", "1.32", None),
        ("1.9", "1.10", "1.10"),
    ],
)
def test_one_minor_at_a_time_and_never_back(live: str, wanted: str, expected: str | None) -> None:
    assert next_version(live, wanted) == expected


def test_an_update_overlays_what_is_live() -> None:
    live = {"a": {"x": 1, "y": 2}, "b": [1]}
    assert overlaid(live, {"a": {"y": 3}, "b": [2]}) == {"a": {"x": 1, "y": 3}, "b": [2]}
    assert live == {"a": {"x": 1, "y": 2}, "b": [1]}, "the observed stays as it was"
    assert without({"a": {"x/y": 1, "z": 2}}, "/a/x~1y") == {"a": {"z": 2}}
    assert without({"a": 1}, "/b/c") == {"a": 1}


def test_a_cluster_in_normal_form() -> None:
    raw = {
        "version": "1.34",
        "roleArn": "arn:aws:iam::111122223333:role/r",
        "resourcesVpcConfig": {
            "subnetIds": ["subnet-b", "subnet-a"],
            "securityGroupIds": ["sg-1"],
            "endpointPublicAccess": True,
            "endpointPrivateAccess": False,
            "publicAccessCidrs": ["10.0.0.0/8", "0.0.0.0/0"],
            "clusterSecurityGroupId": "sg-9",
            "vpcId": "vpc-1",
        },
        "logging": {
            "clusterLogging": [{"types": ["audit", "api"], "enabled": True}, {"types": ["scheduler"], "enabled": False}]
        },
        "accessConfig": {"authenticationMode": "API"},
        "identity": {"oidc": {"issuer": "https://oidc.example/id/A"}},
        "certificateAuthority": {},
    }
    assert cluster_spec(raw) == {
        "version": "1.34",
        "vpc": "vpc-1",
        "endpoint": {"public": True, "private": False, "publicCidrs": ["0.0.0.0/0", "10.0.0.0/8"]},
        "logging": ["api", "audit"],
        "authenticationMode": "API",
        "role": "arn:aws:iam::111122223333:role/r",
        "subnets": ["subnet-a", "subnet-b"],
        "securityGroups": ["sg-1"],
    }
    attrs = cluster_attrs(raw)
    assert attrs["issuerHost"] == "oidc.example/id/A" and attrs["securityGroup"] == "sg-9"
    assert "endpoint" not in attrs and "ca" not in attrs, "what is not there yet leaves Refs open"


def test_small_forms() -> None:
    assert scope_form({"type": "cluster", "namespaces": []}) == {"type": "cluster"}
    assert scope_form({"type": "namespace", "namespaces": ["b", "a"]}) == {
        "type": "namespace",
        "namespaces": ["a", "b"],
    }
    assert addon_spec({"addonVersion": "v1", "configurationValues": '{"b":1}'}) == {"version": "v1", "values": {"b": 1}}
    error = {"errorCode": "SubnetNotFound", "errorMessage": "subnet-1 is gone", "resourceIds": ["subnet-1"]}
    assert first_error([error]) == ("SubnetNotFound", "subnet-1 is gone")
    assert first_error([]) == ("", "")
