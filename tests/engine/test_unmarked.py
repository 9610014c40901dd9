"""Things that we made and whose mark somebody took off, when nobody wants them any more: neither deleted nor left
behind without a word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.journal import Condition
from tests.engine.fakes import Rig, cluster_yaml, group_yaml

UNPROTECTED = cluster_yaml(extra="  deletionProtection: false\n")
EKS, ROLE = "eks.Cluster/prod", "iam.Role/prod/control-plane"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A cluster whose folder goes while its EKS cluster carries no mark."""
    made = Rig(path=tmp_path / "repository", state=tmp_path / "state")
    made.commit({"cluster": UNPROTECTED, "system": group_yaml("system")})
    assert made.settle().condition is Condition.READY, made.story()
    made.cloud.unmarked.add(EKS)
    made.commit({"cluster": None, "system": None})
    yield made
    made.close()


def standing(rig: Rig) -> set[str]:
    return {thing.key for thing in rig.cloud.things}


def test_it_is_held_by_name_and_so_is_what_it_stands_on(rig: Rig) -> None:
    status = rig.settle()
    assert (status.condition, status.reason) == (Condition.STALLED, "MarkTakenOff"), rig.story()
    assert EKS in status.msg and f"release prod {EKS}" in status.msg
    assert {EKS, ROLE, "ec2.Vpc/prod"} <= standing(rig), "what it stands on is not taken from under it"
    assert "hyperpod.Cluster/prod" not in standing(rig), "what carries our mark and carries nothing goes"


def test_released_it_stays_and_the_end_names_it(rig: Rig) -> None:
    rig.settle()
    rig.order("release", EKS)
    status = rig.settle()
    assert status.condition is Condition.GONE, rig.story()
    assert EKS in status.msg and standing(rig) == {EKS}


def test_marked_again_it_is_deleted_like_the_others(rig: Rig) -> None:
    rig.settle()
    rig.cloud.unmarked.clear()
    status = rig.settle()
    assert (status.condition, standing(rig)) == (Condition.GONE, set()), rig.story()
