"""Two edits of one file: different fields merge, the same field is a clash that says all three values."""

from __future__ import annotations

import copy
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reconciler.edits.apply import apply
from reconciler.edits.differences import differences
from reconciler.edits.files import append, remove
from reconciler.edits.merge import merge
from reconciler.edits.problems import EditConflict, EditRefused
from schemas.reading import read
from schemas.values import JsonObject, JsonValue
from tests.edits.written import VALUES, Author, comments_in, is_list

_PATH = "clusters/demo/groups.yaml"
_MANY = settings(max_examples=40, deadline=None)

GROUP = dedent("""\
    apiVersion: instantstart/v1
    kind: InstanceGroup
    metadata:
      name: workers
    spec:
      instanceType: ml.g5.8xlarge
      count: 2
      zone: usw2-az2
      labels:
        team: a
      taints:
        - key: dedicated
          value: training
          effect: NoSchedule
      deepHealthChecks: [InstanceStress]
    """)
_GROUP_NAME = "InstanceGroup/workers"


def edited(text: str, *patch: JsonObject, target: int = 0) -> bytes:
    return apply(text.encode(), target, patch, path=_PATH)


def add(path: str, value: JsonValue) -> JsonObject:
    return {"op": "add", "path": path, "value": value}


def remove_field(path: str) -> JsonObject:
    return {"op": "remove", "path": path}


def only(data: bytes | None) -> Any:
    assert data is not None
    (document,) = read.read(_PATH, data).documents
    return document.value


@pytest.mark.parametrize(
    ("reason", "ours", "theirs", "field", "merged"),
    [
        ("two lines that touch", add("/spec/count", 3), add("/spec/zone", "usw2-az1"), "count", 3),
        (
            "new fields of both at one place",
            add("/spec/interface", "efa"),
            add("/spec/minCount", 1),
            "interface",
            "efa",
        ),
        ("the same change twice is none", add("/spec/count", 3), add("/spec/count", 3), "count", 3),
        (
            "labels are by name",
            add("/spec/labels/x", "1"),
            add("/spec/labels/team", "b"),
            "labels",
            {"team": "b", "x": "1"},
        ),
        (
            "taints are by key and effect",
            add("/spec/taints/0/value", "other"),
            add("/spec/taints/0", {"key": "first", "effect": "NoExecute"}),
            "taints",
            [
                {"key": "first", "effect": "NoExecute"},
                {"key": "dedicated", "value": "other", "effect": "NoSchedule"},
            ],
        ),
        (
            "a list of names is a set",
            add("/spec/deepHealthChecks/-", "InstanceConnectivity"),
            add("/spec/deepHealthChecks/-", "MultiNodeTrainingValidation"),
            "deepHealthChecks",
            ["InstanceStress", "InstanceConnectivity", "MultiNodeTrainingValidation"],
        ),
        (
            "one goes, another comes",
            remove_field("/spec/taints/0"),
            add("/spec/taints/-", {"key": "x", "effect": "NoSchedule"}),
            "taints",
            [{"key": "x", "effect": "NoSchedule"}],
        ),
        ("both take it out", remove_field("/spec/labels"), remove_field("/spec/labels"), "labels", None),
    ],
)
def test_fields_merge(reason: str, ours: JsonObject, theirs: JsonObject, field: str, merged: JsonValue) -> None:
    found = only(merge(GROUP.encode(), edited(GROUP, ours), edited(GROUP, theirs), path=_PATH))
    assert found["spec"].get(field) == merged, reason
    other = only(merge(GROUP.encode(), edited(GROUP, theirs), edited(GROUP, ours), path=_PATH))
    assert differences_by_order(found, other) == [], reason


def differences_by_order(one: Any, other: Any) -> list[str]:
    """The fields that differ by more than the order of a list."""
    left, right = one["spec"], other["spec"]

    def plain(value: Any) -> Any:
        return sorted(map(str, value)) if is_list(value) else value

    return [name for name in left.keys() | right.keys() if plain(left.get(name)) != plain(right.get(name))]


@pytest.mark.parametrize(
    ("reason", "ours", "theirs", "clash"),
    [
        (
            "two values",
            [add("/spec/count", 3)],
            [add("/spec/count", 4)],
            ("/spec/count", 2, 3, 4),
        ),
        (
            "one deletes what the other edits",
            [remove_field("/spec/labels")],
            [add("/spec/labels/team", "b")],
            ("/spec/labels", {"team": "a"}, None, {"team": "b"}),
        ),
        (
            "the same field of one taint, wherever it stands now",
            [add("/spec/taints/0/value", "x")],
            [add("/spec/taints/0/value", "y"), add("/spec/taints/0", {"key": "first", "effect": "NoSchedule"})],
            ("/spec/taints/1/value", "training", "x", "y"),
        ),
        (
            "both add it",
            [add("/spec/interface", "efa")],
            [add("/spec/interface", "efaOnly")],
            ("/spec/interface", None, "efa", "efaOnly"),
        ),
    ],
)
def test_clashes(
    reason: str, ours: list[JsonObject], theirs: list[JsonObject], clash: tuple[str, JsonValue, JsonValue, JsonValue]
) -> None:
    with pytest.raises(EditConflict) as raised:
        merge(GROUP.encode(), edited(GROUP, *ours), edited(GROUP, *theirs), path=_PATH)
    found = [(one.field, one.base, one.yours, one.theirs) for one in raised.value.conflicts]
    assert found == [clash], reason
    assert raised.value.conflicts[0].document == _GROUP_NAME


def test_every_clash_is_told() -> None:
    ours = edited(GROUP, add("/spec/count", 3), add("/spec/zone", "usw2-az1"), add("/spec/labels/team", "x"))
    theirs = edited(GROUP, add("/spec/count", 4), add("/spec/zone", "usw2-az3"), add("/spec/labels/other", "x"))
    with pytest.raises(EditConflict) as raised:
        merge(GROUP.encode(), ours, theirs, path=_PATH)
    assert [clash.field for clash in raised.value.conflicts] == ["/spec/count", "/spec/zone"]


def storage(name: str, **spec: JsonValue) -> JsonObject:
    return {"apiVersion": "instantstart/v1", "kind": "Storage", "metadata": {"name": name}, "spec": {"s3": {}, **spec}}


@pytest.mark.parametrize(
    ("reason", "ours", "theirs", "names"),
    [
        ("both add one", [storage("a")], [storage("b")], ["workers", "b", "a"]),
        ("both add the same", [storage("a")], [storage("a")], ["workers", "a"]),
    ],
)
def test_documents_merge(reason: str, ours: list[JsonObject], theirs: list[JsonObject], names: list[str]) -> None:
    texts = [_with(GROUP.encode(), documents) for documents in (ours, theirs)]
    found = merge(GROUP.encode(), texts[0], texts[1], path=_PATH)
    assert found is not None
    assert [document.value["metadata"]["name"] for document in read.read(_PATH, found).documents] == names, reason


def _with(text: bytes, documents: list[JsonObject]) -> bytes:
    for document in documents:
        text = append(text, document, path=_PATH)
    return text


def test_a_document_that_goes_on_one_side_goes() -> None:
    base = append(GROUP.encode(), storage("a"), path=_PATH)
    ours, theirs = remove(base, 1, path=_PATH), edited(base.decode(), add("/spec/count", 9))
    found = merge(base, ours, theirs, path=_PATH)
    assert found == merge(base, theirs, ours, path=_PATH) == edited(GROUP, add("/spec/count", 9))


@pytest.mark.parametrize("swap", [False, True])
def test_a_document_deleted_here_and_edited_there_is_a_clash(swap: bool) -> None:
    sides = [None, edited(GROUP, add("/spec/count", 9))]
    ours, theirs = sides[::-1] if swap else sides
    with pytest.raises(EditConflict, match=_GROUP_NAME) as raised:
        merge(GROUP.encode(), ours, theirs, path=_PATH)
    assert [(clash.field, clash.yours is None) for clash in raised.value.conflicts] == [("", not swap)]


def test_the_same_new_document_with_other_fields_is_a_clash() -> None:
    texts = [_with(GROUP.encode(), [storage("a", readOnly=value)]) for value in (True, False)]
    with pytest.raises(EditConflict, match="Storage/a"):
        merge(GROUP.encode(), texts[0], texts[1], path=_PATH)


SCRIPT = "clusters/demo/lifecycle/on_create.sh"


@pytest.mark.parametrize(
    ("reason", "base", "ours", "theirs", "merged"),
    [
        ("only ours changed", b"a", b"b", b"a", b"b"),
        ("only theirs changed", b"a", b"a", b"b", b"b"),
        ("both the same", b"a", b"b", b"b", b"b"),
        ("ours is new", None, b"b", None, b"b"),
        ("theirs took it away", b"a", b"a", None, None),
    ],
)
def test_files_that_hold_no_documents(
    reason: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, merged: bytes | None
) -> None:
    assert merge(base, ours, theirs, path=SCRIPT) == merged, reason


@pytest.mark.parametrize(("base", "ours", "theirs"), [(b"a", b"b", b"c"), (None, b"b", b"c"), (b"a", None, b"c")])
def test_scripts_that_both_changed_are_a_clash(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> None:
    with pytest.raises(EditConflict, match="on_create"):
        merge(base, ours, theirs, path=SCRIPT)


def test_comments_of_both_stay() -> None:
    ours = GROUP.replace("  count: 2\n", "  # ours\n  count: 3  # three\n")
    theirs = GROUP.replace("        - key: dedicated", "        # theirs\n        - key: dedicated").replace(
        "    - key: dedicated", "    # theirs\n    - key: dedicated"
    )
    found = merge(GROUP.encode(), ours.encode(), theirs.encode(), path=_PATH)
    assert found is not None
    assert found.decode() == theirs.replace("  count: 2\n", "  # ours\n  count: 3  # three\n")


def test_what_is_new_comes_with_its_comments_where_lines_touch() -> None:
    ours = GROUP + "  # what pods want\n  interface: efa  # not efaOnly\n"
    theirs = GROUP + "  minCount: 1\n"
    found = merge(GROUP.encode(), ours.encode(), theirs.encode(), path=_PATH)
    assert found is not None
    assert found.decode() == theirs + "  # what pods want\n  interface: efa  # not efaOnly\n"


def test_a_comment_that_would_be_lost_is_told() -> None:
    ours = GROUP.replace("count: 2", "count: 3  # three now")
    theirs = GROUP.replace("usw2-az2", "usw2-az1")
    with pytest.raises(EditRefused, match="# three now") as raised:
        merge(GROUP.encode(), ours.encode(), theirs.encode(), path=_PATH)
    assert raised.value.line == 7


# Laws ----------------------------------------------------------------------------------------------------------------

_FIELDS = ("alpha", "beta", "gamma", "delta")


@st.composite
def states(draw: st.DrawFn) -> tuple[str, list[JsonObject]]:
    documents: list[JsonObject] = [
        {
            "kind": "Note",
            "metadata": {"name": f"n{number}"},
            "spec": draw(st.dictionaries(st.sampled_from(_FIELDS), VALUES, min_size=1)),
        }
        for number in range(draw(st.integers(1, 3)))
    ]
    return Author(draw).file(documents), documents


@st.composite
def changes(draw: st.DrawFn, documents: list[JsonObject], fields: tuple[str, ...]) -> list[tuple[int, JsonObject]]:
    """Fields of documents that get another value, or none."""
    found: list[tuple[int, JsonObject]] = []
    for number, document in enumerate(documents):
        for field in draw(st.sets(st.sampled_from(fields), max_size=2)):
            path = f"/spec/{field}"
            if field in document["spec"] and draw(st.booleans()) and len(document["spec"]) > len(fields):
                found.append((number, {"op": "remove", "path": path}))
            else:
                found.append((number, {"op": "add", "path": path, "value": draw(VALUES)}))
    return found


def _applied(text: bytes, steps: list[tuple[int, JsonObject]]) -> bytes:
    for number, step in steps:
        text = apply(text, number, [step], path=_PATH)
    return text


def _values(data: bytes | None) -> list[JsonValue]:
    return [document.value for document in read.read(_PATH, data or b"").documents]


def _expected(documents: list[JsonObject], steps: list[tuple[int, JsonObject]]) -> list[JsonObject]:
    found = copy.deepcopy(documents)
    for number, step in steps:
        name = step["path"].rpartition("/")[2]
        if step["op"] == "remove":
            del found[number]["spec"][name]
        else:
            found[number]["spec"][name] = step["value"]
    return found


@_MANY
@given(st.data())
def test_different_fields_always_merge(data: st.DataObject) -> None:
    text, documents = data.draw(states())
    ours, theirs = data.draw(changes(documents, _FIELDS[:2])), data.draw(changes(documents, _FIELDS[2:]))
    base = text.encode()
    mine, yours = _applied(base, ours), _applied(base, theirs)
    merged = merge(base, mine, yours, path=_PATH)
    assert merged is not None
    assert _values(merged) == _expected(documents, [*ours, *theirs]) == _values(merge(base, yours, mine, path=_PATH))
    assert set(comments_in(mine.decode())) & set(comments_in(yours.decode())) <= set(comments_in(merged.decode()))


@_MANY
@given(st.data())
def test_nothing_merged_into_something_is_that(data: st.DataObject) -> None:
    text, documents = data.draw(states())
    base = text.encode()
    other = _applied(base, data.draw(changes(documents, _FIELDS)))
    assert merge(base, other, base, path=_PATH) == other
    assert merge(base, base, other, path=_PATH) == other
    assert merge(base, other, other, path=_PATH) == other


@_MANY
@given(st.data())
def test_the_same_field_is_a_clash_unless_equal(data: st.DataObject) -> None:
    text, documents = data.draw(states())
    base, number = text.encode(), data.draw(st.integers(0, len(documents) - 1))
    field = data.draw(st.sampled_from(sorted(documents[number]["spec"])))
    scalars = st.integers(-1000, 1000) | st.sampled_from(["a", "1.30", "on"])
    one, other = (data.draw(scalars) for _ in range(2))
    assume(one != other)
    assume(documents[number]["spec"][field] not in (one, other))
    sides = [apply(base, number, [add(f"/spec/{field}", value)], path=_PATH) for value in (one, other)]
    with pytest.raises(EditConflict) as raised:
        merge(base, sides[0], sides[1], path=_PATH)
    (clash,) = raised.value.conflicts
    assert (clash.document, clash.field) == (f"Note/n{number}", f"/spec/{field}")
    assert (clash.base, clash.yours, clash.theirs) == (documents[number]["spec"][field], one, other)


def test_what_differs_is_told_by_document() -> None:
    before = append(GROUP.encode(), storage("a"), path=_PATH)
    after = edited(GROUP, add("/spec/count", 3), add("/spec/taints/-", {"key": "x", "effect": "NoSchedule"}))
    after = append(after, storage("b"), path=_PATH)
    found = [(one.verb, one.kind, one.name, one.patch) for one in differences(before, after, path=_PATH)]
    assert found == [
        (
            "change",
            "InstanceGroup",
            "workers",
            (
                {"op": "replace", "path": "/spec/count", "value": 3},
                {"op": "add", "path": "/spec/taints/1", "value": {"key": "x", "effect": "NoSchedule"}},
            ),
        ),
        ("remove", "Storage", "a", ({"op": "remove", "path": ""},)),
        ("add", "Storage", "b", ({"op": "add", "path": "", "value": storage("b")},)),
    ]
    assert differences(None, None, path=_PATH) == ()
    assert [one.verb for one in differences(None, after, path=_PATH)] == ["add", "add"]


@pytest.mark.parametrize(
    ("reason", "text", "found"),
    [
        ("no name", "kind: A\n", "another"),
        ("one name twice", "kind: A\nmetadata: {name: a}\n---\nkind: A\nmetadata: {name: a}\n", "a a second time"),
        ("not readable", "a: [\n", "an error"),
    ],
)
def test_documents_that_cannot_be_told_apart_are_refused(reason: str, text: str, found: str) -> None:
    with pytest.raises(EditRefused) as raised:
        merge(GROUP.encode(), text.encode(), edited(GROUP, add("/spec/count", 3)), path=_PATH)
    assert found in raised.value.found, reason
