"""Many clusters, one engine: what does not change costs nothing, and no git process is started for each cluster."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.config_repo.records import NotesView
from reconciler.engine.tick import AFTER_GONE
from schemas.journal import Condition
from tests.bench.bench_fleet import POLICY, cost
from tests.bench.config_documents import FILES, group_document
from tests.bench.fleet import Fleet
from tests.engine.fakes import Rig, cluster_yaml

CLUSTERS = 12
FEW = 6  # git processes of a tick, however many clusters there are


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(root=tmp_path, clusters=CLUSTERS)
    yield made
    made.close()


def test_a_fleet_lives(fleet: Fleet) -> None:
    """One story, because the first tick is what costs."""
    first = cost(fleet)
    assert (first.clusters, first.parsed) == (CLUSTERS, CLUSTERS * FILES)
    assert first.git < CLUSTERS
    fleet.settle()

    idle = cost(fleet)
    assert (idle.clusters, idle.looks, idle.parsed, idle.lines) == (0, 0, 0, 0)
    assert idle.git == 1, "all refs are listed together"

    one = cost(fleet, lambda: fleet.commit(c3__group_1=group_document("group-1", 1, 9).encode()))
    assert (one.clusters, one.parsed) == (1, 1)
    assert one.looks == first.looks // CLUSTERS
    fleet.settle()

    policy = cost(fleet, lambda: fleet.commit(policy=POLICY))
    assert (policy.clusters, policy.looks, policy.parsed, policy.lines) == (0, 0, 0, 0)

    due = cost(fleet, lambda: fleet.clock.advance(61))
    assert (due.clusters, due.parsed, due.lines) == (CLUSTERS, 0, 0)
    assert due.git == 1

    files = {f"c{n}__group_2": group_document("group-2", 2, 7).encode() for n in range(CLUSTERS)}
    everyone = cost(fleet, lambda: fleet.commit(**files))
    assert (everyone.clusters, everyone.parsed) == (CLUSTERS, CLUSTERS)
    assert everyone.git <= FEW
    fleet.settle()

    restart = cost(fleet, fleet.restart)
    assert (restart.clusters, restart.lines) == (CLUSTERS, 0)
    assert restart.parsed == CLUSTERS + 1, "only what the revisions before the newest had otherwise"
    assert restart.git <= FEW


def test_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    """Its journal stays and is not read again; a cluster that comes back under its name goes on in it."""
    rig = Rig(path=tmp_path / "repository", state=tmp_path / "state")
    try:
        made = rig.commit({"cluster": cluster_yaml(extra="  deletionProtection: false\n")})
        rig.settle()
        rig.commit({"cluster": None})
        assert rig.settle().condition is Condition.GONE
        seq = rig.status().seq
        folder = weakref.ref(rig.engine.library.folder(made, "prod") or pytest.fail("there it was"))
        rig.tick(AFTER_GONE + 60)
        assert rig.engine.memories == {}
        gc.collect()
        assert folder() is None
        assert _notes_held() == 0
        rig.cloud.looks.clear()
        rig.restart()
        assert rig.tick(60).clusters == []
        assert _notes_held() == 0, "read to see that it ended, and not kept"
        assert (rig.engine.memories, rig.cloud.looks) == ({}, [])
        rig.commit({"cluster": cluster_yaml()})
        assert rig.tick(60).problems == {}
        assert rig.status().seq > seq
    finally:
        rig.close()


def _notes_held() -> int:
    """Journals that somebody keeps."""
    gc.collect()
    return sum(isinstance(one, NotesView) and one.tip is not None for one in gc.get_objects())
