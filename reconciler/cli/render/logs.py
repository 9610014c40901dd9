"""The journal in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.text import Text

from reconciler.cli.output import clean, clock, minute, short, state
from reconciler.reads.journals import LineView, RevisionView


def history(views: Iterable[RevisionView]) -> Iterator[Text]:
    first = True
    for view in views:
        if not first:
            yield Text("")
        first = False
        yield from _revision(view)


def _revision(view: RevisionView) -> Iterator[Text]:
    title = Text(view.cluster, style="bold") + Text(f"  {short(view.revision)}  ", style="yellow")
    title.append_text(state(view.condition))
    if view.reason == "WasReady":
        title.append(" (was Ready)", style="dim")
    title.append(clean(f"  {view.subject}"))
    yield title
    if view.author:
        yield Text(clean(f"  {view.author} <{view.email}>, {minute(view.committed)}"), style="dim")
    day = ""
    for line in view.lines:
        if line.at[:10] != day:
            day = line.at[:10]
            yield Text(f"  {day}", style="dim")
        yield Text(f"    {clock(line.at)}  ", style="dim") + Text(clean(_said(line)))


def _said(line: LineView) -> str:
    rewritten = line.t == "rollout" and line.raw.get("rewritten") is True
    return f"{line.say} (the branch's history was rewritten)" if rewritten else line.say
