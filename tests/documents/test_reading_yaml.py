"""Strict YAML: what is read, what is refused, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from schemas.reading import read
from schemas.reading.records import Spot
from schemas.values import JsonValue


@dataclass(frozen=True, kw_only=True)
class Accepted:
    reason: str
    text: str | bytes
    want: list[JsonValue]


ACCEPTED = [
    Accepted(
        reason="YAML 1.2 has true and false only", text="[yes, no, on, off, y]", want=[["yes", "no", "on", "off", "y"]]
    ),
    Accepted(reason="truth values", text="[true, True, FALSE]", want=[[True, True, False]]),
    Accepted(reason="all spellings of nothing", text="[~, null, Null, ]", want=[[None, None, None]]),
    Accepted(reason="a leading zero is not octal", text="a: 0777", want=[{"a": 777}]),
    Accepted(reason="octal and hex are marked", text="[0o17, 0x1F]", want=[[15, 31]]),
    Accepted(reason="a sexagesimal number of YAML 1.1 is text", text="a: 12:30:45", want=[{"a": "12:30:45"}]),
    Accepted(reason="underscores do not make numbers", text="a: 1_000", want=[{"a": "1_000"}]),
    Accepted(reason="a date is text", text="a: 2026-09-01", want=[{"a": "2026-09-01"}]),
    Accepted(reason="floats", text="[1.5, .5, 1., 1e3, -2.5E-1]", want=[[1.5, 0.5, 1.0, 1000.0, -0.25]]),
    Accepted(reason="a version is text", text="a: 1.2.3", want=[{"a": "1.2.3"}]),
    Accepted(reason="quoted is text", text="['1', \"true\", '~', '']", want=[["1", "true", "~", ""]]),
    Accepted(reason="empty braces mean something", text="capacity: {spot: {}}", want=[{"capacity": {"spot": {}}}]),
    Accepted(reason="documents that hold nothing are passed over", text="---\n# c\n---\na: 1\n---\n", want=[{"a": 1}]),
    Accepted(reason="an empty file holds no document", text="", want=[]),
    Accepted(reason="comments only", text="# nothing\n", want=[]),
    Accepted(reason="a byte order mark is no content", text=b"\xef\xbb\xbfa: 1\n", want=[{"a": 1}]),
    Accepted(reason="a block of text keeps its lines", text="a: |\n  x\n  y\n", want=[{"a": "x\ny\n"}]),
    Accepted(reason="not ASCII", text="a: größe\n", want=[{"a": "größe"}]),
    Accepted(
        reason="seven equals signs alone are a heading",
        text="a: |\n  Title\n  =======\n",
        want=[{"a": "Title\n=======\n"}],
    ),
    Accepted(reason="YAML 1.2 may be declared", text="%YAML 1.2\n---\na: 1\n", want=[{"a": 1}]),
]


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.reason)
@pytest.mark.parametrize("positions", [False, True])
def test_accepted(case: Accepted, positions: bool) -> None:
    data = case.text if isinstance(case.text, bytes) else case.text.encode()
    reading = read.read("a.yaml", data, positions=positions)
    assert reading.faults == ()
    assert [document.value for document in reading.documents] == case.want


@dataclass(frozen=True, kw_only=True)
class Refused:
    reason: str
    text: str | bytes
    spot: tuple[int, int]
    expected: str
    found: str


REFUSED = [
    Refused(
        reason="B19: of two equal keys one would win in silence",
        text="a: 1\nb: 2\na: 3\n",
        spot=(3, 1),
        expected="each key once",
        found="`a` a second time (first in line 1)",
    ),
    Refused(
        reason="B19: also deep inside",
        text="a:\n  - b: {c: 1, c: 2}\n",
        spot=(2, 15),
        expected="each key once",
        found="`c` a second time (first in line 2)",
    ),
    Refused(reason="an anchor", text="a: &x 1\n", spot=(1, 4), expected="a value", found="the anchor &x"),
    Refused(reason="an alias", text="a: *x\n", spot=(1, 4), expected="a value", found="the alias *x"),
    Refused(
        reason="a tag changes a type",
        text="a: !!str 1\n",
        spot=(1, 4),
        expected="a value",
        found="the tag tag:yaml.org,2002:str",
    ),
    Refused(
        reason="a tag may make an object",
        text="a: !!python/name:os.x\n",
        spot=(1, 4),
        expected="a value",
        found="the tag",
    ),
    Refused(reason="a complex key", text="? [a]\n: 1\n", spot=(1, 3), expected="text as a key", found="a list"),
    Refused(reason="a number as key", text="1: a\n", spot=(1, 1), expected="text as a key", found="1"),
    Refused(reason="nothing as key", text="~: a\n", spot=(1, 1), expected="text as a key", found="~"),
    Refused(reason="a truth value as key", text="true: a\n", spot=(1, 1), expected="text as a key", found="true"),
    Refused(
        reason="YAML 1.1 reads other values",
        text="%YAML 1.1\n---\na: 1\n",
        spot=(1, 1),
        expected="YAML 1.2",
        found="%YAML 1.1",
    ),
    Refused(reason="infinity is no JSON", text="a: .inf\n", spot=(1, 4), expected="a number that fits", found=".inf"),
    Refused(reason="not a number", text="a: .nan\n", spot=(1, 4), expected="a number that fits", found=".nan"),
    Refused(reason="too big a float", text="a: 1e999\n", spot=(1, 4), expected="a number that fits", found="1e999"),
    Refused(
        reason="65 bits",
        text="a: 18446744073709551616\n",
        spot=(1, 4),
        expected="a number that fits",
        found="18446744073709551616",
    ),
    Refused(
        reason="thousands of digits", text="a: " + "9" * 5000, spot=(1, 4), expected="a number that fits", found="999"
    ),
    Refused(reason="a NUL", text=b"a: \x00\n", spot=(1, 4), expected="text", found="a NUL character"),
    Refused(reason="a control character", text=b"a: 1\nb: \x07\n", spot=(2, 4), expected="text", found="U+0007"),
    Refused(
        reason="a line end for YAML 1.1 only", text="a: 1\nb: x\u2028y\n", spot=(2, 5), expected="text", found="U+2028"
    ),
    Refused(
        reason="B24: a byte of another encoding, in a comment",
        text=b"a: 1\n# caf\xe9 \x97 x\nb: 2\n",
        spot=(2, 6),
        expected="UTF-8",
        found="byte 0xe9 at offset 10",
    ),
    Refused(
        reason="UTF-16", text="a: 1".encode("utf-16"), spot=(1, 1), expected="UTF-8", found="byte 0xff at offset 0"
    ),
    Refused(
        reason="R01: a committed conflict",
        text="a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> other\n",
        spot=(2, 1),
        expected="a merged file",
        found="merge conflict markers, lines 2, 4, 6",
    ),
    Refused(
        reason="R01: a conflict inside a block of text, which YAML would take for content",
        text="a: |\n  x\n  <<<<<<< HEAD\n  y\n  =======\n  z\n  >>>>>>> other\n",
        spot=(3, 1),
        expected="a merged file",
        found="merge conflict markers, lines 3, 5, 7",
    ),
    Refused(reason="tabs", text="a:\n\tb: 1\n", spot=(2, 1), expected="YAML", found="cannot start any token"),
    Refused(reason="a colon in text", text="a: b: c\n", spot=(1, 5), expected="YAML", found="mapping values"),
    Refused(reason="an open quote", text="a: 'x\nb: 1\n", spot=(3, 1), expected="YAML", found="end of stream"),
    Refused(
        reason="nesting without end",
        text="[" * 200,
        spot=(1, 65),
        expected="at most 64 levels",
        found="deeper nesting",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.reason)
@pytest.mark.parametrize("positions", [False, True])
def test_refused(case: Refused, positions: bool) -> None:
    data = case.text if isinstance(case.text, bytes) else case.text.encode()
    faults = read.read("a.yaml", data, positions=positions).faults
    assert faults, case.reason
    fault = faults[0]
    assert fault.spot == Spot(*case.spot)
    assert case.expected in fault.expected
    assert case.found in fault.found


def test_every_fault_of_a_file_is_told_at_once() -> None:
    text = "a: &x 1\na: 2\nb: !t c\nd: .inf\n---\n1: x\n"
    assert [fault.spot.line for fault in read.read("a.yaml", text.encode()).faults] == [1, 2, 3, 4, 6]


def test_thousands_of_levels_do_not_crash() -> None:
    assert read.read("a.yaml", b"[" * 100_000).faults


def test_documents_before_broken_syntax_are_kept() -> None:
    reading = read.read("a.yaml", b"a: 1\n---\nb: [\n")
    assert [document.value for document in reading.documents] == [{"a": 1}]
    assert len(reading.faults) == 1


def test_a_file_too_large_is_refused_unread() -> None:
    """B43: data does not belong into documents."""
    (fault,) = read.read("a.yaml", b"a: " + b"x" * 100, max_bytes=50).faults
    assert fault.found == "103 bytes"


def test_crlf_is_read_as_lf() -> None:
    """B25: three documents, the second a comment, the last empty; values without \\r, lines counted alike."""
    text = "---\na: x\nb: |\n  one\n  two\n---\n# only a comment\n---\n"
    with_lf = read.read("a.yaml", text.encode(), positions=True)
    with_crlf = read.read("a.yaml", text.replace("\n", "\r\n").encode(), positions=True)
    assert with_crlf == with_lf
    assert [document.value for document in with_lf.documents] == [{"a": "x", "b": "one\ntwo\n"}]


def test_positions_of_keys_and_values() -> None:
    text = "# c\na:\n  - b: 1.30\n    ü: 'x'\n  - [y,  z]\n"
    (document,) = read.read("a.yaml", text.encode(), positions=True).documents
    places: Any = document.positions
    assert document.spot == Spot(2, 1)
    assert places.key(("a",)) == Spot(2, 1)
    assert places.value(("a", 0, "b")) == Spot(3, 8)
    assert places.key(("a", 0, "ü")) == Spot(4, 5)
    assert places.value(("a", 1, 1)) == Spot(5, 10)
    assert places.numbers[("a", 0, "b")] == "1.30"
    assert places.value(("a", 0, "missing")) == places.value(("a", 0)), "the nearest thing around it"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a: {count: ${N}}\n", "an unresolved variable? Nothing is substituted here: write the value"),
        ("a:\n\tb: 1\n", "indent with spaces, not tabs"),
        ("a: b: c\n", "quote text that contains ': '"),
    ],
)
def test_hints_for_syntax(text: str, hint: str) -> None:
    assert read.read("a.yaml", text.encode()).faults[0].hint == hint
