"""What is released, what is deleted and what simply stays when a cluster's folder goes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from reconciler.plan.make import PlanInput, make
from schemas.plan import Plan
from schemas.resource import Health, Mark, Observed, Presence, Ref, Resource, Source, Stage

EKS, ADDON, ENTRY = "eks.Cluster/prod", "eks.Addon/prod/dns", "eks.AccessEntry/prod/a"
POD, GROUP = "hyperpod.Cluster/prod", "hyperpod.InstanceGroup/prod/a"
ROLE, BUCKET, OBJECTS = "iam.Role/prod/execution", "s3.Bucket/prod/lifecycle", "s3.Objects/prod/lifecycle"
OIDC, CHART = "iam.OpenIDConnectProvider/prod", "helm.Release/prod/deps"


@dataclass(frozen=True, kw_only=True)
class Case:
    """`marks`: what is live. `plan`: verb by key, sorted."""

    why: str
    marks: dict[str, Mark]
    plan: dict[str, str]
    live_role: str = "arn:theirs"


CASES = (
    Case(
        why="all ours: all deleted, children with their parents",
        marks=dict.fromkeys((EKS, ADDON, ENTRY, OIDC, CHART, POD, ROLE, BUCKET, OBJECTS), Mark.OURS)
        | {GROUP: Mark.CHILD},
        plan=dict.fromkeys((EKS, ADDON, OIDC, CHART, POD, ROLE, BUCKET, OBJECTS), "delete"),
        live_role="arn:ours",
    ),
    Case(
        why="an add-on, a provider and a release that were there keep no cluster of ours standing",
        marks={EKS: Mark.OURS, ADDON: Mark.ADOPTED, OIDC: Mark.ADOPTED, CHART: Mark.ADOPTED},
        plan={EKS: "delete", ADDON: "release", OIDC: "release", CHART: "release"},
    ),
    Case(
        why="an adopted EKS cluster stays with what is in it; what only stood beside it goes",
        marks={EKS: Mark.ADOPTED, ADDON: Mark.OURS, ENTRY: Mark.OURS, OIDC: Mark.OURS, CHART: Mark.OURS, POD: Mark.OURS}
        | {GROUP: Mark.CHILD, ROLE: Mark.OURS, BUCKET: Mark.OURS, OBJECTS: Mark.OURS},
        plan={EKS: "release", ADDON: "release", ENTRY: "release"}
        | dict.fromkeys((OIDC, CHART, POD, ROLE, BUCKET, OBJECTS), "delete"),
        live_role="arn:ours",
    ),
    Case(
        why="an adopted HyperPod cluster: a group that was there needs nothing of ours",
        marks={EKS: Mark.ADOPTED, POD: Mark.ADOPTED, GROUP: Mark.CHILD, ROLE: Mark.OURS, BUCKET: Mark.OURS}
        | {OBJECTS: Mark.OURS},
        plan={EKS: "release", POD: "release", ROLE: "delete", BUCKET: "delete", OBJECTS: "delete"},
    ),
    Case(
        why="a group that we made in it stands on our role and our script: they stay",
        marks={EKS: Mark.ADOPTED, POD: Mark.ADOPTED, GROUP: Mark.CHILD, ROLE: Mark.OURS, BUCKET: Mark.OURS}
        | {OBJECTS: Mark.OURS},
        plan={EKS: "release", POD: "release", ROLE: "release", BUCKET: "release"},
        live_role="arn:ours",
    ),
)


def resources(marks: dict[str, Mark]) -> dict[str, Resource]:
    named: dict[str, dict[str, Any]] = {
        EKS: {},
        ADDON: {"after": (EKS,), "takes_over": True},
        ENTRY: {"after": (EKS,), "takes_over": True},
        OIDC: {"spec": {"url": Ref(EKS, "issuer")}, "takes_over": True},
        CHART: {"after": (EKS,), "takes_over": True},
        ROLE: {},
        BUCKET: {},
        OBJECTS: {"spec": {"bucket": Ref(BUCKET, "name")}},
        POD: {"spec": {"eks": Ref(EKS, "arn")}},
        GROUP: {"after": (POD,), "made_with": {"executionRole": Ref(ROLE, "arn")}, "made_after": (OBJECTS,)},
    }
    return {
        key: Resource(
            key=key,
            type=key.split("/")[0],
            name=key,
            cluster="prod",
            stage=Stage.COMPUTE,
            lane=key,
            source=Source("Cluster", "prod"),
            adopt=key if marks[key] is Mark.ADOPTED and key in (EKS, POD) else None,
            **more,
        )
        for key, more in named.items()
        if key in marks
    }


def live(case: Case) -> dict[str, Observed]:
    attrs: dict[str, dict[str, Any]] = {ROLE: {"arn": "arn:ours"}}
    spec: dict[str, dict[str, Any]] = {GROUP: {"executionRole": case.live_role}}
    return {
        key: Observed(
            key=key,
            type=key.split("/")[0],
            name=key,
            presence=Presence.PRESENT,
            mark=mark,
            attrs=attrs.get(key, {}),
            spec=spec.get(key, {}),
            health=Health.HEALTHY,
            ready=True,
        )
        for key, mark in case.marks.items()
    }


def torn_down(case: Case) -> Plan:
    given = PlanInput(cluster="prod", revision=None, desired={}, previous=resources(case.marks), observed=live(case))
    return make(given)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_what_happens_to_each(case: Case) -> None:
    assert {action.key: action.verb.value for action in torn_down(case).actions} == case.plan


def test_a_cluster_is_let_go_of_after_what_is_marked_in_it() -> None:
    case = CASES[2]
    needs = {action.key: action.needs for action in torn_down(case).actions}
    assert {ADDON, ENTRY} <= set(needs[EKS])
