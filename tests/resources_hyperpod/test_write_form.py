"""Instance groups between read form, write form and normal form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.resources.hyperpod import write_form
from schemas.errors import StopUntilChange
from tests.laws.group_requests import requests
from tests.resources_hyperpod.shapes import PLAN, SPEC, VPC, described, model, shown_members

FEW = settings(max_examples=40, deadline=None, derandomize=True)
Change: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]

names = st.from_regex(r"[a-z][a-z0-9-]{0,8}[a-z0-9]", fullmatch=True)
labels = st.dictionaries(names, names, max_size=3)


@FEW
@given(requests(), st.integers(0, 10))
def test_write_describe_write_gives_the_same_request(request_: dict[str, Any], current: int) -> None:
    assert write_form.write_form(described(request_, current=current)) == request_


def test_every_member_of_the_service_model_has_a_place() -> None:
    """A newer botocore may show a member that no request takes: an update that sends it back would be refused. It
    must get a place here first. What a request takes is sent back whatever it is."""
    asked = set(model().shape_for("ClusterInstanceGroupSpecification").members)
    shown = shown_members()
    sent_back = {
        write_form.RENAMED.get(name, name.removeprefix("Desired"))
        for name in shown - write_form.READ_ONLY
        if not name.startswith("Current")
    }
    assert sent_back == asked
    assert shown >= write_form.READ_ONLY
    for name in write_form.PAIRED:
        inner = model().shape_for("ClusterInstanceGroupDetails").members[name].members
        wish = model().shape_for("ClusterInstanceGroupSpecification").members[name].members
        kept = {member.removeprefix("Desired") for member in inner if not member.startswith("Current")}
        assert kept == set(wish), name


@FEW
@given(
    requests(), st.sets(st.sampled_from(["labels", "taints", "minCount", "deepHealthChecks", "lifecycle", "volume"]))
)
def test_a_change_that_names_no_count_sends_the_live_one(request_: dict[str, Any], fields: set[str]) -> None:
    """B10: no UpdateCluster body lowers a count that the plan did not name."""
    body = write_form.overlay(write_form.write_form(described(request_)), {"count": 0}, fields)
    assert body["InstanceCount"] == request_["InstanceCount"]
    assert body.get("MinInstanceCount", 0) <= body["InstanceCount"]


@FEW
@given(requests())
def test_a_change_of_nothing_changes_nothing(request_: dict[str, Any]) -> None:
    assert write_form.overlay(request_, {}, ()) == request_


@FEW
@given(requests(), labels)
def test_a_label_change_carries_everything_else(request_: dict[str, Any], wish: dict[str, str]) -> None:
    body = write_form.overlay(write_form.write_form(described(request_)), {"labels": wish}, ("labels",))
    assert body["KubernetesConfig"].pop("Labels") == wish
    before = dict(request_.get("KubernetesConfig", {}))
    before.pop("Labels", None)
    assert body.pop("KubernetesConfig") == before
    assert body == {k: v for k, v in request_.items() if k != "KubernetesConfig"}


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("as it is", {}),
        ("an empty object selects spot (A29)", {"capacity": {"spot": {}}}),
        ("a training plan", {"capacity": {"trainingPlan": {}}, "trainingPlan": PLAN}),
        ("an encrypted volume", {"volume": {"sizeGiB": 10, "kmsKey": "key-1"}}),
        ("an empty group", {"count": 0, "minCount": None}),
        ("nothing optional", {"labels": {}, "taints": [], "deepHealthChecks": [], "minCount": None}),
    ],
)
def test_a_new_group_is_described_as_it_was_wanted(reason: str, change: dict[str, Any]) -> None:
    spec = {k: v for k, v in (SPEC | change).items() if v is not None}
    body = write_form.new_group("g", spec, spec["count"])
    assert write_form.normal_form(described(body), {}) == spec, reason


def shuffled(group: dict[str, Any]) -> dict[str, Any]:
    config = group["KubernetesConfig"]
    config["DesiredTaints"] = list(reversed(config["DesiredTaints"]))
    config["DesiredLabels"] = dict(reversed(config["DesiredLabels"].items()))
    return dict(reversed(group.items()))


def without(name: str) -> Change:
    return lambda group: {k: v for k, v in group.items() if k != name}


def beside(**more: Any) -> Change:
    return lambda group: group | more


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("members and taints in another order", shuffled),
        ("the default capacity spelled out", beside(CapacityRequirements={"OnDemand": {}})),
        ("checks in another order", beside(OnStartDeepHealthChecks=["InstanceStress", "InstanceConnectivity"])),
        ("the cluster's own VPC", without("OverrideVpcConfig")),
        ("counts of instances that come and go", beside(CurrentCount=1, ActiveOperations={})),
        ("an image of the server's choice", beside(DesiredImageId="ami-0123456789abcdef0")),
    ],
)
def test_what_the_server_adds_or_reorders_is_no_difference(reason: str, change: Change) -> None:
    """A25, B09 and the perpetual diffs of other tools."""
    group = described(write_form.new_group("g", SPEC, 4))
    assert write_form.normal_form(change(group), VPC) == SPEC, reason


@pytest.mark.parametrize("empty", [{}, {"KubernetesConfig": {}}, {"KubernetesConfig": {"DesiredLabels": {}}}])
def test_absent_labels_are_no_labels(empty: dict[str, Any]) -> None:
    found = write_form.normal_form({"InstanceGroupName": "g", "TargetCount": 1, **empty}, VPC)
    assert (found["labels"], found["taints"]) == ({}, [])


@pytest.mark.parametrize(
    ("reason", "field", "want"),
    [
        ("the type is fixed", "instanceType", {"instanceType": "ml.m5.large"}),
        ("on-demand cannot become spot (A29)", "capacity", {"capacity": {"spot": {}}}),
        ("a plan cannot be put on later", "capacity", {"capacity": {"trainingPlan": {}}}),
    ],
)
def test_what_is_fixed_is_refused(reason: str, field: str, want: dict[str, Any]) -> None:
    body = write_form.new_group("g", SPEC, 4)
    with pytest.raises(StopUntilChange) as caught:
        write_form.overlay(body, want, (field,))
    assert caught.value.reason == "ImmutableField", reason


def test_one_training_plan_is_swapped_for_another() -> None:
    body = write_form.new_group("g", SPEC | {"capacity": {"trainingPlan": {}}, "trainingPlan": PLAN}, 4)
    assert write_form.overlay(body, {"trainingPlan": f"{PLAN}2"}, ("trainingPlan",)) == body | {
        "TrainingPlanArn": f"{PLAN}2"
    }


def test_removed_fields_go_back_to_their_defaults() -> None:
    body = write_form.new_group("g", SPEC, 4)
    fields = ("labels", "taints", "deepHealthChecks", "minCount", "volume")
    assert write_form.normal_form(described(write_form.overlay(body, {}, fields)), {}) == {
        k: v for k, v in SPEC.items() if k not in ("minCount", "volume")
    } | {"labels": {}, "taints": [], "deepHealthChecks": []}


def test_the_minimum_is_never_above_the_count() -> None:
    body = write_form.new_group("g", SPEC, 4)
    assert write_form.overlay(body, {"count": 1}, ("count",))["MinInstanceCount"] == 1
