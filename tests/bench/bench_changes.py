"""Changes in a repository of 1,000 clusters: from a request to its plan, to the merge, and a list of many."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from reconciler.changes.service import Changes
from reconciler.changes.views import ChangeView
from schemas.changes import NewChange
from schemas.principals import ALL_SCOPES, Principal
from tests.bench.fleet import Fleet, git_processes
from tests.bench.measuring import timed
from tests.bench.rows import Goal, Row, Size

WHO = Principal(name="data-scientist@example.com", kind="person", scopes=ALL_SCOPES, via="token")
RUNS = 15
LISTED = 200
SMALL = 5


def main(size: Size = Size.NORMAL) -> list[Row]:
    clusters, listed = (15, 5) if size is Size.TINY else (1000, LISTED)
    small, large = measured(SMALL, listed), measured(clusters, listed)
    against = f"the same with {SMALL} clusters"
    about = f"repository of {clusters} clusters"
    return [
        Row(
            bench=f"{about}, proposal to plan",
            measured=large.opened / 1000,
            unit="s",
            goal=Goal.AT_MOST,
            limit=1.0,
            note=f"one patch to the plan with gates, median of {RUNS}; {large.git} git processes; "
            f"{small.opened:.0f} ms with {SMALL} clusters",
        ),
        Row(
            bench=f"{about}, proposal to plan after a restart",
            measured=large.cold / 1000,
            unit="s",
            note="before the first tick: nothing in memory but what lies on the shelf",
        ),
        Row(bench=f"{about}, merge", measured=large.merged, unit="ms", reference=small.merged, against=against),
        Row(
            bench=f"{about}, a page of 100 of {listed} open changes",
            measured=large.page,
            unit="ms",
            goal=Goal.AT_MOST,
            limit=50,
            note=f"the first after a restart, when the lines of all {listed} are read: {large.first:.0f} ms",
        ),
    ]


class Measured:
    """Milliseconds, medians."""

    opened = cold = merged = page = first = 0.0
    git = 0


def measured(clusters: int, listed: int) -> Measured:
    found = Measured()
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(root=Path(folder), clusters=clusters)
        try:
            fleet.settle()
            changes = Changes(fleet.engine)
            propose(changes, 0, clusters)
            opened: list[float] = []
            merged: list[float] = []
            for number in range(1, RUNS + 1):
                with git_processes() as started:
                    start = time.perf_counter()
                    made = propose(changes, number, clusters)
                    opened.append((time.perf_counter() - start) * 1000)
                assert made.mergeable, made.checks
                found.git = started.total()
                start = time.perf_counter()
                changes.merge(WHO, made.id, head=made.head)
                merged.append((time.perf_counter() - start) * 1000)
            found.opened, found.merged = statistics.median(opened), statistics.median(merged)
            for number in range(listed):
                propose(changes, 100 + number, clusters)
            changes.list()
            pages = [timed(lambda: changes.summaries(changes.list()[-100:])) for _ in range(7)]
            found.page = statistics.median(run.wall * 1000 for run in pages)
            fleet.restart()
            changes = Changes(fleet.engine)
            found.cold = timed(lambda: propose(changes, 9999, clusters)).wall * 1000
            fleet.restart()
            changes = Changes(fleet.engine)
            found.first = timed(lambda: changes.summaries(changes.list()[-100:])).wall * 1000
        finally:
            fleet.close()
    return found


def propose(changes: Changes, number: int, clusters: int) -> ChangeView:
    """One patch on one document, to the view with its checks."""
    step = {"op": "replace", "path": "/spec/count", "value": 10 + number}
    name = f"c{number % clusters}"
    edit = {"edit": "patch", "cluster": name, "kind": "InstanceGroup", "name": "group-1", "patch": [step]}
    asked = NewChange.model_validate({"title": f"change {number}", "edits": [edit]})
    return changes.open(WHO, asked, key=f"key-{number}")


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
