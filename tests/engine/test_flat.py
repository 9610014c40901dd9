"""An engine that runs for months holds at the end what it held at the beginning: files, threads, processes, objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconciler.engine.tick import FAMILIES
from tests.engine.fakes import Rig, cluster_yaml, group_yaml
from tests.engine.long_run import LongRun, Others, held

POOLS = FAMILIES + 2  # threads that one engine of these tests may have


@pytest.mark.parametrize(("remote", "ticks", "seed"), [(False, 120, 5), (True, 40, 6)])
def test_nothing_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: bool, ticks: int, seed: int) -> None:
    """Commits, faults, orders, restarts and clusters that come and go; the second half holds no more than the first.

    Caches that are full after thousands of commits are full after a few here. Memory is measured by
    tests/bench/bench_flat.py, in a process of its own: this one holds what thousands of other tests left."""
    monkeypatch.setattr("reconciler.engine.library._PAST", 40_000)
    monkeypatch.setattr("reconciler.engine.library._OLDER", 4_000)
    monkeypatch.setattr("reconciler.engine.library._CLUSTERS", 8)
    monkeypatch.setattr("reconciler.engine.library._REVISIONS", 20)
    others = Others.now()  # of the tests before this one
    path = tmp_path / "config.git"
    rig = Rig(path=path, state=tmp_path / "state", location=f"file://{path}" if remote else "")
    run = LongRun(rig, seed)
    try:
        half = ticks // 2
        for number in range(half):
            run.step(restart=number in (half // 4, half // 2))
        before = held(others)
        for number in range(half):
            run.step(restart=number in (half // 4, half // 2))
        after = held(others)
    finally:
        run.close()
        rig.close()
    assert run.commits > ticks // 4
    assert sum(run.ready.values()) > ticks // 5, "an engine that may do nothing holds nothing"
    assert before.files and before.threads
    assert (after.files, after.children) == (before.files, before.children)
    assert after.threads <= before.threads + POOLS, "a pool starts its threads as it needs them"
    assert held(others).threads == 0, "and no engine of the many that were closed left one"
    assert after.objects < before.objects * 1.2, (before, after)


@pytest.mark.parametrize("remote", [False, True])
def test_the_repository_is_packed_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: bool) -> None:
    """Each journal commit leaves a few small files; nobody else packs our mirror."""
    monkeypatch.setattr("reconciler.engine.tick.MAINTAIN", 20)
    path = tmp_path / "config.git"
    rig = Rig(path=path, state=tmp_path / "state", location=f"file://{path}" if remote else "")
    try:
        rig.commit({"cluster": cluster_yaml(), "system": group_yaml("system")})
        for count in range(3, 12):
            rig.commit({"system": group_yaml("system", count)})
            for _ in range(4):
                rig.tick(30)
        assert rig.status().rev == rig.repo.head()
        repository = next((tmp_path / "state" / "mirrors").iterdir()) if remote else path
        loose = sum(1 for folder in (repository / "objects").glob("[0-9a-f][0-9a-f]") for _ in folder.iterdir())
        assert 0 < loose < 150
        assert len(rig.lines()) > 50
    finally:
        rig.close()
