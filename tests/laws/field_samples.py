"""Folders in which one field is written, and the same without it: made from the field's own schema."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from hypothesis import Phase, find, settings
from hypothesis import strategies as st

from reconciler.desired.build import Desired, build
from schemas.documents.costs import costs
from schemas.documents.fields import FieldCost
from schemas.documents.kinds import KINDS
from tests.laws.paper import SCRIPT, desired, loaded

# Documents in which every field can stand: a type with EFA and accelerators, and one group beside it.
GROUP: dict[str, Any] = {"instanceType": "ml.p5.48xlarge", "count": 2}
BASE: dict[str, tuple[str, dict[str, Any]]] = {
    "Cluster": ("prod", {"account": "111122223333", "region": "us-west-2", "kubernetesVersion": "1.33"}),
    "InstanceGroup": ("gpu", GROUP),
    "Storage": ("shared", {"s3": {}}),
}
# What names something that has to be there first.
SAMPLES: dict[str, Any] = {
    "/spec/lifecycleScript": "lifecycle/own.sh",
    "/spec/dependencies/addons/*/values": {"replicas": 3},
    "/spec/dependencies/values": {"nvidia": {"enabled": False}},
    "/spec/dependencies/addons": {"metrics-server": {}},
    "/spec/hyperpod/tags": {"cost": "research"},
    "/spec/mountOptions": ["uid=1000"],
}
# What must stand beside a field.
BESIDE = {"/spec/s3/region": {"s3": {"bucket": "some-bucket"}}}
KEYS = {"/spec/dependencies/addons": "metrics-server", "/spec/hyperpod/tags": "cost", "/spec/labels": "team"}
# Of exactly one of three, none can be left out; what removing them all means is told by the field around them.
ONE_OF = "/spec/capacity/"
# Names live things that must be there before; taking over is no state that a field has.
ADOPT = "/spec/adopt"
QUICK = settings(max_examples=300, derandomize=True, database=None, deadline=None, phases=[Phase.generate])


@functools.cache
def optional_fields() -> list[tuple[str, str]]:
    """(kind, pointer) of every field of the cluster's documents that may be left out."""
    return [
        (kind, pointer)
        for kind in BASE
        for pointer, cost in costs(kind).items()
        if cost.when_removed != "required" and not pointer.startswith((ONE_OF, ADOPT)) and _has_a_choice(kind, pointer)
    ]


@functools.cache
def schema_of(kind: str) -> dict[str, Any]:
    return KINDS[kind].model_json_schema(by_alias=True)


def _has_a_choice(kind: str, pointer: str) -> bool:
    schema = schema_of(kind)
    return "const" not in _follow(schema, _schema_at(schema, pointer))


def files(kind: str, spec: Mapping[str, Any]) -> dict[str, str]:
    """The folder with this spec in place of the kind's own."""
    found: dict[str, str] = {"lifecycle/own.sh": "#!/bin/bash\n# own\n"}
    for each, (name, base) in BASE.items():
        document = {
            "apiVersion": "instantstart/v1",
            "kind": each,
            "metadata": {"name": name},
            "spec": spec if each == kind else base,
        }
        found[f"{each.lower()}.yaml"] = json.dumps(document)
    other = {"apiVersion": "instantstart/v1", "kind": "InstanceGroup", "metadata": {"name": "system"}}
    found["system.yaml"] = json.dumps({**other, "spec": {"instanceType": "ml.m5.2xlarge", "count": 1}})
    return found


@functools.cache
def pair(kind: str, pointer: str) -> tuple[Desired, Desired, FieldCost]:
    """The folder with the field, and the same without it."""
    cost = costs(kind)[pointer]
    good = find(_specs(kind, pointer), lambda spec: _differs(kind, spec, pointer), settings=QUICK)
    without = copy.deepcopy(good)
    _remove(without, pointer)
    return desired(files(kind, good)), desired(files(kind, without)), cost


# Making documents ----------------------------------------------------------------------------------------------------


def _differs(kind: str, spec: dict[str, Any], pointer: str) -> bool:
    """A good folder in which the field says something."""
    without = copy.deepcopy(spec)
    _remove(without, pointer)
    folders: list[Desired] = []
    for each in (spec, without):
        folder = loaded(files(kind, each))
        if folder.problems:
            return False
        folders.append(build(folder, SCRIPT))
    one, other = folders
    shown = [{k: (r.spec, r.initial, r.adopt) for k, r in d.resources.items()} for d in (one, other)]
    return shown[0] != shown[1] or (one.protected, one.suspend) != (other.protected, other.suspend)


def _specs(kind: str, pointer: str) -> st.SearchStrategy[dict[str, Any]]:
    """The kind's own spec with a value at the pointer."""
    return with_field(kind, BASE[kind][1], pointer)


def with_field(kind: str, spec: Mapping[str, Any], pointer: str) -> st.SearchStrategy[dict[str, Any]]:
    """This spec with a value at the pointer, and what must stand around it. Not all that is drawn is good."""
    base = {**spec, **BESIDE.get(pointer, {})}
    schema = schema_of(kind)
    shape = _follow(schema, schema["properties"]["spec"])
    around, values = list(_around(schema, shape, pointer)), _values_at(schema, pointer)
    return st.tuples(values, *around).map(lambda drawn: _placed(base, pointer, drawn[0], drawn[1:]))


def _placed(base: dict[str, Any], pointer: str, value: Any, around: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    found = copy.deepcopy(base)
    here: Any = found
    steps = pointer.split("/")[2:]
    at = "/spec"
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        inner = value if last else copy.deepcopy(around[number])
        at = f"{at}/{step}"
        if step == "*" and isinstance(here, list):
            cast("Any", here).append(inner)
            here = inner
            continue
        name = KEYS[at.removesuffix("/*")] if step == "*" else step
        if last:
            here[name] = inner
        elif name not in here or not isinstance(here[name], (dict, list)):
            here[name] = [] if steps[number + 1] == "*" and isinstance(inner, list) else inner
        here = here[name]
    return found


def _remove(spec: dict[str, Any], pointer: str) -> None:
    here: Any = spec
    at = "/spec"
    *way, last = pointer.split("/")[2:]
    for step in way:
        at = f"{at}/{step}"
        if isinstance(here, list):
            here = cast("Any", here)[0]
            continue
        here = here[KEYS[at.removesuffix("/*")] if step == "*" else step]
    here.pop(last, None)


def _around(schema: dict[str, Any], spec: dict[str, Any], pointer: str) -> Iterator[st.SearchStrategy[Any]]:
    """For every step but the last: what has to stand there beside the next one."""
    here = spec
    for step in pointer.split("/")[2:-1]:
        here = _follow(schema, _step(here, step))
        yield st.just([]) if here.get("type") == "array" else _needed(schema, here)


def _values_at(schema: dict[str, Any], pointer: str) -> st.SearchStrategy[Any]:
    if pointer in SAMPLES:
        return st.just(SAMPLES[pointer])
    return _values(schema, _schema_at(schema, pointer), whole=True)


def _schema_at(schema: dict[str, Any], pointer: str) -> dict[str, Any]:
    here = schema["properties"]["spec"]
    for step in pointer.split("/")[2:]:
        here = _step(_follow(schema, here), step)
    return dict(here)


def _step(here: dict[str, Any], step: str) -> dict[str, Any]:
    if step != "*":
        found: dict[str, Any] = here["properties"][step]
        return found
    if here.get("type") == "array":
        items: dict[str, Any] = here["items"]
        return items
    below = here.get("additionalProperties") or next(iter(here.get("patternProperties", {}).values()))
    return dict(below)


def _follow(schema: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
    """Through references and `or null`."""
    while True:
        if "$ref" in here:
            here = {
                **schema["$defs"][here["$ref"].rpartition("/")[2]],
                **{k: v for k, v in here.items() if k != "$ref"},
            }
        elif "anyOf" in here:
            here = next(option for option in here["anyOf"] if option.get("type") != "null")
        else:
            return here


def _needed(schema: dict[str, Any], here: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    if here.get("type") != "object":
        return st.just({})
    needed = here.get("required", [])
    return st.fixed_dictionaries({name: _values(schema, here["properties"][name]) for name in needed})


def _values(schema: dict[str, Any], here: dict[str, Any], *, whole: bool = False) -> st.SearchStrategy[Any]:
    """Values of a schema; `whole`: an object with some of its own fields, not only with those it must have."""
    here = _follow(schema, here)
    if "enum" in here or "const" in here:
        return st.sampled_from(here.get("enum", [here.get("const")]))
    match here.get("type"):
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(here.get("minimum", 0), min(here.get("maximum", 100), 100))
        case "string":
            return _texts(here)
        case "array":
            return st.lists(_values(schema, here["items"]), min_size=1, max_size=2)
        case "object" if whole and "properties" in here:
            optional = {
                n: _values(schema, v) for n, v in here["properties"].items() if n not in here.get("required", [])
            }
            needed = {n: _values(schema, here["properties"][n]) for n in here.get("required", [])}
            return st.fixed_dictionaries(needed, optional=optional)
        case "object" if "properties" in here:
            return _needed(schema, here)
        case "object":
            words = st.sampled_from(["one", "two"])
            below: Any = here.get("additionalProperties")
            inner = _values(schema, cast("dict[str, Any]", below)) if isinstance(below, dict) else words
            return st.dictionaries(words, inner, min_size=1, max_size=1)
        case _:
            return st.sampled_from(["one", "two"])


def _texts(here: dict[str, Any]) -> st.SearchStrategy[str]:
    pattern: str | None = here.get("pattern")
    tries = st.sampled_from(_WORDS)
    return tries if pattern is None else tries | st.from_regex(pattern, fullmatch=True)


# Tried first wherever a text is asked for: what does not fit is not taken.
_WORDS = [
    "one",
    "10.0.0.0/16",
    "10.1.2.0/24",
    "vpc-0a1b2c3d",
    "us-west-2b",
    "arn:aws:iam::111122223333:role/someone",
    "arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan-a",
    "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    "ml.p5.48xlarge",
    "1.34",
    "v1.2.3-eksbuild.1",
    "https://git.example/chart.git",
    "charts/one",
    "0123456789012345678901234567890123456789",
    "some-bucket",
    "allow-delete",
    "100Gi",
    "us-east-1",
]
