"""The demo on a screen: a moving picture on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from rich.console import Group
from rich.live import Live
from rich.text import Text

from reconciler.cli import output
from reconciler.cli.render import logs
from reconciler.cli.render.statuses import line_of, one
from reconciler.reads import journals, statuses
from reconciler.reads.journals import Tail
from web.access.links import link
from web.demo.documents import CLUSTER
from web.demo.people import PERSON
from web.demo.play import Outcome, Stage, Tell, Watch

_SHOWN_LINES = 8
_PAUSE = 0.2


@contextmanager
def watching(stage: Stage, *, quiet: bool) -> Generator[tuple[Tell, Watch]]:
    """(tell, watch) for `play`."""
    if quiet:
        yield (lambda _text: None), (lambda: None)
        return
    console = output.console()
    tail = Tail(stage.repo)
    if not console.is_terminal:
        yield (
            (lambda text: output.lines([text])),
            (lambda: output.lines(line_of(cluster, line) for cluster, line in tail.new())),
        )
        return
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        picture = _Picture(stage, tail, live)
        yield picture.tell, picture.draw


class _Picture:
    """Stages, what is under way, the newest sentences, and the time that has passed on both clocks."""

    def __init__(self, stage: Stage, tail: Tail, live: Live) -> None:
        self._stage, self._tail, self._live = stage, tail, live
        self._said: deque[Text] = deque(maxlen=_SHOWN_LINES)
        self._began = time.monotonic()
        self._next = 0.0

    def tell(self, text: str) -> None:
        self._live.console.print(Text(text, style="bold"))

    def draw(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _PAUSE
        self._said.extend(line_of(cluster, line) for cluster, line in self._tail.new())
        real = now - self._began
        passed = Text(f"  {real:.0f} s here, {real * self._stage.world.rate / 60:.0f} min there", style="dim")
        view = statuses.status(self._stage.repo, CLUSTER)
        self._live.update(Group(*one(view), passed, Text(""), *self._said))


def beginning(stage: Stage) -> list[str]:
    return [
        f"A simulated AWS at {stage.world.endpoint}, {stage.world.rate:g} times as fast as the real one.",
        f"A config repository in {stage.repository} with one cluster, {CLUSTER}.",
        f"To watch it in a browser, within ten minutes: {_door(stage)}",
        "",
    ]


def _door(stage: Stage) -> str:
    return link(stage.service.base, stage.service.house.access.links.make(name=PERSON))


def ending(stage: Stage, outcome: Outcome) -> Iterator[Text | str]:
    yield ""
    yield Text("What the repository itself says, in its git notes (instantstart log):", style="bold")
    yield from logs.history(journals.history(stage.repo, CLUSTER, limit=4))
    yield ""
    yield Text("Scenes", style="bold")
    yield from output.columns(
        [
            [name, output.state(outcome.conditions.get(name, "")), f"{outcome.seconds.get(name, 0.0):g} s simulated"]
            for name in outcome.conditions
        ],
        indent=2,
    )
    yield f"  refused: {outcome.refusal}"
    yield ""
    yield (
        f"{outcome.requests} requests, {outcome.mutations} of them changes, each with its intent in the journal first; "
        f"{len(outcome.duplicates)} done twice; {outcome.journal_lines} journal lines; {outcome.real_seconds:g} s here."
    )
    for text in outcome.failed:
        yield Text(f"Not as it should be: {output.clean(text)}", style="bold red")


def how_to_play(stage: Stage) -> Iterator[str]:
    yield ""
    yield f"It goes on until Ctrl-C. In a browser, within ten minutes: {_door(stage)}"
    yield "Or play with it in another terminal:"
    ours = {**stage.environment, "INSTANTSTART_REPOSITORY": str(stage.repository)}
    yield f"  . {sys.prefix}/bin/activate"
    for name, value in {**stage.world.environment(), **ours}.items():
        yield f"  export {name}={value}"
    yield ""
    yield f"  $EDITOR {stage.repository}/clusters/{CLUSTER}/groups.yaml   # then git commit"
    yield f"  instantstart log {CLUSTER}"
    yield f"  instantstart status {CLUSTER} --watch"
    yield f"  instantstart kubeconfig {CLUSTER} --write {stage.folder}/kubeconfig"
    yield f"  kubectl --kubeconfig {stage.folder}/kubeconfig get nodes"
    yield f"  aws sagemaker list-cluster-nodes --cluster-name {CLUSTER}"
    yield ""
