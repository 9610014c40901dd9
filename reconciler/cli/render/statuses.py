"""Status in words: one cluster in full, or the fleet as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from reconciler.cli.output import clean, clock, columns, few, minute, short, state
from reconciler.reads.journals import LineView
from reconciler.reads.statuses import FleetView, HoldView, LookView, OpView, StageView, StatusView, WaitingOrderView

_DONE = ("Ready",)
_OTHER_WAYS = ("Suspended", "JournalIncomplete")


def any_status(view: StatusView | FleetView) -> list[Text]:
    return list(one(view) if isinstance(view, StatusView) else fleet(view))


def one(view: StatusView) -> Iterator[Text]:
    """A cluster: the one word first, then why, then the stages, then what a person may have to do."""
    title = Text(f"{view.cluster}  ", style="bold") + state(view.condition)
    if view.reason and view.reason not in (view.condition, "Ready"):
        title.append(f"  {view.reason}")
    yield title
    if view.msg:
        yield Text(clean(f"  {view.msg}"))
    yield from columns(_facts(view), indent=2)
    if view.stages:
        yield Text("")
        yield from columns([_stage(stage) for stage in view.stages], indent=2)
    yield from _held(view)
    yield from _ops("under way", view.open_ops)
    yield from _ops("failed", view.failed_ops if view.condition == "Stalled" else ())
    yield from _next_steps(view)
    yield from _orders(view.orders)
    if view.look is not None:
        yield from _look(view.look)


def fleet(view: FleetView) -> Iterator[Text]:
    if not view.clusters:
        yield Text("No clusters yet: add a folder below clusters/.")
        return
    rows: list[list[Text | str]] = [
        [Text(word, style="bold") for word in ("CLUSTER", "STATE", "REVISION", "SINCE", "WHAT")]
    ]
    for cluster in view.clusters:
        rows.append(
            [
                cluster.cluster,
                state(cluster.condition),
                _revision(cluster),
                minute(cluster.at),
                _what(cluster),
            ]
        )
    yield from columns(rows)


def line_of(cluster: str, line: LineView) -> Text:
    """A journal line as it comes."""
    said = Text(clean(line.say))
    if line.t == "stage":
        said = _coloured(line)
    elif line.raw.get("phase") in ("failed", "unknown") or (line.t == "hold" and line.raw.get("state") == "held"):
        said.stylize("bold red" if line.t == "op" else "yellow")
    return Text(f"{clock(line.at)}  ", style="dim") + Text(f"{cluster}  ", style="bold") + said


def _coloured(line: LineView) -> Text:
    word = str(line.raw.get("state", ""))
    text = Text(f"{line.raw.get('stage', '')} ") + state(word)
    reason = line.raw.get("reason")
    if reason and reason != word:
        text.append(f" ({clean(str(reason))})")
    message = str(line.raw.get("msg", ""))
    if word == "Failed" and message:
        text.append(clean(f": {message}"))
    return text


def _facts(view: StatusView) -> list[list[Text | str]]:
    rows: list[list[Text | str]] = []
    if view.revision is not None:
        rows.append(["revision", f"{short(view.revision)}, taken up {minute(view.started)}"])
    if view.head is not None and view.head != view.revision:
        rows.append(["wanted", f"{short(view.head)}, not taken up yet"])
    if view.last_ready is not None and view.last_ready != view.revision:
        rows.append(["last Ready", short(view.last_ready)])
    if view.at:
        rows.append(["last entry", f"{minute(view.at)} UTC, journal line {view.seq}"])
    return rows


def _stage(stage: StageView) -> list[Text | str]:
    told = stage.msg or (stage.reason if stage.reason != stage.state else "")
    return [
        stage.stage,
        state(stage.state),
        stage.progress or "",
        f"since {clock(stage.since)}" if stage.since else "",
        "" if stage.state in _DONE else clean(told),
    ]


def _held(view: StatusView) -> Iterator[Text]:
    if not view.held:
        return
    yield Text("")
    yield Text("  held", style="bold yellow")
    causes: dict[str, list[str]] = {}
    for hold in view.held:
        causes.setdefault(hold.msg or hold.reason, []).append("the whole cluster" if hold.key == "*" else hold.key)
    for cause, keys in causes.items():
        if len(keys) == 1:
            since = next((f", since {minute(h.since)}" for h in view.held if h.key == keys[0] and _told(h)), "")
            yield Text(clean(f"    {keys[0]}  {cause}{since}"))
            continue
        yield Text(clean(f"    {len(keys)} things: {cause}"))
        yield Text(clean(f"        {few(keys)}"))
    for way in _ways(view):
        yield Text(f"    {way}", style="dim")


def _told(hold: HoldView) -> bool:
    """Holds that are not about one action, and may be old."""
    return hold.reason == "JournalIncomplete" and not hold.action and bool(hold.since)


def _ways(view: StatusView) -> Iterator[str]:
    """What a person can type. That which waits for a commit alone says so in its message."""
    reasons = {hold.reason for hold in view.held}
    if "Suspended" in reasons:
        yield f"to go on: instantstart resume {view.cluster}"
    if "JournalIncomplete" in reasons:
        yield f"to go on as it is: instantstart release {view.cluster} journal --why …"
    if any(hold.action and hold.reason not in _OTHER_WAYS for hold in view.held):
        yield f"to let one pass: instantstart approve {view.cluster} KEY --why …"


def _next_steps(view: StatusView) -> Iterator[Text]:
    """What a person can type about what failed, or what nobody can tell."""
    unknown = [op for op in view.open_ops if op.phase == "unknown"]
    if unknown:
        way = f"instantstart resolve {view.cluster} {unknown[0].op} --as happened|not-happened --why …"
        yield Text(f"    look whether it happened, then: {way}", style="dim")
    if view.condition == "Stalled" and view.failed_ops:
        way = f"instantstart retry {view.cluster} {view.failed_ops[-1].key} --why …"
        yield Text(f"    correct what is wrong in git, or, once the cause is gone: {way}", style="dim")


def _ops(title: str, ops: Sequence[OpView]) -> Iterator[Text]:
    if not ops:
        return
    yield Text("")
    yield Text(f"  {title}", style="bold")
    rows: list[list[Text | str]] = []
    for op in ops:
        told = " ".join(part for part in (op.reason or "", op.msg or "") if part)
        again = f", attempt {op.attempt}" if op.attempt > 1 else ""
        rows.append(
            [op.call, op.key, f"{op.phase} since {clock(op.since)}{again}", clean(told), Text(op.op, style="dim")]
        )
    yield from columns(rows, indent=4)


def _orders(orders: Sequence[WaitingOrderView]) -> Iterator[Text]:
    if not orders:
        return
    yield Text("")
    yield Text("  orders not taken up yet", style="bold")
    yield from columns([[clean(f"{o.do} {o.subject}"), clean(o.by), clean(o.why)] for o in orders], indent=4)


def _look(look: LookView) -> Iterator[Text]:
    yield Text("")
    yield Text(f"  seen {minute(look.at)} UTC", style="bold") + Text(f"  {look.actions} actions to do")
    if look.problem:
        yield Text(clean(f"    {look.problem}"), style="magenta")
    rows: list[list[Text | str]] = []
    for thing in look.resources:
        what = thing.health if thing.presence == "present" else thing.presence
        told = thing.message or thing.reason
        rows.append([thing.key, what, thing.progress or "", clean(told)])
    yield from columns(rows, indent=4)


def _revision(view: StatusView) -> str:
    if view.head is not None and view.head != view.revision:
        return f"{short(view.revision)} → {short(view.head)}"
    return short(view.revision)


def _what(view: StatusView) -> str:
    if view.condition in ("Ready", "Gone"):
        return ""
    return clean(view.msg or view.reason)
