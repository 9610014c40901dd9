"""Releases against the sandbox with a real helm: installed, upgraded, interrupted, failed, removed."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler.live.clock import real_now
from reconciler.live.kube.kinds import Gvk
from reconciler.resources.control_plane.clusters import ClusterHandler
from reconciler.resources.handler import Verdict
from reconciler.resources.helm.binary import find_helm
from reconciler.resources.helm.handler import STALE, ReleaseHandler
from schemas.errors import Refused, StopUntilChange
from schemas.journal import OpRecord, Phase
from schemas.plan import Verb
from schemas.resource import Health, Mark, Observed, Resource
from tests.resources_support import Place, resource

pytestmark = pytest.mark.behaviour("Product: releases by Helm")

KEY = "helm.Release/prod/hyperpod-dependencies"
SECRET = Gvk("v1", "Secret")
HANDLERS = (ClusterHandler(), ReleaseHandler())


def eks_resource() -> Resource:
    return resource("eks.Cluster/prod", {}, adopt="prod", reference=True)


def release(chart: dict[str, str], values: dict[str, Any] | None = None, **rest: Any) -> Resource:
    spec = {"chart": chart, "namespace": "kube-system", "values": values or {}}
    return resource(KEY, spec, name="hyperpod-dependencies", lane="helm/prod/hyperpod-dependencies", **rest)


def want(place: Place, *resources: Resource) -> Observed | None:
    place.want(eks_resource(), *resources)
    return place.look(*HANDLERS).get(KEY)


def step(place: Place) -> OpRecord:
    """Send the call for what comes first in the plan, and look."""
    first = next(a for a in place.plan().actions if a.key == KEY)
    (call,) = HANDLERS[1].calls(place.world(), [first])
    op = place.send(HANDLERS[1], call)
    place.look(*HANDLERS)
    return op


def verbs(place: Place) -> Sequence[Verb]:
    return [a.verb for a in place.plan().actions if a.key == KEY]


def test_a_chart_is_installed_changed_and_removed(eks: Place, chart: dict[str, str]) -> None:
    want(eks, release(chart))
    assert verbs(eks) == [Verb.CREATE]
    op = step(eks)
    seen = eks.observed[KEY]
    assert (seen.health, seen.ready, seen.mark, seen.op) == (Health.HEALTHY, True, Mark.OURS, op.op)
    assert seen.spec == {"chart": chart, "namespace": "kube-system", "values": {}}
    assert verbs(eks) == []
    assert eks.settle(HANDLERS[1], op.model_copy(update={"phase": Phase.INTENT})).verdict is Verdict.HAPPENED
    agent = eks.real_kube().get(Gvk("apps/v1", "DaemonSet"), "aws-hyperpod", "health-monitoring-agent")
    assert agent["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "Helm"

    want(eks, release(chart, {"note": "x"}))
    assert verbs(eks) == [Verb.UPDATE]
    lost = OpRecord.model_validate(
        {"op": "01LOST", "phase": Phase.INTENT, "key": KEY, "verb": "update", "lane": "l", "class": "name"}
    )
    assert eks.settle(HANDLERS[1], lost).verdict is Verdict.ABSENT, "an upgrade that left no trace"
    step(eks)
    assert eks.observed[KEY].spec["values"] == {"note": "x"} and eks.observed[KEY].attrs["revision"] == 2

    eks.desired, eks.previous = {}, {}
    eks.want(eks_resource())
    eks.look(*HANDLERS)
    assert eks.observed[KEY].mark is Mark.OURS, "a release that git has forgotten is found by its label"
    assert verbs(eks) == [Verb.DELETE]
    step(eks)
    assert KEY not in eks.observed
    assert eks.real_kube().list(SECRET, "kube-system", "owner=helm") == []


def test_a_killed_installation_is_taken_up_again(eks: Place, chart: dict[str, str]) -> None:
    """The Secret of a pending revision locks a release for ever; ours goes when the process is certainly gone."""
    pending(eks, "pending-install", age=timedelta(0))
    want(eks, release(chart))
    seen = eks.observed[KEY]
    assert (seen.health, seen.reason, seen.mark) == (Health.PROGRESSING, "HelmPendingInstall", Mark.OURS)
    assert verbs(eks) == [Verb.UPDATE], "nothing is certain of a revision that did not come to its end"
    lost = OpRecord.model_validate(
        {"op": "01KILLED", "phase": Phase.INTENT, "key": KEY, "verb": "create", "lane": "l", "class": "name"}
    )
    assert eks.settle(HANDLERS[1], lost).verdict is Verdict.PENDING
    (call,) = HANDLERS[1].calls(eks.world(), [a for a in eks.plan().actions if a.key == KEY])
    with pytest.raises(Refused, match="helm is at work"):
        eks.send(HANDLERS[1], call)

    pending(eks, "pending-install", age=STALE + timedelta(minutes=1))
    eks.look(*HANDLERS)
    assert eks.observed[KEY].reason == "HelmInterrupted"
    assert eks.settle(HANDLERS[1], lost).verdict is Verdict.ABSENT, "it may be sent again"
    step(eks)
    assert (eks.observed[KEY].health, verbs(eks)) == (Health.HEALTHY, [])


def test_a_release_of_somebody_else_is_adopted_and_given_back(eks: Place, chart: dict[str, str]) -> None:
    pending(eks, "deployed", age=timedelta(0), labels={})
    want(eks, release(chart))
    assert eks.observed[KEY].mark is Mark.FOREIGN
    assert [r.reason for r in eks.plan().refusals] == ["NotOurs"]
    want(eks, release(chart, adopt="hyperpod-dependencies"))
    assert verbs(eks) == [Verb.ADOPT, Verb.UPDATE], "what the document wants of it is told, and comes after the mark"
    step(eks)
    assert (eks.observed[KEY].mark, verbs(eks)) == (Mark.ADOPTED, [Verb.UPDATE])
    step(eks)
    assert (eks.observed[KEY].mark, verbs(eks)) == (Mark.ADOPTED, []), "an upgrade keeps the mark"
    eks.want(eks_resource())
    eks.look(*HANDLERS)
    assert verbs(eks) == [Verb.RELEASE]
    step(eks)
    assert eks.observed[KEY].mark is Mark.FOREIGN


def test_a_chart_that_is_refused_says_why_and_is_not_certain(eks: Place, chart: dict[str, str]) -> None:
    want(eks, release({**chart, "path": "helm_chart/nothing"}))
    with pytest.raises(StopUntilChange) as caught:
        step(eks)
    assert caught.value.reason == "ChartNotFound"


def test_without_a_control_plane_there_is_no_release(place: Place, chart: dict[str, str]) -> None:
    place.want(release(chart))
    (seen,) = ReleaseHandler().look(place.world(), list(place.desired.values()))
    assert (seen.presence.value, seen.reason) == ("unknown", "ClusterUnknown"), "not looked at is not absent"


def test_a_missing_helm_is_one_clear_line(tmp_path: Path) -> None:

    with pytest.raises(StopUntilChange, match=r"INSTANTSTART_HELM names .*, which is no executable file") as caught:
        find_helm(str(tmp_path), {"INSTANTSTART_HELM": str(tmp_path / "none"), "PATH": ""})
    assert caught.value.reason == "HelmMissing"


def pending(place: Place, status: str, *, age: timedelta, labels: dict[str, str] | None = None) -> None:
    """A revision as helm stores it, in the state a killed process leaves."""
    moment = (real_now() - age).isoformat().replace("+00:00", "000Z")
    ours = {"instantstart.dev/cluster": "prod", "instantstart.dev/op": "01KILLED"} if labels is None else labels
    body = {
        "name": "hyperpod-dependencies",
        "namespace": "kube-system",
        "version": 1,
        "info": {"status": status, "first_deployed": moment, "last_deployed": moment, "description": "Initial install"},
        "chart": {"metadata": {"name": "hyperpod-helm-chart", "version": "0.1.0", "apiVersion": "v2"}},
        "config": {},
        "manifest": "",
    }
    packed = base64.b64encode(gzip.compress(json.dumps(body).encode()))
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "helm.sh/release.v1",
        "metadata": {
            "name": "sh.helm.release.v1.hyperpod-dependencies.v1",
            "namespace": "kube-system",
            "labels": {"owner": "helm", "name": "hyperpod-dependencies", "status": status, "version": "1", **ours},
        },
        "data": {"release": base64.b64encode(packed).decode()},
    }
    place.real_kube().apply([secret], op="01FIXTURE")
