"""The journal's ref is deleted or set back while things of ours live: the same for a process that runs and for a fresh
one. Nothing is deleted and nothing done once until a person says so; the rest goes on; and it says why and the way out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.reads import journals, plans, statuses
from schemas.journal import ClusterStatus, Condition
from tests.engine.fakes import group_yaml, reboot_yaml
from tests.engine_support import STORAGE
from tests.rivals.rivalry import (
    DOCS,
    JOURNAL,
    NODE,
    Rival,
    begun,
    copy_of,
    git,
    journal,
    journal_is_right,
    nothing_twice,
    push,
)

EXTRA = "hyperpod.InstanceGroup/prod/extra"


@pytest.fixture(scope="module")
def beginning(tmp_path_factory: pytest.TempPathFactory) -> Rival:
    """A cluster that was Ready twice, and a node that was rebooted once."""
    first = {**DOCS, "extra": group_yaml("extra")}
    made = begun(tmp_path_factory.mktemp("beginning"), {"prod": first}, {"prod": {"reboot": reboot_yaml("a", NODE)}})
    assert made.cloud.boots[NODE] == 2
    return made


@pytest.fixture
def rig(beginning: Rival, tmp_path: Path) -> Iterator[Rival]:
    """The remote is a bare repository."""
    made = copy_of(beginning, tmp_path, remote=True)
    yield made
    made.close()


def delete(rig: Rival) -> None:
    git(rig.path, "update-ref", "-d", JOURNAL)


def set_back(rig: Rival) -> None:
    """To where the first rollout was Ready: the reboot and all that came after it are lost."""
    commits = git(rig.path, "rev-list", "--first-parent", JOURNAL).split()
    first = next(c for c in commits if '"t":"rollout"' in git(rig.path, "show", c) and "reboot" not in _all(rig, c))
    git(rig.path, "update-ref", JOURNAL, first)


def set_far_back(rig: Rival) -> None:
    """To the first lines that there ever were."""
    git(rig.path, "update-ref", JOURNAL, git(rig.path, "rev-list", "--first-parent", JOURNAL).split()[-2])


def _all(rig: Rival, commit: str) -> str:
    return git(rig.path, "grep", "-h", "", commit, ok=False)


def runs_on(rig: Rival) -> None:
    pass


def is_fresh(rig: Rival) -> None:
    rig.restart()


def has_an_empty_disk(rig: Rival) -> None:
    rig.restart()
    rig.state = rig.state.with_name("another")


DAMAGE = {"deleted": delete, "set back": set_back, "set far back": set_far_back}
PROCESS = {"it runs on": runs_on, "a fresh one": is_fresh, "a fresh one on an empty disk": has_an_empty_disk}
TABLE = [
    (damage, process)
    for damage in DAMAGE
    for process in PROCESS
    # An empty disk knows nothing of what came later, unless a thing carries the tag of an op from then.
    if (damage, process) != ("set back", "a fresh one on an empty disk")
]


def in_doubt(rig: Rival) -> ClusterStatus:
    for _ in range(5):
        rig.tick(30)  # absent counts after a time
    status = rig.settle()
    assert (status.condition, status.reason) == (Condition.STALLED, "JournalIncomplete"), status.msg
    return status


@pytest.mark.parametrize(("damage", "process"), TABLE)
def test_nothing_is_deleted_or_run_and_the_rest_goes_on(rig: Rival, damage: str, process: str) -> None:
    before = len(rig.cloud.effects)
    newest = git(rig.path, "rev-parse", JOURNAL)
    DAMAGE[damage](rig)
    PROCESS[process](rig)
    push(rig.path, {"extra": None, "system": group_yaml("system", 5), "shared": STORAGE})
    status = in_doubt(rig)
    done = rig.cloud.effects[before:]
    assert not [key for _, verb, key in done if verb in ("delete", "run")], "no delete, no operation"
    assert EXTRA in [thing.key for thing in rig.cloud.things]
    counts = {thing.name: thing.spec["count"] for thing in rig.cloud.of("hyperpod.InstanceGroup")}
    assert counts == {"system": 5, "extra": 2}, "what differs is mended"
    assert len(rig.cloud.of("k8s.Storage")) == 1, "what is surely absent is made"
    assert rig.cloud.boots[NODE] == 2
    nothing_twice(rig.cloud)

    hold = status.holds["journal"]
    assert hold.at, "since when"
    view = statuses.status(rig.repo, "prod")
    assert [h.since for h in view.held if h.key == "journal"] == [hold.at]
    plan = plans.of_scope(rig.engine.observe("prod"))
    found = next(f for f in plan.findings if f.reason == "JournalIncomplete")
    assert "release prod journal" in found.message
    delete_ = next(a for a in plan.actions if a.key == EXTRA)
    assert delete_.held is not None and "release prod journal" in delete_.held.way
    if process != "a fresh one on an empty disk":
        assert newest in status.msg, "the commit with which a person can put it back"
        mirror = next((rig.state / "mirrors").iterdir())
        kept = git(mirror, "for-each-ref", "--format=%(objectname)", "refs/instantstart/lost/test/prod").split()
        assert kept and git(mirror, "merge-base", newest, kept[0]) == newest

    rig.order("release", "journal")
    status = rig.settle()
    assert status.condition is Condition.READY, status.msg
    assert EXTRA not in [thing.key for thing in rig.cloud.things]
    assert rig.cloud.boots[NODE] == 2, "once for ever, whatever the journal has forgotten"
    nothing_twice(rig.cloud)
    journal_is_right(rig.lines())
    rig.restart()
    assert rig.settle().condition is Condition.READY, "the word counts for every process after"


@pytest.mark.parametrize("process", ["it runs on", "a fresh one"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_journal_that_is_put_back_is_trusted_again(rig: Rival, damage: str, process: str) -> None:
    newest = git(rig.path, "rev-parse", JOURNAL)
    DAMAGE[damage](rig)
    PROCESS[process](rig)
    assert newest in in_doubt(rig).msg
    PROCESS[process](rig)
    mirror = next((rig.state / "mirrors").iterdir())
    git(mirror, "push", "--force", f"file://{rig.path}", f"{newest}:{JOURNAL}")
    assert rig.settle().condition is Condition.READY
    rig.commit({"extra": None})
    assert rig.settle().condition is Condition.READY
    assert EXTRA not in [thing.key for thing in rig.cloud.things]
    journal_is_right(rig.lines())


@pytest.mark.parametrize("process", PROCESS)
def test_folder_and_journal_are_gone(rig: Rival, process: str) -> None:
    """Only history tells that there was a cluster: it is looked for, told, and nothing is deleted."""
    delete(rig)
    PROCESS[process](rig)
    push(rig.path, dict.fromkeys([*DOCS, "extra", "reboot"]))
    before = len(rig.cloud.effects)
    status = in_doubt(rig)
    assert len(rig.cloud.effects) == before
    assert statuses.status(rig.repo, "prod").condition == "Stalled"
    rig.order("release", "journal")
    status = rig.settle()
    assert (status.condition, status.reason) == (Condition.STALLED, "DeletionProtected"), "its own gate stands"
    assert len(rig.cloud.effects) == before


def test_history_that_left_nothing_is_looked_at_once_and_not_written_about(tmp_path: Path) -> None:
    """A folder that came and went before anybody looked."""
    rig = Rival(path=tmp_path / "repository", state=tmp_path / "state")
    rig.commit(DOCS)
    push(rig.path, dict.fromkeys(DOCS))
    for _ in range(3):
        rig.tick(60)
    assert (rig.repo.journal_clusters(), rig.cloud.sends) == ([], [])
    looks = len(rig.cloud.looks)
    assert looks
    rig.tick(3600)
    assert len(rig.cloud.looks) == looks
    rig.commit(DOCS)
    assert rig.settle().condition is Condition.READY, "the name can be used"
    rig.close()


def test_history_is_looked_at_again_where_not_all_could_be_seen(tmp_path: Path) -> None:
    """Nothing was wanted of the kind that cannot be looked at, and yet something may be left of it."""
    rig = Rival(path=tmp_path / "repository", state=tmp_path / "state")
    rig.commit(DOCS)
    push(rig.path, dict.fromkeys(DOCS))
    rig.cloud.blind = {"hyperpod.Reboot"}
    rig.tick(60)
    looks = len(rig.cloud.looks)
    rig.tick(3600)
    assert len(rig.cloud.looks) > looks
    rig.close()


def test_a_second_loss_is_a_second_doubt(rig: Rival) -> None:
    """The word that was given for the first one does not count for it."""
    delete(rig)
    in_doubt(rig)
    rig.order("release", "journal")
    assert rig.settle().condition is Condition.READY
    released = git(rig.path, "rev-parse", JOURNAL)
    push(rig.path, {"system": group_yaml("system", 4)})
    assert rig.settle().condition is Condition.READY
    git(rig.path, "update-ref", JOURNAL, released)
    push(rig.path, {"extra": None})
    in_doubt(rig)
    assert EXTRA in [thing.key for thing in rig.cloud.things]


def test_a_journal_that_is_put_back_after_the_word_loses_what_came_since(rig: Rival) -> None:
    """Somebody released it, an operation ran, and then somebody else finds the commit that was lost."""
    newest = git(rig.path, "rev-parse", JOURNAL)
    set_back(rig)
    in_doubt(rig)
    rig.order("release", "journal")
    assert rig.settle().condition is Condition.READY
    push(rig.path, {"again": reboot_yaml("b", NODE)})
    assert rig.settle().condition is Condition.READY
    assert rig.cloud.boots[NODE] == 3
    git(rig.path, "update-ref", JOURNAL, newest)
    in_doubt(rig)
    rig.order("release", "journal")
    rig.settle()
    assert rig.cloud.boots[NODE] == 3


def test_operations_that_come_after_the_loss_are_new(rig: Rival) -> None:
    delete(rig)
    in_doubt(rig)
    push(rig.path, {"again": reboot_yaml("b", NODE)})
    in_doubt(rig)
    assert rig.cloud.boots[NODE] == 2
    plan = plans.of_scope(rig.engine.observe("prod"))
    assert "Operation a" in next(f.message for f in plan.findings if f.reason == "OperationForgotten")
    rig.order("release", "journal")
    assert rig.settle().condition is Condition.READY
    assert rig.cloud.boots[NODE] == 3, "the new one, and not the one of which nobody knows"
    rig.order("retry", "Operation/a")
    rig.settle()
    assert rig.cloud.boots[NODE] == 4, "a person said so"


def test_what_was_just_sent_is_not_sent_again_while_nobody_can_see_it(rig: Rival) -> None:
    """The lines that were lost may tell of it: absent counts only after a time and two looks."""
    rig.cloud.lag = 90.0
    push(rig.path, {"shared": STORAGE})
    for _ in range(20):
        rig.tick(1)
        if rig.cloud.of("k8s.Storage"):
            break
    assert rig.cloud.of("k8s.Storage"), rig.story()
    set_back(rig)
    for _ in range(6):
        rig.tick(10)
    in_doubt(rig)
    assert sum(1 for _, verb, key in rig.cloud.sends if verb == "create" and "shared" in key) == 1
    nothing_twice(rig.cloud)


def test_a_process_that_died_behind_its_push_left_word_of_it(rig: Rival) -> None:
    """The reboot went out, nobody read the journal again, and it was set back to before the intent."""
    before = git(rig.path, "rev-parse", JOURNAL)
    push(rig.path, {"again": reboot_yaml("b", NODE)})
    told: str | None = before
    while rig.cloud.boots[NODE] == 2:
        told = rig.repo.journal_tip("prod")
        assert rig.tick(1).lines
    assert rig.repo.known_tip("prod") == rig.repo.journal_tip("prod") != told
    git(rig.path, "update-ref", JOURNAL, before)
    rig.restart()
    in_doubt(rig)
    assert rig.cloud.boots[NODE] == 3


def test_the_status_of_a_cluster_without_a_journal_does_not_claim_to_know(rig: Rival) -> None:
    tip = git(rig.path, "rev-parse", JOURNAL)
    delete(rig)
    rig.repo.fetch()
    view = statuses.status(rig.repo, "prod")
    assert (view.condition, view.reason) == ("Unknown", "JournalGone") and tip in view.msg
    has_an_empty_disk(rig)
    rig.repo.fetch()
    view = statuses.status(rig.repo, "prod")
    assert (view.condition, view.reason) == ("Unknown", "NoJournal") and "or the journal was lost" in view.msg


def test_the_tail_of_a_journal_that_went_back_tells_only_what_is_new(rig: Rival) -> None:
    """What serve prints."""
    tail = journals.Tail(rig.repo)
    set_far_back(rig)
    rig.tick(10)
    said = [line.say for _, line in tail.new()]
    assert said and any(text.startswith("journal is held: the journal lost lines: it went back") for text in said)
    assert not [text for text in said if text.startswith("create ")]


def test_a_fresh_process_fetches_the_journal_first(rig: Rival) -> None:
    """A clone has no notes; the mirror of an empty disk has them after one fetch, and nothing is in doubt."""
    before = len(journal(rig.path))
    has_an_empty_disk(rig)
    assert rig.settle().condition is Condition.READY
    assert len(journal(rig.path)) == before


def test_a_replica_that_shows_an_older_journal_for_a_moment(rig: Rival) -> None:
    """The push is refused, and the next fetch clears the doubt: nothing is written."""
    newest = git(rig.path, "rev-parse", JOURNAL)
    set_back(rig)

    def catches_up() -> None:
        git(rig.path, "update-ref", JOURNAL, newest)

    rig.hooks["before the outcomes"] = catches_up
    rig.tick(10)
    assert "before the outcomes" not in rig.hooks
    assert rig.settle().condition is Condition.READY
    assert git(rig.path, "rev-parse", JOURNAL) == newest
