"""Whole folders at random, and the same folders in other words. Every document is one that the schemas let pass."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import yaml
from hypothesis import strategies as st

from schemas.documents.costs import costs
from tests.laws.field_samples import BASE, optional_fields, with_field
from tests.laws.paper import loaded

_yaml: Any = yaml
Document: TypeAlias = dict[str, Any]
Folder: TypeAlias = tuple[Document, ...]

SCRIPT = {"lifecycle/own.sh": "#!/bin/bash\n# own\n"}
TYPES = ("ml.m5.2xlarge", "ml.g5.8xlarge", "ml.p5.48xlarge")
MOST_FIELDS = 5  # of one document, beside those that it must have
_SIZES = {"Gi": ("Mi", 1024), "Ti": ("Gi", 1024)}


def document(kind: str, name: str, spec: Mapping[str, Any]) -> Document:
    return {"apiVersion": "instantstart/v1", "kind": kind, "metadata": {"name": name}, "spec": dict(spec)}


@st.composite
def folders(draw: Any, start: Folder | None = None) -> Folder:
    """A cluster with some groups and storages. `start`: one that is a few commits away from this one."""
    base = start or (document("Cluster", *BASE["Cluster"]), document("InstanceGroup", "system", _group(draw)))
    made: list[Document] = [copy.deepcopy(base[0])]
    made += [copy.deepcopy(each) for each in base[1:] if start is None or draw(st.integers(0, 3))]
    if not any(each["kind"] == "InstanceGroup" for each in made):
        made.append(document("InstanceGroup", "system", _group(draw)))
    known = {(each["kind"], each["metadata"]["name"]) for each in made}
    for kind, names in (("InstanceGroup", "abc"), ("Storage", "xy")):
        for name in draw(st.sets(st.sampled_from(names), max_size=2)):
            if (kind, name) not in known:
                spec = _group(draw) if kind == "InstanceGroup" else BASE["Storage"][1]
                made.append(document(kind, name, spec))
    for index, each in enumerate(made):
        if start is not None and each in start and draw(st.booleans()):
            continue
        made[index] = _with_more(draw, made, index)
    return tuple(made)


def _group(draw: Any) -> Document:
    return {"instanceType": draw(st.sampled_from(TYPES)), "count": draw(st.integers(1, 3))}


def _with_more(draw: Any, folder: Sequence[Document], index: int) -> Document:
    """A few fields more; what makes the folder a bad one is left out."""
    kind = str(folder[index]["kind"])
    known = [pointer for each, pointer in optional_fields() if each == kind]
    found = folder[index]
    for pointer in draw(st.lists(st.sampled_from(known), max_size=MOST_FIELDS, unique=True)):
        spec = draw(with_field(kind, found["spec"], pointer))
        found = _if_good(folder, index, {**found, "spec": spec})
        folder = [*folder[:index], found, *folder[index + 1 :]]
    return found


def _if_good(folder: Sequence[Document], index: int, changed: Document) -> Document:
    tried = [*folder[:index], changed, *folder[index + 1 :]]
    return folder[index] if loaded(plainly(tried)).problems else changed


def plainly(folder: Sequence[Document]) -> dict[str, str]:
    """One file for each document."""
    files = {f"{each['kind'].lower()}-{each['metadata']['name']}.yaml": json.dumps(each) for each in folder}
    return {**SCRIPT, **files}


def in_other_words(folder: Folder, seed: int) -> dict[str, str]:
    """The same said otherwise: other files, other orders, YAML for JSON, defaults spelled out, other units."""
    chance = random.Random(seed)
    documents = [_reordered(_spelled_out(folder, index, chance), chance) for index in range(len(folder))]
    chance.shuffle(documents)
    files: dict[str, str] = {}
    for each in documents:
        name = f"{chance.choice('pq')}/{chance.choice('rst')}.yaml"
        text = _yaml.dump(each, Dumper=_Quoting, sort_keys=False, default_flow_style=chance.choice([None, True, False]))
        files[name] = f"{files[name]}---\n{text}" if name in files else text
    return {**SCRIPT, **files}


class _Quoting(yaml.SafeDumper):
    """Texts in quotes: what YAML 1.1 writes plainly is a number in 1.2."""


def _quoted(dumper: yaml.SafeDumper, text: str) -> Any:
    return cast("Any", dumper).represent_scalar("tag:yaml.org,2002:str", text, style='"')


_Quoting.add_representer(str, _quoted)


def _spelled_out(folder: Folder, index: int, chance: random.Random) -> Document:
    """Some defaults that were left out, and amounts in another unit."""
    found = copy.deepcopy(folder[index])
    for pointer, cost in costs(str(found["kind"])).items():
        if cost.when_removed != "default" or cost.default is None or "*" in pointer or chance.random() < 0.5:
            continue
        spec = copy.deepcopy(found["spec"])
        here: Any = spec
        *way, last = pointer.split("/")[2:]
        for step in way:
            here = cast("dict[str, Any]", here).setdefault(step, {}) if isinstance(here, dict) else None
        if isinstance(here, dict) and last not in cast("dict[str, Any]", here):
            cast("dict[str, Any]", here)[last] = copy.deepcopy(cost.default)
            found = _if_good([*folder[:index], found, *folder[index + 1 :]], index, {**found, "spec": spec})
    size = str(found["spec"].get("capacity", ""))
    if found["kind"] == "Storage" and size[-2:] in _SIZES and size[:-2].isdigit():
        unit, times = _SIZES[size[-2:]]
        found["spec"]["capacity"] = f"{int(size[:-2]) * times}{unit}"
    return found


def _reordered(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        names = list(cast("dict[str, Any]", value))
        chance.shuffle(names)
        return {name: _reordered(value[name], chance) for name in names}
    if isinstance(value, list):
        return [_reordered(each, chance) for each in cast("Any", value)]
    return value
