"""Strict JSON, with the same promises as YAML."""

from __future__ import annotations

import pytest

from schemas.reading import read
from schemas.reading.records import Spot

REFUSED = [
    ("B19: each key once, in JSON too", '{"a": 1,\n "a": 2}', (2, 2), "`a` a second time (first in line 1)"),
    ("R04: a variable is told apart from syntax", '{"InstanceCount": ${N}}', (1, 19), "the unresolved variable ${N}"),
    ("R04: a trailing comma in a list", "[1,\n 2,\n]", (3, 1), "']'"),
    ("a trailing comma in an object", '{"a": 1,}', (1, 9), "'}'"),
    ("a comment", '{"a": 1 // x\n}', (1, 9), "'//'"),
    ("single quotes", "{'a': 1}", (1, 2), "\"'a':\""),
    ("a leading zero", '{"account": 012345670123}', (1, 13), "'012345670123'"),
    ("not a number", '{"a": NaN}', (1, 7), "'NaN'"),
    ("too big", '{"a": 1e999}', (1, 7), "1e999"),
    ("a raw line end in text", '{"a": "x\ny"}', (1, 7), "'\"x'"),
    ("half of a pair", '{"a": "\\ud800"}', (1, 7), "half of a surrogate pair"),
    ("more than one document", "{} {}", (1, 4), "'{'"),
    ("the end is missing", '{"a": [1', (1, 9), "the end of the file"),
    ("nesting without end", "[" * 3000, (1, 65), "deeper nesting"),
]


@pytest.mark.parametrize(("reason", "text", "spot", "found"), REFUSED, ids=[case[0] for case in REFUSED])
def test_refused(reason: str, text: str, spot: tuple[int, int], found: str) -> None:
    (fault,) = read.read("a.json", text.encode()).faults
    assert (fault.spot, fault.found) == (Spot(*spot), found), reason


def test_accepted() -> None:
    text = '\ufeff{"a": [1, -2.5e3, true, null, "\\u00fc\\/\\ud83d\\ude00", {}], "b": ""}\r\n'
    (document,) = read.read("a.json", text.encode()).documents
    assert document.value == {"a": [1, -2500.0, True, None, "ü/😀", {}], "b": ""}


def test_an_empty_file_holds_nothing() -> None:
    assert read.read("a.json", b" \n").documents == ()


def test_positions_are_those_of_yaml() -> None:
    text = b'{\n  "a": [1, {"b": 2.50}]\n}\n'
    (as_json,) = read.read("a.json", text, positions=True).documents
    (as_yaml,) = read.read("a.yaml", text, positions=True).documents
    assert as_json == as_yaml
