"""A plan in words: by stage, each action with what it costs, what it changes, and what holds it."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from rich.text import Text

from reconciler.cli.output import clean, columns, few, short
from reconciler.reads.differences import DifferenceView
from reconciler.reads.plans import ActionView, FieldChangeView, PlannedHoldView, PlanView, SeenView
from schemas.resource import STAGES

_SIGNS = {
    "create": ("+", "green"),
    "update": ("~", "yellow"),
    "replace": ("±", "bold red"),
    "delete": ("-", "bold red"),
    "run": (">", "yellow"),
    "adopt": ("<", "cyan"),
    "release": ("^", "cyan"),
}
_COSTS = {
    "none": "",
    "inPlace": "in place",
    "rolling": "rolling: what runs is restarted piece by piece",
    "replace": "replaced: what runs there ends",
    "delete": "deleted for good",
    "refused": "refused",
}
_BECAUSE = {
    "git": "",
    "drift": "it was changed outside git",
    "prune": "no document wants it",
    "teardown": "teardown",
    "unmarked": "its mark was taken off",
}
_WIDEST = 100
_CALL = re.compile(r"[a-z0-9-]+:[A-Z][A-Za-z0-9]*")


def plan(view: PlanView, *, details: bool = False) -> Iterator[Text]:
    title = Text(view.cluster, style="bold")
    title.append(f"  {short(view.revision)}  ", style="dim")
    title.append(_counted(view) if view.unplanned is None else "no plan")
    yield title
    yield from _body(view, details=details)
    yield Text("")


def difference(view: DifferenceView, *, details: bool = False) -> Iterator[Text]:
    title = Text(view.cluster, style="bold")
    title.append(f"  {short(view.old)} → {short(view.new)}", style="dim")
    yield title
    if view.documents:
        yield Text("  documents", style="bold")
        signs = {"added": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "bold red")}
        for doc in view.documents:
            sign, style = signs[doc.change]
            yield (
                Text(f"    {sign} ", style=style) + Text(f"{doc.kind}/{doc.name}") + Text(f"  {doc.where}", style="dim")
            )
            yield from _changes(doc.changes)
    yield Text("  what that does to the cluster: ", style="bold") + Text(
        _counted(view.plan) if view.plan.unplanned is None else "cannot be told"
    )
    yield from _body(view.plan, details=details)
    yield Text("")


def summary(views: Sequence[PlanView]) -> Text:
    """The last line: what to do next."""
    if not views:
        return Text("No clusters yet: add a folder below clusters/.")
    bad = [view.cluster for view in views if view.unplanned is not None]
    if bad:
        return Text(f"No plan for {', '.join(bad)}.", style="bold red")
    actions = sum(len(view.actions) for view in views)
    refused = sum(len(view.refusals) for view in views)
    held = sum(len(view.held) for view in views)
    blind = sum(len(view.unknown) for view in views)
    parts = [
        *([f"{_many(actions, 'action')} to do"] if actions else []),
        *([f"{held} of them held"] if held else []),
        *([f"{refused} refused"] if refused else []),
        *([f"{blind} not to be seen now: {_main_cause(views)}"] if blind else []),
    ]
    if not parts:
        return Text("Nothing to do.", style="green")
    return Text(clean(", ".join(parts).rstrip(".") + "."))


def _main_cause(views: Sequence[PlanView]) -> str:
    causes = Counter(_cause(thing)[1] for view in views for thing in view.unknown)
    return causes.most_common(1)[0][0]


def _counted(view: PlanView) -> str:
    parts = [f"{number} to {verb}" for verb, number in view.counts.items()]
    parts += [f"{len(view.refusals)} refused"] if view.refusals else []
    parts += [f"{len(view.held)} held"] if view.held else []
    return ", ".join(parts) or ("cannot be told" if view.unknown else "nothing to do")


def _body(view: PlanView, *, details: bool) -> Iterator[Text]:
    if view.unplanned is not None:
        yield Text(clean(f"  {view.unplanned}"), style="bold red")
    for problem in view.problems:
        yield Text(clean(f"    {problem.text}"))
    order = {stage.value: number for number, stage in enumerate(STAGES)}
    staged = sorted(view.actions, key=lambda action: order[action.stage])
    told = Counter(_told(action.held) for action in staged if action.held is not None)
    common = {held: number for held, number in told.items() if number > 1}
    for stage, actions in itertools.groupby(staged, key=lambda action: action.stage):
        yield Text(f"  {stage}", style="bold")
        yield from _stage(view.cluster, list(actions), common, details=details)
    if common:
        yield Text("  held", style="bold yellow")
    for (reason, message, way), number in common.items():
        yield Text(clean(f"    {reason}, {number} actions: {message}"))
        yield Text(clean(f"        way: {_way(view.cluster, reason, way, 'KEY')}"))
    if view.refusals:
        yield Text("  refused", style="bold red")
        for refusal in view.refusals:
            yield Text(clean(f"    ! {refusal.key}")) + Text(_aside(refusal.document, refusal.where), style="dim")
            yield Text(clean(f"        {refusal.message}"))
            if refusal.way_out:
                yield Text(clean(f"        way out: {refusal.way_out}"))
    if view.findings:
        yield Text("  worth knowing", style="bold")
        for finding in view.findings:
            yield Text(clean(f"    {finding.severity}: {finding.message}")) + Text(f"  {finding.where}", style="dim")
    if view.unmanaged:
        yield Text("  not ours, left alone", style="bold")
        for thing in view.unmanaged:
            yield Text(clean(f"    {thing.message or thing.key}"))
    if view.unknown:
        yield Text("  cannot be seen now, left alone", style="bold magenta")
        yield from _unseen(view.unknown)


def _stage(
    cluster: str, actions: Sequence[ActionView], common: Container[tuple[str, str, str]], *, details: bool
) -> Iterator[Text]:
    """`common`: holds of many actions, which are told once for all of them."""
    heads = columns([_head(action) for action in actions], indent=4)
    for head, action in zip(heads, actions, strict=True):
        yield head
        yield from _changes(action.changes)
        if details and not action.changes and action.want:
            yield from _wanted(action.want)
        for text in action.notes:
            yield Text(clean(f"        {text}"), style="dim")
        if action.held is None:
            continue
        if _told(action.held) in common:
            yield Text("        held: ", style="bold yellow") + Text(clean(action.held.reason))
            continue
        yield Text("        held: ", style="bold yellow") + Text(clean(f"{action.held.message} ({action.held.reason})"))
        yield Text(clean(f"        way: {_way(cluster, action.held.reason, action.held.way, action.digest[:12])}"))


def _head(action: ActionView) -> list[Text | str]:
    sign, style = _SIGNS.get(action.verb, ("?", ""))
    told = [
        text for text in (_COSTS.get(action.cost, action.cost), _BECAUSE.get(action.because, action.because)) if text
    ]
    if action.verb == "create":
        told = []
    return [Text(f"{sign} {action.verb}", style=style), action.key, Text(clean(", ".join(told)), style="dim")]


def _told(held: PlannedHoldView) -> tuple[str, str, str]:
    return held.reason, held.message, held.way


def _way(cluster: str, reason: str, way: str, subject: str) -> str:
    """What to do, with the command where there is one. `subject`: what the order would be about."""
    if reason == "JournalIncomplete":
        return f"{way}: instantstart release {cluster} journal --why …"
    if way == "instantstart resume":
        return f"{way} {cluster}"
    for order in ("approve", "release"):
        command = f"instantstart {order} {cluster} {subject} --why …"
        if way == order:
            return command
        if order in way.split():
            return f"{way}: {command}"
    return way


def _changes(changes: Iterable[FieldChangeView]) -> list[Text]:
    rows: list[list[Text | str]] = []
    for change in changes:
        before = Text(clean(_value(change.before)), style="red")
        after = Text(clean(_value(change.after)), style="green")
        rows.append([change.path.strip("/").replace("/", "."), before + Text(" → ") + after])
    return columns(rows, indent=8)


def _wanted(want: dict[str, Any]) -> list[Text]:
    return columns([[name, _value(value)] for name, value in sorted(want.items())], indent=8)


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _aside(*parts: str) -> str:
    return "  " + " ".join(part for part in parts if part)


def _unseen(things: Iterable[SeenView]) -> Iterator[Text]:
    """By cause: missing credentials or one missing right hide many things, and are said once, the widest first."""
    causes: dict[str, tuple[list[str], list[str]]] = {}  # -> calls that failed so, keys that are not seen
    for thing in things:
        call, cause = _cause(thing)
        calls, keys = causes.setdefault(cause, ([], []))
        keys.append(thing.key)
        if call and call not in calls:
            calls.append(call)
    for cause, (calls, keys) in sorted(causes.items(), key=lambda item: -len(item[1][1])):
        yield Text(clean(f"    {cause}" + (f" ({few(calls)})" if calls else "")))
        yield Text(f"        {few(keys)}", style="dim")
        if "locate credentials" in cause:
            yield Text("        give AWS credentials, with AWS_PROFILE for example")


def _cause(thing: SeenView) -> tuple[str, str]:
    """(call, cause) of `eks:DescribeCluster: Unable to locate credentials`."""
    text = thing.message or thing.reason or "no reason given"
    call, colon, cause = text.partition(": ")
    return (call, cause) if colon and _CALL.fullmatch(call) else ("", text)


def _many(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
