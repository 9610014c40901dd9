"""A patch changes the lines that it means, and no other: tables of what goes and what comes."""

from __future__ import annotations

import difflib
import time
from textwrap import dedent

import pytest

from reconciler.edits.apply import apply
from reconciler.edits.problems import EditRefused
from schemas.values import JsonObject, JsonValue


def add(path: str, value: JsonValue) -> JsonObject:
    return {"op": "add", "path": path, "value": value}


def replace(path: str, value: JsonValue) -> JsonObject:
    return {"op": "replace", "path": path, "value": value}


def remove(path: str) -> JsonObject:
    return {"op": "remove", "path": path}


def move(origin: str, path: str) -> JsonObject:
    return {"op": "move", "from": origin, "path": path}


def edited(before: str, *patch: JsonObject, path: str = "a.yaml", target: int = 0) -> str:
    return apply(dedent(before).encode(), target, patch, path=path).decode()


def difference(before: str, after: str) -> tuple[list[str], list[str]]:
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [line[2:] for line in lines if line[:1] == "-"], [line[2:] for line in lines if line[:1] == "+"]


BLOCK = dedent("""\
    # head of the file
    kind: Group
    spec:
      count: 2  # two are enough
      zone: 'usw2-az1'

      # for the scheduler
      labels:
        team: a
        # not yet
        # tier: gold
      taints:
        - key: a
          effect: NoSchedule

        # the second
        - key: b
          effect: NoExecute
    """)


@pytest.mark.parametrize(
    ("reason", "patch", "gone", "come"),
    [
        (
            "a comment behind a value stays",
            [replace("/spec/count", 3)],
            ["  count: 2  # two are enough"],
            ["  count: 3  # two are enough"],
        ),
        (
            "quotes stay what they were",
            [replace("/spec/zone", "it's")],
            ["  zone: 'usw2-az1'"],
            ["  zone: 'it''s'"],
        ),
        (
            "text that looks like a number is text, in the file's quotes",
            [replace("/spec/count", "1.30")],
            ["  count: 2  # two are enough"],
            ["  count: '1.30'  # two are enough"],
        ),
        (
            "a new field comes behind the last, before the comments at the end",
            [add("/spec/labels/tier", "yes")],
            [],
            ["    tier: 'yes'"],
        ),
        (
            "what goes takes its comments along",
            [remove("/spec/labels")],
            ["  # for the scheduler", "  labels:", "    team: a", "    # not yet", "    # tier: gold"],
            [],
        ),
        (
            "what comes behind it comes behind its comments",
            [remove("/spec/taints"), add("/spec/x", 1)],
            ["  taints:", *BLOCK.splitlines()[-6:]],
            ["  x: 1"],
        ),
        (
            "the last entry leaves braces",
            [remove("/spec/labels/team")],
            ["  labels:", "    team: a"],
            ["  labels: {}"],
        ),
        (
            "an item goes with the comment above it, and an empty line that would stay alone",
            [remove("/spec/taints/1")],
            ["", "    # the second", "    - key: b", "      effect: NoExecute"],
            [],
        ),
        (
            "the first field of an item goes, its dash stays",
            [remove("/spec/taints/0/key")],
            ["    - key: a", "      effect: NoSchedule"],
            ["    - effect: NoSchedule"],
        ),
        ("an item comes first", [add("/spec/taints/0", {"key": "c"})], [], ["    - key: c"]),
        (
            "an item comes last",
            [add("/spec/taints/-", ["x", {"z": None}])],
            [],
            ["    - - x", "      - z: null"],
        ),
        (
            "a field gets another name and keeps its place",
            [move("/spec/zone", "/spec/place")],
            ["  zone: 'usw2-az1'"],
            ["  place: 'usw2-az1'"],
        ),
        (
            "what is so already is left alone",
            [replace("/spec/count", 2), replace("/spec/labels", {"team": "a"})],
            [],
            [],
        ),
        (
            "a whole value is gone into",
            [replace("/spec/labels", {"team": "b", "x": "y"})],
            ["    team: a"],
            ["    team: b", "    x: 'y'"],
        ),
    ],
)
def test_lines_that_change(reason: str, patch: list[JsonObject], gone: list[str], come: list[str]) -> None:
    assert difference(BLOCK, edited(BLOCK, *patch)) == (gone, come), reason


def test_copies_of_copies_are_bounded() -> None:
    """Thirty lines would ask for a billion values."""
    copies = [{"op": "copy", "from": "/spec", "path": f"/spec/k{step}"} for step in range(30)]
    began = time.thread_time()
    with pytest.raises(EditRefused, match=r"operation 1[0-9]: the copies of a patch hold at most"):
        edited(BLOCK, *copies)
    assert time.thread_time() - began < 5
    assert "k0" in edited(BLOCK, *copies[:4]), "a few are fine"


def test_a_patch_stays_what_it_was() -> None:
    """It is applied once more where somebody was faster."""
    patch = [add("/spec/list", []), add("/spec/list/-", 1), add("/spec/list/-", 2)]
    once = edited(BLOCK, *patch)
    assert patch[0]["value"] == []
    assert edited(BLOCK, *patch) == once
