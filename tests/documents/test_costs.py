"""Every field says what changing and removing it means; exports and extracts are up to date."""

from __future__ import annotations

import json

import pytest

from schemas import export, extract
from schemas.documents.costs import cost_at, costs, undeclared
from schemas.documents.kinds import KINDS
from schemas.plan import Cost


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_declares_its_cost(kind: str) -> None:
    assert undeclared(kind) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_changed_says_the_way_out(kind: str) -> None:
    silent = [pointer for pointer, cost in costs(kind).items() if cost.cost is Cost.REFUSED and not cost.way_out]
    assert silent == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_described_in_a_sentence(kind: str) -> None:
    assert [pointer for pointer, cost in costs(kind).items() if not cost.description.endswith(".")] == []


@pytest.mark.parametrize(
    ("reason", "pointer", "cost", "when_removed"),
    [
        ("the machine is fixed with the group", "/spec/instanceType", Cost.REFUSED, "required"),
        ("how it is paid for, too", "/spec/capacity/spot", Cost.REFUSED, "remove"),
        ("but a training plan may be swapped", "/spec/capacity/trainingPlan/arn", Cost.IN_PLACE, "required"),
        ("the zone", "/spec/zone", Cost.REFUSED, "remove"),
        ("the interface", "/spec/interface", Cost.REFUSED, "remove"),
        ("threads", "/spec/threadsPerCore", Cost.REFUSED, "remove"),
        ("counts move", "/spec/count", Cost.IN_PLACE, "required"),
        ("labels move", "/spec/labels", Cost.IN_PLACE, "default"),
        ("a label is in the labels", "/spec/labels/team", Cost.IN_PLACE, "default"),
        ("an item of a list", "/spec/taints/3/key", Cost.IN_PLACE, "required"),
    ],
)
def test_costs_of_an_instance_group(reason: str, pointer: str, cost: Cost, when_removed: str) -> None:
    found = cost_at("InstanceGroup", pointer)
    assert found is not None
    assert (found.cost, found.when_removed) == (cost, when_removed), reason


def test_a_default_is_told_as_json() -> None:
    assert costs("InstanceGroup")["/spec/capacity"].default == {"onDemand": {}}
    assert costs("Cluster")["/spec/network/vpcCidr"].default == "10.192.0.0/16"


def test_no_cost_outside_the_spec() -> None:
    assert cost_at("Cluster", "/metadata/name") is None
    assert cost_at("Cluster", "/spec/nothing") is None


def test_the_extract_is_that_of_the_installed_botocore() -> None:
    """Stale? Run `python -m schemas.extract`, look at the difference, commit it."""
    assert extract.TARGET.read_text(encoding="utf-8") == extract.extract()


def test_the_committed_schemas_are_those_of_the_models() -> None:
    """Stale? Run `python -m schemas.export`, look at the difference, commit it."""
    committed = {path.name: path.read_text(encoding="utf-8") for path in export.COMMITTED.iterdir()}
    assert committed == export.schemas()


def test_schemas_say_cost_default_and_way_out() -> None:
    schema = json.loads(export.schemas()["instance-group.json"])
    zone = schema["$defs"]["InstanceGroupSpec"]["properties"]["zone"]
    assert zone["x-instantstart"]["cost"] == "refused"
    assert zone["x-instantstart"]["wayOut"]
    assert zone["description"]
    assert "anyOf" not in zone
    assert "ml.g5.8xlarge" in schema["$defs"]["InstanceGroupSpec"]["properties"]["instanceType"]["enum"]


def test_schemas_refuse_unknown_fields() -> None:
    for text in export.schemas().values():
        schema = json.loads(text)
        for name, shape in schema.get("$defs", {}).items():
            assert shape["additionalProperties"] is False, name
