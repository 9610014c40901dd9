"""demo: a cluster's life from the first commit on, against the sandbox. Needs no AWS account."""

from __future__ import annotations

import dataclasses
import logging
import signal
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from reconciler.cli import output
from reconciler.cli.setup import AsJson
from web.sandbox import KubernetesOption, must_have_sandbox

if TYPE_CHECKING:
    from web.demo.play import Stage


def add_to(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(
    once: Annotated[bool, typer.Option("--once", help="End when the scenes are over.")] = False,
    rate: Annotated[float, typer.Option(min=1, max=2000, help="Simulated seconds per second.")] = 60.0,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the repository where it is at the end.")] = False,
    kubernetes: KubernetesOption = "simulated",
    as_json: AsJson = False,
) -> None:
    """Show it all without an AWS account. Make a cluster, let an agent propose to scale it, ask for the impossible."""
    from web.demo import show
    from web.demo.play import house, play
    from web.demo.world import pointed_at, sandbox
    from web.settings import PORT

    must_have_sandbox()
    for name in (signal.SIGTERM, signal.SIGHUP):  # so that the sandbox is ended in every case, a closed terminal too
        signal.signal(name, _interrupt)
    logging.basicConfig(level=logging.ERROR, format="%(asctime)s %(name)s %(message)s", stream=sys.stderr)
    if not as_json:
        output.lines(["Starting a simulated AWS account ..."])
    with (
        sandbox(rate, kubernetes) as world,
        pointed_at(world),
        house(world, keep=keep, port=0 if as_json else PORT) as stage,
    ):
        if not as_json:
            output.lines(show.beginning(stage))
        with show.watching(stage, quiet=as_json) as (tell, watch):
            outcome = play(stage, tell, watch)
        if as_json:
            output.document({"ok": not outcome.failed, "rate": rate, **dataclasses.asdict(outcome)})
        else:
            output.lines(show.ending(stage, outcome))
        if not once and not as_json:
            _stay(stage)
        if keep and not as_json:
            output.lines([f"Kept: {stage.folder}"])
    raise typer.Exit(1 if outcome.failed else 0)


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _stay(stage: Stage) -> None:
    from web.demo import show

    output.lines(show.how_to_play(stage))
    try:
        with show.watching(stage, quiet=False) as (_, watch):
            while True:
                watch()
                time.sleep(0.2)
    except KeyboardInterrupt:
        output.lines(["", "Stopping."])
