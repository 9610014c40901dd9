"""Documents as people may write them: the same value in many styles, with comments in all places."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

from hypothesis import strategies as st

from schemas.values import JsonObject, JsonValue

Draw: TypeAlias = st.DrawFn

# Words that readers of YAML take for something else, and text that needs care.
TRICKY = (
    "1.30", "012", "yes", "on", "null", "~", "1", "0x1F", "1e5", "12:30", "2026-09-01", "true", "-", "- a", "a: b",
    "a #b", "#", " a", "a ", "", "[a]", "{a}", "*a", "&a", "!a", "%a", "@a", "`a`", "'", '"', "\\", "a\nb", "a\nb\n",
    "\na", "a\n\n", "  a\nb", "a\tb", "\t", "é", "日本語", "😀", "\x07", "\u2028", "\ufeff", "=", "<<", "?", "? a",
    "---", "--- a", "...", "|", ">", "a:", ":a", "::", "a,b", "<<<<<<< a", "a\r\nb", "x" * 200, "y", "N", ".inf",
    "+1", "1_000",
)  # fmt: skip
_WORDS = st.from_regex(r"[a-z][a-z0-9.-]{0,6}", fullmatch=True)
WORDS = ("alpha", "beta", "gamma")
TEXTS = _WORDS | st.sampled_from(WORDS) | st.sampled_from(TRICKY) | st.text(st.characters(codec="utf-8"), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS | st.floats(-1e6, 1e6).filter(
    lambda number: number == number
)  # fmt: skip
KEYS = _WORDS | st.sampled_from(TRICKY)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=10
)
ROOTS: st.SearchStrategy[JsonObject] = st.dictionaries(KEYS, VALUES, min_size=1, max_size=5)

_PLAIN = re.compile(r"[a-z][a-z0-9.-]*")
_RAW = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class Author:
    """Writes values as somebody might. Every comment has a number of its own: `#c1.`, `#c2.`, …

    `owners`: what each is about: the number of its document and the pointer of an entry, above or behind which it
    stands; with `/-` behind it where it stands at the end of that one's entries. Those at the heads of documents are
    about nothing.
    """

    def __init__(self, draw: Draw, *, comments: bool = True) -> None:
        self._draw = draw
        self._comments = comments
        self.owners: dict[str, str] = {}
        self._number = 0
        self._keeping = False  # a block of text ended that would have the next empty lines too
        self._step = draw(st.sampled_from([2, 2, 4, 3]))
        self._list_step = draw(st.sampled_from([0, 2, 4]))
        self._item = draw(st.sampled_from([2, 2, 4]))

    def file(self, documents: list[JsonObject]) -> str:
        lines: list[str] = self._above(0, "")
        for number, document in enumerate(documents):
            self._number = number
            if number or self._chance(4):
                lines.append("---" + self._behind(""))
                lines += self._above(0, "")
            lines += self.document(document)
            if self._chance(8):
                lines += ["..."] if number < len(documents) - 1 else []
            if self._chance(10) and number < len(documents) - 1:
                lines += ["---", *self._above(0, "")]
        return "\n".join(lines) + ("" if self._chance(8) and not lines[-1].startswith(" ") else "\n")

    def document(self, value: JsonObject) -> list[str]:
        if self._chance(12):
            return [self._flow(value) + self._behind("")]
        return self._mapping(value, 0, "")

    def _mapping(self, value: JsonObject, column: int, at: str) -> list[str]:
        lines: list[str] = []
        for key, inner in value.items():
            here = f"{at}/{escaped(key)}"
            lines += self._above(column, "" if not at and not lines else here)
            lines += self._entry(" " * column + self._key(key) + ":", inner, column, here, in_list=False)
        return [*lines, *self._comment_lines(column, at + "/-")]

    def _list(self, value: list[Any], column: int, at: str) -> list[str]:
        lines: list[str] = []
        for index, inner in enumerate(value):
            lines += self._above(column, f"{at}/{index}")
            lines += self._entry(" " * column + "-", inner, column, f"{at}/{index}", in_list=True)
        return [*lines, *self._comment_lines(column, at + "/-")]

    def _entry(self, head: str, value: Any, column: int, at: str, *, in_list: bool) -> list[str]:
        inner: Any = value
        self._keeping = False
        if (is_mapping(value) or is_list(value)) and value and not self._chance(6):
            deeper = column + (self._item if in_list else self._step)
            if is_list(value) and not in_list:
                deeper = column + self._list_step
            lines = self._list(inner, deeper, at) if is_list(value) else self._mapping(inner, deeper, at)
            while lines and not lines[0].strip():
                del lines[0]
            compact = in_list and not lines[0].lstrip().startswith("#") and not self._chance(5)
            if compact:
                return [head + " " * (self._item - 1) + lines[0].lstrip(), *lines[1:]]
            return [head + self._behind(at), *lines]
        if isinstance(value, str) and "\n" in value and not self._chance(3) and (block := self._block(value)):
            first, lines = block
            self._keeping = first.endswith("+")
            return [f"{head} {first}{self._behind(at)}", *(" " * (column + 2) + line if line else "" for line in lines)]
        if value is None and self._chance(2):
            return [head + self._behind(at)]
        text = self._flow(value) if is_mapping(value) or is_list(value) else self._scalar(value, flow=False)
        return [f"{head} {text}{self._behind(at)}"]

    def _block(self, value: str) -> tuple[str, list[str]] | None:
        body = value.rstrip("\n")
        ends = len(value) - len(body)
        if not body or _RAW.search(body.replace("\n", "")) or body[0] in " \n" or "<<<<" in body or "\t" in body:
            return None
        return "|" + ("-" if not ends else "" if ends == 1 else "+"), [*body.split("\n"), *[""] * (ends - 1)]

    def _flow(self, value: Any) -> str:
        pad = " " if self._chance(4) else ""
        if is_mapping(value):
            entries = [f"{self._key(key)}: {self._flow(inner)}" for key, inner in value.items()]
            return "{" + pad + ", ".join(entries) + pad + "}" if entries else "{}"
        if is_list(value):
            items = [self._flow(inner) for inner in value]
            return "[" + pad + ", ".join(items) + pad + "]" if items else "[]"
        return self._scalar(value, flow=True)

    def _key(self, key: str) -> str:
        return self._scalar(key, flow=True)

    def _scalar(self, value: Any, *, flow: bool) -> str:
        if not isinstance(value, str):
            return json.dumps(value)
        if _PLAIN.fullmatch(value) and value not in ("null", "true", "false") and not self._chance(4):
            return value
        if not _RAW.search(value) and self._chance(2):
            return "'" + value.replace("'", "''") + "'"
        return _RAW.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(value, ensure_ascii=False))

    def _above(self, column: int, at: str) -> list[str]:
        lines = self._comment_lines(column, at)
        return ["", *lines] if self._chance(4) and not self._keeping else lines

    def _comment_lines(self, column: int, at: str) -> list[str]:
        return [" " * column + self._comment(at)] if self._comments and self._chance(5) else []

    def _behind(self, at: str) -> str:
        return "  " + self._comment(at) if self._comments and self._chance(5) else ""

    def _comment(self, at: str) -> str:
        comment = f"#c{len(self.owners)}."
        self.owners[comment] = f"{self._number}{at}"
        return comment

    def _chance(self, of: int) -> bool:
        return self._draw(st.integers(1, of)) == of


def comments_in(text: str) -> list[str]:
    """The comments that an author wrote: values have nothing like them."""
    return sorted(re.findall(r"#c\d+\.", text))


def is_mapping(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


@dataclass(frozen=True)
class File:
    """A text, what its documents are, and what its comments are about (see `Author`)."""

    text: str
    documents: list[JsonObject]
    owners: dict[str, str]


@st.composite
def files(draw: Draw, *, documents: int = 3, comments: bool = True) -> File:
    values = draw(st.lists(ROOTS, min_size=1, max_size=documents))
    author = Author(draw, comments=comments)
    return File(author.file(values), values, author.owners)


def escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def pointers(value: Any, here: str = "") -> list[str]:
    """Where the values of a document are."""
    found = [here]
    if is_mapping(value):
        for key, inner in value.items():
            found += pointers(inner, f"{here}/{escaped(key)}")
    if is_list(value):
        for index, inner in enumerate(value):
            found += pointers(inner, f"{here}/{index}")
    return found


def at(value: Any, pointer: str) -> Any:
    found: Any = value
    for part in pointer.split("/")[1:]:
        found = found[int(part)] if is_list(found) else found[part.replace("~1", "/").replace("~0", "~")]
    return found


@st.composite
def steps(draw: Draw, value: JsonObject) -> JsonObject:
    """One operation that fits a document and leaves it a mapping that is not empty."""
    places = pointers(value)
    inner = places[1:]
    verb = draw(st.sampled_from(["add", "add", "replace", "replace", "remove", "move", "copy", "test"]))
    verb = verb if inner else "add"
    if verb == "test":
        place = draw(st.sampled_from(places))
        return {"op": "test", "path": place, "value": at(value, place)}
    if verb == "replace":
        return {"op": "replace", "path": draw(st.sampled_from(inner)), "value": draw(VALUES)}
    if verb == "remove":
        return {"op": "remove", "path": draw(st.sampled_from(inner))}
    origin = draw(st.sampled_from(inner)) if inner else ""
    holders = [place for place in places if isinstance(at(value, place), (dict, list))]
    if verb == "move":
        holders = [place for place in holders if place != origin and not place.startswith(origin + "/")]
    holder = draw(st.sampled_from(holders))
    there = at(value, holder)
    if is_mapping(there):
        known = sorted(there)
        key = draw(KEYS | st.sampled_from(known)) if known else draw(KEYS)
        path = f"{holder}/{escaped(key)}"
    else:
        last = len(there)
        if verb == "move" and origin.rpartition("/")[0] == holder:
            last -= 1
        path = f"{holder}/{draw(st.sampled_from([*range(last + 1), '-']))}"
    if verb in ("move", "copy"):
        return {"op": verb, "from": origin, "path": path}
    return {"op": "add", "path": path, "value": draw(VALUES)}
