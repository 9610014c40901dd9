"""What could not be recorded does not count, and nobody is told that it does: the remote refuses the journal at any
moment of a cluster's life, and the status says so at once, not what would have been written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.journal.fold import fold
from reconciler.reads.reads import Reads
from schemas.journal import ClusterStatus, Condition
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.rivals.git_http import GitHttp
from tests.rivals.rivalry import (
    DOCS,
    Rival,
    begun,
    copy_of,
    git,
    journal_is_right,
    nothing_twice,
    person,
    push,
)
from tests.rivals.rivalry import journal as journal_of

DOWN = (Condition.RECONCILING, Condition.STALLED)


@pytest.fixture(scope="module")
def beginning(tmp_path_factory: pytest.TempPathFactory) -> Rival:
    return begun(tmp_path_factory.mktemp("beginning"), {"prod": DOCS})


@pytest.fixture
def rig(beginning: Rival, tmp_path: Path) -> Iterator[Rival]:
    """Ready, and the remote is a bare repository."""
    made = copy_of(beginning, tmp_path, remote=True)
    yield made
    made.close()


def refuses(where: Path) -> Path:
    """The remote takes no journal, until the file is gone."""
    hook = where / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ncase "$1" in refs/notes/*) echo "no notes here" >&2; exit 1;; esac\n')
    hook.chmod(0o755)
    return hook


def recorded(rig: Rival) -> ClusterStatus:
    """What anybody reads at the remote."""
    with person(rig.path) as repo:
        return fold("prod", repo.notes("prod").entries)


def test_a_commit_is_taken_up_and_cannot_be_recorded(rig: Rival) -> None:
    before = rig.status()
    assert before.condition is Condition.READY
    hook = refuses(rig.path)
    revision = push(rig.path, {"extra": group_yaml("extra")})
    with_reads = Reads(rig.engine)
    for tick in range(1, 4):
        result = rig.tick(10)
        assert (result.sent, result.lines) == (0, 0)
        status = rig.status()
        assert status.condition is (Condition.RECONCILING if tick < 3 else Condition.STALLED), "then a person is asked"
        assert status.reason == "JournalNotAccepted"
        assert "hook declined" in status.msg and "let this writer push refs/notes" in status.msg
        assert (status.rev, status.seq, status.ops) == (before.rev, before.seq, before.ops), "as it is recorded"
        view = with_reads.cluster("prod", wait=0.0).view
        assert (view.condition, view.reason) == (status.condition.value, "JournalNotAccepted")
        assert view.head is not None and view.head.commit == revision
        assert view.revision is not None and view.revision.commit == before.rev
        assert "JournalNotAccepted" in view.problem
    hook.unlink()
    rig.tick(10)
    assert rig.status().reason != "JournalNotAccepted", "what is over is not told any more"
    assert rig.settle().condition is Condition.READY
    assert (rig.status().rev, with_reads.cluster("prod", wait=0.0).view.problem) == (revision, "")
    with_reads.close()


def test_at_every_step_of_a_change_and_of_the_end(rig: Rival) -> None:
    """Each tick that has something to record is refused once, and comes through the second time. What it says in
    between is what is recorded, but for the green that a refused tick is not."""
    refused: list[str] = []
    steps: dict[str, dict[str, str | None]] = {
        "a change": {"extra": group_yaml("extra"), "cluster": cluster_yaml(extra="  deletionProtection: false\n")},
        "the end": dict.fromkeys((*DOCS, "extra")),
    }
    for step, files in steps.items():
        revision = push(rig.path, files)
        for _ in range(60):
            hook = refuses(rig.path)
            result = rig.tick(20)
            status, told = rig.status(), recorded(rig)
            assert (status.rev, status.seq, status.stages) == (told.rev, told.seq, told.stages)
            assert {op: known.phase for op, known in status.ops.items()} == {
                op: known.phase for op, known in told.ops.items()
            }
            if "prod" in result.problems:
                refused.append(step)
                assert result.sent == 0, "its intent could not be recorded"
                assert status.condition in DOWN, "nothing green while nothing can be recorded"
                assert told.condition is Condition.STALLED or status.reason == "JournalNotAccepted"
                sight = rig.engine.sights["prod"]
                assert (sight.status.condition, sight.status.reason) == (status.condition, status.reason)
            hook.unlink()
            rig.tick()
            assert rig.status() == recorded(rig)
            if recorded(rig).rev == revision and recorded(rig).condition in (Condition.READY, Condition.GONE):
                break
        assert recorded(rig).condition is (Condition.READY if step == "a change" else Condition.GONE), rig.story()
        assert refused.count(step) > 1, "there was something to refuse"
    assert rig.cloud.things == []
    nothing_twice(rig.cloud)
    journal_is_right(journal_of(rig.path))


def test_what_replies_said_and_could_not_be_recorded(rig: Rival) -> None:
    """The call left, its reply came, and the remote refuses that line alone: the op is open until it is recorded."""
    push(rig.path, {"extra": group_yaml("extra")})
    sent = len(rig.cloud.sends)
    hooks: list[Path] = []
    rig.hooks["before the outcomes"] = lambda: hooks.append(refuses(rig.path))
    for _ in range(10):
        rig.tick(10)
        if hooks:
            break
    status = rig.status()
    assert len(rig.cloud.sends) > sent
    assert status.reason == "JournalNotAccepted" and status.condition is Condition.RECONCILING
    assert [op.phase for op in status.open_ops()] == [op.phase for op in recorded(rig).open_ops()]
    assert {op.phase.value for op in status.open_ops()} == {"intent"}
    hooks[0].unlink()
    assert rig.settle().condition is Condition.READY
    nothing_twice(rig.cloud)


@pytest.mark.parametrize("only", ["receive-pack", ""])
def test_the_remote_is_down(beginning: Rival, tmp_path: Path, only: str) -> None:
    """Where only the push fails the cluster's status says so; where nothing can be fetched nothing new is known, and
    every cluster's status says since when and why."""
    server = GitHttp(tmp_path)
    made = copy_of(beginning, tmp_path, location=server.url("config.git"))
    try:
        git(made.path, "config", "http.receivepack", "true")
        assert made.status().condition is Condition.READY
        reads = Reads(made.engine)
        push(made.path, {"extra": group_yaml("extra")})
        server.breaks(503, only)
        result = made.tick(10)
        view = reads.cluster("prod", wait=0.0).view
        assert "RemoteUnavailable" in view.problem
        if only:
            assert "prod" in result.problems
            assert (view.condition, view.reason) == ("Reconciling", "JournalNotAccepted")
            assert "RemoteUnavailable" in view.message
        else:
            assert result.problem is not None and view.problem == result.problem
        server.mends()
        made.tick(10)
        assert reads.cluster("prod", wait=0.0).view.problem == ""
        reads.close()
    finally:
        made.close()
        server.close()
