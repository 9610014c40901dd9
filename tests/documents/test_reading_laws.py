"""Laws of reading: it never crashes, agrees with PyYAML where both mean the same, and positions are right."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.documents.parse import parse_file
from schemas.reading import read
from schemas.values import JsonValue

# Text that YAML 1.1 and 1.2 read alike, once quoted by the dumper.
_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=12).filter(
    # Numbers of 1.2 that are text in 1.1, such as 0o7 and 089, PyYAML would write without quotes.
    lambda text: not set(text) & set("\ufeff\ufffe\uffff\x7f") and text[:1] not in set("0123456789+-.")
)
_KEYS = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,8}", fullmatch=True).filter(
    lambda key: key.lower() not in ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
)
_SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | _TEXT
_VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4), max_leaves=12
)
_ROOTS = st.dictionaries(_KEYS, _VALUES, min_size=1, max_size=4)


def _dump(value: JsonValue, **options: Any) -> str:
    dump = cast("Callable[..., str]", yaml.safe_dump)  # pyright: ignore[reportUnknownMemberType]
    return dump(value, **options)


@settings(max_examples=60, deadline=None)
@given(_ROOTS, st.booleans())
def test_what_pyyaml_writes_is_read_back(value: dict[str, Any], flow: bool) -> None:
    text = _dump(value, allow_unicode=True, default_flow_style=flow)
    (document,) = read.read("a.yaml", text.encode()).documents
    assert document.value == value == yaml.safe_load(text)


@settings(max_examples=60, deadline=None)
@given(_ROOTS)
def test_json_and_yaml_read_the_same_text_alike(value: dict[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=True).encode()
    (as_json,) = read.read("a.json", text, positions=True).documents
    assert as_json.value == value
    if b"\\ud" not in text:  # pairs of escapes are JSON's alone
        (as_yaml,) = read.read("a.yaml", text, positions=True).documents
        assert as_yaml == as_json


@settings(max_examples=60, deadline=None)
@given(_ROOTS)
def test_positions_point_at_what_is_written(value: dict[str, Any]) -> None:
    text = _dump(value, allow_unicode=True)
    (document,) = read.read("a.yaml", text.encode(), positions=True).documents
    assert document.positions is not None
    lines = text.split("\n")
    for path, spot in document.positions.keys.items():
        written = lines[spot.line - 1][spot.column - 1 :].lstrip("'\"")
        assert written.startswith(str(path[-1])), path


@settings(max_examples=60, deadline=None)
@given(_ROOTS)
def test_positions_change_nothing_about_the_values(value: dict[str, Any]) -> None:
    text = _dump(value).encode()
    without, with_them = read.read("a.yaml", text), read.read("a.yaml", text, positions=True)
    assert [document.value for document in without.documents] == [document.value for document in with_them.documents]
    assert without.faults == with_them.faults == ()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["a.yaml", "a.json", "a.sh"]))
def test_no_bytes_crash_it(data: bytes, path: str) -> None:
    parse_file(path, data)


@settings(max_examples=100, deadline=None)
@given(st.text("ab:- \n\t{}[],?&*!|>'\"%@`#~1.<=$\\0", max_size=60), st.sampled_from(["a.yaml", "a.json"]))
def test_no_syntax_crashes_it(text: str, path: str) -> None:
    """Characters that mean something to YAML, in any order; whatever comes out is in the file."""
    data = text.encode()
    for positions in (False, True):
        reading = read.read(path, data, positions=positions)
        last = len(text.split("\n"))
        assert all(1 <= fault.spot.line <= last + 1 and fault.spot.column >= 1 for fault in reading.faults)
    parse_file(path, data)


@settings(max_examples=60, deadline=None)
@given(st.text("ab:- \n{}[],'\"1", max_size=40))
def test_fast_and_careful_reading_agree(text: str) -> None:
    fast, careful = (read.read("a.yaml", text.encode(), positions=keep) for keep in (False, True))
    assert [document.value for document in fast.documents] == [document.value for document in careful.documents]
    assert fast.faults == careful.faults
