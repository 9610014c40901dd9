"""Orders that no cluster takes: they do not stay for ever, and go with a word."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.engine.orders import STRAY
from tests.engine.fakes import Rig, cluster_yaml, group_yaml


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(path=tmp_path / "repository", state=tmp_path / "state")
    made.commit({"cluster": cluster_yaml(), "system": group_yaml("system")})
    made.settle()
    yield made
    made.close()


def malformed(rig: Rig, ulid: str) -> None:
    """What anybody who may push can put there."""

    def git(*command: str) -> str:
        words = ["git", "-C", str(rig.path), *command]
        return subprocess.run(words, input="no order", capture_output=True, text=True, check=True).stdout.strip()

    git("update-ref", f"refs/instantstart/orders/{ulid}", git("hash-object", "-w", "--stdin"))


@pytest.mark.parametrize(("broken", "said"), [(False, "there is no cluster nowhere"), (True, "points to no commit")])
def test_an_order_that_nobody_takes_is_removed_after_a_time_and_told_once(rig: Rig, broken: bool, said: str) -> None:
    if broken:
        malformed(rig, rig.engine.new_op())
    else:
        rig.order("retry", "compute", "nowhere")
    assert (rig.tick(60).notes, len(rig.repo.orders())) == ([], 1)
    (note,) = rig.tick(STRAY.total_seconds()).notes
    assert said in note
    assert (rig.tick(60).notes, rig.repo.orders()) == ([], [])


def test_an_order_that_came_before_its_cluster_is_taken(rig: Rig) -> None:
    rig.order("retry", "compute", "late")
    rig.tick(60)
    rig.commit({"cluster": cluster_yaml("late"), "system": group_yaml("system")}, "late")
    assert rig.tick(60).notes == []
    assert [line["do"] for line in rig.lines("late") if line["t"] == "order"] == ["retry"]
    assert rig.repo.orders() == []


def test_what_cannot_be_removed_hinders_nobody(rig: Rig) -> None:
    """A name that is no ulid has no age; the orders beside it are removed all the same."""
    malformed(rig, "not-a-ulid")
    rig.order("retry", "compute", "nowhere")
    (note,) = rig.tick(STRAY.total_seconds() + 60).notes
    assert "nowhere" in note
    assert [order.ulid for order in rig.repo.orders()] == ["not-a-ulid"]
