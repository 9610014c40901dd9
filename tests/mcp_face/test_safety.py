"""What leaves: no control characters, nothing unseen, no secret, no flood."""

from __future__ import annotations

from typing import Any

import pytest

from instantstart_mcp import safety, toolkit
from instantstart_mcp.api import ApiProblem, segment_of
from instantstart_mcp.tools.logs import LogAnswer
from instantstart_mcp.words import Answer
from schemas.secrets import HIDDEN

SECRET = "hf_" + "a1B2c3D4e5" * 4


@pytest.mark.parametrize(
    ("text", "clean", "why"),
    [
        ("a\x1b[31mred\x1b[0mb", "aredb", "colours"),
        ("a\x1b]0;title\x07b", "ab", "a window's title"),
        ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb", "a link that hides where it leads"),
        ("a\x9b31mb", "ab", "the same in C1"),
        ("a\rb\x08c\x00d", "abcd", "what overwrites a line"),
        ("a\u202eb\u2066c", "abc", "what turns the direction of writing"),
        ("a\u200b\u2060\ufeffb", "ab", "zero width"),
        ("a" + "".join(chr(0xE0000 + ord(letter)) for letter in "obey") + "b", "ab", "tags: a text that nobody sees"),
        ("a\tb\nc", "a\tb\nc", "what texts are made of stays"),
        ("naïve 日本 ✓", "naïve 日本 ✓", "letters stay letters"),
        (f"token {SECRET} here", f"token {HIDDEN} here", "a secret by its form"),
        ("a\ud800b", "ab", "half a character"),
    ],
)
def test_texts(text: str, clean: str, why: str) -> None:
    assert safety.clean_text(text) == clean, why


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"text_untrusted": SECRET}, "anywhere in a text"),
        ({"rows": [{"deep": [SECRET]}]}, "to any depth"),
        ({SECRET: 1}, "as a key"),
        ({"password": "hunter2hunter2"}, "by the name of its field"),
        ({"env": [{"name": "DB_PASSWORD", "value": "plainword"}]}, "by the name beside it"),
        ({"a": f"to\u200bken {SECRET[:10]}\u200b{SECRET[10:]}"}, "cut by something unseen"),
    ],
)
def test_a_secret_is_found_wherever_it_stands(value: Any, why: str) -> None:
    told = safety.as_json(safety.clean(value))
    for secret in (SECRET, "hunter2", "plainword"):
        assert secret not in told, why


def test_ids_are_no_secrets() -> None:
    told = {"change": "01k9zjx3m4n5p6q7r8s9tavwxy", "revision": "0" * 40, "next_cursor": "WyI3OSJd", "op": "0" * 26}
    assert safety.clean(told) == told


class Many(Answer):
    items: tuple[str, ...]


def test_what_is_too_long_is_refused_and_never_cut_in_silence() -> None:
    told = toolkit.shown(Many(items=("x" * 1000,) * 100), "some_tool")
    assert told.is_error and told.structured_content is None
    assert "limit" in told.content[0].text  # type: ignore[union-attr]
    assert not toolkit.shown(Many(items=("x" * 500,) * 100), "some_tool").is_error


def test_an_error_is_cleaned_and_cut_too() -> None:
    flaws = tuple({"where": str(number), "found": SECRET} for number in range(50))
    told = toolkit.refused(ApiProblem("Bad", f"\x1b[31m{SECRET}", status=422, errors=flaws)).content[0].text  # type: ignore[union-attr]
    assert SECRET not in told and "\x1b" not in told and '"errors_untrusted_left_out":30' in told


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_no_name_leads_elsewhere(name: str) -> None:
    with pytest.raises(ApiProblem):
        segment_of(name)


def test_a_name_is_one_segment() -> None:
    assert segment_of("../../x?y#z") == "..%2F..%2Fx%3Fy%23z"


def test_what_is_not_there_does_not_appear() -> None:
    told = toolkit.shown(LogAnswer(container_untrusted="main", lines_untrusted=()), "log_read").structured_content
    assert told == {"container_untrusted": "main", "lines_untrusted": []}
