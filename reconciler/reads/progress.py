"""How far each stage of a cluster is: counts, since when, what it waits for, and how long that mostly takes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from reconciler.reads.inventories import ThingView
from reconciler.reads.parts import View
from reconciler.reads.statuses import StageView, StatusView
from schemas.journal import StageState

MOST_NAMED = 20  # things a stage waits for that are named
_OVER = (StageState.READY.value,)

# Seconds, least and most, as AWS documents them or people measured them; nothing is said of what nobody has told.
# Capacity has no expected time: nobody can tell when machines become free.
EXPECTED: Final[dict[str, tuple[int, int]]] = {
    "eks.Cluster": (480, 720),
    "eks.Addon": (60, 180),
    "hyperpod.Cluster": (600, 1200),
    "hyperpod.InstanceGroup": (600, 1200),
    "ec2.NatGateway": (60, 180),
}
DEEP_CHECK: Final = (3600, 7200)
NO_TELLING: Final = frozenset({"CapacityPending", "MinimumReached"})
DELETING: Final[dict[str, tuple[int, int]]] = {"eks.Cluster": (480, 720), "hyperpod.Cluster": (600, 1200)}


class WaitView(View):
    """One thing that a stage waits for, and why it is not there yet. `held`: a person's word is missing."""

    key: str
    name: str
    reason: str = ""
    message: str = ""
    progress: str | None = None
    held: bool = False


class ExpectedView(View):
    """How many seconds this mostly takes, from `since` of the stage: `least` to `most`. `of`: the slowest thing."""

    least: int
    most: int
    of: str


class ProgressView(View):
    """A stage with how far it is. `done` of `all`: nodes in compute, things in other stages; null: not counted.
    `expected` null: it is over, or nobody can tell."""

    stage: str
    state: str
    reason: str = ""
    message: str = ""
    since: str = ""
    done: int | None = None
    all: int | None = None
    waits_for: tuple[WaitView, ...] = ()
    expected: ExpectedView | None = None


def of_status(status: StatusView, things: Sequence[ThingView]) -> tuple[ProgressView, ...]:
    """`things`: from the newest look."""
    return tuple(_stage(stage, [t for t in things if t.stage == stage.stage]) for stage in status.stages)


def _stage(stage: StageView, things: Sequence[ThingView]) -> ProgressView:
    done, every = _counts(stage, things)
    waiting = [] if stage.state in _OVER else [thing for thing in things if _is_waited_for(thing)]
    return ProgressView(
        stage=stage.stage,
        state=stage.state,
        reason=stage.reason,
        message=stage.msg,
        since=stage.since,
        done=done,
        all=every,
        waits_for=tuple(_wait(thing) for thing in waiting[:MOST_NAMED]),
        expected=_expected(waiting),
    )


def _counts(stage: StageView, things: Sequence[ThingView]) -> tuple[int | None, int | None]:
    """As of the look; nodes where groups tell them. Without a look what the journal wrote last."""
    nodes = [pair for thing in things if thing.type == "hyperpod.InstanceGroup" and (pair := _pair(thing.progress))]
    if nodes:
        return sum(have for have, _ in nodes), sum(want for _, want in nodes)
    if things:
        return sum(1 for thing in things if thing.health == "healthy"), len(things)
    return _pair(stage.progress) or (None, None)


def _pair(progress: str | None) -> tuple[int, int] | None:
    have, slash, want = (progress or "").partition("/")
    return (int(have), int(want)) if slash and have.isdigit() and want.isdigit() else None


def _is_waited_for(thing: ThingView) -> bool:
    return thing.health != "healthy" or thing.planned is not None


def _wait(thing: ThingView) -> WaitView:
    return WaitView(
        key=thing.key,
        name=thing.name,
        reason=thing.reason or {"absent": "NotThere", "unknown": "NotSeen"}.get(thing.presence, ""),
        message=thing.message,
        progress=thing.progress,
        held=thing.held,
    )


def _expected(waiting: Iterable[ThingView]) -> ExpectedView | None:
    """Of the slowest thing that is under way; none if one of them waits for what nobody can tell."""
    slowest: ExpectedView | None = None
    for thing in waiting:
        if thing.held or thing.reason in NO_TELLING:
            return None
        if thing.health not in ("progressing", "deleting"):
            continue
        known = DELETING if thing.health == "deleting" else EXPECTED
        times = DEEP_CHECK if thing.reason == "DeepHealthCheck" else known.get(thing.type)
        if times is not None and (slowest is None or times[1] > slowest.most):
            slowest = ExpectedView(least=times[0], most=times[1], of=thing.key)
    return slowest
