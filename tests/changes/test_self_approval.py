"""Nobody lets pass what they asked for themselves, whichever door they take."""

from __future__ import annotations

import pytest

from reconciler.changes import ordering
from reconciler.journal.changes import Change
from schemas.changes import NewOrder, NewRevert
from schemas.errors import Conflict, Forbidden, InvalidInput, Stale
from schemas.principals import normal
from tests.changes.changebox import AUTHOR, REVIEWER, SECOND, ChangeBox, agent, drop, file, person, scale
from tests.changes.test_held import ONLY_WORKERS, SPARE
from tests.changes.test_reviews import lines_of, write
from tests.config_repo.gitbox import run

ORDER = "01JNAAAAAAAAAAAAAAAAAAAAA1"


def order(box: ChangeBox, who: str, subject: str, do: str = "approve") -> dict[str, str]:
    asked = NewOrder.model_validate({"cluster": "prod", "do": do, "subject": subject, "why": "x"})
    return ordering.give(box.changes.store, person(who), asked, order=ORDER)[1]


def push(box: ChangeBox, who: str, path: str, text: str) -> str:
    made = box.rig.repo.changes.store_commit(
        parents=[box.main()], changes={path: text.encode()}, message="by hand", author=("somebody", who)
    )
    run(box.rig.path, "update-ref", "refs/heads/main", made)
    return made


def test_an_order_about_what_only_ones_own_change_would_do(box: ChangeBox) -> None:
    """The digest stands in the plan before anything is held, when nobody can be named its author."""
    opened = box.open(drop("spare"))
    (digest,) = box.changes.foresee(opened.id)[0].introduced["prod"]
    for do in ("approve", "release"):
        with pytest.raises(InvalidInput) as told:
            order(box, AUTHOR, digest, do)
        assert told.value.reason == "NothingHeld"
    box.rig.settle()
    with pytest.raises(Conflict):
        box.merge(opened.id)


def test_authors_of_commits_that_came_together_with_a_later_one(box: ChangeBox) -> None:
    """The engine saw the second commit only; what waits is the first one's wish."""
    push(box, AUTHOR, "clusters/prod/groups.yaml", ONLY_WORKERS)
    push(box, SECOND, "clusters/prod/other.yaml", "# x\n")
    assert box.rig.settle().reason == "NeedsApproval"
    with pytest.raises(Forbidden) as told:
        order(box, AUTHOR, SPARE)
    assert told.value.reason == "OwnChange"
    assert order(box, REVIEWER, SPARE)["do"] == "approve"


def test_authors_of_other_clusters_are_none_here(box: ChangeBox) -> None:
    other = "bystander@example.com"
    push(box, other, "clusters/dev/note.txt", "x")
    push(box, AUTHOR, "clusters/prod/groups.yaml", ONLY_WORKERS)
    assert box.rig.settle().reason == "NeedsApproval"
    assert order(box, other, SPARE)["do"] == "approve"


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("ops@example.com", "ops@exam\u200bple.com", "a character that nobody sees"),
        ("ops@example.com", "\uff4f\uff50\uff53@example.com", "full width"),
        ("rené@example.com", "rene\u0301@example.com", "composed, or not"),
        ("ops@example.com", "ops@example.com\u00a0", "another space"),
        ("straße@example.com", "STRASSE@example.com", "capital letters"),
    ],
)
def test_one_person_by_two_spellings(one: str, other: str, why: str) -> None:
    assert normal(one) == normal(other), why


def test_an_approval_is_about_the_files_also_under_the_same_head(box: ChangeBox) -> None:
    """Whoever writes past the control plane makes the same head a change of other files, by another base."""
    opened = box.open(file("clusters/policy.yaml", None), file("clusters/prod/x.txt", "x"))
    box.review(opened.id)
    assert box.changes.view(opened.id).mergeable
    box.rig.commit({"groups": f"{box.text('clusters/prod/groups.yaml')}# newer\n"})
    base = {"v": 1, "at": "2026-03-01T10:00:00Z", "by": "x@example.com", "kind": "person"}
    write(box, opened.id, {**base, "t": "update", "how": "words", "seq": 9, "base": box.main(), "head": opened.head})
    assert {one.path for one in box.changes.view(opened.id).files} > {"clusters/prod/groups.yaml"}
    assert not box.changes.view(opened.id).mergeable
    with pytest.raises(Conflict):
        box.merge(opened.id)
    assert len(lines_of(box, opened.id)) == 3


def test_no_review_lets_a_protected_cluster_go(box: ChangeBox) -> None:
    """It takes two commits, or an order to let go."""
    opened = box.open({"edit": "removeCluster", "cluster": "prod"})
    box.review(opened.id)
    assert box.merge(opened.id).state == "merged"
    assert box.rig.settle().reason == "DeletionProtected"
    assert box.rig.cloud.seen(SPARE) is not None


def test_what_was_merged_by_a_push_is_taken_back_and_nothing_else(box: ChangeBox) -> None:
    """A call to merge it comes later, when somebody else's commit is the newest."""
    opened = box.open(scale(3))
    tree = run(box.rig.path, "rev-parse", f"{opened.head}^{{tree}}").decode().strip()
    parents = ("-p", box.main(), "-p", opened.head)
    merge = run(box.rig.path, "commit-tree", tree, *parents, "-m", "by hand").decode().strip()
    run(box.rig.path, "update-ref", "refs/heads/main", merge)
    push(box, SECOND, "clusters/prod/other.yaml", "# somebody else's\n")
    assert box.merge(opened.id).state == "merged"
    assert box.changes.view(opened.id).merged == merge
    taken = box.changes.revert(person(), NewRevert(change=opened.id))
    assert [one.path for one in taken.files] == ["clusters/prod/groups.yaml"]


@pytest.mark.parametrize("edits", [0, 1])
def test_what_was_pushed_without_a_merge(box: ChangeBox, edits: int) -> None:
    """One commit is all of it; of several none is."""
    opened = box.open(scale(3))
    for _ in range(edits):
        opened = box.edit(opened.id, scale(4))
    run(box.rig.path, "update-ref", "refs/heads/main", opened.head)
    push(box, SECOND, "clusters/prod/other.yaml", "# somebody else's\n")
    assert (box.merge(opened.id).state, box.changes.view(opened.id).merged) == ("merged", "" if edits else opened.head)


def test_what_others_add_to_a_direct_commit_is_not_committed(box: ChangeBox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening and committing it anybody may have edited it, an agent too."""
    policy = box.text("clusters/policy.yaml")
    box.rig.commit_paths({"clusters/policy.yaml": f"{policy}  directCommit:\n    paths: ['clusters/prod/notes/*']\n"})
    door = box.changes
    real = door.files

    def files(change: Change) -> dict[str, tuple[str | None, str | None]]:
        found = real(change)
        if len(change.told) == 1 and len(door.state(change.id).change.told) == 1:
            box.edit(change.id, scale(9), who=agent())
        return found

    monkeypatch.setattr(door, "files", files)
    with pytest.raises(Stale):
        box.open(file("clusters/prod/notes/a.txt", "x"), title="direct", direct=True)
    assert "count: 9" not in (box.text("clusters/prod/groups.yaml") or "")
