"""What holds for every patch on every text: it says what the patch means, and nothing else changed."""

from __future__ import annotations

import copy
import json
from typing import Any, TypeAlias, cast

import jsonpatch
import jsonpointer
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reconciler.edits.apply import apply
from reconciler.edits.differences import patch as difference
from reconciler.edits.files import append, new_file, remove
from reconciler.edits.problems import EditRefused
from schemas.reading import read
from schemas.reading.outline import Form, Node, outline
from schemas.values import JsonObject, JsonValue
from tests.edits.written import ROOTS, VALUES, WORDS, File, at, comments_in, files, pointers, steps

_YAML, _JSON = "clusters/demo/a.yaml", "clusters/demo/a.json"
_MANY = settings(max_examples=50, deadline=None)
_Patched: TypeAlias = tuple[JsonValue, list[JsonObject]]


def values(text: bytes, path: str = _YAML) -> list[JsonValue]:
    reading = read.read(path, text)
    assert reading.faults == ()
    return [document.value for document in reading.documents]


def jsonpatched(value: JsonValue, patch: list[JsonObject]) -> JsonValue:
    return cast("Any", jsonpatch).apply_patch(copy.deepcopy(value), patch)


@st.composite
def patches(draw: st.DrawFn, value: JsonObject, most: int = 3) -> _Patched:
    """A patch that fits a document, and what jsonpatch makes of it."""
    patch: list[JsonObject] = []
    wanted: Any = value
    for _ in range(draw(st.integers(1, most))):
        step = draw(steps(wanted))
        try:
            wanted = jsonpatched(wanted, [step])
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException):
            assume(False)
        assume(isinstance(wanted, dict))
        patch.append(step)
    return wanted, patch


@_MANY
@given(files())
def test_the_author_writes_what_was_meant(file: File) -> None:
    assert values(file.text.encode()) == file.documents


@_MANY
@given(st.data())
def test_it_says_what_jsonpatch_says(data: st.DataObject) -> None:
    file = data.draw(files())
    target = data.draw(st.integers(0, len(file.documents) - 1))
    wanted, patch = data.draw(patches(file.documents[target]))
    after = apply(file.text.encode(), target, patch, path=_YAML)
    assert values(after) == [wanted if number == target else value for number, value in enumerate(file.documents)]
    kept = comments_in(after.decode())
    assert set(kept) <= file.owners.keys()
    assert len(kept) == len(set(kept))
    assert after.endswith(b"\n") == file.text.endswith("\n")


@_MANY
@given(st.data())
def test_only_comments_of_what_went_are_gone(data: st.DataObject) -> None:
    file = data.draw(files())
    target = data.draw(st.integers(0, len(file.documents) - 1))
    _, [step] = data.draw(patches(file.documents[target], most=1))
    after = apply(file.text.encode(), target, [step], path=_YAML)
    there = f"{target}{step['path']}"
    gone = [there] if step["op"] == "remove" else [f"{target}{step['from']}"] if step["op"] == "move" else []
    for comment in file.owners.keys() - set(comments_in(after.decode())):
        owner = file.owners[comment]
        assert owner in gone or any(owner.startswith(f"{place}/") for place in [*gone, there]), (comment, step)


@_MANY
@given(st.data())
def test_only_lines_of_what_changed_differ(data: st.DataObject) -> None:
    """Lines of other documents and of other entries are there as they were, in their order."""
    file = data.draw(files())
    target = data.draw(st.integers(0, len(file.documents) - 1))
    _, [step] = data.draw(patches(file.documents[target], most=1))
    after = iter(apply(file.text.encode(), target, [step], path=_YAML).decode().split("\n"))
    touched = _touched(file.text, target, [step["path"], *([step["from"]] if step["op"] == "move" else [])])
    for number, line in enumerate(file.text.split("\n")):
        if number not in touched and line.strip():
            assert line in after, (number, line, step)


def _touched(text: str, target: int, pointers_: list[str]) -> set[int]:
    """Numbers of the lines that an edit of these places may change: theirs, that of the key or dash above, which may
    get or lose braces, and that of the entry behind, which takes the place of a first one in the line of a dash. What
    stands between brackets is one."""
    root = [document.root for document in outline(_YAML, text) if document.root.data() is not None][target]
    found: set[int] = set()
    for pointer in pointers_:
        node, parts = root, pointer.split("/")[1:]
        for depth, part in enumerate(parts):
            members = node.members or []
            index = next((n for n, m in enumerate(members) if part == (m.key if node.is_mapping else str(n))), None)
            if node.form is Form.FLOW:
                found |= _lines(text, node.start, node.end)
            if index is None:
                found |= _lines(text, node.start, node.start) | _lines(text, node.end, node.end)
                break
            if len(members) == 1:
                found |= _lines(text, node.start, node.start)
            member = members[index]
            if depth == len(parts) - 1:
                behind = text.find("\n", member.value.end)
                end = behind if behind >= 0 else len(text)
                found |= _above(text, member.start) | _lines(text, member.start, end) | _below(text, end)
                for other in members[index + 1 : index + 2]:
                    found |= _lines(text, other.start, other.start)
            elif index == 0 and len(node.members or []) == 1:
                found |= _lines(text, member.start, member.start)
            found |= _heads(text, node)
            node = member.value
    return found


def _heads(text: str, node: Node) -> set[int]:
    """The line above the first entry, which has the key."""
    line = text.count("\n", 0, node.start)
    lines = text.split("\n")
    while line > 0 and (not lines[line - 1].strip() or lines[line - 1].lstrip().startswith("#")):
        line -= 1
    return {line - 1, line} if node.form is Form.BLOCK and len(node.members or []) == 1 else set()


def _lines(text: str, start: int, end: int) -> set[int]:
    return set(range(text.count("\n", 0, start), text.count("\n", 0, end) + 1))


def _above(text: str, start: int) -> set[int]:
    lines, line = text.split("\n"), text.count("\n", 0, start)
    found: set[int] = set()
    while line > 0 and lines[line - 1].lstrip().startswith("#"):
        line -= 1
        found.add(line)
    return found


def _below(text: str, end: int) -> set[int]:
    lines, line = text.split("\n"), text.count("\n", 0, end)
    found: set[int] = set()
    while line + 1 < len(lines) and (not lines[line + 1].strip() or lines[line + 1].lstrip().startswith("#")):
        line += 1
        found.add(line)
    return found


@_MANY
@given(st.data())
def test_crlf_is_lf_with_other_line_ends(data: st.DataObject) -> None:
    file = data.draw(files())
    assume("\n" in file.text)
    _, patch = data.draw(patches(file.documents[0]))
    lf, crlf = (
        apply(text.encode(), 0, patch, path=_YAML).decode() for text in (file.text, file.text.replace("\n", "\r\n"))
    )
    assert crlf == lf.replace("\n", "\r\n")


@_MANY
@given(st.data())
def test_a_byte_order_mark_stays(data: st.DataObject) -> None:
    file = data.draw(files(documents=1))
    _, patch = data.draw(patches(file.documents[0]))
    mark = b"\xef\xbb\xbf"
    assert apply(mark + file.text.encode(), 0, patch, path=_YAML) == mark + apply(
        file.text.encode(), 0, patch, path=_YAML
    )


@_MANY
@given(st.data())
def test_what_is_so_already_is_not_written_again(data: st.DataObject) -> None:
    file = data.draw(files())
    place = data.draw(st.sampled_from(pointers(file.documents[0])))
    value = at(file.documents[0], place)
    nothing: list[list[JsonObject]] = [
        [],
        *([{"op": verb, "path": place, "value": value}] for verb in ("replace", "test")),
    ]
    for patch in nothing:
        assert apply(file.text.encode(), 0, patch, path=_YAML) == file.text.encode()


@_MANY
@given(st.data())
def test_once_and_twice_are_the_same(data: st.DataObject) -> None:
    file = data.draw(files())
    place = data.draw(st.sampled_from(pointers(file.documents[0])[1:]))
    patch: list[JsonObject] = [{"op": "replace", "path": place, "value": data.draw(VALUES)}]
    once = apply(file.text.encode(), 0, patch, path=_YAML)
    assert apply(once, 0, patch, path=_YAML) == once


@_MANY
@given(st.data())
def test_what_was_added_is_taken_out_again(data: st.DataObject) -> None:
    """Byte for byte: what is added has no comment, and an empty mapping or list stays one."""
    file = data.draw(files())
    document = file.documents[0]
    holders = [place for place in pointers(document) if isinstance(at(document, place), (dict, list))]
    holder = data.draw(st.sampled_from([place for place in holders if at(document, place)]))
    there = at(document, holder)
    last = "brandNew" if isinstance(there, dict) else str(data.draw(st.integers(0, len(there))))
    added = apply(
        file.text.encode(), 0, [{"op": "add", "path": f"{holder}/{last}", "value": data.draw(VALUES)}], path=_YAML
    )
    assert apply(added, 0, [{"op": "remove", "path": f"{holder}/{last}"}], path=_YAML) == file.text.encode()


@_MANY
@given(st.data())
def test_a_word_that_was_replaced_comes_back(data: st.DataObject) -> None:
    """Byte for byte, in its quotes, through any other word."""
    file = data.draw(files())
    document = file.documents[0]
    words = [place for place in pointers(document) if _is_word(at(document, place))]
    assume(words)
    place = data.draw(st.sampled_from(words))
    before = at(document, place)
    other = "other" if isinstance(before, str) else 12
    once = apply(file.text.encode(), 0, [{"op": "replace", "path": place, "value": other}], path=_YAML)
    back = apply(once, 0, [{"op": "replace", "path": place, "value": before}], path=_YAML)
    assert back == file.text.encode()


def _is_word(value: Any) -> bool:
    return type(value) is int or (isinstance(value, str) and value in WORDS)


# JSON ----------------------------------------------------------------------------------------------------------------


@_MANY
@given(st.data())
def test_json_says_what_jsonpatch_says(data: st.DataObject) -> None:
    document = data.draw(ROOTS)
    indent = data.draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    compact = (",", ":") if data.draw(st.booleans()) and indent is None else None
    text = _json_text(document, indent=indent, separators=compact)
    wanted, patch = data.draw(patches(document))
    after = apply(text, 0, patch, path=_JSON)
    assert values(after, _JSON) == [wanted]
    assert json.loads(after) == wanted


@_MANY
@given(st.data())
def test_json_keeps_its_layout(data: st.DataObject) -> None:
    """The text is the one that a writer with the same habits would have made of the outcome, where keys do not move."""
    document = data.draw(ROOTS)
    indent = data.draw(st.sampled_from([None, 2, 4]))
    places = [place for place in pointers(document)[1:] if isinstance(at(document, place), (str, int))]
    assume(places)
    place, value = data.draw(st.sampled_from(places)), data.draw(st.integers(0, 99) | st.just("word"))
    patch: list[JsonObject] = [{"op": "replace", "path": place, "value": value}]
    wanted = jsonpatched(document, patch)
    assert apply(_json_text(document, indent=indent), 0, patch, path=_JSON) == _json_text(wanted, indent=indent)


def _json_text(value: JsonValue, **options: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, **options)
    for character in (*map(chr, (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)),):
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode()


# Whole documents -----------------------------------------------------------------------------------------------------


@_MANY
@given(files(), ROOTS)
def test_a_document_more_leaves_the_others_as_they_are(file: File, document: JsonObject) -> None:
    after = append(file.text.encode(), document, path=_YAML)
    assert values(after) == [*file.documents, document]
    assert after.startswith(file.text.encode())
    assert after.endswith(b"\n") == file.text.endswith("\n")


@_MANY
@given(st.data())
def test_a_document_less_leaves_the_others_as_they_are(data: st.DataObject) -> None:
    file = data.draw(files())
    target = data.draw(st.integers(0, len(file.documents) - 1))
    after = remove(file.text.encode(), target, path=_YAML)
    left = [document for number, document in enumerate(file.documents) if number != target]
    assert (values(after) if after is not None else []) == left
    if after is not None:
        lines = iter(file.text.split("\n"))
        assert all(line in lines for line in after.decode().split("\n"))
        others = {comment for comment, owner in file.owners.items() if "/" in owner and owner[0] != str(target)}
        assert others <= set(comments_in(after.decode()))


@_MANY
@given(files(), ROOTS)
def test_a_document_more_and_less_is_nothing(file: File, document: JsonObject) -> None:
    assume(file.text.endswith("\n"))
    after = append(file.text.encode(), document, path=_YAML)
    assert remove(after, len(file.documents), path=_YAML) == file.text.encode()


@_MANY
@given(st.lists(ROOTS, min_size=1, max_size=3))
def test_a_new_file_says_what_was_given(documents: list[JsonObject]) -> None:
    assert values(new_file(documents, path=_YAML)) == documents
    assert values(new_file(documents[:1], path=_JSON), _JSON) == documents[:1]


# Differences and refusals --------------------------------------------------------------------------------------------


@_MANY
@given(ROOTS, ROOTS)
def test_a_difference_leads_from_one_to_the_other(one: JsonObject, other: JsonObject) -> None:
    assert jsonpatched(one, list(difference(one, other))) == other
    assert list(difference(one, one)) == []


@_MANY
@given(st.binary(max_size=80) | st.text("ab:- \n\t{}[],?&*!|>'\"%@`#~1.<=$\\0", max_size=60).map(str.encode))
def test_text_that_cannot_be_read_is_refused_or_edited(text: bytes) -> None:
    """Whatever the bytes are: an answer that is right, or words that say where."""
    for path in (_YAML, _JSON):
        try:
            after = apply(text, 0, [{"op": "add", "path": "/new", "value": "on"}], path=path)
        except EditRefused as refused:
            assert refused.message.startswith(f"{path}:{refused.line}:{refused.column}: ")
            assert f"expected {refused.expected}, got {refused.found}" in refused.message
        else:
            assert cast("JsonObject", values(after, path)[0])["new"] == "on"


@pytest.mark.parametrize("path", [_YAML, _JSON])
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_patch_that_does_not_fit_is_refused(path: str, data: st.DataObject) -> None:
    junk = st.dictionaries(
        st.sampled_from(["op", "path", "from", "value"]),
        st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "", "/", "/a", "/a/-", "/a/9", "a", "/~2"])
        | VALUES,
    )
    try:
        apply(b'{"a": [1, {"b": null}]}', 0, data.draw(st.lists(junk, max_size=3)), path=path)
    except EditRefused as refused:
        assert refused.line == 1
