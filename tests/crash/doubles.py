"""The engine's own parts, with points before and after what they do: writing, moving refs, pushing, sending."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reconciler.config_repo.objects import NewObject
from reconciler.config_repo.records import NotesAppend, NotesResult, RefUpdate
from reconciler.config_repo.refs import Refs
from reconciler.config_repo.repo import ConfigRepo
from reconciler.resources.handler import Call, Handler, Reply, Settlement, World
from schemas.journal import OpRecord
from schemas.plan import Action
from schemas.resource import Observed, Resource
from tests.crash.points import Points

_SUBJECT = re.compile(r"\S+ of \S+")


class CrashRefs(Refs):
    """`what`: the lines that are on their way, while there are any. After one step is before the next."""

    points: Points | None = None
    what: tuple[str, ...] = ()

    def store(self, objects: Sequence[NewObject]) -> None:
        self._at("journal to write")
        super().store(objects)
        self._at("journal written")

    def _push(self, updates: Sequence[RefUpdate], *more: str) -> dict[str, str | None]:
        verdicts = super()._push(updates, *more)
        self._at("journal pushed")
        return verdicts

    def _move(self, updates: Sequence[RefUpdate]) -> dict[str, str | None]:
        moved = super()._move(updates)
        self._at("journal moved")
        return moved

    def _at(self, kind: str) -> None:
        if self.points is not None and self.what:
            self.points.at(kind, *self.what)


class CrashRepo(ConfigRepo):
    _refs_of = CrashRefs

    @property
    def _watched(self) -> CrashRefs:
        assert isinstance(self._refs, CrashRefs)
        return self._refs

    def watched_by(self, points: Points) -> None:
        self._watched.points = points

    def append_notes(self, batch: Sequence[NotesAppend]) -> dict[str, NotesResult]:
        self._watched.what = tuple(dict.fromkeys(_name_of(text) for item in batch for _, text in item.lines))
        try:
            return super().append_notes(batch)
        finally:
            self._watched.what = ()

    def remove_orders(self, ulids: Sequence[str]) -> None:
        self._watched.what = ("orders",)
        try:
            super().remove_orders(ulids)
        finally:
            self._watched.what = ()


class CrashHandler:
    """A family whose sends have points. `published`: whether the intent of an op is where nobody can lose it."""

    def __init__(self, inner: Handler, points: Points, published: Callable[[str], bool]) -> None:
        self.types = inner.types
        self.looks_after = inner.looks_after
        self._inner = inner
        self._points = points
        self._published = published

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        return self._inner.look(world, wanted)

    def calls(self, world: World, actions: Sequence[Action]) -> Sequence[Call]:
        return self._inner.calls(world, actions)

    def settled(self, world: World, op: OpRecord) -> Settlement:
        return self._inner.settled(world, op)

    def send(self, world: World, call: Call, op: str) -> Reply:
        what = f"{call.verb} {call.key}"
        if not self._published(op):
            self._points.wrong(f"{call.call} of {call.key} left before its intent was published")
        self._points.at("before send", what)
        try:
            with self._points.requests(what, op, helm=call.call.startswith("helm:")):
                return self._inner.send(world, call, op)
        finally:
            self._points.at("after reply", what)


def _name_of(text: str) -> str:
    """A line by what it says about which thing; two that say the same are one point."""
    line: dict[str, Any] = json.loads(text)
    match line["t"]:
        case "op":
            said = _SUBJECT.search(line["say"])
            return f"{line['phase']} {line.get('key') or (said[0] if said else '')}"
        case "stage":
            return f"{line['stage']} {line['state']}"
        case "hold":
            return f"hold {line['key']} {line['state']}"
        case _:
            return str(line["t"])
