"""Text, numbers and words as YAML and JSON write them, so that every reader takes them for what they are.

Quotes are put where a reader of YAML 1.2, or one of 1.1 as many tools are, would take text for something else:
`"1.30"`, `"012"`, `"yes"`. Where quotes are needed they are the author's.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from yaml.nodes import ScalarNode
from yaml.resolver import Resolver

from reconciler.edits.equality import same
from schemas.reading import scalars
from schemas.reading.outline import Form, Node
from schemas.reading.read import read
from schemas.values import JsonValue

_TEXT_TAG: Final = "tag:yaml.org,2002:str"
# Characters that mean nothing to YAML, wherever they stand.
_SAFE_FIRST = re.compile(r"[A-Za-z0-9_./$+~^;=()<\\\u00a1-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]|: |:\Z| #|\s\Z")
_FLOW_SIGNS = re.compile(r"[,\[\]{}]")
_NEVER_RAW = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NOT_IN_BLOCK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\", "\0": "\\0"}
_RESOLVER: Final[Any] = Resolver()
_LONGEST_KEY: Final = 1000  # YAML ends the search for a key's colon after 1,024 characters


@dataclass(frozen=True, kw_only=True)
class Written:
    """A scalar as text. `lines` are those of a block of text, below the line in which `first` is its header, without
    their indentation; an empty one is an empty line."""

    first: str
    lines: tuple[str, ...] = ()


def yaml_scalar(value: JsonValue, *, like: Node | None, quote: Form, flow: bool) -> Written:
    """A scalar in the manner of the one it takes the place of (`like`), where that can hold it.

    `quote`: which quotes the file has; `flow`: it stands between brackets, where there are no blocks of text."""
    if not isinstance(value, str):
        return Written(first=plain_word(value))
    for candidate in _candidates(value, like, quote, flow):
        if _reads_back(candidate, value, flow):
            return candidate
    return Written(first=_double(value))


def yaml_key(key: str, *, like: Form | None, quote: Form) -> str | None:
    """A key in one line; None where YAML has no simple way to write it."""
    if like in (Form.SINGLE, Form.DOUBLE):
        text = _quoted(key, like)
    else:
        text = key if is_plain(key, flow=True) else _quoted(key, quote)
    return text if len(text) <= _LONGEST_KEY else None


def json_scalar(value: JsonValue) -> str:
    """A scalar of JSON, readable: only what no text file may hold is escaped."""
    if not isinstance(value, str):
        return plain_word(value)
    text = json.dumps(value, ensure_ascii=False)
    return _NEVER_RAW.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def plain_word(value: JsonValue) -> str:
    """A number, a truth value or nothing; the same in both languages."""
    given: Any = value
    if given is None:
        return "null"
    if isinstance(given, bool):
        return "true" if given else "false"
    text = repr(given)
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")  # else a reader of YAML 1.1 takes it for text
    return text


def is_plain(text: str, *, flow: bool) -> bool:
    """Whether text may stand without quotes, for readers of YAML 1.1 and 1.2 alike."""
    return _is_bare(text, flow) and not is_special(text)


@functools.lru_cache(maxsize=4096)
def is_special(text: str) -> bool:
    """Whether some reader of YAML would take unquoted text for a number, a date, a truth value or nothing."""
    if text in scalars.WORDS or text.lower() in ("y", "n"):
        return True
    try:
        number = text[0] in scalars.NUMBER_STARTS and not isinstance(scalars.number(text), str)
    except scalars.NumberRefused:
        number = True
    return number or _resolve(text) != _TEXT_TAG


def _resolve(text: str) -> str:
    tag: str = _RESOLVER.resolve(ScalarNode, text, (True, False))
    return tag


def _candidates(text: str, like: Node | None, quote: Form, flow: bool) -> Iterator[Written]:
    form = like.form if like is not None else None
    if form in (Form.LITERAL, Form.FOLDED) and not flow:
        yield from _blocks(text, form)
    if form in (Form.SINGLE, Form.DOUBLE):
        yield Written(first=_quoted(text, form))
    if "\n" in text.rstrip("\n") and not flow:
        yield from _blocks(text, Form.LITERAL)
    # A date that the author wrote without quotes is followed by one without quotes.
    habit = form is Form.PLAIN and like is not None and isinstance(like.value, str) and is_special(like.value)
    if is_plain(text, flow=flow) or (habit and _is_bare(text, flow) and _reads_as_text(text)):
        yield Written(first=text)
    yield Written(first=_quoted(text, quote))


def _is_bare(text: str, flow: bool) -> bool:
    if not text or _UNSAFE.search(text) or (flow and _FLOW_SIGNS.search(text)):
        return False
    if text.startswith(("---", "...", "<<<<<<<", "=======")):
        return False
    return bool(_SAFE_FIRST.match(text)) or (text[0] == "-" and len(text) > 1 and text[1] not in " \t,[]{}")


def _reads_as_text(text: str) -> bool:
    if text in scalars.WORDS:
        return False
    try:
        return text[0] not in scalars.NUMBER_STARTS or isinstance(scalars.number(text), str)
    except scalars.NumberRefused:
        return False


def _quoted(text: str, form: Form) -> str:
    if form is Form.SINGLE and not _NEVER_RAW.search(text) and "\t" not in text:
        return "'" + text.replace("'", "''") + "'"
    return _double(text)


def _double(text: str) -> str:
    escaped = "".join(_ESCAPES.get(character, character) for character in text)
    return '"' + _NEVER_RAW.sub(_escape, escaped) + '"'


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def _blocks(text: str, form: Form | None) -> Iterator[Written]:
    """Text as a block, if it can be one: literal, or folded with each line of it unbroken."""
    if _NOT_IN_BLOCK.search(text) or not text.strip("\n"):
        return
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    chomping = "-" if ends == 0 else "" if ends == 1 else "+"
    indent = "2" if body.startswith((" ", "\n", "\t")) else ""
    more = ("",) * (ends - 1)
    if form is Form.FOLDED and not re.search(r"(?:\A|\n)[ \t]|[ \t](?:\n|\Z)", body):
        lines = re.sub(r"\n+", lambda match: match.group() + "\n", body).split("\n")
        yield Written(first=f">{indent}{chomping}", lines=(*lines, *more))
    yield Written(first=f"|{indent}{chomping}", lines=(*body.split("\n"), *more))


def _reads_back(candidate: Written, value: str, flow: bool) -> bool:
    """Whether our own reader takes it for the value, in a place like the one it is meant for."""
    lines = "".join(f"\n  {line}" if line else "\n" for line in candidate.lines)
    text = f"k: [{candidate.first}]\n" if flow else f"k: {candidate.first}{lines}\nend: 1\n"
    try:
        reading = read("a.yaml", text.encode())
    except UnicodeEncodeError:
        return False
    expected = {"k": [value]} if flow else {"k": value, "end": 1}
    return not reading.faults and len(reading.documents) == 1 and same(reading.documents[0].value, expected)
