"""Answers that may be a moment old: readers that come together wait for one answer, and it is kept while it is true."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")
log = logging.getLogger(__name__)
FAILURE = 2.0  # real seconds for which an error is kept: a cloud that does not answer is not asked by everybody in turn


@dataclass
class _Slot(Generic[T]):
    lock: threading.Lock = field(default_factory=threading.Lock)
    made: float = float("-inf")
    hard: object = None
    soft: object = None
    answer: list[T] = field(default_factory=list[T])
    error: Exception | None = None
    users: int = 0
    renewing: bool = False


class Kept(Generic[T]):
    """Answers by key; thread-safe. `seconds`: how long an answer is kept at most, `least`: how long it is kept though
    its soft mark moved (what changes many times a second is shown as it was a moment ago). With `pool` an answer that
    is old, but not older than `stale`, is given once more while it is renewed there. Real seconds."""

    def __init__(
        self,
        seconds: float,
        *,
        least: float = 0.0,
        most: int = 500,
        stale: float = 0.0,
        pool: Executor | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds, self._least, self._most, self._now = seconds, least, most, now
        self._stale, self._pool = stale, pool
        self._lock = threading.Lock()
        self._slots: OrderedDict[Hashable, _Slot[T]] = OrderedDict()

    def get(self, key: Hashable, ask: Callable[[], T], *, hard: object = None, soft: object = None) -> T:
        """The answer to `ask`, or the error it raised. It is asked anew when `hard` is another than it was."""
        slot = self._slot(key)
        try:
            known = slot.answer
            if self._pool is not None and known and slot.hard == hard and self._now() - slot.made < self._stale:
                if self._now() - slot.made >= self._seconds:
                    self._renew(slot, ask)
                return known[0]
            with slot.lock:
                if self._is_old(slot, hard, soft):
                    self._ask(slot, ask)
                    slot.hard, slot.soft = hard, soft
                if slot.error is not None:
                    raise slot.error
                return slot.answer[0]
        finally:
            with self._lock:
                slot.users -= 1

    def forget(self, key: Hashable) -> None:
        with self._lock:
            self._slots.pop(key, None)

    def _renew(self, slot: _Slot[T], ask: Callable[[], T]) -> None:
        """Behind the reader's back. If that fails the old answer stands until it is too old to be given."""
        with self._lock:
            if slot.renewing:
                return
            slot.renewing = True

        def work() -> None:
            try:
                slot.answer, slot.error, slot.made = [ask()], None, self._now()
            except Exception as error:
                log.info("an answer could not be renewed: %s", error)
            finally:
                slot.renewing = False

        try:
            assert self._pool is not None
            self._pool.submit(work)
        except RuntimeError:  # it was shut down
            slot.renewing = False

    def _is_old(self, slot: _Slot[T], hard: object, soft: object) -> bool:
        age = self._now() - slot.made
        if slot.error is not None:
            return age >= min(FAILURE, self._seconds) or slot.hard != hard
        return age >= self._seconds or slot.hard != hard or (age >= self._least and slot.soft != soft)

    def _ask(self, slot: _Slot[T], ask: Callable[[], T]) -> None:
        try:
            slot.answer, slot.error = [ask()], None
        except Exception as error:
            slot.answer, slot.error = [], error
        slot.made = self._now()

    def _slot(self, key: Hashable) -> _Slot[T]:
        with self._lock:
            slot = self._slots.get(key)
            if slot is None:
                slot = self._slots[key] = _Slot()
            self._slots.move_to_end(key)
            slot.users += 1
            if len(self._slots) > self._most:
                idle = next((name for name, found in self._slots.items() if not found.users), None)
                if idle is not None:
                    del self._slots[idle]
            return slot
