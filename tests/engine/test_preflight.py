"""What is known before anything is sent: resolved defaults, and what the account and its zones say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reconciler.engine.scope import Scope
from schemas.journal import Condition
from schemas.plan import Plan, Severity
from tests.engine_support import Site, group_yaml

KUBE_PROXY = "  dependencies:\n    addons:\n      kube-proxy:\n        version: {}\n"


def planned(site: Site, **files: str) -> Plan:
    site.commit("new", **{"cluster": site.cluster_yaml(), "groups": group_yaml("system"), **files})
    scope: Scope = site.engine.observe("prod")
    assert scope.plan is not None
    return scope.plan


def with_version(site: Site, version: str) -> str:
    return site.cluster_yaml().replace("  dependencies:\n", KUBE_PROXY.format(version))


def test_versions_of_addons_stand_in_the_plan_and_are_what_is_sent(site: Site) -> None:
    """A01, B07: the default is resolved once, recorded, and no drift when EKS recommends another one later."""
    plan = planned(site)
    addons = {action.name: action for action in plan.actions if action.type == "eks.Addon"}
    offered = site.client("eks").describe_addon_versions(kubernetesVersion="1.33")["addons"]
    defaults = {
        addon["addonName"]: version["addonVersion"]
        for addon in offered
        for version in addon["addonVersions"]
        if any(c["defaultVersion"] and c["clusterVersion"] == "1.33" for c in version["compatibilities"])
    }
    assert addons and {name: action.want["version"] for name, action in addons.items()} == {
        name: defaults[name] for name in addons
    }
    assert all("recommends for Kubernetes 1.33" in action.notes[0] for action in addons.values())
    assert [each for each in plan.findings if each.severity is not Severity.INFO] == []


@pytest.mark.parametrize(
    ("reason", "old", "new", "named"),
    [
        ("an add-on version that is not there", None, "v9.9.9-eksbuild.1", "kube-proxy v9.9.9-eksbuild.1"),
        ("a chart commit that is not there", "commit", "deadbeef" * 5, "deadbeef" * 5),
        ("a chart path that is not there", "path", "helm_chart/Moved", "helm_chart/Moved"),
    ],
)
def test_what_cannot_be_resolved_stops_before_any_call(
    site: Site, reason: str, old: str | None, new: str, named: str
) -> None:
    """A01: the name that was tried is told, and nothing is made: never half a cluster."""
    if old is None:
        text = with_version(site, new)
    else:
        path, commit = site.chart
        text = replace(site, chart=(path, new) if old == "commit" else (new, commit)).cluster_yaml()
    site.commit("new", cluster=text, groups=group_yaml("system"))
    site.idle(3)
    assert site.status.condition is Condition.STALLED
    assert named in site.status.stages["dependencies"].msg, reason
    assert site.mutations() == []
    site.commit("mended", cluster=site.cluster_yaml())
    site.idle(2)
    assert site.mutations() != []


def test_a_zone_and_a_quota_are_told_and_hold_nothing_back(site: Site) -> None:
    """A17: errors of a plan that a person may still want to try."""
    name = "ml.m5.2xlarge for cluster usage"
    site.sandbox.post("/quota", {"account": site.sandbox.account, "region": "us-west-2", "name": name, "value": 1})
    elsewhere = group_yaml("gpu", "ml.g5.8xlarge", 1).replace("usw2-az2", "usw2-az4")
    plan = planned(site, groups=group_yaml("system") + elsewhere)
    told = {each.reason: each for each in plan.findings if each.severity is Severity.ERROR}
    assert set(told) == {"TypeNotOffered", "QuotaTooSmall"}
    assert "usw2-az4" in told["TypeNotOffered"].message and str(told["TypeNotOffered"].source) == "InstanceGroup/gpu"
    assert f"asks for 2, the quota {name!r} allows 1" in told["QuotaTooSmall"].message
    assert [action.name for action in plan.actions if action.type == "hyperpod.InstanceGroup"] == ["gpu", "system"]


def test_what_cannot_be_asked_claims_nothing(site: Site) -> None:
    """A reader without the right to see quotas plans as before, and is told."""
    match = {"service": "servicequotas", "operation": "ListServiceQuotas"}
    site.sandbox.post("/faults", {"match": match, "fault": "access_denied", "times": 9})
    plan = planned(site)
    assert [(each.severity, each.reason) for each in plan.findings] == [(Severity.INFO, "PreflightBlind")]


def test_scripts_that_miss_others_are_told_before_nodes_fail(site: Site) -> None:
    """A23: the folder goes up as a unit, and what it calls and lacks is named."""
    script = b"#!/bin/bash\nbash ./on_create_main.sh\n"
    site.commit_paths({"clusters/prod/scripts/on_create.sh": script}, "script")
    named = site.cluster_yaml("  lifecycleScript: scripts/on_create.sh\n")
    (told,) = [each for each in planned(site, cluster=named).findings if each.reason.startswith("Script")]
    assert told.severity is Severity.WARNING and "on_create_main.sh" in told.message
    site.commit_paths({"clusters/prod/scripts/on_create_main.sh": b"#!/bin/bash\n"}, "its other half")
    plan = site.engine.observe("prod").plan
    assert plan is not None and [each for each in plan.findings if each.reason.startswith("Script")] == []
