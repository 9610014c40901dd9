"""reconcile: tick in the foreground, printing the journal as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reconciler.cli import output
from reconciler.cli.render.statuses import line_of
from reconciler.cli.setup import AsJson, ClusterOption, head_of, must_know, setup_of
from reconciler.reads import statuses
from reconciler.reads.journals import Tail
from reconciler.reads.statuses import StatusView

if TYPE_CHECKING:
    from reconciler.engine.tick import Engine, Result

_PATIENCE = 10  # ticks in a row that could do nothing at all
_SHORTEST = 0.2  # simulated seconds between two ticks


def add_to(app: typer.Typer) -> None:
    app.command("reconcile")(reconcile)


def reconcile(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="One tick.")] = False,
    cluster: ClusterOption = None,
    wait: Annotated[bool, typer.Option("--wait", help="Stay while a cluster is Stalled: it may get an order.")] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Give up after so many seconds.")] = 4 * 3600,
    as_json: AsJson = False,
) -> None:
    """Apply what git says. Until every cluster is Ready, Stalled or Gone; exit code 1: something is Stalled."""
    with setup_of(context).engine() as engine:
        if cluster is not None:
            must_know(engine.repo, cluster, head_of(engine.repo))
        run = _Run(engine, cluster, quiet=as_json)
        done = run.one() if once else run.until_settled(stay=wait, timeout=timeout)
        views = run.views()
        problem, problems = run.problem, run.problems
    if as_json:
        output.document(
            {
                "ticks": run.ticks,
                "sent": run.sent,
                "lines": run.lines,
                "settled": done,
                "problem": problem,
                "problems": problems,
                "clusters": views,
            }
        )
    else:
        output.lines(_ending(view) for view in views)
        if problem is not None:
            output.failure("NoTick", problem, as_json=False)
        elif not done and not once:
            output.failure("TimedOut", f"not settled after {timeout:g} s; what was begun goes on", as_json=False)
    stalled = any(view.condition == "Stalled" for view in views)
    raise typer.Exit(1 if problem is not None or problems or stalled or (not once and not done) else 0)


class _Run:
    def __init__(self, engine: Engine, cluster: str | None, *, quiet: bool) -> None:
        self._engine = engine
        self._only = None if cluster is None else [cluster]
        self._quiet = quiet
        self._tail = Tail(engine.repo, only=cluster)
        self.ticks = self.sent = self.lines = 0
        self.problem: str | None = None
        self.problems: dict[str, str] = {}

    def one(self) -> bool:
        result = self._tick()
        return result.problem is None

    def until_settled(self, *, stay: bool, timeout: float) -> bool:
        """False: the time was over, or nothing could be done at all."""
        end = self._engine.clock.monotonic() + timeout
        failures = 0
        while self._engine.clock.monotonic() < end:
            result = self._tick()
            failures = failures + 1 if result.problem is not None else 0
            if failures >= _PATIENCE:
                return False
            if failures == 0 and not result.sent and self._settled(stay=stay):
                return True
            left = end - self._engine.clock.monotonic()
            self._engine.clock.sleep(min(max(result.wake, _SHORTEST), max(left, 0.0)))
        return False

    def views(self) -> list[StatusView]:
        repo = self._engine.repo
        only = self._only
        found = statuses.fleet(repo).clusters if only is None else [statuses.status(repo, name) for name in only]
        return [self._with_trouble(view) for view in found]

    def _with_trouble(self, view: StatusView) -> StatusView:
        """The journal cannot say that it was not accepted."""
        memory = self._engine.memories.get(view.cluster)
        if memory is None or memory.trouble is None:
            return view
        now = memory.status()
        return view.model_copy(update={"condition": now.condition.value, "reason": now.reason, "msg": now.msg})

    def _tick(self) -> Result:
        result = self._engine.tick(self._only)
        self.ticks += 1
        self.sent += result.sent
        self.lines += result.lines
        if result.problem is not None and result.problem != self.problem and not self._quiet:
            output.note(result.problem)
        for cluster, why in result.problems.items():
            if why != self.problems.get(cluster) and not self._quiet:
                output.note(f"{cluster}: {why}")
        for note in result.notes if not self._quiet else ():
            output.note(note)
        # A cluster that rests after a problem still has it.
        self.problems = {name: why for name, why in self.problems.items() if name not in result.clusters}
        self.problems |= result.problems
        self.problem = result.problem
        for cluster, line in self._tail.new():
            if not self._quiet:
                output.lines([line_of(cluster, line)])
        return result

    def _settled(self, *, stay: bool) -> bool:
        return all(view.settled and not (stay and view.condition == "Stalled") for view in self.views())


def _ending(view: StatusView) -> Text:
    text = Text(f"{view.cluster}  ", style="bold") + output.state(view.condition)
    if view.condition not in ("Ready", "Gone") and view.msg:
        text.append(output.clean(f"  {view.msg} ({view.reason})"))
    return text
