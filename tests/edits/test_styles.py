"""Ways of writing, one by one: what an edit makes of each, and what it refuses in words."""

from __future__ import annotations

import json

import pytest

from reconciler.edits.apply import apply
from reconciler.edits.files import append, locate, new_file, remove
from reconciler.edits.problems import EditRefused
from schemas.reading.read import read
from schemas.values import JsonObject, JsonValue


def add(path: str, value: JsonValue) -> JsonObject:
    return {"op": "add", "path": path, "value": value}


def gone(path: str) -> JsonObject:
    return {"op": "remove", "path": path}


@pytest.mark.parametrize(
    ("reason", "before", "patch", "after"),
    [
        ("brackets in one line", "a: {x: 1, y: [2]}  # c\n", [add("/a/y/-", "on"), gone("/a/x")],
         'a: {y: [2, "on"]}  # c\n'),
        ("brackets over lines keep comments", "a: {\n  x: 1, # one\n  y: 2, # two\n  z: 3 # three\n}\n",
         [gone("/a/y"), add("/a/q", 4)], "a: {\n  x: 1, # one\n  z: 3, # three\n  q: 4\n}\n"),
        ("the last between brackets goes with the comma before it", "a: [\n  x, # one\n  y # two\n]\n", [gone("/a/1")],
         "a: [\n  x # one\n]\n"),
        ("a comma at the end stays", "a: [\n  x,\n  y,\n]\n", [gone("/a/1"), add("/a/-", "z")],
         "a: [\n  x,\n  z,\n]\n"),
        ("braces open where an entry comes", "a: {}  # c\nb: 1\n", [add("/a/x", [])], "a:  # c\n  x: []\nb: 1\n"),
        ("a block of text stays one", "a: |  # c\n  x\n  y\n\nb: 1\n", [add("/a", "x\nz\n")],
         "a: |  # c\n  x\n  z\n\nb: 1\n"),
        ("a block that keeps its empty lines", "a: |+\n  x\n\nb: 1\n", [gone("/b"), add("/c", 2)],
         "a: |+\n  x\n\nc: 2\n"),
        ("text without a line break at its end", "a: |\n  x\n  y\n", [add("/a", "x")], "a: |-\n  x\n"),
        ("folded text", "a: >\n  x y\n\n  w\nb: 1\n", [add("/a", "one two\nthree\n")],
         "a: >\n  one two\n\n  three\nb: 1\n"),
        ("text with lines is a block", "a: x\n", [add("/b", "x\ny\n")], "a: x\nb: |\n  x\n  y\n"),
        ("text over lines becomes one", "a: x\n  y\nb: 1\n", [add("/a", "q")], "a: q\nb: 1\n"),
        ("a value in the next line stays there", "a:  # why\n  long\n", [add("/a", "q")], "a:  # why\n  q\n"),
        ("or makes place for a mapping", "a:  # why\n  long\n", [add("/a", {"q": 1})], "a:  # why\n  q: 1\n"),
        ("nothing gets a value", "a:\nb: ~  # c\n", [add("/a", 1), add("/b", {"x": 1})], "a: 1\nb:  # c\n  x: 1\n"),
        ("a mapping becomes text", "a:  # c\n  x: 1\n  # in it\nb: 1\n", [add("/a", "t")], "a: t  # c\nb: 1\n"),
        ("lists below their key", "a:\n- x\nb:\n- y\n", [add("/c", ["z"]), add("/a/-", {"q": [1]})],
         "a:\n- x\n- q:\n  - 1\nb:\n- y\nc:\n- z\n"),
        ("steps of four", "a:\n    b: 1\n", [add("/a/c", {"d": {"e": 1}})],
         "a:\n    b: 1\n    c:\n        d:\n            e: 1\n"),
        ("wide dashes", "a:\n-   x: 1\n    y: 2\n", [add("/a/-", {"q": 1, "r": 2}), gone("/a/0/x")],
         "a:\n-   y: 2\n-   q: 1\n    r: 2\n"),
        ("a dash alone in its line", "a:\n  -\n    x: 1\n    y: 2\n", [gone("/a/0/x"), add("/a/0/z", 1)],
         "a:\n  -\n    y: 2\n    z: 1\n"),
        ("a comment between the first fields of an item", "a:\n  - x: 1\n    # about y\n    y: 2\n", [gone("/a/0/x")],
         "a:\n  -\n    # about y\n    y: 2\n"),
        ("no line break at the end", "a: 1\nb: 2", [add("/c", 3), gone("/b")], "a: 1\nc: 3"),
        ("CRLF", "a: 1\r\nb:\r\n  - x\r\n", [add("/b/-", {"v": 1, "z": "p\nq\n"})],
         "a: 1\r\nb:\r\n  - x\r\n  - v: 1\r\n    z: |\r\n      p\r\n      q\r\n"),
        ("the head of a document stays", "# head\n\n# first\na: 1\nb: 2\n", [gone("/a")], "# head\n\n# first\nb: 2\n"),
        ("what moves takes its comments along",
         "a:\n  # about x\n  x:\n    y: 1  # one\nb:\n  c: 1\n", [{"op": "move", "from": "/a/x", "path": "/b/x"}],
         "a: {}\nb:\n  c: 1\n  # about x\n  x:\n    y: 1  # one\n"),
        ("the order of a list changes by moving lines", "a:\n  # 1\n  - x\n  # 2\n  - y  # yy\n",
         [{"op": "move", "from": "/a/1", "path": "/a/0"}], "a:\n  # 2\n  - y  # yy\n  # 1\n  - x\n"),
        ("a key keeps its quotes under another name", "'a b': 1\n", [{"op": "move", "from": "/a b", "path": "/c"}],
         "'c': 1\n"),
    ],
)  # fmt: skip
def test_a_way_of_writing(reason: str, before: str, patch: list[JsonObject], after: str) -> None:
    assert apply(before.encode(), 0, patch, path="a.yaml").decode() == after, reason


@pytest.mark.parametrize(
    ("value", "plain", "quoted"),
    [
        ("word", "word", '"word"'),
        ("1.30", '"1.30"', '"1.30"'),
        ("012", '"012"', '"012"'),
        ("yes", '"yes"', '"yes"'),
        ("null", '"null"', '"null"'),
        ("12:30", '"12:30"', '"12:30"'),
        ("12e4567", '"12e4567"', '"12e4567"'),
        ("012345670123", '"012345670123"', '"012345670123"'),
        ("2026-09-01", '"2026-09-01"', '"2026-09-01"'),
        ("a: b", '"a: b"', '"a: b"'),
        ("a #b", '"a #b"', '"a #b"'),
        ("", '""', '""'),
        ("arn:aws:iam::111122223333:role/x", "arn:aws:iam::111122223333:role/x", '"arn:aws:iam::111122223333:role/x"'),
        ("\x07\u2028", '"\\x07\\u2028"', '"\\x07\\u2028"'),
        (True, "true", "true"),
        (1.5, "1.5", "1.5"),
        (1e300, "1.0e+300", "1.0e+300"),
        (-3, "-3", "-3"),
    ],
)
def test_a_scalar_is_read_as_what_it_is(value: JsonValue, plain: str, quoted: str) -> None:
    patch = [add("/p", value), add("/q", value)]
    after = apply(b'p: some\nq: "some"\n', 0, patch, path="a.yaml").decode()
    assert after == f"p: {plain}\nq: {quoted}\n"


@pytest.mark.parametrize("key", ["on", "1", "null", "", "a: b", "#", "- a", "1.30", "~", "{", "é"])
def test_a_key_is_read_as_text(key: str) -> None:
    after = apply(b"a: 1\n", 0, [add("/" + key.replace("~", "~0"), {key: key})], path="a.yaml")
    assert read("a.yaml", after).documents[0].value == {"a": 1, key: {key: key}}


def test_a_date_without_quotes_is_followed_by_one() -> None:
    before = b"expires: 2026-09-01T18:00:00Z\n"
    after = apply(before, 0, [add("/expires", "2026-10-01T18:00:00Z")], path="a.yaml")
    assert after == b"expires: 2026-10-01T18:00:00Z\n"


@pytest.mark.parametrize(
    ("reason", "before", "patch", "after"),
    [
        ("tabs", '{\n\t"a": 1,\n\t"b": {\n\t\t"c": 2\n\t}\n}', [add("/b/d", {"x": [1]}), add("/e", "\u2028")],
         '{\n\t"a": 1,\n\t"b": {\n\t\t"c": 2,\n\t\t"d": {\n\t\t\t"x": [\n\t\t\t\t1\n\t\t\t]\n\t\t}\n'
         '\t},\n\t"e": "\\u2028"\n}'),
        ("no spaces", '{"a":1,"b":[1,2]}', [add("/b/-", 3), gone("/a"), add("/c", {"x": [1]})],
         '{"b":[1,2,3],"c":{"x":[1]}}'),
        ("first and last", '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', [gone("/a"), gone("/c")], '{\n  "b": 2\n}\n'),
        ("text is quoted as JSON has it", '{"a": "x"}\n', [add("/a", "'é\n\"")], '{"a": "\'é\\n\\""}\n'),
    ],
)  # fmt: skip
def test_json(reason: str, before: str, patch: list[JsonObject], after: str) -> None:
    assert apply(before.encode(), 0, patch, path="a.json").decode() == after, reason


@pytest.mark.parametrize(
    ("reason", "before", "patch", "where", "found", "hint"),
    [
        (
            "a key with a question mark",
            "c:\n  ? a\n  : 1\n",
            [add("/c/b", 1)],
            "2:5",
            "a key written with `? `",
            "key: value",
        ),
        ("a pair without braces", "a: [b: 1, c]\n", [add("/a/0/b", 2)], "1:5", "without braces", "write the braces"),
        (
            "a comment inside one line of entries",
            "a: [x, y, # c\n    z]\n",
            [gone("/a/1")],
            "1:8",
            "a comment",
            "one entry a line",
        ),
        ("anchors", "a: &x 1\n", [add("/a", 3)], "1:4", "the anchor &x", "remove it"),
        ("a key twice", "a: 1\na: 2\n", [add("/a", 3)], "2:1", "`a` a second time", "keep one"),
        ("a field that is not there", "# c\nb: 1\n", [gone("/a")], "2:1", "operation 0: can't remove", ""),
        ("which step it is", "b: 1\n", [add("/a", 1), gone("/c")], "1:1", "operation 1: ", ""),
        ("the whole document", "b: 1\n", [gone("")], "1:1", "can't remove the whole document", ""),
        (
            "what a patch must not do",
            "b: x\n",
            [{"op": "append", "path": "/b", "value": "y"}],
            "1:1",
            "its op is none of",
            "",
        ),
        ("a test that fails", "b: 1\n", [{"op": "test", "path": "/b", "value": True}], "1:1", "operation 0: ", ""),
        ("too deep", "b: 1\n", [add("/b", json.loads("[" * 80 + "]" * 80))], "1:1", "deeper nesting", ""),
        ("too large a number", "b: 1\n", [add("/b", 2**64)], "1:1", "a larger one", ""),
        ("no number", "b: 1\n", [add("/b", float("nan"))], "1:1", "nan", ""),
        ("half a character", "b: 1\n", [add("/b", "\ud800")], "1:1", "surrogate", ""),
        ("a key that is too long", "b: 1\n", [add("/" + "k" * 1100, 1)], "1:1", "a key of more than 1000", "shorter"),
        ("a file that gets too large", "b: 1\n", [add("/b", "y" * 2**20)], "1:1", "bytes, after the edit", "split it"),
        (
            "a conflict in the file",
            "<<<<<<< a\nb: 1\n=======\n>>>>>>> c\n",
            [add("/b", 1)],
            "1:1",
            "merge conflict",
            "resolve",
        ),
        ("a byte that is no UTF-8", "b: 1 # \udc97\n", [add("/b", 1)], "1:8", "byte 0x97 at offset 7", "UTF-8"),
        (
            "text that would change with its end",
            "a: |\n  x",
            [add("/b", 1)],
            "1:1",
            "something else",
            "line break first",
        ),
        ("line ends of old", "a: 1\rb: 2\n", [add("/b", 1)], "1:5", "CR alone", "LF"),
    ],
)
def test_what_cannot_be_done_cleanly_is_refused(
    reason: str, before: str, patch: list[JsonObject], where: str, found: str, hint: str
) -> None:
    with pytest.raises(EditRefused) as raised:
        apply(before.encode(errors="surrogateescape"), 0, patch, path="clusters/c/a.yaml")
    assert raised.value.message.startswith(f"clusters/c/a.yaml:{where}: "), reason
    assert found in raised.value.found, reason
    assert hint in raised.value.hint, reason
    assert raised.value.flaws[0].where == f"clusters/c/a.yaml:{where}"


def test_a_secret_in_a_patch_is_not_said_again() -> None:
    secret = "AKIA" + "IOSFODNN7ABCDEFG"
    with pytest.raises(EditRefused) as raised:
        apply(b"b: 1\n", 0, [{"op": "test", "path": "/b", "value": secret}], path="a.yaml")
    assert secret not in raised.value.message


# Whole documents -----------------------------------------------------------------------------------------------------

_DOCUMENT: JsonObject = {"kind": "B", "metadata": {"name": "b"}}
_TEXT = "kind: B\nmetadata:\n  name: b\n"


@pytest.mark.parametrize(
    ("reason", "before", "after"),
    [
        ("behind the last", "kind: A\n", f"kind: A\n---\n{_TEXT}"),
        ("into an empty file", "", _TEXT),
        ("below comments", "# head\n", f"# head\n{_TEXT}"),
        ("into a document that waits for it", "kind: A\n---\n# b comes\n", f"kind: A\n---\n# b comes\n{_TEXT}"),
        ("behind an end", "kind: A\n...\n", f"kind: A\n...\n---\n{_TEXT}"),
        ("without a line break at the end", "kind: A", f"kind: A\n---\n{_TEXT[:-1]}"),
        ("with the file's line ends", "kind: A\r\n", f"kind: A\n---\n{_TEXT}".replace("\n", "\r\n")),
    ],
)
def test_a_document_more(reason: str, before: str, after: str) -> None:
    assert append(before.encode(), _DOCUMENT, path="a.yaml").decode() == after, reason


@pytest.mark.parametrize(
    ("reason", "before", "target", "after"),
    [
        ("the only one", "# c\na: 1\n", 0, None),
        (
            "the first, below the head of the file",
            "# head\na: 1\n# a's\n---  # b's\nb: 1\n",
            0,
            "# head\n---  # b's\nb: 1\n",
        ),
        ("one in the middle", "a: 1\n---\n# b's\nb: 1\n---\nc: 1\n", 1, "a: 1\n---\nc: 1\n"),
        ("the last, with the empty lines before it", "a: 1\n\n---\nb: 1\n", 1, "a: 1\n"),
        ("those without a value do not count", "a: 1\n---\n# nothing\n---\nb: 1\n", 1, "a: 1\n---\n# nothing\n"),
        ("text that keeps its empty lines", "a: |+\n  x\n\n---\nb: 1\n", 1, "a: |+\n  x\n\n"),
    ],
)
def test_a_document_less(reason: str, before: str, target: int, after: str | None) -> None:
    found = remove(before.encode(), target, path="a.yaml")
    assert (found.decode() if found is not None else None) == after, reason


def test_a_json_file_holds_one_document() -> None:
    assert append(b"", _DOCUMENT, path="a.json") == new_file([_DOCUMENT], path="a.json")
    with pytest.raises(EditRefused, match="a file of its own"):
        append(b'{"kind": "A"}', _DOCUMENT, path="a.json")
    with pytest.raises(EditRefused, match="one document in a JSON file"):
        new_file([_DOCUMENT, _DOCUMENT], path="a.json")


def test_a_document_is_found_by_its_name() -> None:
    text = f"kind: A\nmetadata: {{name: b}}\n---\n# nothing\n---\n{_TEXT}".encode()
    assert [locate(text, kind, "b", path="a.yaml") for kind in ("A", "B", "C")] == [0, 1, None]
    assert apply(text, 1, [add("/x", 1)], path="a.yaml") == text + b"x: 1\n"


def test_a_new_document_begins_as_all_do() -> None:
    given: JsonObject = {
        "spec": {"a": ["1.30"]},
        "metadata": {"name": "a"},
        "kind": "A",
        "apiVersion": "instantstart/v1",
    }
    text = 'apiVersion: instantstart/v1\nkind: A\nmetadata:\n  name: a\nspec:\n  a:\n    - "1.30"\n'
    assert new_file([given, _DOCUMENT], path="a.yaml").decode() == f"{text}---\n{_TEXT}"
