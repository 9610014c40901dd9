"""Law: what says the same gives an empty plan, however git writes it and however the cloud shows it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import pytest

from reconciler.desired.build import Desired
from schemas.documents.costs import costs
from tests.laws.field_samples import BASE, files
from tests.laws.paper import Paper, desired

Folder: TypeAlias = dict[str, str]
Live: TypeAlias = dict[str, dict[str, Any]]
EKS = "eks.Cluster/prod"
GPU = "hyperpod.InstanceGroup/prod/gpu"
RICH = {
    "instanceType": "ml.p5.48xlarge",
    "count": 2,
    "zone": "usw2-az2",
    "labels": {"a": "1", "b": "2"},
    "deepHealthChecks": ["InstanceStress", "InstanceConnectivity"],
    "volume": {"sizeGiB": 500},
}


def at_rest(folder: dict[str, str]) -> tuple[Paper, Desired]:
    """The folder as it is when everything was done."""
    paper, wanted = Paper(), desired(folder)
    assert paper.converge(wanted).empty
    return paper, wanted


def explicit_defaults() -> list[tuple[str, str, Any]]:
    """(kind, pointer, default) of every field of the first two levels whose default is a value."""
    return [
        (kind, pointer, cost.default)
        for kind in BASE
        for pointer, cost in costs(kind).items()
        if cost.when_removed == "default" and "*" not in pointer and not _is_none(cost.default)
    ]


def _is_none(value: Any) -> bool:
    return value is None


@pytest.mark.parametrize(("kind", "pointer", "default"), explicit_defaults())
def test_a_default_that_is_spelled_out_is_no_change(kind: str, pointer: str, default: Any) -> None:
    """B04, B03: written or not, before or after."""
    _, base = BASE[kind]
    written = json.loads(json.dumps(base))
    here = written
    *way, last = pointer.split("/")[2:]
    for step in way:
        here = here.setdefault(step, {})
    here[last] = default
    for one, other in ((base, written), (written, base)):
        paper, before = at_rest(files(kind, one))
        assert paper.plan(desired(files(kind, other)), before).empty, pointer


def shuffled(folder: dict[str, str]) -> dict[str, str]:
    """The same documents in other files and another order (A25)."""
    order = list(folder.items())
    random.Random(7).shuffle(order)
    return {name if name.startswith("lifecycle") else f"z-{n}-{name}": text for n, (name, text) in enumerate(order)}


IN_OTHER_WORDS: list[tuple[str, Callable[[Folder], Folder]]] = [
    ("A25: files and documents in another order", shuffled),
    ("keys in another order", lambda f: {n: _reordered(t) if n.endswith("yaml") else t for n, t in f.items()}),
    ("checks in another order", lambda f: _group(f, deepHealthChecks=["InstanceConnectivity", "InstanceStress"])),
    ("B09: on demand in so many words", lambda f: _group(f, capacity={"onDemand": {}})),
    ("B03: no taints in so many words", lambda f: _group(f, taints=[])),
    ("a minimum of nothing", lambda f: _group(f, minCount=0)),
    ("B01: a size in another unit", lambda f: _storage(f, capacity="1228800Mi")),
]


@pytest.mark.parametrize(("reason", "change"), IN_OTHER_WORDS)
def test_what_git_says_in_other_words_is_no_change(
    reason: str, change: Callable[[dict[str, str]], dict[str, str]]
) -> None:
    folder = _group(files("Storage", {"s3": {}}))
    paper, before = at_rest(folder)
    assert change(folder) != folder
    other = desired(change(folder))
    assert paper.plan(other, before).empty, reason
    paper, before = at_rest(change(folder))
    assert paper.plan(desired(folder), before).empty, f"{reason}, the other way round"


def _set(key: str, **spec: Any) -> Callable[[dict[str, dict[str, Any]]], None]:
    return lambda live: live[key].update(spec)


SHOWN_OTHERWISE: list[tuple[str, Callable[[Live], None]]] = [
    ("labels that nobody wrote", _set("hyperpod.InstanceGroup/prod/system", labels={"hand": "made"})),
    ("no labels at all", _set("hyperpod.InstanceGroup/prod/system", labels=None)),
    ("server defaults", _set(GPU, threadsPerCore=2, interface="efa", minCount=0)),
    ("a count as a float", _set(GPU, count=2.0)),
    ("B03: null and empty", _set(GPU, taints=None, trainingPlan=None)),
    ("a set in another order", _set(GPU, deepHealthChecks=["InstanceStress", "InstanceConnectivity"])),
    ("B07: a version that the cloud chose", _set("eks.Addon/prod/coredns", version="v1.2.3-eksbuild.1")),
    ("values of others beside ours", _set("eks.Addon/prod/coredns", values={"replicas": 2})),
    ("an audience of somebody else", _set("iam.OpenIDConnectProvider/prod", audiences=["x", "sts.amazonaws.com"])),
    ("more of a block than we write (B09)", lambda live: live[EKS]["endpoint"].update(egress="AWS_MANAGED")),
    ("a tag of somebody else on a subnet", lambda live: live["ec2.Subnet/prod/public-1"]["tags"].update(scan="x")),
]


@pytest.mark.parametrize(("reason", "change"), SHOWN_OTHERWISE)
def test_what_the_cloud_adds_or_reorders_is_no_difference(
    reason: str, change: Callable[[dict[str, dict[str, Any]]], None]
) -> None:
    folder = _group(files("Storage", {"s3": {}}))
    paper, before = at_rest(folder)
    was = repr(paper.live)
    change(paper.live)
    assert repr(paper.live) != was
    assert paper.plan(before, before).empty, reason


@pytest.mark.parametrize("kind", [{"spot": {}}, {"onDemand": {}}])
def test_an_empty_object_that_selects_is_seen_both_ways(kind: dict[str, Any]) -> None:
    """A29: `spot: {}` is neither nothing nor the default."""
    other: dict[str, Any] = {"onDemand": {}} if "spot" in kind else {"spot": {}}
    paper, before = at_rest(_group(files("Storage", {"s3": {}}), capacity=kind))
    assert paper.plan(before, before).empty
    paper.live[GPU]["capacity"] = other
    assert [r.key for r in paper.plan(before, before).refusals] == [GPU]


def _group(folder: dict[str, str], **spec: Any) -> dict[str, str]:
    document = json.loads(folder["instancegroup.yaml"])
    document["spec"] = {**RICH, **spec}
    return folder | {"instancegroup.yaml": json.dumps(document)}


def _storage(folder: dict[str, str], **spec: Any) -> dict[str, str]:
    document = json.loads(folder["storage.yaml"])
    document["spec"] |= spec
    return folder | {"storage.yaml": json.dumps(document)}


def _reordered(text: str) -> str:
    def turned(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        members = cast("dict[str, Any]", value)
        return {name: turned(members[name]) for name in reversed(list(members))}

    return json.dumps(turned(json.loads(text)))
