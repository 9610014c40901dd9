"""Merging: one compare-and-swap, on documents that are valid together and a plan that was just made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schemas.changes import NewChange, NewRevert
from schemas.errors import Conflict, Forbidden, InvalidInput, NotFound, Stale
from tests.changes.changebox import AUTHOR, POLICY, REVIEWER, ChangeBox, agent, asked, drop, file, make, person, scale
from tests.config_repo.gitbox import run
from tests.engine.fakes import cluster_yaml, group_yaml

GROUPS = "clusters/prod/groups.yaml"
GPU = {
    "apiVersion": "instantstart/v1",
    "kind": "InstanceGroup",
    "metadata": {"name": "gpu"},
    "spec": {"instanceType": "ml.g5.8xlarge", "count": 1, "zone": "usw2-az2"},
}


def test_a_merge_is_one_commit_with_two_parents(bare: ChangeBox) -> None:
    before = bare.main()
    opened = bare.open(scale(4), title="More workers", why="The queue is long.", who=agent())
    merged = bare.merge(opened.id, who=REVIEWER)
    assert (merged.state, merged.merged) == ("merged", bare.main())
    commit = bare.rig.repo.commit_info(bare.main())
    assert commit.parents == (before, opened.head)
    assert commit.subject == "More workers"
    assert commit.body.splitlines()[-3:] == [
        f"Change-Id: {opened.id}",
        "Proposed-by: agent-7",
        f"On-behalf-of: {AUTHOR}",
    ]
    assert "count: 4" in (bare.text(GROUPS) or "")
    assert bare.rig.repo.changes.branch(opened.id) is None, "what is merged needs no branch"
    assert bare.merge(opened.id).merged == merged.merged, "merging again says the same"


def test_an_agent_does_not_merge(bare: ChangeBox) -> None:
    opened = bare.open(scale(4), who=agent())
    with pytest.raises(Forbidden):
        bare.changes.merge(agent(), opened.id, head=None)


def test_a_merge_names_the_head_that_was_seen(bare: ChangeBox) -> None:
    opened = bare.open(scale(4))
    bare.edit(opened.id, scale(5))
    with pytest.raises(Stale):
        bare.changes.merge(person(), opened.id, head=opened.head)
    assert bare.changes.view(opened.id).state == "open"


def test_two_changes_of_different_fields_both_come_through(bare: ChangeBox) -> None:
    """B33: both were made on one base; merging the second does not undo the first."""
    one, two = bare.open(scale(4)), bare.open(scale(3, group="spare"))
    bare.merge(one.id)
    bare.merge(two.id)
    text = bare.text(GROUPS) or ""
    assert "count: 4" in text
    assert "count: 3" in text


def test_the_same_field_is_a_conflict_that_says_who_and_what(bare: ChangeBox) -> None:
    """B31: on a true clash both versions are shown, and nothing is forced."""
    one, two = bare.open(scale(4)), bare.open(scale(6), who=person(REVIEWER))
    bare.merge(one.id)
    with pytest.raises(Conflict) as told:
        bare.merge(two.id)
    (found,) = told.value.conflicts
    assert (found.document, found.field) == ("InstanceGroup/workers", "/spec/count")
    assert (found.base, found.yours, found.theirs, found.by) == (2, 6, 4, AUTHOR)
    assert found.at.startswith("20")
    assert found.commit
    check = bare.changes.view(two.id).checks[0]
    assert (check.name, check.state) == ("conflicts", "failed")
    assert AUTHOR in check.says[0]
    with pytest.raises(Conflict):
        bare.changes.rebase(person(REVIEWER), two.id, head=None)
    assert "count: 4" in (bare.text(GROUPS) or ""), "what was merged stays"


def test_a_rebase_brings_it_onto_the_branch(bare: ChangeBox) -> None:
    one, two = bare.open(scale(4)), bare.open(scale(3, group="spare"))
    bare.merge(one.id)
    rebased = bare.changes.rebase(person(), two.id, head=None)
    assert rebased.base == bare.main()
    assert rebased.head != two.head
    assert [(f.path, f.verb) for f in rebased.files] == [(GROUPS, "change")]
    assert "count: 4" in (bare.text(GROUPS, rebased.head) or "")
    assert bare.changes.rebase(person(), two.id, head=None).head == rebased.head, "again: nothing to do"
    assert bare.rig.repo.has_commit(two.head), "the head before stays reachable"
    run(bare.rig.path, "fsck", "--connectivity-only")


def test_two_clean_merges_that_make_one_broken_state(bare: ChangeBox) -> None:
    """B18: each is fine alone, git merges both; together one name stands twice. The second is not merged."""
    one = bare.open({"edit": "put", "cluster": "prod", "document": GPU, "path": "clusters/prod/a.yaml"})
    two = bare.open({"edit": "put", "cluster": "prod", "document": GPU, "path": "clusters/prod/b.yaml"})
    assert bare.changes.view(two.id).mergeable
    bare.merge(one.id)
    with pytest.raises(Conflict) as told:
        bare.merge(two.id)
    assert told.value.reason == "DocumentsInvalid"
    assert "a second time" in told.value.message
    assert told.value.flaws[0].where.startswith("clusters/prod/")
    assert bare.text("clusters/prod/b.yaml") is None


def test_invalid_documents_may_be_proposed_and_are_not_merged(bare: ChangeBox) -> None:
    opened = bare.open(scale(-1))
    check = {one.name: one for one in opened.checks}["validation"]
    assert check.state == "failed"
    assert not opened.mergeable
    with pytest.raises(Conflict) as told:
        bare.merge(opened.id)
    assert told.value.reason == "DocumentsInvalid"


def test_a_change_that_ended_takes_nothing_more(bare: ChangeBox) -> None:
    opened = bare.open(scale(4))
    closed = bare.changes.close(person(), opened.id, "not needed", head=None)
    assert closed.state == "closed"
    assert bare.rig.repo.changes.branch(opened.id) is None
    assert bare.rig.repo.has_commit(opened.head)
    acts: list[Callable[[], object]] = [
        lambda: bare.merge(opened.id),
        lambda: bare.edit(opened.id, scale(5)),
        lambda: bare.review(opened.id, plan="0" * 64),
        lambda: bare.changes.rebase(person(), opened.id, head=None),
    ]
    for act in acts:
        with pytest.raises(Conflict):
            act()
    assert bare.changes.comment(person(), opened.id, "for the record").events[-1].text == "for the record"
    run(bare.rig.path, "gc", "--prune=now", "--quiet")
    assert run(bare.rig.path, "cat-file", "-t", opened.head).strip() == b"commit", "its lines keep the head"


def test_what_a_person_merges_with_git_is_merged(bare: ChangeBox) -> None:
    opened = bare.open(scale(4))
    run(bare.rig.path, "update-ref", "refs/heads/main", opened.head)
    found = bare.changes.view(opened.id)
    assert (found.state, found.merged) == ("merged", "")
    bare.merge(opened.id)
    assert bare.changes.view(opened.id).merged == bare.main()


def test_a_change_that_is_not_there(bare: ChangeBox) -> None:
    for name in ("01kjmdt83gg4hzwyn00cjvdmdx", "../x", "", "x" * 100):
        with pytest.raises(NotFound):
            bare.changes.view(name)


# Reverts -------------------------------------------------------------------------------------------------------------


def test_a_revert_takes_back_and_touches_nothing_else(bare: ChangeBox) -> None:
    """B36: another cluster's revision does not move, and what came since stays."""
    bare.rig.commit({"cluster": cluster_yaml("dev"), "groups": group_yaml("one", 1)}, cluster="dev")
    dev = bare.rig.repo.revision_of(bare.main(), "dev")
    merged = bare.merge(bare.open(scale(4), title="More").id)
    bare.merge(bare.open(scale(3, group="spare")).id)
    revert = bare.changes.revert(person(), NewRevert(change=merged.id))
    assert (revert.title, revert.reverts, revert.state) == ("Revert: More", merged.merged, "open")
    bare.merge(revert.id)
    text = bare.text(GROUPS) or ""
    assert "count: 2" in text
    assert "count: 3" in text
    assert bare.rig.repo.revision_of(bare.main(), "dev") == dev
    assert bare.rig.repo.revision_of(bare.main(), "prod") == bare.main(), "a new revision, with a note of its own"


def test_a_revert_of_what_was_changed_since_is_a_conflict(bare: ChangeBox) -> None:
    merged = bare.merge(bare.open(scale(4)).id)
    bare.merge(bare.open(scale(6)).id)
    with pytest.raises(Conflict) as told:
        bare.changes.revert(person(), NewRevert(change=merged.id))
    assert [found.field for found in told.value.conflicts] == ["/spec/count"]


def test_a_plain_commit_can_be_taken_back(bare: ChangeBox) -> None:
    commit = bare.rig.commit({"groups": group_yaml("workers", 9) + "---\n" + group_yaml("spare", 1)})
    revert = bare.changes.revert(person(), NewRevert(commit=commit), key="k")
    assert bare.changes.revert(person(), NewRevert(commit=commit), key="k").id == revert.id
    bare.merge(revert.id)
    assert "count: 2" in (bare.text(GROUPS) or "")


@pytest.mark.parametrize(
    ("asked_", "reason"),
    [
        ({}, "neither a change nor a commit"),
        ({"change": "01kjmdt83gg4hzwyn00cjvdmdx", "commit": "f" * 40}, "both"),
        ({"commit": "f" * 40}, "a commit that is not there"),
        ({"change": "01kjmdt83gg4hzwyn00cjvdmdx"}, "a change that is not there"),
    ],
)
def test_nothing_to_take_back(bare: ChangeBox, asked_: dict[str, str], reason: str) -> None:
    with pytest.raises((Conflict, InvalidInput)) as told:
        bare.changes.revert(person(), NewRevert.model_validate(asked_))
    assert told.value.message, reason


def test_an_open_change_is_not_taken_back(bare: ChangeBox) -> None:
    opened = bare.open(scale(4))
    with pytest.raises(Conflict):
        bare.changes.revert(person(), NewRevert(change=opened.id))
    with pytest.raises(Conflict):
        bare.changes.revert(person(), NewRevert(commit=opened.head))


def test_a_revert_says_what_does_not_come_back(box: ChangeBox) -> None:
    opened = box.open(drop("spare"), scale(1))
    box.review(opened.id)
    merged = box.merge(opened.id)
    box.rig.settle()
    revert = box.changes.revert(person(), NewRevert(change=merged.id))
    told = "\n".join(revert.losses)
    assert "InstanceGroup/spare was deleted: it gets new machines, and what was on their disks is gone" in told
    assert "InstanceGroup/workers lost 1 nodes" in told
    assert "hyperpod.InstanceGroup/prod/spare was deleted" in told, "the journal says that it was really done"


# Direct commits ------------------------------------------------------------------------------------------------------

DIRECT = POLICY + "  directCommit:\n    paths: [clusters/prod/**]\n"


@pytest.fixture
def direct(tmp_path: Path) -> Iterator[ChangeBox]:
    made = make(tmp_path / "direct", DIRECT)
    made.rig.commit({"cluster": cluster_yaml(), "groups": group_yaml("workers", 2)})
    yield made
    made.rig.close()


def test_a_person_commits_directly_where_the_policy_says_so(direct: ChangeBox) -> None:
    done = direct.changes.open(person(), asked(scale(4), direct=True), key="k")
    assert (done.state, done.merged) == ("merged", direct.main())
    again = direct.changes.open(person(), asked(scale(4), direct=True), key="k")
    assert (again.id, again.merged) == (done.id, done.merged)


def test_who_and_what_is_not_committed_directly(direct: ChangeBox, bare: ChangeBox) -> None:
    change: NewChange = asked(scale(4), direct=True)
    with pytest.raises(Forbidden, match="agent"):
        direct.changes.open(agent(), change)
    with pytest.raises(Forbidden) as told:
        bare.changes.open(person(), change)
    assert told.value.reason == "ReviewNeeded"
    policy = file("clusters/policy.yaml", DIRECT + "  drift:\n    counts: hold\n")
    with pytest.raises(Forbidden, match=r"policy\.yaml"):
        direct.changes.open(person(), asked(policy, direct=True))
