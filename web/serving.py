"""serve: the loop as a service, until it is told to stop."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from reconciler.cli import output
from reconciler.cli.render.statuses import line_of
from reconciler.cli.setup import AsJson, setup_of
from reconciler.reads.journals import Tail

if TYPE_CHECKING:
    from reconciler.engine.tick import Engine, Result


def add_to(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(context: typer.Context, as_json: AsJson = False) -> None:
    """Reconcile as a service. Until SIGTERM or Ctrl-C; one line per event, with --json one document at the end."""
    from reconciler.engine.loop import Loop

    setup = setup_of(context)
    settings = setup.settings()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s", stream=sys.stderr)
    with setup.engine() as engine, stop_signal() as stopping:
        teller = Teller(engine, quiet=as_json)
        loop = Loop(engine, rate=settings.rate, on_tick=teller.tell)
        if not as_json:
            output.lines(
                [f"Serving {settings.repository}, branch {settings.branch}, looking every {settings.poll:g} s."]
            )
        loop.start()
        stopping.wait()
        if not as_json:
            output.lines(["Stopping: the running tick ends first."])
        loop.stop()
    if as_json:
        output.document({"ticks": teller.ticks, "sent": teller.sent, "lines": teller.lines, "crashes": loop.crashes})
    else:
        output.lines(["Stopped. Nothing is lost: the journal has everything."])


class Teller:
    """Prints what each tick brought: new journal lines, and a problem once while it lasts."""

    def __init__(self, engine: Engine, *, quiet: bool) -> None:
        self._tail = Tail(engine.repo)
        self._quiet = quiet
        self._problem: str | None = None
        self.ticks = self.sent = self.lines = 0

    def tell(self, result: Result) -> None:
        self.ticks += 1
        self.sent += result.sent
        self.lines += result.lines
        if self._quiet:
            return
        problem = result.problem or "; ".join(f"{name}: {why}" for name, why in sorted(result.problems.items())) or None
        if problem != self._problem:
            output.note(problem or "It works again.")
            self._problem = problem
        output.lines(line_of(cluster, line) for cluster, line in self._tail.new())
        sys.stdout.flush()


@contextmanager
def stop_signal() -> Generator[threading.Event]:
    """An event that SIGTERM and SIGINT set."""
    stopping = threading.Event()

    def stop(_signal: int, _frame: object) -> None:
        stopping.set()

    before = {name: signal.signal(name, stop) for name in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stopping
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
