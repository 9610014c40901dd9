"""A remote that is away, replies that are lost, and a process that dies between two pushes: nothing is half done for
long, because what comes first says what follows, and the next call finishes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from reconciler.config_repo.errors import RemoteUnavailable
from reconciler.config_repo.records import RefUpdate
from reconciler.config_repo.refs import Refs
from schemas.errors import Conflict, RetryLater
from tests.changes.changebox import POLICY, REVIEWER, ChangeBox, drop, person, scale
from tests.config_repo.gitbox import run
from tests.engine.fakes import FlakyRepo, Rig, cluster_yaml, group_yaml


class Died(BaseException):
    """The process is no more."""


class BreakingRefs(Refs):
    """Pushes that end as `script` says, one word each: ok, died (before it), after (died when it was there), lost (it
    was there, nobody heard), away."""

    script: list[str]

    def _push(self, updates: Sequence[RefUpdate], *more: str) -> dict[str, str | None]:
        word = self.script.pop(0) if self.script and more != ("--atomic",) else "ok"
        return self._one(word, updates, *more)

    def _one(self, word: str, updates: Sequence[RefUpdate], *more: str) -> dict[str, str | None]:
        if word == "died":
            raise Died
        if word == "away":
            raise RemoteUnavailable("the remote cannot be reached")
        found = super()._push(updates, *more)
        if word == "after":
            raise Died
        if word == "lost":
            raise RemoteUnavailable("the remote did not answer in time")
        return found


class TogetherRefs(BreakingRefs):
    """The same for a remote that moves all refs together: each push is one."""

    def _push(self, updates: Sequence[RefUpdate], *more: str) -> dict[str, str | None]:
        return self._one(self.script.pop(0) if self.script else "ok", updates, *more)


class BreakingRig(Rig):
    together: bool = False

    def open_repo(self) -> FlakyRepo:
        class OurRefs(TogetherRefs if self.together else BreakingRefs):  # type: ignore[misc]
            script = self.trouble

        class OurRepo(FlakyRepo):
            _refs_of = OurRefs

        return OurRepo.open(self.location, state_dir=self.state, writer=self.writer)


def made(tmp_path: Path, *, together: bool) -> ChangeBox:
    path = tmp_path / "config"
    rig = BreakingRig(path=path, state=tmp_path / "state", policy=POLICY, location=f"file://{path}")
    rig.together = together
    if not together:
        run(path, "config", "receive.advertiseAtomic", "false")
    rig.commit({"cluster": cluster_yaml(), "groups": group_yaml("workers", 2) + "---\n" + group_yaml("spare", 1)})
    rig.trouble.clear()
    return ChangeBox(rig=rig)


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[ChangeBox]:
    """A remote that moves one ref at a time."""
    box = made(tmp_path, together=False)
    yield box
    box.rig.trouble.clear()
    box.rig.close()


@pytest.fixture
def together(tmp_path: Path) -> Iterator[ChangeBox]:
    box = made(tmp_path, together=True)
    yield box
    box.rig.trouble.clear()
    box.rig.close()


def refs(box: ChangeBox) -> str:
    return run(box.rig.path, "for-each-ref", "--format=%(refname) %(objectname)").decode()


def died(box: ChangeBox, script: list[str], act: Any) -> None:
    """Do it until it dies; the next process begins with nothing in memory."""
    box.rig.trouble[:] = script
    with pytest.raises((Died, RetryLater)):
        act()
    box.rig.trouble.clear()
    box.restart()
    box.rig.repo.fetch()  # as the next tick does


POINTS = [
    [*["ok"] * done, word] for done in range(3) for word in ("died", "after", "lost", "away")
]  # opening and merging are three pushes each


@pytest.mark.parametrize("script", POINTS, ids="-".join)
def test_opening_is_finished_by_whoever_asks_again(apart: ChangeBox, script: list[str]) -> None:
    died(apart, script, lambda: apart.open(scale(4), key="k"))
    again = apart.open(scale(4), key="k")
    assert again.state == "open"
    assert apart.rig.repo.changes.branch(again.id) == again.head
    assert list(apart.rig.repo.changes.tips()) == [again.id], "one change, whatever happened before"
    assert [event.seq for event in again.events] == [1]


@pytest.mark.parametrize("script", POINTS, ids="-".join)
def test_merging_is_finished_by_whoever_asks_again(apart: ChangeBox, script: list[str]) -> None:
    opened = apart.open(scale(4))
    before = apart.main()
    died(apart, script, lambda: apart.merge(opened.id))
    if script[0] not in ("died", "away"):
        assert apart.changes.view(opened.id).state == "merged", "the branch has it, whatever the lines say"
    again = apart.merge(opened.id)
    assert again.state == "merged"
    assert [event.what for event in again.events] == ["open", "merge"]
    assert apart.rig.repo.changes.branch(opened.id) is None
    line = run(apart.rig.path, "rev-list", "--first-parent", f"{before}..main").decode().split()
    assert len(line) == 1, "merged once"


@pytest.mark.parametrize("script", [["died"], ["after"], ["lost"], ["away"]], ids="-".join)
def test_all_refs_or_none(together: ChangeBox, script: list[str]) -> None:
    opened = together.open(scale(4), key="a")
    told = refs(together)
    died(together, script, lambda: together.merge(opened.id))
    now = refs(together)
    if script[0] in ("died", "away"):
        assert now == told, "nothing moved"
    else:
        assert f"refs/heads/change/{opened.id}" not in now, "all of it did"
        assert together.changes.view(opened.id).events[-1].what == "merge"
    assert together.merge(opened.id).state == "merged"


@pytest.mark.parametrize(
    "act", ["open", "edit", "comment", "close", "merge", "rebase", "request-changes", "approve", "revert"]
)
def test_a_remote_that_is_away_means_later_and_nothing_done(together: ChangeBox, act: str) -> None:
    one = together.open(drop("spare"), key="a")
    plan = one.plan
    before = refs(together)
    acts: dict[str, Any] = {
        "open": lambda: together.open(scale(4), key="b"),
        "edit": lambda: together.edit(one.id, scale(4)),
        "comment": lambda: together.changes.comment(person(), one.id, "x"),
        "close": lambda: together.changes.close(person(), one.id, "x", head=None),
        "merge": lambda: together.merge(one.id),
        "rebase": lambda: together.changes.rebase(person(), one.id, head=None),
        "request-changes": lambda: together.review(one.id, "request-changes"),
        "approve": lambda: together.review(one.id, plan=plan),
        "revert": lambda: together.open(scale(5), key="c"),
    }
    moved = together.rig.path.with_name("away")
    together.rig.path.rename(moved)
    with pytest.raises(RetryLater):
        acts[act]()
    assert together.changes.state(one.id).name == "open", "what is known can still be read"
    moved.rename(together.rig.path)
    assert refs(together) == before


def test_a_review_that_arrives_during_a_merge_counts(together: ChangeBox) -> None:
    """The merge is one compare-and-swap of branch and lines: who objects in between is heard."""
    opened = together.open(scale(4))
    other = Rig.beside(together.rig)
    box = ChangeBox(rig=other)
    real = together.changes.store.repo.changes.publish

    def late(move: Any) -> None:
        together.changes.store.repo.changes.publish = real  # type: ignore[method-assign]
        other.repo.fetch()
        box.review(opened.id, "request-changes", who=REVIEWER)
        real(move)

    together.changes.store.repo.changes.publish = late  # type: ignore[method-assign]
    try:
        with pytest.raises(Conflict) as told:
            together.merge(opened.id)
    finally:
        other.close()
    assert told.value.reason == "ChangesRequested"
    assert "count: 2" in (together.text("clusters/prod/groups.yaml") or "")
