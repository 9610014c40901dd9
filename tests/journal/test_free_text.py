"""Free text in a line never holds a secret: a note that did would be refused, and with it all that was done."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.journal.lines import Pen, parse
from schemas.secrets import find_secrets

REV = "a" * 40
TOKEN = "hf_" + "AbCdEfGhIj" * 4
PIECES = [
    *(
        TOKEN,
        "password: ",
        "token=",
        "Tr0ub4dor&3",
        "0a1b2c3d" * 5,
        '"',
        "\\",
        "'",
        ":",
        " ",
        "\n",
        ",",
        "é",
        "\b",
        "***",
    ),
    *(
        "name: X_TOKEN",
        "value: ",
        "-----BEGIN PRIVATE " + "KEY-----",
        "https://me:",
        "@h",
        "AKIA" + "Q3EGZT5WJH7KX2NB",
        "x" * 50,
    ),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=20).map("".join)


def pen() -> Pen:
    return Pen(0, 0, lambda: "2026-03-01T10:00:00.000Z")


@pytest.mark.parametrize("field", ["msg", "detail", "why"])
def test_a_message_that_holds_a_secret_is_written_without_it(field: str) -> None:
    """R10: facts stay, of the message only the secret goes."""
    p = pen()
    written = p.write(REV, "op", f"failed with {TOKEN}", op="01JA", phase="failed", **{field: f"401 for {TOKEN}!"})
    assert written["say"] == "failed with ***" and written[field] == "401 for ***!"
    assert (written["op"], written["phase"]) == ("01JA", "failed")
    assert TOKEN not in p.lines[0][1]


def test_half_a_secret_is_not_shown_where_the_text_is_cut() -> None:
    said = pen().write(REV, "op", "x " * 52 + TOKEN, op="01JA", phase="failed")["say"]
    assert "hf_" not in said


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_every_line_may_be_noted(say: str, msg: str) -> None:
    """The note's own check reads the line as JSON text, with its escapes."""
    p = pen()
    p.write(REV, "op", say, op="01JAZ5Q8T3W4X5Y6Z7A8B9C0D1", phase="failed", reason="X", msg=msg)
    text = p.lines[0][1]
    assert find_secrets(text) == []
    assert parse(text) is not None
    assert len(json.loads(text)["say"]) <= 120 and len(json.loads(text)["msg"]) <= 500


@pytest.mark.parametrize(
    "msg", ["password: abcdef" + "é" * 400, "password: \x7f1", "-----BEGIN\nPRIVATE " + "KEY-----", "\bbasic x"]
)
def test_escapes_make_no_secret(msg: str) -> None:
    p = pen()
    p.write(REV, "op", "failed", op="01JA", phase="failed", msg=msg)
    assert find_secrets(p.lines[0][1]) == []
