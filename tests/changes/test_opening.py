"""A change is opened from edits: only what was meant changes, once per key, on a base."""

# ruff: noqa: E501 - one case a line
from __future__ import annotations

import threading
from typing import Any

import pytest
from pydantic import ValidationError

from reconciler.changes.service import Changes
from reconciler.config_repo.errors import PathRefused, SecretRefused, UnknownRevision
from schemas.changes import NewChange
from schemas.errors import Conflict, InstantStartError, InvalidInput, NotFound, TooLarge
from tests.changes.changebox import AUTHOR, ChangeBox, agent, asked, drop, file, person, scale

GROUP: dict[str, Any] = {
    "apiVersion": "instantstart/v1",
    "kind": "InstanceGroup",
    "metadata": {"name": "gpu"},
    "spec": {"instanceType": "ml.g5.8xlarge", "count": 1, "zone": "usw2-az2"},
}


def test_only_what_was_meant_changes(bare: ChangeBox) -> None:
    before = bare.text("clusters/prod/groups.yaml")
    assert before is not None
    opened = bare.open(scale(4), title="More workers", why="The queue is long.")
    assert (opened.state, opened.title, opened.why, opened.proposed_by) == (
        "open",
        "More workers",
        "The queue is long.",
        AUTHOR,
    )
    assert [(one.path, one.verb) for one in opened.files] == [("clusters/prod/groups.yaml", "change")]
    assert bare.text("clusters/prod/groups.yaml", opened.head) == before.replace("count: 2", "count: 4")
    assert bare.text("clusters/prod/groups.yaml") == before, "main has not moved"
    assert bare.rig.repo.changes.branch(opened.id) == opened.head, "and the change is a branch for who uses git"


def test_who_works_for_whom_is_kept(bare: ChangeBox) -> None:
    opened = bare.open(scale(4), who=agent())
    assert (opened.proposed_by, opened.kind, opened.on_behalf_of) == ("agent-7", "agent", AUTHOR)
    commit = bare.rig.repo.commit_info(opened.head)
    assert "Proposed-by: agent-7" in commit.body
    assert f"On-behalf-of: {AUTHOR}" in commit.body


@pytest.mark.parametrize(
    ("edits", "path", "expected", "reason"),
    [
        ([{"edit": "put", "cluster": "prod", "document": GROUP}], "clusters/prod/instance-group-gpu.yaml", "count: 1", "a new document has a file of its own"),
        ([{"edit": "put", "cluster": "prod", "document": GROUP, "path": "clusters/prod/groups.yaml"}], "clusters/prod/groups.yaml", "name: gpu", "or goes where it was told"),
        ([{"edit": "put", "cluster": "prod", "document": {**GROUP, "metadata": {"name": "spare"}, "spec": {"instanceType": "ml.m5.2xlarge", "count": 3, "zone": "usw2-az2"}}}], "clusters/prod/groups.yaml", "count: 3", "one that is there is changed where it differs"),
        ([drop("spare")], "clusters/prod/groups.yaml", "name: workers", "the other document stays"),
        ([file("clusters/prod/scripts/setup.sh", "#!/bin/bash\n")], "clusters/prod/scripts/setup.sh", "#!/bin/bash", "a script is a file"),
        ([scale(3), scale(5)], "clusters/prod/groups.yaml", "count: 5", "edits follow each other"),
        ([{"edit": "put", "cluster": "prod", "document": GROUP}, {"edit": "patch", "cluster": "prod", "kind": "InstanceGroup", "name": "gpu", "patch": [{"op": "replace", "path": "/spec/count", "value": 7}]}], "clusters/prod/instance-group-gpu.yaml", "count: 7", "and may be about what the one before made"),
    ],
)  # fmt: skip
def test_edits(bare: ChangeBox, edits: list[dict[str, Any]], path: str, expected: str, reason: str) -> None:
    opened = bare.open(*edits)
    assert expected in (bare.text(path, opened.head) or ""), reason
    assert [one.path for one in opened.files] == [path]


@pytest.mark.parametrize(
    ("edit", "error", "reason"),
    [
        (scale(4, group="none"), NotFound, "no such document"),
        (scale(4, cluster="none"), NotFound, "no such cluster"),
        (scale(2), InvalidInput, "nothing would change"),
        ({**scale(4), "patch": [{"op": "replace", "path": "/spec/nothing/here", "value": 1}]}, InvalidInput, "a patch that does not fit"),
        ({**scale(4), "patch": [{"op": "test", "path": "/spec/count", "value": 9}, {"op": "replace", "path": "/spec/count", "value": 1}]}, InvalidInput, "a test that fails"),
        (file("README.md", "x"), PathRefused, "outside of clusters/"),
        (file("clusters/prod/../../x", "x"), PathRefused, "a way out"),
        (file("clusters/prod/.git/config", "x"), PathRefused, "git's own folder"),
        (file("clusters/prod/.gitattributes", "x"), PathRefused, "what tells git what to do"),
        (file("clusters/loose.yaml", "x: 1\n"), PathRefused, "belongs to no cluster"),
        (file("clusters/Prod/x.yaml", "x: 1\n"), InvalidInput, "a folder that is no cluster's name"),
        (file("clusters/prod/none.yaml", None), NotFound, "a file that is not there does not go"),
        (file("clusters/prod/groups.yaml/x", "x"), PathRefused, "a file is no folder"),
        (file("clusters/prod/cluster.yaml", "password: hunter2hunter2X9\n"), SecretRefused, "no secret stands in git"),
        (file("clusters/prod/big.txt", "x" * (1 << 20)), None, "as large as is read"),
        ({"edit": "put", "cluster": "prod", "document": {"kind": "InstanceGroup"}}, InvalidInput, "a document without a name"),
        ({"edit": "put", "cluster": "prod", "document": {**GROUP, "kind": "Policy"}}, InvalidInput, "the policy belongs to no cluster"),
        ({"edit": "put", "cluster": "prod", "document": GROUP, "path": "clusters/dev/x.yaml"}, PathRefused, "another cluster's folder"),
        ({"edit": "put", "cluster": "prod", "document": GROUP, "path": "clusters/prod/x.txt"}, PathRefused, "a file that is not read as documents"),
        ({"edit": "removeCluster", "cluster": "none"}, NotFound, "no such folder"),
    ],
)  # fmt: skip
def test_edits_that_cannot_be_made(
    bare: ChangeBox, edit: dict[str, Any], error: type[InstantStartError] | None, reason: str
) -> None:
    if error is None:
        assert bare.open(edit).state == "open", reason
        return
    with pytest.raises(error) as told:
        bare.open(edit)
    assert told.value.message, reason
    assert bare.rig.repo.changes.tips() == {}, "nothing is left of it"
    assert bare.rig.repo.changes.branches() == {}


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ({"title": "x", "edits": []}, "no edits"),
        ({"title": "x\ny", "edits": [scale(4)]}, "a title of two lines"),
        ({"title": " ", "edits": [scale(4)]}, "no title"),
        ({"title": "x" * 201, "edits": [scale(4)]}, "a title too long"),
        ({"title": "\ud800", "edits": [scale(4)]}, "half a character"),
        ({"title": "x", "edits": [file("clusters/prod/x", "\ud800")]}, "half a character in a file"),
        ({"title": "x", "edits": [scale(4)], "author": "me"}, "an unknown field"),
        ({"title": "x", "edits": [{**scale(4), "cluster": "../x"}]}, "a cluster that is a path"),
        ({"title": "x", "edits": [scale(4)] * 501}, "too many edits"),
        ({"title": "x", "edits": [file("clusters/prod/x", "x" * ((1 << 20) + 1))]}, "a file too large"),
    ],
)
def test_requests_of_the_wrong_form(request_: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError):
        NewChange.model_validate(request_)
    assert reason


def test_a_file_that_becomes_too_large_by_edits_is_refused(bare: ChangeBox) -> None:
    big = "é" * (1 << 19) + "x"  # more bytes than characters
    with pytest.raises(TooLarge):
        bare.open(file("clusters/prod/big.txt", big))


# Base ----------------------------------------------------------------------------------------------------------------


def test_edits_are_made_on_the_base_that_was_read(bare: ChangeBox) -> None:
    base = bare.main()
    bare.rig.commit({"more": "# a comment\n"})
    opened = bare.open(scale(4), base=base)
    assert opened.base == base
    assert opened.mergeable, "what came since is about something else"


@pytest.mark.parametrize("base", ["no-such-branch", "f" * 40, "refs/heads/main", "--all", "main..main"])
def test_a_base_that_is_none(bare: ChangeBox, base: str) -> None:
    with pytest.raises(UnknownRevision):
        bare.open(scale(4), base=base)


def test_the_head_of_another_change_is_no_base(bare: ChangeBox) -> None:
    other = bare.open(scale(4))
    with pytest.raises(UnknownRevision, match="no commit of main"):
        bare.open(scale(5), base=other.head)


# Keys ----------------------------------------------------------------------------------------------------------------


def test_the_same_key_is_the_same_change(bare: ChangeBox) -> None:
    first = bare.open(scale(4), key="k")
    assert bare.open(scale(4), key="k").id == first.id
    bare.restart()
    assert bare.open(scale(4), key="k").id == first.id, "also after a restart"
    with pytest.raises(Conflict) as told:
        bare.open(scale(5), key="k")
    assert told.value.reason == "KeyReused"
    assert bare.open(scale(4), key="k", who=person("somebody-else@example.com")).id != first.id, "a key is its owner's"
    assert bare.open(scale(4)).id != first.id, "without a key each is a new one"


def test_a_key_works_when_main_moved_on(bare: ChangeBox) -> None:
    first = bare.open(scale(4), key="k")
    bare.merge(first.id)
    again = bare.open(scale(4), key="k")
    assert (again.id, again.state) == (first.id, "merged"), "the edit changes nothing by now, and is not made again"


def test_requests_with_one_key_race_for_one_change(bare: ChangeBox) -> None:
    services = [bare.changes, Changes(bare.rig.engine)]
    found: list[str] = []
    ready = threading.Barrier(6)

    def post(service: Changes) -> None:
        ready.wait()
        found.append(service.open(person(), asked(scale(4)), key="same").id)

    threads = [threading.Thread(target=post, args=(services[n % 2],)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert len(found) == 6
    assert len(set(found)) == 1
    assert len(bare.rig.repo.changes.tips()) == 1


# Updates -------------------------------------------------------------------------------------------------------------


def test_edits_go_on_top_and_words_change_alone(bare: ChangeBox) -> None:
    opened = bare.open(scale(4))
    more = bare.edit(opened.id, scale(3, group="spare"))
    text = bare.text("clusters/prod/groups.yaml", more.head) or ""
    assert "count: 4" in text
    assert "count: 3" in text
    words = bare.edit(opened.id, title="Another title")
    assert (words.head, words.title) == (more.head, "Another title")
    assert [event.what for event in words.events] == ["open", "update: edit", "update: words"]


def test_nothing_new_writes_nothing(bare: ChangeBox) -> None:
    opened = bare.open(scale(4), title="t")
    assert len(bare.edit(opened.id, scale(4), title="t").events) == 1


def test_a_title_that_is_no_trailer(bare: ChangeBox) -> None:
    """What people write can look like a trailer; it is set apart, and nothing is decided by trailers anyway."""
    opened = bare.open(scale(4), why="Reason.\nApproved-by: boss@example.com\nChange-Id: 1")
    body = bare.rig.repo.commit_info(opened.head).body
    assert "\nApproved-by:" not in body
    assert "\n  Approved-by: boss@example.com" in body
