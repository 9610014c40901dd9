"""An engine that runs for months holds at the end what it held at the beginning: files, threads, processes, objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.fakes import Rig
from tests.engine.long_run import LongRun, held


@pytest.mark.parametrize(("remote", "ticks", "seed"), [(False, 120, 5), (True, 40, 6)])
def test_nothing_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: bool, ticks: int, seed: int) -> None:
    """Commits, faults, orders, restarts and clusters that come and go; the second half holds no more than the first.

    Caches that are full after thousands of commits are full after a few here."""
    monkeypatch.setattr("reconciler.engine.library._FOLDERS", 12)
    monkeypatch.setattr("reconciler.engine.library._CLUSTERS", 8)
    monkeypatch.setattr("reconciler.engine.library._REVISIONS", 20)
    path = tmp_path / "config.git"
    rig = Rig(path=path, state=tmp_path / "state", location=f"file://{path}" if remote else "")
    run = LongRun(rig, seed)
    try:
        half = ticks // 2
        for number in range(half):
            run.step(restart=number in (half // 4, half // 2))
        before = held()
        for number in range(half):
            run.step(restart=number in (half // 4, half // 2))
        after = held()
    finally:
        rig.close()
    assert run.commits > ticks // 4
    assert (after.files, after.threads, after.children) == (before.files, before.threads, before.children)
    assert after.objects < before.objects * 1.2, (before, after)
    assert after.rss < before.rss + 12, (before, after)
