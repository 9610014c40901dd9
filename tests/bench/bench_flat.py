"""A long life of an engine: commits all the time, growing notes, orders, faults, a remote that fails, clusters that
come and go. What it holds at the end, beside what it held after the first fifth."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from tests.bench.rows import Goal, Row, Size
from tests.engine.fakes import Rig
from tests.engine.long_run import Held, LongRun, held

TICKS = {Size.TINY: 20, Size.NORMAL: 1000, Size.FULL: 10_000}
RESTART = 500  # ticks between two restarts in the same process


def main(size: Size = Size.NORMAL) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.git"
        rig = Rig(path=path, state=Path(folder) / "state", location=f"file://{path}")
        try:
            return measured(LongRun(rig, seed=1), TICKS[size])
        finally:
            rig.close()


def measured(run: LongRun, ticks: int) -> list[Row]:
    early: list[float] = []
    late: list[float] = []
    first: Held | None = None
    for number in range(ticks):
        start = time.perf_counter()
        run.step(restart=number % RESTART == RESTART - 1)
        (early if number < ticks // 5 else late).append((time.perf_counter() - start) * 1000)
        if number == ticks // 5:
            first = held()
            run.rig.repo.maintain()
    assert first is not None
    last = held()
    grown = (last.rss - first.rss) * 1024 / (ticks - ticks // 5)
    what = f"{ticks} ticks, {run.commits} commits, {run.restarts} restarts"
    flat = Goal.SAME if ticks > TICKS[Size.TINY] else Goal.NONE
    return [
        Row(
            bench=f"{what}: memory at the end",
            measured=last.rss,
            unit="MB",
            reference=first.rss,
            against="after the first fifth",
            goal=Goal.SHARE if ticks > TICKS[Size.TINY] else Goal.NONE,
            limit=1.25,
            note=f"{grown:.1f} KB a tick",
        ),
        Row(
            bench=f"{what}: open files",
            measured=last.files,
            unit="",
            reference=first.files,
            against="after the first fifth",
            goal=flat,
        ),
        Row(
            bench=f"{what}: threads and processes",
            measured=last.threads + last.children,
            unit="",
            reference=first.threads + first.children,
            against="after the first fifth",
            goal=flat,
        ),
        Row(
            bench=f"{what}: objects",
            measured=last.objects,
            unit="",
            reference=first.objects,
            against="after the first fifth",
        ),
        Row(
            bench=f"{what}: a tick with what happened before it",
            measured=statistics.median(late[-max(1, ticks // 5) :]),
            unit="ms",
            reference=statistics.median(early),
            against="in the first fifth",
            note="notes are longer at the end",
        ),
    ]


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
