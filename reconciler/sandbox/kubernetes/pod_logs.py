"""The lines that containers wrote, and readers that follow them. Appending is safe from any thread."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

MAX_LINES = 100_000  # of one container; older ones are rotated away

Source: TypeAlias = tuple[str, str, str]  # namespace, pod, container


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    time: float
    text: str


class PodLogs:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[Source, list[Line]] = {}
        self._written: dict[Source, int] = defaultdict(int)
        self._listeners: dict[Source, set[Callable[[], None]]] = defaultdict(set)

    def append(self, namespace: str, pod: str, container: str, line: str, *, at: float | None = None) -> None:
        """One line as the container wrote it, without its line end."""
        source = (namespace, pod, container)
        with self._lock:
            self._written[source] += 1
            lines = self._lines.setdefault(source, [])
            lines.append(Line(self._written[source], time.time() if at is None else at, line))
            if len(lines) > MAX_LINES:
                del lines[: MAX_LINES // 10]
            listeners = list(self._listeners[source])
        for listener in listeners:
            listener()

    def after(self, source: Source, number: int) -> list[Line]:
        """Lines with a higher number, oldest first."""
        with self._lock:
            lines = self._lines.get(source, [])
            if not lines or lines[-1].number <= number:
                return []
            start = max(0, number - lines[0].number + 1)
            return lines[start:]

    def forget(self, namespace: str, pod: str) -> None:
        """The pod is gone, and its logs with it. Followers wake and see the end."""
        with self._lock:
            sources = {source for source in [*self._lines, *self._listeners] if source[:2] == (namespace, pod)}
            listeners = [listener for source in sources for listener in self._listeners.get(source, ())]
            for source in sources:
                self._lines.pop(source, None)
                self._written.pop(source, None)
        for listener in listeners:
            listener()

    def listen(self, source: Source, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls `listener` on every line until the returned function is called."""
        with self._lock:
            self._listeners[source].add(listener)

        def stop() -> None:
            with self._lock:
                self._listeners[source].discard(listener)
                if not self._listeners[source]:
                    del self._listeners[source]

        return stop
