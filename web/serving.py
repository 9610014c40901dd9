"""serve: loop and API as a service, until it is told to stop."""

from __future__ import annotations

import dataclasses
import logging
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from reconciler.cli import output
from reconciler.cli.render.statuses import line_of
from reconciler.cli.setup import AsJson, setup_of
from reconciler.config_repo.person import person
from schemas.errors import InvalidInput, Unavailable
from web.settings import from_env

if TYPE_CHECKING:
    from reconciler.engine.tick import Result
    from web.events.watch import Line
    from web.service import Service

BindOption = Annotated[str | None, typer.Option("--bind", help="The address to listen on. INSTANTSTART_BIND.")]
PortOption = Annotated[
    int | None, typer.Option("--port", min=0, max=65535, help="The port; 0: any free one. INSTANTSTART_PORT.")
]


def add_to(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(context: typer.Context, bind: BindOption = None, port: PortOption = None, as_json: AsJson = False) -> None:
    """Reconcile and serve the API. Until SIGTERM or Ctrl-C; one line per event, with --json one document at the end."""
    from web.service import Service

    setup = setup_of(context)
    settings = setup.settings()
    web = from_env()
    web = dataclasses.replace(web, bind=bind or web.bind, port=web.port if port is None else port)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s", stream=sys.stderr)
    with setup.engine() as engine, stop_signal() as stopping:
        teller = Teller(quiet=as_json)
        service = Service(engine, settings, web, on_tick=teller.tell, on_lines=teller.show)
        service.start()
        try:
            _greet(service, settings.repository, settings.branch, settings.poll, as_json)
            while not stopping.wait(1.0):
                if not service.alive:
                    raise Unavailable("the HTTP server has ended by itself; the log says why", reason="NoServer")
        finally:
            if not as_json:
                output.lines(["Stopping: the running tick ends first."])
            service.stop()
        crashes = service.loop.crashes
    if as_json:
        output.document({"ticks": teller.ticks, "sent": teller.sent, "lines": teller.lines, "crashes": crashes})
    else:
        output.lines(["Stopped. Nothing is lost: the journal has everything."])


def _greet(service: Service, repository: str, branch: str, poll: float, as_json: bool) -> None:
    if not as_json:
        output.lines([f"Serving {repository}, branch {branch}, looking every {poll:g} s, on {service.base}."])
    if service.house.access.is_new():
        _first_link(service, repository)
    sys.stdout.flush()


def _first_link(service: Service, repository: str) -> None:
    """Nobody can come in yet: the person at this machine can, once. Said on stderr, beside a document on stdout."""
    from web.access.links import link

    try:
        email = person(repository)[1]
    except InvalidInput:
        output.note("Nobody can log in yet: run instantstart login-link --for you@example.com")
        return
    code = service.house.access.links.make(name=email)
    output.note(f"Log in as {email}, once, within ten minutes: {link(service.base, code)}")


class Teller:
    """Prints what each tick brought: new journal lines, and a problem once while it lasts."""

    def __init__(self, *, quiet: bool) -> None:
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
        for note in result.notes:
            output.note(note)

    def show(self, found: Sequence[Line]) -> None:
        if not self._quiet:
            output.lines(line_of(cluster, line) for cluster, line in found)
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
