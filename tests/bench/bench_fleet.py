"""A whole engine over 1,000 clusters: what a tick costs when nothing is due, when one commit comes, when all are due,
and after a restart. Git processes are counted: none of these may start one for each cluster."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reconciler.engine.tick import Result
from tests.bench.config_documents import FILES, group_document
from tests.bench.fleet import Fleet, git_processes
from tests.bench.measuring import family_cpu, memory_now, timed
from tests.bench.rows import Goal, Row, Size

POLICY = b"""apiVersion: instantstart/v1
kind: Policy
metadata:
  name: default
spec:
  approvals:
    requireFor: [replace, rolling]
"""
RUNS = 7
SMALL = 5  # clusters of the fleet that a large one is compared with
PER_TICK = 2  # git processes of a tick that finds nothing: one lists all refs, and rarely a reader


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Milliseconds (CPU of git included), git processes, looks, clusters worked on, files parsed, lines written."""

    wall: float
    cpu: float
    git: int
    looks: int
    clusters: int
    parsed: int
    lines: int


def main(size: Size = Size.NORMAL) -> list[Row]:
    clusters = 15 if size is Size.TINY else 1000
    with tempfile.TemporaryDirectory() as folder:
        small = measured(Fleet(root=Path(folder) / "small", clusters=SMALL), memory=False)
    with tempfile.TemporaryDirectory() as folder:
        large = measured(Fleet(root=Path(folder) / "large", clusters=clusters), memory=True)
    return large.rows(clusters, small)


@dataclass(frozen=True, kw_only=True)
class Measured:
    first: Cost
    idle: Cost
    one: Cost
    policy: Cost
    all_due: Cost
    restart: Cost
    memory: float

    def rows(self, clusters: int, small: Measured) -> list[Row]:
        against = f"the same with {SMALL} clusters"
        fleet = f"fleet of {clusters} clusters"
        return [
            Row(
                bench=f"{fleet}, tick in which nothing is due",
                measured=self.idle.wall,
                unit="ms",
                reference=small.idle.wall,
                against=against,
                note=f"{self.idle.wall * 1000 / clusters:.0f} µs a cluster; {self.idle.looks} looks, "
                f"{self.idle.git} git processes",
            ),
            Row(
                bench=f"{fleet}, tick in which nothing is due: git processes",
                measured=self.idle.git,
                unit="",
                goal=Goal.AT_MOST,
                limit=PER_TICK,
            ),
            Row(
                bench=f"{fleet}, tick after one commit to one cluster",
                measured=self.one.cpu,
                unit="ms",
                reference=small.one.cpu,
                against=against + ", CPU with git's",
                note=f"wall {self.one.wall:.0f} ms to {small.one.wall:.0f} ms; {self.one.git} git processes",
            ),
            Row(
                bench=f"{fleet}, clusters that one commit wakes",
                measured=self.one.clusters,
                unit="",
                reference=1,
                against="the one it touches",
                goal=Goal.SAME,
            ),
            Row(
                bench=f"{fleet}, files that a commit of one file parses",
                measured=self.one.parsed,
                unit="",
                reference=1,
                against="the one that changed",
                goal=Goal.SAME,
                note=f"{self.one.looks} looks of handlers, as in a tick of one cluster ({small.one.looks})",
            ),
            Row(
                bench=f"{fleet}, tick after a change of the policy",
                measured=self.policy.wall,
                unit="ms",
                reference=small.policy.wall,
                against=against,
                note=f"wakes {self.policy.clusters} clusters, parses {self.policy.parsed} files: it counts from each "
                "cluster's next look",
            ),
            Row(
                bench=f"{fleet}, tick in which all are due, for each",
                measured=self.all_due.cpu / clusters,
                unit="ms",
                reference=small.all_due.cpu / SMALL,
                against=against + ", CPU with git's",
                goal=Goal.SHARE,
                limit=1.5,
                note=f"wall {self.all_due.wall:.0f} ms; {self.all_due.git} git processes, {self.all_due.parsed} files "
                f"parsed, {self.all_due.lines} lines",
            ),
            Row(
                bench=f"{fleet}, first tick ever, for each",
                measured=self.first.cpu / clusters,
                unit="ms",
                reference=small.first.cpu / SMALL,
                against=against + ", CPU with git's",
                goal=Goal.SHARE,
                limit=1.5,
                note=f"wall {self.first.wall / 1000:.1f} s; {self.first.git} git processes, {self.first.lines} lines",
            ),
            Row(
                bench=f"{fleet}, first tick after a restart, for each",
                measured=self.restart.cpu / clusters,
                unit="ms",
                reference=self.first.cpu / clusters,
                against="the first tick ever",
                note=f"wall {self.restart.wall / 1000:.1f} s; {self.restart.git} git processes, {self.restart.parsed} "
                f"of {clusters * FILES} files parsed, {self.restart.lines} lines",
            ),
            Row(
                bench=f"{fleet}, memory of the whole engine",
                measured=self.memory,
                unit="MB",
                note="documents, resources, what was seen last and the plan of each cluster; bench included",
            ),
        ]


def measured(fleet: Fleet, *, memory: bool) -> Measured:
    try:
        first = cost(fleet)
        fleet.settle()
        held = memory_now() if memory else 0.0
        idle = median([cost(fleet) for _ in range(RUNS)])
        assert idle.looks == idle.lines == idle.clusters == 0
        one = median([one_commit(fleet, number) for number in range(RUNS)])
        policy = cost(fleet, lambda: fleet.commit(policy=POLICY))
        all_due = median([cost(fleet, lambda: fleet.clock.advance(61)) for _ in range(3)])
        assert all_due.clusters == fleet.clusters
        restart = cost(fleet, fleet.restart)
        return Measured(first=first, idle=idle, one=one, policy=policy, all_due=all_due, restart=restart, memory=held)
    finally:
        fleet.close()


def one_commit(fleet: Fleet, number: int) -> Cost:
    name = f"c{number % fleet.clusters}__group-1"
    found = cost(fleet, lambda: fleet.commit(**{name: group_document("group-1", 1, 9 + number).encode()}))
    fleet.settle()
    return found


def cost(fleet: Fleet, before: Callable[[], object] = lambda: None) -> Cost:
    before()
    library = fleet.engine.library
    parsed, looks, cpu = library.counts.parsed, len(fleet.cloud.looks), family_cpu()
    results: list[Result] = []
    with git_processes() as started:
        run = timed(lambda: results.append(fleet.tick()))
    (result,) = results
    return Cost(
        wall=run.wall * 1000,
        cpu=(family_cpu() - cpu) * 1000,
        git=started.total(),
        looks=len(fleet.cloud.looks) - looks,
        clusters=len(result.clusters),
        parsed=library.counts.parsed - parsed,
        lines=result.lines,
    )


def median(costs: list[Cost]) -> Cost:
    """The one in the middle, by wall time."""
    return sorted(costs, key=lambda one: one.wall)[len(costs) // 2]


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
