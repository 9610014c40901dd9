"""Groups as CreateCluster and UpdateCluster take them: every member of the service's own model, and some it has not.

The strategy is made from the model that botocore ships, so a member that comes with a newer one is drawn by itself.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from tests.resources_hyperpod.shapes import model

Draw = Callable[[st.SearchStrategy[Any]], Any]
STRUCTURE = "ClusterInstanceGroupSpecification"
# One of two or more, and not the others: the model does not say so, its documentation does.
_UNIONS = {("EbsVolumeConfig", "FsxLustreConfig", "FsxOpenZfsConfig"), ("Spot", "OnDemand")}
_MOST = 3  # of what may be many
_LONG = 24  # characters of what may be long


@st.composite
def requests(draw: Draw, members: Mapping[str, st.SearchStrategy[Any]] | None = None) -> dict[str, Any]:
    """One group. `members`: instead of what the model says about them; `st.nothing()` leaves one out."""
    fields = {**_fields(), **(members or {})}
    needed = {name: fields.pop(name) for name in _required()}
    body = draw(st.fixed_dictionaries(needed, optional={n: v for n, v in fields.items() if not v.is_empty}))
    return consistent(body, draw(st.booleans()))


@functools.cache
def _fields() -> dict[str, st.SearchStrategy[Any]]:
    return {name: value_of(inner) for name, inner in model().shape_for(STRUCTURE).members.items()}


@functools.cache
def _required() -> tuple[str, ...]:
    return tuple(model().shape_for(STRUCTURE).required_members)


def consistent(body: dict[str, Any], one_type: bool) -> dict[str, Any]:
    """The rules between members: one way to say the type, a minimum within the count, no empty wish."""
    if ("InstanceType" in body) == ("InstanceRequirements" in body):
        body.setdefault("InstanceType", "ml.c5.xlarge")
        body.setdefault("InstanceRequirements", {"InstanceTypes": ["ml.c5.xlarge", "ml.m5.xlarge"]})
        del body["InstanceRequirements" if one_type else "InstanceType"]
    if "MinInstanceCount" in body:
        body["MinInstanceCount"] = min(body["MinInstanceCount"], body["InstanceCount"])
    if body.get("KubernetesConfig") == {}:
        del body["KubernetesConfig"]
    return body


def value_of(shape: Any) -> st.SearchStrategy[Any]:
    """Values of a shape of the model, within its limits."""
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    match shape.type_name:
        case "structure":
            return _structure(shape)
        case "list":
            return st.lists(value_of(shape.member), min_size=least or 0, max_size=min(most or _MOST, _MOST))
        case "map":
            return st.dictionaries(value_of(shape.key), value_of(shape.value), max_size=_MOST)
        case "integer" | "long":
            return st.integers(least or 0, most if most is not None else 10_000)
        case "boolean":
            return st.booleans()
        case "timestamp":
            return st.just(datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC))
        case _:
            return _text(shape, least or 0)


def _structure(shape: Any) -> st.SearchStrategy[Any]:
    fields = {name: value_of(inner) for name, inner in shape.members.items()}
    if any(set(union) == set(fields) for union in _UNIONS):
        return st.one_of(*(st.fixed_dictionaries({name: values}) for name, values in fields.items()))
    needed = {name: fields.pop(name) for name in shape.required_members}
    return st.fixed_dictionaries(needed, optional=fields)


def _text(shape: Any, least: int) -> st.SearchStrategy[str]:
    if getattr(shape, "enum", None):
        return st.sampled_from(shape.enum)
    most = min(shape.metadata.get("max", _LONG), _LONG)
    pattern = re.compile(shape.metadata.get("pattern", ".*"))
    words = st.text("abcdefghijklmnopqrstuvwxyz0123456789", max_size=most - 1).map(lambda text: f"a{text}")
    if least <= 1 and pattern.fullmatch("a1"):
        return words
    fitting = [text for text in _FORMS if pattern.fullmatch(text) and len(text) >= least]
    assert fitting, f"no text for {shape.name}: {pattern.pattern}"
    return st.sampled_from(fitting)


# Texts whose form is a long pattern.
_FORMS = (
    "arn:aws:iam::111122223333:role/prod-nodes",
    "arn:aws:sagemaker:us-east-2:111122223333:training-plan/plan-a",
    "ami-0123456789abcdef1",
    "1.2.3",
    "s3://bucket/prefix",
    "/mount/path",
    "fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com",
)
