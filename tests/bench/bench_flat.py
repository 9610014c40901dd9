"""A long life of an engine: commits all the time, growing notes, orders, faults, a remote that fails, clusters that
come and go. It is lived as several lives of one process: each begins with a restart, which loses what was remembered,
and what is held at the end of the last is what was held at the end of the first."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from reconciler.engine.tick import FAMILIES
from tests.bench.rows import Goal, Row, Size
from tests.engine.fakes import Rig
from tests.engine.long_run import CLUSTERS, Held, LongRun, held

TICKS = {Size.TINY: 20, Size.NORMAL: 1000, Size.FULL: 10_000}
LIVES = 5
TOLD = 20  # moments at which it is looked what is held
PASSING = 12
ENGINE = FAMILIES + 7  # threads and processes: looking, working (two), the main one, and git of us and of people


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What is held after so many ticks, and milliseconds of CPU that a tick took since the moment before: of this
    process, and of its git."""

    tick: int
    held: Held
    clusters: int
    cpu: float
    git: float


def main(size: Size = Size.NORMAL) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.git"
        rig = Rig(path=path, state=Path(folder) / "state", location=f"file://{path}")
        run = LongRun(rig, seed=1)
        try:
            return rows(run, TICKS[size])
        finally:
            run.close()
            rig.close()


def rows(run: LongRun, ticks: int) -> list[Row]:
    moments = lived(run, ticks)
    first, last = moments[ticks // LIVES], moments[ticks]
    what = f"{ticks} ticks, {run.commits} commits, {run.restarts} restarts"
    against = "at the end of the first of five lives"
    is_long = ticks > TICKS[Size.TINY]
    early = [one.held for tick, one in moments.items() if tick <= ticks // LIVES]
    late = [one.held for tick, one in moments.items() if tick > ticks - ticks // LIVES]
    grown = (last.held.rss - first.held.rss) * 1024 / (ticks - ticks // LIVES)
    shown = [moments[ticks * percent // 100] for percent in (10, 50, 100)]
    lives = [moments[ticks * life // LIVES] for life in range(1, LIVES + 1)]
    return [
        Row(
            bench=f"{what}: memory at the end",
            measured=last.held.rss,
            unit="MB",
            reference=first.held.rss,
            against=against,
            goal=Goal.SHARE if is_long else Goal.NONE,
            limit=1.25,
            note=f"{grown:.1f} KB a tick; after 10, 50 and 100 %: "
            + ", ".join(f"{one.held.rss:.0f}" for one in shown)
            + "; at the end of each life: "
            + ", ".join(f"{one.held.rss:.0f}" for one in lives),
        ),
        Row(
            bench=f"{what}: most open files in the last life",
            measured=max(one.files for one in late),
            unit="",
            reference=max(one.files for one in early),
            against="in the first of five lives",
            goal=Goal.SAME if is_long else Goal.NONE,
            note="a process of git that answers has three; it is started when it is needed",
        ),
        Row(
            bench=f"{what}: most threads and processes in the last life",
            measured=max(one.threads + one.children for one in late),
            unit="",
            reference=max(one.threads + one.children for one in early),
            against="in the first of five lives",
            goal=Goal.AT_MOST,
            limit=ENGINE,
            note="what one engine may have: a pool starts its threads as it needs them",
        ),
        Row(
            bench=f"{what}: objects",
            measured=last.held.objects,
            unit="",
            reference=first.held.objects,
            against=against,
            goal=Goal.SHARE if is_long else Goal.NONE,
            limit=1.25,
        ),
        Row(
            bench=f"{what}: CPU of a tick with what happened before it",
            measured=last.cpu + last.git,
            unit="ms",
            reference=first.cpu + first.git,
            against=against,
            note="this process: "
            + ", ".join(f"{one.cpu:.0f}" for one in lives)
            + " ms at the end of each life; its git: "
            + ", ".join(f"{one.git:.0f}" for one in lives)
            + "; notes are longer at the end",
        ),
        Row(
            bench=f"{what}: clusters that the engine follows",
            measured=last.clusters,
            unit="",
            reference=first.clusters,
            against=against,
            goal=Goal.AT_MOST,
            limit=len(CLUSTERS) + PASSING,
            note="three that stay, those that come and go, and those that are gone for less than an hour",
        ),
        Row(
            bench=f"{what}: ticks at whose end a cluster was Ready",
            measured=min(run.ready.values()),
            unit="",
            note="the fewest of the three that stay: an engine that may do nothing would hold nothing",
        ),
    ]


def lived(run: LongRun, ticks: int) -> dict[int, Moment]:
    """The moments, by tick: the end of each life, and some between."""
    found: dict[int, Moment] = {}
    life, step = max(1, ticks // LIVES), max(1, ticks // TOLD)
    before, cpu, git = 0, *_cpu()
    for tick in range(1, ticks + 1):
        run.step(restart=tick > life and tick % life == 1)
        if tick % step and tick % life and tick != ticks:
            continue
        now, now_git = _cpu()
        each = tick - before
        moment = Moment(
            tick=tick,
            held=held(),
            clusters=len(run.rig.engine.memories),
            cpu=(now - cpu) * 1000 / each,
            git=(now_git - git) * 1000 / each,
        )
        found[tick] = moment
        if ticks >= TICKS[Size.FULL]:  # it takes long
            cost = f"CPU {moment.cpu:.0f} ms a tick and {moment.git:.0f} ms of git"
            print(f"  {tick} of {ticks} ticks: {moment.held}, {cost}", file=sys.stderr, flush=True)
        if tick % life == 0:
            run.rig.repo.maintain()
        before, (cpu, git) = tick, _cpu()
    return found


def _cpu() -> tuple[float, float]:
    """Seconds of this process, and of its children that ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), ended.ru_utime + ended.ru_stime


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
