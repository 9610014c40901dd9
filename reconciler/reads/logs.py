"""Logs of pods: read in pages, or followed as they are written. No line is given twice and none is left out, also over
a lost connection; nothing is held but what was not given yet."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Literal

from pydantic import Field

from reconciler.live.errors import CallRejected
from reconciler.live.errors import NotFound as NotThere
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.log_stream import LogStream
from reconciler.reads import trimmed
from reconciler.reads.log_text import Cleaner, Line, stamped
from reconciler.reads.parts import View
from reconciler.reads.trimmed import ContainerFacts, PodFacts
from schemas.errors import InstantStartError, InvalidInput, RetryLater, Unavailable

POD: Final = Gvk("v1", "Pod")
MOST_SCANNED: Final = 200_000  # lines that one page looks at
LONGEST_SCAN: Final = 10.0  # real seconds
SILENCE: Final = 300.0  # real seconds without a line after which a connection is made anew
WAITING: Final = 2.0  # real seconds between two looks at a container that does not run
AGAIN: Final = 0.2
LONGEST_PAUSE: Final = 15.0
BATCH: Final = 1000  # lines of one frame
_SEPARATOR: Final = "#"


class LogLine(View):
    """`at`: when it was written, RFC 3339 with nanoseconds. `text` is data that a program wrote."""

    at: str
    text: str


class LogPage(View):
    """Lines, oldest first. `cursor`: what comes behind them; always there, since more may be written. `more`: there is
    more to read now. `container`: whose lines they are. `data`: always "untrusted": what a program wrote, no word of
    this service."""

    items: tuple[LogLine, ...]
    cursor: str
    more: bool
    container: str
    data: Literal["untrusted"] = "untrusted"


class Frame(View):
    """One message of a followed log.

    lines      `lines`, each once, and the `cursor` behind them; none of them: what was `waiting` or `lost` goes on,
               or nothing of what was looked at since the frame before fits the search
    waiting    the container has not begun (`reason`)
    restarted  it ended and began anew; the lines that follow are of the new one
    lost       the connection is gone and will be made anew (`reason`, `message`)
    end        nothing more comes: it ended (`reason`, `exit_code`), or the pod is gone
    slow       the reader takes less than is written for too long; begin anew with `cursor`
    """

    kind: Literal["lines", "waiting", "restarted", "lost", "end", "slow"]
    lines: tuple[LogLine, ...] = ()
    cursor: str = ""
    container: str = ""
    reason: str = ""
    message: str = ""
    exit_code: int | None = None
    data: Literal["untrusted"] = Field(default="untrusted")


@dataclass(frozen=True, slots=True)
class Place:
    """Behind which line a reader stands: the time of the last line, and how many of that very time were given."""

    at: str = ""
    count: int = 0

    def past(self, at: str) -> Place:
        """After one more line of this time; a line without a time stands where the one before it does."""
        if not at or at <= self.at:
            return self if at < self.at else Place(self.at, self.count + 1)
        return Place(at, 1)

    @property
    def since(self) -> str | None:
        """What the server is asked for: it takes whole seconds."""
        return f"{self.at[:19]}Z" if self.at else None

    def __str__(self) -> str:
        return f"{self.at}{_SEPARATOR}{self.count}"


BEGINNING: Final = Place("1970-01-01T00:00:00.000000000Z")


def place(text: str) -> Place:
    """From a cursor, or from a time (RFC 3339). Raises InvalidInput."""
    at, mark, count = text.partition(_SEPARATOR)
    found, _ = stamped(at.encode())
    if mark and found and count.isdigit():
        return Place(found, int(count))
    if not mark and at:
        try:
            moment = datetime.fromisoformat(at)
        except ValueError:
            moment = None
        if moment is not None and moment.tzinfo is not None:
            utc = moment.astimezone(UTC)
            return Place(f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond:06d}000Z")
    raise InvalidInput("since: expected a cursor that a log has given, or a time with its zone", reason="BadCursor")


def page(
    kube: KubeCluster,
    namespace: str,
    name: str,
    *,
    container: str | None,
    since: Place | None,
    tail: int,
    limit: int,
    search: str,
    previous: bool,
) -> LogPage:
    """With `since` the lines behind it; without, the last `tail` ones. Raises the errors of `live.errors`,
    InvalidInput for a container that is none, Unavailable for one that has not begun."""
    pod = trimmed.pod(kube.get(POD, namespace, name))
    chosen = _container(pod, container)
    if chosen.state == "waiting" and not previous and not chosen.restarts:
        why = f"container {chosen.name} has not begun: {chosen.reason or pod.phase}"
        raise Unavailable(why, reason="ContainerWaiting")
    at, found, more = since or BEGINNING, list[Line](), False
    end = time.monotonic() + LONGEST_SCAN
    scanned = 0
    ask = partial(kube.log_stream, namespace, name, chosen.name, previous=previous)
    start = _first_of(ask(tail=tail)) if since is None else None
    with ask(since=_second(since, start)) as stream:
        for lines, after in _fresh(stream, since, Cleaner(), start):
            for line, there in zip(lines, after, strict=True):
                if len(found) == limit:
                    more = True
                    break
                at = there
                if _fits(line, search):
                    found.append(line)
            scanned += len(lines)
            more = more or scanned >= MOST_SCANNED or time.monotonic() >= end
            if more:
                break
    if stream.broken and not more:
        raise RetryLater("the log broke off while it was read", reason="ConnectionLost")
    shown = tuple(LogLine(at=line.at, text=line.text) for line in found)
    return LogPage(items=shown, cursor=str(at), more=more, container=chosen.name)


class Tail:
    """A log followed. `frames` blocks, so give it a thread; `close` from another one ends it."""

    def __init__(
        self,
        kube: Callable[[], KubeCluster],
        namespace: str,
        name: str,
        *,
        container: str | None = None,
        since: Place | None = None,
        tail: int = 0,
        search: str = "",
        follow: bool = True,
    ) -> None:
        """`kube` is asked anew for every connection. `tail`: lines of the past to begin with, without `since`."""
        self._kube = kube
        self._namespace, self._name, self._container = namespace, name, container
        self._tail, self._search, self._follow = tail, search, follow
        self._at = since
        self._unsaid = 0  # lines that were looked at since the reader was told a cursor
        self._cleaner = Cleaner()
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._wake: Callable[[], None] = lambda: None

    def close(self) -> None:
        self._closed.set()
        with self._lock:
            self._wake()

    def frames(self) -> Iterator[Frame]:
        """Until it ended, or `close`. Raises InvalidInput for a container that is none."""
        before: tuple[PodFacts, ContainerFacts] | None = None
        failures, told = 0, ""
        while not self._closed.is_set():
            try:
                kube = self._kube()
                pod, now = self._look(kube)
                if before is not None and _is_another(before, (pod, now)):
                    yield self._frame("restarted", now, reason=before[1].reason or "Restarted")
                before = pod, now
                if now.state == "waiting" and not now.restarts and not _is_over(pod):
                    raise _NotBegun(now.reason or pod.phase)
                for frame in self._stream(kube, now, is_mended=told != ""):
                    failures, told = 0, ""
                    yield frame
                self._at = self._at or BEGINNING
                reason, now, pause = self._after(kube)
                if reason is not None:
                    yield self._frame("end", now, reason=reason, exit_code=now.exit_code)
                    return
                self._closed.wait(pause)
            except NotThere:
                yield Frame(kind="end", cursor=self.cursor, reason="PodGone", message="the pod is gone")
                return
            except _NotBegun as waits:
                if told != waits.reason:
                    told = waits.reason
                    yield Frame(kind="waiting", cursor=self.cursor, reason=waits.reason)
                self._closed.wait(WAITING)
            except InvalidInput:
                raise
            except InstantStartError as error:
                failures += 1
                if told != error.reason:
                    told = error.reason
                    yield Frame(kind="lost", cursor=self.cursor, reason=error.reason, message=error.message)
                self._closed.wait(min(LONGEST_PAUSE, 0.25 * 2.0 ** min(failures, 8)))

    @property
    def cursor(self) -> str:
        """Behind the last line that was given; "": none was."""
        return "" if self._at is None else str(self._at)

    def _look(self, kube: KubeCluster) -> tuple[PodFacts, ContainerFacts]:
        pod = trimmed.pod(kube.get(POD, self._namespace, self._name))
        return pod, _container(pod, self._container)

    def _stream(self, kube: KubeCluster, now: ContainerFacts, *, is_mended: bool) -> Iterator[Frame]:
        try:
            if self._at is None and self._tail == 0:
                self._at = self._end_of(kube, now)
            since = self._at
            start = _first_of(self._open(kube, now, tail=self._tail)) if since is None else None
            query: dict[str, Any] = {"since": _second(since, start), "follow": self._follow, "silence": SILENCE}
            with self._open(kube, now, **query) as stream:
                if is_mended:
                    yield Frame(kind="lines", cursor=self.cursor, container=now.name)
                for lines, after in _fresh(stream, since, self._cleaner, start):
                    yield from self._frames_of(now, lines, after)
                    if self._closed.is_set():
                        return
        except CallRejected as error:
            if error.status == 400:  # it has not begun, or is between two lives
                raise _NotBegun("ContainerWaiting") from None
            raise

    def _frames_of(self, now: ContainerFacts, lines: list[Line], after: list[Place]) -> Iterator[Frame]:
        for start in range(0, len(lines), BATCH):
            some = lines[start : start + BATCH]
            self._at = after[start : start + BATCH][-1]
            shown = tuple(LogLine(at=line.at, text=line.text) for line in some if _fits(line, self._search))
            self._unsaid += len(some)
            if shown or self._unsaid >= BATCH:  # who searches long comes back behind what was looked at
                self._unsaid = 0
                yield Frame(kind="lines", lines=shown, cursor=self.cursor, container=now.name)

    def _end_of(self, kube: KubeCluster, now: ContainerFacts) -> Place:
        """Where the log ends now: what is written from here on is new."""
        at = BEGINNING
        start = _first_of(self._open(kube, now, tail=1))
        with self._open(kube, now, since=_second(None, start)) as stream:
            for _, after in _fresh(stream, None, Cleaner(), start):
                at = after[-1]
        return at

    def _open(self, kube: KubeCluster, now: ContainerFacts, **query: Any) -> LogStream:
        stream = kube.log_stream(self._namespace, self._name, now.name, **query)
        with self._lock:
            self._wake = stream.wake
            if self._closed.is_set():
                stream.wake()
        return stream

    def _after(self, kube: KubeCluster) -> tuple[str | None, ContainerFacts, float]:
        """Why nothing more comes, or None and how long to wait for more: the server only ended the connection, or the
        container begins anew."""
        pod, now = self._look(kube)
        if not self._follow:
            return "NotFollowed", now, 0.0
        for_good = pod.restarts == "Never" or (pod.restarts == "OnFailure" and now.exit_code == 0) or now.init
        if _is_over(pod) or (now.state == "terminated" and for_good):
            return now.reason or pod.reason or pod.phase, now, 0.0
        return None, now, WAITING if now.state == "terminated" else AGAIN

    def _frame(self, kind: Any, container: ContainerFacts, **more: Any) -> Frame:
        return Frame(kind=kind, cursor=self.cursor, container=container.name, message=container.message, **more)


class _NotBegun(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _first_of(stream: LogStream) -> bytes | None:
    """The first line of the end of a log; None: nothing was written."""
    with stream:
        return next((batch[0] for batch in stream if batch), None)


def _second(since: Place | None, start: bytes | None) -> str | None:
    """From where the server is asked. Of the second in which the end of a log begins all lines are read, so that those
    of one moment are counted whole."""
    if since is not None:
        return since.since
    return Place(stamped(start)[0]).since if start is not None else None


def _fresh(
    batches: Iterable[list[bytes]], since: Place | None, cleaner: Cleaner, start: bytes | None = None
) -> Iterator[tuple[list[Line], list[Place]]]:
    """Lines that were not given before, clean, each with the place behind it. Before the line `start` they are only
    counted."""
    at = since or BEGINNING
    begins = stamped(start)[0] if start is not None else ""
    skip = since.count if since is not None else 0
    for batch in batches:
        pairs: deque[tuple[str, str]] = deque()
        after: list[Place] = []
        for raw in batch:
            stamp, text = stamped(raw)
            if since is not None and stamp and stamp < since.at:
                continue
            if since is not None and stamp == since.at and skip > 0:
                skip -= 1
                continue
            at = at.past(stamp)
            if start is not None and raw != start and stamp <= begins:
                continue
            start = None
            pairs.append((stamp or at.at, text))
            after.append(at)
        if pairs:
            yield cleaner.clean(pairs), after


def _container(pod: PodFacts, wanted: str | None) -> ContainerFacts:
    names = [container.name for container in pod.containers]
    if wanted is None:
        main = [container for container in pod.containers if not container.init]
        if len(main) == 1:
            return main[0]
        raise InvalidInput(f"name one of the containers: {', '.join(names)}", reason="ContainerNeeded")
    for container in pod.containers:
        if container.name == wanted:
            return container
    raise InvalidInput(f"there is no such container; there is: {', '.join(names)}", reason="NoContainer")


def _is_another(before: tuple[PodFacts, ContainerFacts], now: tuple[PodFacts, ContainerFacts]) -> bool:
    return before[0].uid != now[0].uid or before[1].restarts < now[1].restarts


def _is_over(pod: PodFacts) -> bool:
    return pod.phase in trimmed.OVER


def _fits(line: Line, search: str) -> bool:
    return not search or search.casefold() in line.text.casefold()
