"""Every request, and the effects that were real.

The log can be joined with the product's journal by the op id in the user agent. Effects are counted by identity: two
live things with the same mark, or one op that did a once-only act twice, is a duplicate.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass

from reconciler.sandbox.aws.calls import Call, Effect, Json, is_mutating, mutates, op_of

_KEPT = 200_000
_ONCE = ("rebooted", "replaced")


@dataclass(frozen=True, kw_only=True)
class Marked:
    """A live object with our tags, as the duplicate check sees it."""

    kind: str
    identity: str
    cluster: str
    key: str


class RequestLog:
    def __init__(self) -> None:
        self._entries: deque[Json] = deque(maxlen=_KEPT)
        self._effects: list[tuple[str | None, Effect]] = []
        self._seq = itertools.count(1)
        self._lock = threading.Lock()

    def aws(self, call: Call, *, at: float, status: int, error: str | None, fault: str | None) -> None:
        self._add(
            Json(
                at=at,
                service=call.service,
                operation=call.operation,
                account=call.account,
                region=call.region,
                op=call.op,
                userAgent=call.user_agent,
                status=status,
                error=error,
                fault=fault,
                mutating=is_mutating(call.operation),
                effect="; ".join(map(str, call.effects)) or None,
            ),
            call.effects,
        )

    def kubernetes(
        self,
        *,
        at: float,
        cluster: str,
        operation: str,
        path: str,
        user_agent: str,
        status: int,
        fault: str | None,
        effects: list[Effect],
    ) -> None:
        """`operation` is the Kubernetes verb and kind, "patch nodes" for example."""
        self._add(
            Json(
                at=at,
                service="kubernetes",
                operation=operation,
                account=None,
                region=None,
                cluster=cluster,
                path=path,
                op=op_of(user_agent),
                userAgent=user_agent,
                status=status,
                error=None if status < 400 else str(status),
                fault=fault,
                mutating=mutates("kubernetes", operation),
                effect="; ".join(map(str, effects)) or None,
            ),
            effects,
        )

    def since(self, seq: int) -> list[Json]:
        with self._lock:
            return [entry for entry in self._entries if entry["seq"] > seq]

    def summary(self, live: Iterable[Marked]) -> Json:
        """Effects by kind, and the duplicates among what is alive and what was done."""
        with self._lock:
            effects = list(self._effects)
        kinds = Counter(f"{effect.verb} {effect.kind}" for _, effect in effects)
        return {"count": len(effects), "byKind": dict(kinds), "duplicates": [*_same_mark(live), *_done_twice(effects)]}

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._effects.clear()

    def _add(self, entry: Json, effects: list[Effect]) -> None:
        with self._lock:
            self._entries.append({"seq": next(self._seq), **entry})
            self._effects += [(entry["op"], effect) for effect in effects]


def _same_mark(live: Iterable[Marked]) -> list[Json]:
    seen: dict[tuple[str, str, str], list[str]] = {}
    for thing in live:
        seen.setdefault((thing.kind, thing.cluster, thing.key), []).append(thing.identity)
    return [
        {"why": "same mark alive twice", "kind": kind, "cluster": cluster, "key": key, "identities": sorted(found)}
        for (kind, cluster, key), found in seen.items()
        if len(found) > 1
    ]


def _done_twice(effects: list[tuple[str | None, Effect]]) -> list[Json]:
    done = Counter((op, e.verb, e.kind, e.identity) for op, e in effects if op and e.verb in _ONCE)
    made: dict[tuple[str, str, str], set[str]] = {}
    for op, effect in effects:
        if op and effect.verb == "created":
            made.setdefault((op, effect.kind, effect.detail), set()).add(effect.identity)
    twice: list[Json] = [
        {"why": "done twice by one op", "op": op, "verb": verb, "kind": kind, "identities": [identity], "times": times}
        for (op, verb, kind, identity), times in done.items()
        if times > 1
    ]
    return twice + [
        {"why": "one op made two", "op": op, "kind": kind, "detail": detail, "identities": sorted(found)}
        for (op, kind, detail), found in made.items()
        if detail and len(found) > 1
    ]
