"""The replies that do not end: watches and followed logs, as async generators of chunks."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

from reconciler.sandbox.kubernetes.apiserver import ApiServer
from reconciler.sandbox.kubernetes.errors import ApiError, bad_request, expired
from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.objects import Object, dig, encode, items
from reconciler.sandbox.kubernetes.pod_logs import Line
from reconciler.sandbox.kubernetes.requests import Request
from reconciler.sandbox.kubernetes.selectors import matcher
from reconciler.sandbox.kubernetes.store import DELETED, Event, Stored

DEFAULT_WATCH_SECONDS = 1800.0
BOOKMARK_SECONDS = 30.0


class Wake:
    """An event that both the store and the connection's end can set, from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self.gone = False  # nobody reads any more

    def set(self) -> None:
        self._event.set()

    def set_threadsafe(self) -> None:
        self._loop.call_soon_threadsafe(self._event.set)

    def end(self) -> None:
        self.gone = True
        self._event.set()

    async def wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return
        self._event.clear()


async def watch(
    api: ApiServer, kind: Kind, request: Request, render: Callable[[Stored], bytes], wake: Wake
) -> AsyncIterator[bytes]:
    """Lines of watch events. A revision that is no longer in the log ends the stream with an ERROR 410."""
    query = request.query
    namespace = request.namespace if kind.namespaced else ""
    matches = matcher(kind.plural, query.get("labelSelector", ""), query.get("fieldSelector", ""))

    def wanted(stored: Stored) -> bool:
        if namespace and stored.obj["metadata"].get("namespace") != namespace:
            return False
        return matches is None or matches(stored.obj)

    log = api.store.log(kind.stored)
    log.listeners.add(wake.set)
    try:
        position, first = _start(api, kind, query, log.floor)
        for stored in first:
            if wanted(stored):
                yield _line("ADDED", render(stored))
        if query.get("sendInitialEvents") == "true":
            yield _bookmark(kind, position, {"k8s.io/initial-events-end": "true"})
        end = time.monotonic() + _seconds(query)
        marked = time.monotonic()
        told = api.store.revision  # how far the reader came, as it is told or may think
        bookmarks = query.get("allowWatchBookmarks") in ("true", "1")
        while not wake.gone:
            if position < log.floor:
                yield _line("ERROR", encode(_too_old(position, log.floor).status()))
                return
            events = log.since(position)
            lines = [line for event in events if (line := _event_line(event, wanted, render))]
            position = max(position, api.store.revision)
            if lines:
                yield b"".join(lines)
                told = events[-1].revision
            now = time.monotonic()
            if bookmarks and position > told and (now - marked > BOOKMARK_SECONDS or now >= end):
                marked, told = now, position
                yield _bookmark(kind, position, {})
            if now >= end:
                return
            await wake.wait(min(end - now, BOOKMARK_SECONDS))
    except ApiError as error:
        yield _line("ERROR", encode(error.status()))
    finally:
        log.listeners.discard(wake.set)


def refuse_watch(query: dict[str, str]) -> None:
    """ApiError 422 for what cannot be asked for, before the stream begins."""
    if "sendInitialEvents" in query and query.get("resourceVersionMatch") != "NotOlderThan":
        why = "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        raise ApiError(422, "Invalid", f'ListOptions.meta.k8s.io "" is invalid: {why}')


async def logs(api: ApiServer, request: Request, wake: Wake) -> AsyncIterator[bytes]:
    """A container's lines as text; with `follow` until the pod ends, is gone, or nobody reads."""
    source = log_source(api, request)
    query = request.query
    stamps = query.get("timestamps") == "true"
    stop = api.logs.listen(source, wake.set_threadsafe)
    try:
        lines = api.logs.after(source, 0)
        number = lines[-1].number if lines else 0
        since = _log_since(api, query)
        lines = [line for line in lines if line.time >= since]
        if (tail := query.get("tailLines", "")).isdigit():
            lines = lines[len(lines) - min(int(tail), len(lines)) :]
        if lines:
            yield b"".join(_log_line(line, stamps) for line in lines)
        while query.get("follow") in ("true", "1") and not wake.gone and _still_writes(api, source[0], source[1]):
            await wake.wait(5.0)
            lines = api.logs.after(source, number)
            if lines:
                number = lines[-1].number
                yield b"".join(_log_line(line, stamps) for line in lines)
    finally:
        stop()


def log_source(api: ApiServer, request: Request) -> tuple[str, str, str]:
    """(namespace, pod, container). ApiError 404 without such a pod, 400 without such a container or before it runs."""
    pod = api.get(api.kind("", "pods"), request.namespace, request.name).obj
    names = [each["name"] for field in ("containers", "initContainers") for each in items(pod["spec"], field)]
    container = request.query.get("container", "")
    if not container:
        if len(pod["spec"]["containers"]) > 1:
            text = f"a container name must be specified for pod {request.name}, choose one of: [{' '.join(names)}]"
            raise bad_request(text)
        container = names[0]
    if container not in names:
        raise bad_request(f"container {container} is not valid for pod {request.name}")
    if dig(pod, "status", "phase") == "Pending":
        raise bad_request(f'container "{container}" in pod "{request.name}" is waiting to start: ContainerCreating')
    return request.namespace, request.name, container


def _start(api: ApiServer, kind: Kind, query: dict[str, str], floor: int) -> tuple[int, list[Stored]]:
    """The revision to go on from, and the objects to show first."""
    since = query.get("resourceVersion") or ""
    now = api.store.revision
    if query.get("sendInitialEvents") == "true" or since in ("", "0"):
        if query.get("sendInitialEvents") == "false":
            return now, []
        return now, [stored for _, stored in api.store.sorted(kind.stored)]
    if not since.isdigit():
        raise bad_request(f'resourceVersion: Invalid value: "{since}"')
    if int(since) < floor:
        raise _too_old(int(since), floor)
    if int(since) > now:
        raise ApiError(504, "Timeout", f"Too large resource version: {since}, current: {now}", retryAfterSeconds=1)
    return int(since), []


def _seconds(query: dict[str, str]) -> float:
    wanted = query.get("timeoutSeconds") or ""
    return float(wanted) if wanted.isdigit() and int(wanted) > 0 else DEFAULT_WATCH_SECONDS


def _event_line(event: Event, wanted: Callable[[Stored], bool], render: Callable[[Stored], bytes]) -> bytes:
    """What this watch sees of a write: what leaves the selector is deleted for it, what enters is added."""
    was = event.old is not None and wanted(event.old)
    now = event.type != DELETED and wanted(event.new)
    if now:
        return _line("MODIFIED" if was else "ADDED", render(event.new))
    if was:
        return _line("DELETED", render(event.new))
    return b""


def _line(kind: str, raw: bytes) -> bytes:
    return b'{"type":"' + kind.encode() + b'","object":' + raw + b"}\n"


def _bookmark(kind: Kind, position: int, annotations: dict[str, str]) -> bytes:
    metadata: Object = {"resourceVersion": str(position)}
    if annotations:
        metadata["annotations"] = annotations
    return _line("BOOKMARK", encode({"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata}))


def _too_old(position: int, floor: int) -> ApiError:
    return expired(f"too old resource version: {position} ({floor})")


def _log_since(api: ApiServer, query: dict[str, str]) -> float:
    """Epoch seconds. ApiError 400 for a time that is none."""
    if query.get("sinceSeconds"):
        return api.now() - float(query["sinceSeconds"])
    if not query.get("sinceTime"):
        return 0.0
    try:
        return datetime.fromisoformat(query["sinceTime"]).timestamp()
    except ValueError:
        raise bad_request(f'sinceTime: Invalid value: "{query["sinceTime"]}"') from None


def _log_line(line: Line, stamps: bool) -> bytes:
    """Times have nanoseconds, as those of a container runtime."""
    moment = datetime.fromtimestamp(line.time, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
    text = f"{moment} {line.text}\n" if stamps else f"{line.text}\n"
    return text.encode()


def _still_writes(api: ApiServer, namespace: str, name: str) -> bool:
    pod = api.store.get(("", "pods"), (namespace, name))
    return pod is not None and dig(pod.obj, "status", "phase") not in ("Succeeded", "Failed")
