"""What was used last stays, as long as it is not too much together."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """A map that forgets: what was not used for longest goes first. Thread-safe.

    `most`: what all entries may weigh together. Without weights each entry weighs 1. The newest entry stays, whatever
    it weighs."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._weight = 0

    def get(self, key: K) -> V | None:
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                return None
            self._entries.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, weight: int = 1) -> None:
        with self._lock:
            self._drop(key)
            self._entries[key] = value, weight
            self._weight += weight
            while self._weight > self._most and len(self._entries) > 1:
                self._drop(next(iter(self._entries)))

    def forget(self, is_gone: Callable[[K], bool]) -> None:
        """Let go of the entries of these keys."""
        with self._lock:
            for key in [key for key in self._entries if is_gone(key)]:
                self._drop(key)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def weight(self) -> int:
        return self._weight

    def _drop(self, key: K) -> None:
        _, weight = self._entries.pop(key, (None, 0))
        self._weight -= weight
