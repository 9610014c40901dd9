"""What holds for any request and any line: patches, paths, unicode and sizes nobody thought of."""

# ruff: noqa: E501 - one shape a line
from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from reconciler.changes import wording
from reconciler.journal.changes import Change, fold_lines
from reconciler.plan import approvals
from reconciler.reads.validations import of_revision
from schemas.changes import NewChange
from schemas.errors import Conflict, InstantStartError
from schemas.principals import Principal
from schemas.values import JsonObject, canonical
from tests.changes.changebox import AUTHOR, REVIEWER, ChangeBox, make, person
from tests.config_repo.gitbox import run
from tests.engine.fakes import cluster_yaml, group_yaml

SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

Strategy: TypeAlias = st.SearchStrategy[Any]

# Requests ------------------------------------------------------------------------------------------------------------


def _pointer(parts: list[str]) -> str:
    return "".join(f"/{part}" for part in parts)


def _joined(folder: str, rest: str) -> str:
    return folder + rest


def _nested(inner: Strategy) -> Strategy:
    return st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)


texts: Strategy = st.text(max_size=40)
words: Strategy = st.sampled_from(
    ["spec", "count", "labels", "taints", "zone", "-", "0", "1", "", "~0", "~1", "~2", "metadata", "é", "a/b"]
)
pointers: Strategy = st.lists(words | texts, max_size=4).map(_pointer) | texts
scalars: Strategy = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | texts
values: Strategy = st.recursive(scalars, _nested, max_leaves=6)
steps: Strategy = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "replace", "remove", "test", "move", "copy", "explode"]) | texts, "path": pointers},
    optional={"value": values, "from": pointers},
)
kinds: Strategy = st.sampled_from(["InstanceGroup", "Cluster", "Storage", "Policy", "nothing"])
names: Strategy = st.sampled_from(["workers", "spare", "prod", "none"]) | texts
clusters: Strategy = st.sampled_from(["prod", "prod", "new", "..", "x" * 41]) | texts
folders: Strategy = st.sampled_from(["clusters/prod/", "clusters/", "clusters/new/", "/", "../", ""])
paths: Strategy = st.builds(
    _joined,
    folders,
    texts | st.sampled_from(["a.yaml", "x.sh", ".git/config", "a/b/c.yaml", "policy.yaml"]),
)
documents: Strategy = st.fixed_dictionaries(
    {"apiVersion": st.just("instantstart/v1"), "kind": kinds, "metadata": st.fixed_dictionaries({"name": names})},
    optional={"spec": st.dictionaries(texts, values, max_size=4)},
) | st.dictionaries(texts, values, max_size=3)
edits: Strategy = st.one_of(
    st.fixed_dictionaries({"edit": st.just("patch"), "cluster": clusters, "kind": kinds, "name": names, "patch": st.lists(steps, max_size=4)}),
    st.fixed_dictionaries({"edit": st.just("put"), "cluster": clusters, "document": documents}, optional={"path": paths}),
    st.fixed_dictionaries({"edit": st.just("remove"), "cluster": clusters, "kind": kinds, "name": names}),
    st.fixed_dictionaries({"edit": st.just("file"), "path": paths, "text": st.none() | st.text(max_size=300)}),
    st.fixed_dictionaries({"edit": st.just("removeCluster"), "cluster": clusters}),
)  # fmt: skip
requests: Strategy = st.fixed_dictionaries(
    {"title": texts | st.just("a title"), "edits": st.lists(edits, min_size=1, max_size=3)},
    optional={"why": st.text(max_size=200), "base": texts | st.just("main")},
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChangeBox]:
    made = make(tmp_path_factory.mktemp("laws"))
    made.rig.commit({"cluster": cluster_yaml(), "groups": group_yaml("workers", 2) + "---\n" + group_yaml("spare", 1)})
    yield made
    made.rig.close()


@SLOW
@given(requests)
def test_any_request_is_refused_or_becomes_a_change(shared: ChangeBox, asked: JsonObject) -> None:
    """Refused: nothing is left of it. Accepted: only files below clusters/ differ, main stands where it stood, and it
    can be shown, planned, and merged only if what it makes is valid."""
    main, tips = shared.main(), shared.rig.repo.changes.tips()
    try:
        opened = shared.changes.open(person(), NewChange.model_validate(asked))
    except (InstantStartError, ValidationError) as error:
        assert str(error)
        assert shared.rig.repo.changes.tips() == tips
        assert shared.main() == main
        return
    assert shared.main() == main
    assert opened.files
    assert all(one.path.startswith("clusters/") for one in opened.files)
    out = run(shared.rig.path, "diff-tree", "-r", "-z", "--name-only", "--no-renames", main, opened.head).decode()
    assert sorted(out.split("\0")[:-1]) == sorted(one.path for one in opened.files)
    assert json.loads(opened.model_dump_json())["id"] == opened.id
    problems = of_revision(shared.rig.repo, opened.head).problems
    try:
        merged = shared.changes.merge(person(), opened.id, head=opened.head)
    except Conflict as error:
        assert error.reason in ("DocumentsInvalid", "NeedsApproval", "Conflicts"), error.message
        shared.changes.close(person(), opened.id, "", head=None)
    else:
        assert problems == ()
        assert merged.merged == shared.main()
        run(shared.rig.path, "update-ref", "refs/heads/main", main)  # the next begins where this one did
    run(shared.rig.path, "fsck", "--connectivity-only")


@given(st.text(max_size=100), st.text(max_size=300), st.lists(st.tuples(st.just("Approved-by"), st.text(max_size=30))))
def test_messages_have_one_subject_and_only_our_trailers(title: str, why: str, told: list[tuple[str, str]]) -> None:
    text = wording.message(title, why, [("Change-Id", "x"), *told])
    lines = text.split("\n")
    trailers = [line for line in lines if line.lower().startswith(("approved-by:", "change-id:"))]
    wanted = [f"Approved-by: {value}" for _, value in told if value.strip()]
    assert len(trailers) == 1 + len([one for one in wanted if wording.message("", "", [("Approved-by", one[13:])])])


@given(st.text(max_size=60))
def test_an_author_is_one_line(name: str) -> None:
    if not name.strip():
        return
    who = Principal(name=name[:200], kind="person", scopes=frozenset(), via="token")
    assert not {"\n", "\r", "\0"} & set("".join(wording.author(who)))


# Lines ---------------------------------------------------------------------------------------------------------------

KEY = b"k" * 32
CHANGE = "01kjmdt83gg4hzwyn00cjvdmdx"
HEADS = [f"{number}" * 40 for number in range(1, 5)]


def signed(line: JsonObject) -> JsonObject:
    return {**line, "sig": approvals.signature(KEY, CHANGE, line)}


def history(choices: list[int]) -> list[JsonObject]:
    """A change's life as the control plane writes it."""
    base: JsonObject = {"v": 1, "at": "2026-03-01T10:00:00Z", "kind": "person"}
    lines: list[JsonObject] = [
        signed({**base, "t": "open", "seq": 1, "by": AUTHOR, "title": "t", "base": HEADS[0], "head": HEADS[1]})
    ]
    head = HEADS[1]
    for choice in choices:
        seq = len(lines) + 1
        body: JsonObject = {**base, "seq": seq}
        match choice:
            case 0:
                body |= {"t": "comment", "by": AUTHOR, "text": "x"}
            case 1:
                head = HEADS[1 + seq % 3]
                body |= {"t": "update", "how": "edit", "by": AUTHOR, "base": HEADS[0], "head": head}
            case 2:
                body |= {"t": "review", "verdict": "request-changes", "by": "c@example.com", "head": head}
            case 3:
                body |= {"t": "review", "verdict": "withdraw", "by": REVIEWER, "head": head}
            case _:
                body |= {
                    "t": "review", "verdict": "approve", "by": REVIEWER, "head": head, "plan": "a" * 64,
                    "actions": {"prod": ["b" * 64]}, "files": "c" * 64, "expires": "2026-03-08T10:00:00+00:00",
                }  # fmt: skip
        lines.append(signed(body))
    return lines


def folded(lines: list[JsonObject]) -> Change:
    return fold_lines(CHANGE, map(json.dumps, lines), lambda change, line: approvals.is_signed(KEY, change, line))


@given(st.lists(st.integers(0, 4), max_size=8), st.randoms())
def test_lines_may_come_in_any_order_and_twice(choices: list[int], chance: random.Random) -> None:
    lines = history(choices)
    mixed = [*lines, *chance.sample(lines, chance.randrange(len(lines) + 1))]
    chance.shuffle(mixed)
    assert folded(mixed) == folded(lines)


@given(st.lists(st.integers(0, 4), max_size=6), st.data())
def test_any_edit_of_an_approval_makes_it_none(choices: list[int], data: st.DataObject) -> None:
    """Whichever field is changed, added or taken away."""
    lines = history([*choices, 4])
    approval = lines[-1]
    field = data.draw(st.sampled_from(sorted(approval)) | st.text(min_size=1, max_size=8))
    value = data.draw(values)
    edited = (
        {**approval, field: value} if data.draw(st.booleans()) else {k: v for k, v in approval.items() if k != field}
    )
    with contextlib.suppress(ValueError):  # Infinity and NaN have no canonical text, and yet json.loads takes them
        if canonical(edited) == canonical(approval):
            return
    found = folded([*lines[:-1], edited])
    assert edited["seq"] not in {line.seq for line in found.approvals} if isinstance(edited.get("seq"), int) else True
    before = folded(lines[:-1])
    assert [line.seq for line in found.approvals] == [line.seq for line in before.approvals]


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize("field", ["seq", "actions", "expires", "sig", "more"])
def test_numbers_that_json_does_not_have_make_it_none(field: str, number: float) -> None:
    lines = history([4])
    for value in (number, [number]):
        found = folded([*lines[:-1], {**lines[-1], field: value}])
        assert found.approvals == () and found.findings


@given(st.lists(st.integers(0, 4), max_size=6), st.lists(st.text(max_size=200), max_size=5))
def test_whatever_else_stands_there_is_told_and_does_nothing(choices: list[int], noise: list[str]) -> None:
    lines = history(choices)
    texts_ = [*map(canonical, lines), *(line for text in noise for line in text.splitlines())]
    found = fold_lines(CHANGE, texts_, lambda change, line: approvals.is_signed(KEY, change, line))
    clean = folded(lines)
    assert (found.head, found.approvals, found.objections, found.told) == (
        clean.head,
        clean.approvals,
        clean.objections,
        clean.told,
    )


def test_who_opens_a_change_is_the_first_signed_line() -> None:
    """Somebody adds a line with the first one's number: ours counts."""
    lines = history([4])
    forged = {**lines[0], "by": "c@example.com", "sig": ""}
    for order in ([forged, *lines], [*lines, forged]):
        found = folded(order)
        assert (found.opened.by, found.vouched) == (AUTHOR, True)
        assert len(found.findings) == 1
    assert any(line.by == REVIEWER for line in folded(lines).approvals)
