"""Where a life may end. A point has a name for ever: scene, kind, and what was being written, sent or asked.

The process that reaches a point decides by itself whether it dies there, with a real SIGKILL: first it notes so in a
book that outlives it. Single HTTP requests are the sandbox's to count: it is told to kill at the next one of an op.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import threading
import urllib.request
import zlib
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HELM_REQUESTS = (1, 2, 8, 16)  # of helm's own: each kill there costs the time a dead helm's lock is respected
OF_EACH_KIND = ("| journal pushed |", "| journal moved |")
_VOLATILE = re.compile(r"\bi-[0-9a-f]{17}\b|\b[0-9A-HJKMNP-TV-Z]{26}\b")


@dataclass(kw_only=True)
class Book:
    """What all lives wrote: points `seen` ever, `met` in this run, those that `killed`, ops of which all requests are
    known (`whole`), `wrong`: rules that a life saw broken."""

    path: Path
    seen: set[str] = field(default_factory=set[str])
    met: set[str] = field(default_factory=set[str])
    killed: set[str] = field(default_factory=set[str])
    whole: set[str] = field(default_factory=set[str])
    wrong: list[str] = field(default_factory=list[str])
    kills: int = 0
    _read: int = 0

    def take_in(self, *, was_killed: bool) -> str | None:
        """Read what the last life added; what it died of, if it did."""
        with self.path.open("rb") as file:
            file.seek(self._read)
            added = file.read()
        self._read += len(added)
        entries = [json.loads(line) for line in added.splitlines()]
        cause: list[str] = []
        armed: list[str] = []
        for entry in entries:
            match entry["t"]:
                case "seen":
                    self.met.update(entry["points"])
                case "kill":
                    cause = entry["points"]
                case "arm":
                    armed = entry["points"]
                case "disarm":
                    armed = []
                    self.met -= set(entry["points"])
                    self.seen -= set(entry["points"])
                    self.whole.update(entry["whole"])
                case _:
                    self.wrong.append(entry["say"])
        self.seen |= self.met
        cause = cause or armed
        if not was_killed:
            return None
        self.kills += 1
        self.killed.update(cause)
        return cause[0] if cause else "nobody knows"

    def left(self, owned: Callable[[str], bool]) -> list[str]:
        """Points of this run at which nobody ever died."""
        return sorted(point for point in self.met - self.killed if owned(point))

    def rare(self, owned: Callable[[str], bool]) -> list[str]:
        """Points of earlier runs that nobody met again: what only a certain moment brings about."""
        return sorted(point for point in self.seen - self.met - self.killed if owned(point))


@dataclass(kw_only=True)
class Points:
    """The points of one life. It dies at the `stride`-th that nobody died at before; 0: at none.

    `owned`: whether this campaign kills there; `faults`: the sandbox's door for requests.
    """

    scene: str
    book: Book
    stride: int
    owned: Callable[[str], bool]
    faults: str
    _passed: int = 0
    _armed: bool = False
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def at(self, kind: str, *whats: str) -> None:
        """A moment of the process itself."""
        names = [self._name(kind, what) for what in whats]
        with self._lock:
            self._note_seen(names)
            if self._is_the_one(names):
                self._write({"t": "kill", "points": names})
                os.kill(os.getpid(), signal.SIGKILL)

    @contextlib.contextmanager
    def requests(self, what: str, op: str, *, helm: bool) -> Generator[None]:
        """While an op is sent: perhaps the sandbox kills at one of its requests. One op at a time is watched."""
        whole = self._name("request", what)
        armed = self._arm(whole, op, helm=helm)
        try:
            yield
        finally:
            if armed is not None:  # there are no more requests than those at which somebody died
                self._ask("DELETE", None)
                with self._lock:
                    self._armed = False
                    self._write({"t": "disarm", "points": [armed], "whole": [whole]})

    def wrong(self, say: str) -> None:
        self._write({"t": "wrong", "say": f"{self.scene}: {say}"})

    def _arm(self, whole: str, op: str, *, helm: bool) -> str | None:
        """Tell the sandbox where to kill; the point's name, or None."""
        with self._lock:
            found = None if self._armed else self._next_request(whole, helm=helm)
            if found is None:
                return None
            number, moment, name = found
            self._note_seen([name])
            if not self._is_the_one([name]):
                return None
            self._armed = True
            self._write({"t": "arm", "points": [name]})
        match: dict[str, Any] = {"mutating": True, "nth": number}
        match |= {"service": "kubernetes", "agent": "Helm/"} if helm else {"op": op}
        victim = -os.getpgrp() if helm else os.getpid()  # helm goes with us, as in a container
        self._ask("POST", {"match": match, "fault": f"kill_{moment}", "pid": victim})
        return name

    def _next_request(self, whole: str, *, helm: bool) -> tuple[int, str, str] | None:
        if self.stride == 0 or whole in self.book.whole:
            return None
        for number in HELM_REQUESTS if helm else range(1, 100):
            for moment in ("before",) if helm else ("before", "after"):
                name = f"{whole} {number} {moment}"
                if name not in self.book.killed:
                    return number, moment, name
        return None

    def _is_the_one(self, names: Iterable[str]) -> bool:
        if self.stride == 0 or not any(n not in self.book.killed and self.owned(n) for n in names):
            return False
        self._passed += 1
        return self._passed >= self.stride

    def _note_seen(self, names: list[str]) -> None:
        fresh = [name for name in names if name not in self.book.met]
        if fresh:
            self.book.met.update(fresh)
            self._write({"t": "seen", "points": fresh})

    def _name(self, kind: str, what: str) -> str:
        return f"{self.scene} | {kind} | {_VOLATILE.sub('*', what)}"

    def _write(self, entry: dict[str, Any]) -> None:
        handle = os.open(self.book.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, json.dumps(entry).encode() + b"\n")
        os.close(handle)

    def _ask(self, method: str, body: Any) -> None:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.faults, data=data, method=method), timeout=120):
            pass


def shared(index: int, of: int, percent: int, seed: int, only: str = "") -> Callable[[str], bool]:
    """Which points are one worker's: moving refs is another matter for each kind of repository, the rest is divided.
    `percent` of them are taken, by a seed, of those that `only` matches."""

    def owned(name: str) -> bool:
        number = zlib.crc32(f"{seed} {name}".encode())
        everybody = any(kind in name for kind in OF_EACH_KIND)
        chosen = number % 100 < percent and re.search(only, name) is not None
        return chosen and (everybody or number // 100 % of == index)

    return owned
