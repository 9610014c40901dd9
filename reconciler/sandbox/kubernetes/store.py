"""etcd's part: objects by collection, one revision counter, and per collection the log that watches read."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from reconciler.sandbox.kubernetes.objects import Object, encode, name_of, namespace_of

Collection: TypeAlias = tuple[str, str]  # group, plural
Key: TypeAlias = tuple[str, str]  # namespace ("" for cluster scope), name

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"


class Stored:
    """An object as stored, with its bytes once somebody asked for them."""

    __slots__ = ("_raw", "obj")

    def __init__(self, obj: Object) -> None:
        self.obj = obj
        self._raw: bytes | None = None

    @property
    def raw(self) -> bytes:
        if self._raw is None:
            self._raw = encode(self.obj)
        return self._raw


@dataclass(frozen=True, slots=True)
class Event:
    """One write. `old` is what was there before, for watches whose selector it leaves or enters."""

    revision: int
    type: str
    new: Stored
    old: Stored | None


class Log:
    """The newest events of one collection; `floor` is the revision of the newest one that is forgotten."""

    def __init__(self, floor: int) -> None:
        self.floor = floor
        self.events: deque[Event] = deque()
        self.listeners: set[Callable[[], None]] = set()

    def since(self, revision: int) -> list[Event]:
        """Events after `revision`, oldest first."""
        found: list[Event] = []
        for event in reversed(self.events):
            if event.revision <= revision:
                break
            found.append(event)
        found.reverse()
        return found


class Store:
    """All objects of one cluster. Not thread-safe: one event loop owns it."""

    def __init__(self, *, window: int = 10_000) -> None:
        self.revision = 100  # not from 1, so that very old revisions can be asked for
        self._window = window
        self._objects: dict[Collection, dict[Key, Stored]] = {}
        self._logs: dict[Collection, Log] = {}
        self._compacted = self.revision

    def get(self, collection: Collection, key: Key) -> Stored | None:
        objects = self._objects.get(collection)
        return None if objects is None else objects.get(key)

    def all(self, collection: Collection) -> Iterator[Stored]:
        return iter(list(self._objects.get(collection, {}).values()))

    def sorted(self, collection: Collection) -> list[tuple[Key, Stored]]:
        return sorted(self._objects.get(collection, {}).items(), key=lambda item: item[0])

    def sorted_at(self, collection: Collection, revision: int) -> list[tuple[Key, Stored]]:
        """What `sorted` answered at that revision, which must not be below the log's floor."""
        objects = dict(self._objects.get(collection, {}))
        for event in reversed(self.log(collection).since(revision)):
            key = (namespace_of(event.new.obj), name_of(event.new.obj))
            if event.old is None:
                objects.pop(key, None)
            else:
                objects[key] = event.old
        return sorted(objects.items(), key=lambda item: item[0])

    def collections(self) -> list[Collection]:
        return [collection for collection, objects in self._objects.items() if objects]

    def put(self, collection: Collection, obj: Object) -> Stored:
        """Store `obj`, which the caller gives away, under a new revision."""
        key = (namespace_of(obj), name_of(obj))
        objects = self._objects.setdefault(collection, {})
        old = objects.get(key)
        stored = self._stamped(obj)
        objects[key] = stored
        self._log(collection, MODIFIED if old else ADDED, stored, old)
        return stored

    def remove(self, collection: Collection, obj: Object) -> Stored:
        """Forget the object; `obj` is its last state."""
        old = self._objects[collection].pop((namespace_of(obj), name_of(obj)))
        stored = self._stamped(obj)
        self._log(collection, DELETED, stored, old)
        return stored

    def log(self, collection: Collection) -> Log:
        log = self._logs.get(collection)
        if log is None:
            log = self._logs[collection] = Log(self._compacted)
        return log

    def compact(self) -> None:
        """Forget all history: whoever watches or pages from before now gets 410."""
        self._compacted = self.revision
        for log in self._logs.values():
            log.floor = self.revision
            log.events.clear()
            _wake(log)

    def forget(self, collection: Collection) -> None:
        """A CRD went: its collection as well."""
        self._objects.pop(collection, None)

    def _stamped(self, obj: Object) -> Stored:
        self.revision += 1
        obj["metadata"]["resourceVersion"] = str(self.revision)
        return Stored(obj)

    def _log(self, collection: Collection, kind: str, new: Stored, old: Stored | None) -> None:
        log = self.log(collection)
        log.events.append(Event(self.revision, kind, new, old))
        if len(log.events) > self._window:
            log.floor = log.events.popleft().revision
        _wake(log)


def _wake(log: Log) -> None:
    for listener in list(log.listeners):
        listener()
