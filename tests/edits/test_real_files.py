"""Files that people wrote: random patches on the sample repository, on documents of every kind with comments in all
places, and on any other folder of files that REAL_FILES names."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any, Final, cast

import jsonpatch
import jsonpointer
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reconciler.edits.apply import apply
from reconciler.edits.files import new_file
from schemas.documents.kinds import KINDS
from schemas.documents.parse import parse_file
from schemas.reading.read import is_document_file, read
from schemas.values import JsonObject
from tests.edits.written import at, is_list, is_mapping, pointers, steps

_ROOT: Final = Path(__file__).parents[2]

EVERY_KIND: Final = """\
# What a cluster is.

---
# The first words of a document
apiVersion: instantstart/v1  # the only one there is
kind: Cluster
metadata: {name: demo}
spec:
  # Ids are text
  account: '012345670123'

  region: us-west-2   # two spaces and more
  kubernetesVersion: "1.33"
  # not now
  # suspend: true
  access:
  # platform
  - principal: arn:aws:iam::111122223333:role/platform   # theirs
    policy: AmazonEKSClusterAdminPolicy
  # science
  -
    principal: arn:aws:iam::111122223333:role/science
    policy: AmazonEKSEditPolicy
    namespaces: [ default, "on" ]   # two

  dependencies:
    addons:
      coredns: {}   # as it comes
      vpc-cni:
        # newer than most
        version: v1.20.4-eksbuild.1
        values: {env: {ENABLE_PREFIX_DELEGATION: "true"}}
  # the end of it
---   # machines
apiVersion: instantstart/v1
kind: InstanceGroup
metadata:
    name: workers
spec:
    instanceType: ml.g5.8xlarge
    count: 2
    capacity:
        trainingPlan:
            arn: "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p"
    labels:
        team: a
        # "1.30": looks like a number
        "1.30": 'yes'
    taints:
        - {key: dedicated, value: training, effect: NoSchedule}
        # the second

        - key: nvidia.com/gpu   # theirs
          effect: NoSchedule
---

apiVersion: instantstart/v1
kind: Storage
metadata: {name: shared}
spec: {s3: {}, mountOptions: [allow-delete]}   # one line
...
---
apiVersion: instantstart/v1
kind: Operation
metadata:
  name: reboot-one
spec:
  expires: 2026-09-01T18:00:00Z
  reboot: {nodes: [
    i-0123456789abcdef0,  # the noisy one
    i-0123456789abcdef1
  ]}
---
apiVersion: instantstart/v1
kind: Policy
metadata:
  name: default
spec:
  blastRadius:
    maxNodes: 16   # a rack
  directCommit:
    paths:
      - clusters/dev/**
      # - clusters/demo/**
# The last words
"""


def _files() -> list[tuple[str, bytes]]:
    found = [("every-kind.yaml", EVERY_KIND.encode())]
    folders = [_ROOT / "clusters", *(Path(name) for name in [os.environ.get("REAL_FILES")] if name)]
    for folder in folders:
        paths = sorted(path for path in folder.rglob("*") if path.is_file() and is_document_file(path.name))
        found += [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths]
    return [(path, data) for path, data in found if not read(path, data).faults and read(path, data).documents]


FILES: Final = _files()


def test_every_kind_is_written() -> None:
    parsed = parse_file("clusters/demo/all.yaml", EVERY_KIND.encode())
    assert {document.kind for document in parsed.documents} == KINDS.keys()
    assert parsed.problems == ()


@pytest.mark.parametrize(("path", "data"), FILES, ids=[path for path, _ in FILES])
def test_every_field_of_it_can_be_changed_alone(path: str, data: bytes) -> None:
    """One scalar at a time: exactly the lines in which it stands differ."""
    lines = data.decode().splitlines()
    for number, document in enumerate(read(path, data, positions=True).documents):
        assert document.positions is not None
        for place in pointers(document.value):
            value = at(document.value, place)
            if is_mapping(value) or is_list(value) or (isinstance(value, str) and "\n" in value):
                continue
            other = "another" if isinstance(value, str) else 7 if value != 7 else 8
            step: JsonObject = {"op": "replace", "path": place, "value": other}
            after = apply(data, number, [step], path=path)
            now = after.decode().splitlines()
            changed = [line for line, (old, new) in enumerate(zip(lines, now, strict=True), 1) if old != new]
            assert len(changed) == 1, place
            assert data.endswith(b"\n") == after.endswith(b"\n")
            back = apply(after, number, [{"op": "replace", "path": place, "value": value}], path=path)
            assert read(path, back).documents[number].value == document.value


@pytest.mark.parametrize(("path", "data"), FILES, ids=[path for path, _ in FILES])
def test_every_field_of_it_can_be_taken_out_alone(path: str, data: bytes) -> None:
    """What is left stands as it stood: all lines of the new text are lines of the old one, but for what had a dash or
    brackets around it."""
    old = data.decode().splitlines()
    for number, document in enumerate(read(path, data).documents):
        for place in pointers(document.value)[1:]:
            after = apply(data, number, [{"op": "remove", "path": place}], path=path).decode().splitlines()
            assert len([line for line in after if line not in old]) <= 1, place  # rewritten: braces, a dash, brackets
            assert len(after) <= len(old)


@pytest.mark.parametrize(("path", "data"), FILES, ids=[path for path, _ in FILES])
@settings(max_examples=8, deadline=None)
@given(given_=st.data())
def test_any_patch_says_what_jsonpatch_says(path: str, data: bytes, given_: st.DataObject) -> None:
    documents = [document.value for document in read(path, data).documents]
    number = given_.draw(st.integers(0, len(documents) - 1))
    wanted: Any = documents[number]
    assume(is_mapping(wanted))
    patch: list[JsonObject] = []
    for _ in range(given_.draw(st.integers(1, 4))):
        step = given_.draw(steps(wanted))
        try:
            wanted = cast("Any", jsonpatch).apply_patch(copy.deepcopy(wanted), [step])
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException):
            assume(False)
        assume(is_mapping(wanted))
        patch.append(step)
    after = apply(data, number, patch, path=path)
    found = [document.value for document in read(path, after).documents]
    assert found == [wanted if place == number else value for place, value in enumerate(documents)]


@pytest.mark.parametrize(("path", "data"), FILES, ids=[path for path, _ in FILES])
def test_it_can_be_written_anew(path: str, data: bytes) -> None:
    values = [document.value for document in read(path, data).documents]
    if all(is_mapping(value) for value in values):
        assert [document.value for document in read(path, new_file(values, path=path)).documents] == values
