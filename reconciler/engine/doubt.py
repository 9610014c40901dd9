"""Whether the journal knows everything of ours. Where it may not, nothing is deleted and no operation runs until a
person has looked and orders `release CLUSTER journal`; what is surely absent is made, what differs is mended.

Three things raise a doubt: the ref went back or is gone, as this writer knows from what it read before; things of ours
live and the journal begins anew; an op left its tag on a thing and no line tells of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from ulid import ULID

from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.memory import Memory
from reconciler.engine.scope import Scope
from reconciler.journal.fold import JOURNAL
from schemas.journal import ClusterStatus
from schemas.resource import Mark, Observed, Presence

_TOLERANCE = timedelta(seconds=120)  # clocks of two writers may differ a little
_OP = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")  # a ULID


def doubt(scope: Scope) -> str | None:
    """Why the journal cannot be trusted to know everything of ours, or None."""
    status = scope.status
    if is_held(status):
        return status.holds[JOURNAL].msg  # what was written since does not make up for what was lost
    if scope.memory.lost is not None:
        return scope.memory.lost
    ours = [seen for seen in scope.observed.values() if _is_ours(seen)]
    young = status.rev is None or (status.roll <= 1 and not status.ops)
    adopts = scope.desired is not None and scope.desired.adopts
    unheard = [seen for seen in ours if seen.mark is Mark.OURS or not adopts]
    if young and unheard and JOURNAL not in status.approved:
        return f"{min(seen.key for seen in unheard)} is live and ours but the journal knows nothing of it"
    newer = _newest_op(seen.op for seen in ours)
    at = scope.journal_at  # what is written in this tick makes nothing known
    if newer is not None and at and newer[0] > datetime.fromisoformat(at) + _TOLERANCE:
        return f"op {newer[1]} left its tag but its intent is not in the journal"
    return None


def is_held(status: ClusterStatus) -> bool:
    held = status.holds.get(JOURNAL)
    return held is not None and held.state == "held"


def compare(repo: ConfigRepo, memory: Memory) -> None:
    """Whether the journal just read still holds what this writer read or wrote before. What it does not hold is kept
    here, and named, so that a person can put it back."""
    tip, before, fold = memory.tip, memory.confirmed, memory.fold
    if fold.broken is not None:
        if before is not None and before != tip:
            fold.broken = f"{fold.broken} (commit {before} was whole)"
            memory.lost_tip = memory.lost_tip or before
        return
    if _holds(repo, tip, memory.lost_tip):
        memory.lost = memory.lost_tip = None  # somebody put it back
    elif before is not None and not _holds(repo, tip, before):
        memory.lost_tip = before
        gone = "its ref is gone" if tip is None else f"it went back to line {fold.seq}"
        memory.lost = f"the journal lost lines: {gone}; commit {before} is what was there before"
    memory.confirmed = tip
    if is_held(fold.status()):
        memory.lost = None  # it says so itself


def keep(repo: ConfigRepo, memories: Iterable[Memory]) -> None:
    """What this writer must not forget with its process: the newest journal it knows, and one that was lost."""
    known: dict[str, str | None] = {}
    for memory in memories:
        if memory.lost_tip is not None:
            repo.keep_lost(memory.cluster, memory.lost_tip)
        if memory.lost is None and memory.fold.broken is None and not is_held(memory.fold.status()):
            known[memory.cluster] = memory.confirmed
    repo.keep_known(known)


def _holds(repo: ConfigRepo, tip: str | None, earlier: str | None) -> bool:
    return tip is not None and earlier is not None and (tip == earlier or repo.is_ancestor(earlier, tip))


def is_anew(scope: Scope) -> bool:
    """Neither folder nor journal: only history says that there was a cluster of this name."""
    return scope.input is None and scope.status.rev is None


def has_ours(scope: Scope) -> bool:
    return any(_is_ours(seen) for seen in scope.observed.values())


def may_be_there(scope: Scope) -> bool:
    """Not all could be seen, and somebody knows where to look."""
    unseen = scope.blind is not None or any(s.presence is Presence.UNKNOWN for s in scope.observed.values())
    return scope.world is not None and unseen


def _is_ours(seen: Observed) -> bool:
    return seen.present and seen.mark in (Mark.OURS, Mark.ADOPTED)


def _newest_op(ops: Iterable[str | None]) -> tuple[datetime, str] | None:
    """Ids sort by their time as text, so that only one has to be read."""
    newest = max((op for op in ops if op is not None and _OP.fullmatch(op)), default=None)  # tags may be anybody's
    return None if newest is None else (ULID.from_str(newest).datetime, newest)
