"""Desired objects against a cluster: LIST per kind, then a dry run only where the objects alone do not settle it."""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from reconciler.live.errors import CallRejected, NotFound
from reconciler.live.kube import comparison
from reconciler.live.kube.comparison import Comparison, State
from reconciler.live.kube.kinds import Gvk, ObjectKey, gvk_of, key_of
from schemas.errors import InstantStartError
from schemas.values import JsonObject

if TYPE_CHECKING:
    from reconciler.live.kube.cluster import KubeCluster

FEW = 16  # so many missing objects are asked for one by one; more are looked for in a list without selector
REMEMBERED = 20_000


class Settled:
    """Pairs of desired and live that a dry run found the same, by digest: they need no other. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[ObjectKey, bytes] = {}

    def knows(self, key: ObjectKey, pair: bytes) -> bool:
        return self._seen.get(key) == pair

    def remember(self, key: ObjectKey, pair: bytes) -> None:
        with self._lock:
            if len(self._seen) >= REMEMBERED:
                self._seen.clear()
            self._seen[key] = pair


def compare(
    cluster: KubeCluster,
    desired: Sequence[JsonObject],
    label_selector: str | None,
    manager: str,
    settled: Settled,
) -> list[Comparison]:
    by_kind: defaultdict[Gvk, list[int]] = defaultdict(list)
    for index, body in enumerate(desired):
        by_kind[gvk_of(body)].append(index)

    found: dict[int, Comparison] = {}
    open_questions: list[tuple[int, ObjectKey, JsonObject]] = []

    def look(gvk: Gvk) -> dict[ObjectKey, JsonObject] | InstantStartError:
        try:
            served = cluster.served(gvk)
            keys = [key_of(desired[index], served) for index in by_kind[gvk]]
            return _live_objects(cluster, gvk, keys, label_selector)
        except InstantStartError as error:
            return error

    kinds = list(by_kind)
    for gvk, seen in zip(kinds, cluster.map(look, kinds), strict=True):
        for index in by_kind[gvk]:
            body = desired[index]
            if isinstance(seen, InstantStartError):
                found[index] = _without_look(_plain_key(body), body, seen)
                continue
            key = cluster.key(body)
            live = seen.get(key)
            if live is None:
                found[index] = Comparison(key=key, state=State.ABSENT, patch=tuple(comparison.addition(body)))
            elif comparison.holds(body, live, manager) or settled.knows(key, _pair(body, live)):
                found[index] = _same(key, live, manager)
            else:
                open_questions.append((index, key, live))

    def ask(question: tuple[int, ObjectKey, JsonObject]) -> Comparison:
        index, key, live = question
        return _judged_by_server(cluster, desired[index], key, live, manager, settled)

    for (index, _, _), verdict in zip(open_questions, cluster.map(ask, open_questions), strict=True):
        found[index] = verdict
    return [found[index] for index in range(len(desired))]


def _live_objects(
    cluster: KubeCluster, gvk: Gvk, keys: Sequence[ObjectKey], label_selector: str | None
) -> dict[ObjectKey, JsonObject]:
    """The live ones of these keys. A label that was taken off by hand does not make an object absent."""
    wanted = set(keys)
    namespaces = {key.namespace for key in keys}
    namespace = (next(iter(namespaces)) or None) if len(namespaces) == 1 else None
    seen = _listed(cluster, gvk, wanted, namespace, label_selector)
    missing = [key for key in wanted if key not in seen]
    if not missing or not label_selector:
        return seen
    if len(missing) > FEW:
        seen.update(_listed(cluster, gvk, set(missing), namespace, None))
        return seen
    for key in missing:
        try:
            seen[key] = cluster.get(gvk, key.namespace or None, key.name)
        except NotFound:
            continue
    return seen


def _listed(
    cluster: KubeCluster, gvk: Gvk, wanted: set[ObjectKey], namespace: str | None, label_selector: str | None
) -> dict[ObjectKey, JsonObject]:
    seen: dict[ObjectKey, JsonObject] = {}
    for items, _ in cluster.list_pages(gvk, namespace, label_selector):
        for item in items:
            meta: Mapping[str, Any] = item["metadata"]
            key = ObjectKey(*gvk, str(meta.get("namespace") or ""), str(meta["name"]))
            if key in wanted:
                seen[key] = item
    return seen


def _judged_by_server(
    cluster: KubeCluster, body: JsonObject, key: ObjectKey, live: JsonObject, manager: str, settled: Settled
) -> Comparison:
    try:
        after = cluster.apply_one(body, op="dry-run", field_manager=manager, dry_run=True)
    except CallRejected as error:
        # The server would refuse it: there is a difference, and it says why it cannot be made.
        return Comparison(key=key, state=State.DIFFERS, live=live, reason=error.reason, problem=error.message)
    except InstantStartError as error:
        return Comparison(key=key, state=State.UNKNOWN, live=live, reason=error.reason, problem=error.message)
    patch = comparison.differences(live, after)
    if patch:
        people = tuple(comparison.touched_by_people(live, manager))
        return Comparison(key=key, state=State.DIFFERS, patch=tuple(patch), live=live, unmanaged=people)
    settled.remember(key, _pair(body, live))
    return _same(key, live, manager)


def _same(key: ObjectKey, live: JsonObject, manager: str) -> Comparison:
    people = tuple(comparison.touched_by_people(live, manager))
    return Comparison(key=key, state=State.SAME, live=live, unmanaged=people)


def _without_look(key: ObjectKey, body: JsonObject, error: InstantStartError) -> Comparison:
    # An object of a kind that is not served cannot exist. Everything else that fails only means: not known.
    if isinstance(error, NotFound) and error.reason == "KindNotServed":
        patch = tuple(comparison.addition(body))
        return Comparison(key=key, state=State.ABSENT, patch=patch, reason=error.reason, problem=error.message)
    return Comparison(key=key, state=State.UNKNOWN, reason=error.reason, problem=error.message)


def _plain_key(body: Mapping[str, Any]) -> ObjectKey:
    meta: Mapping[str, Any] = body.get("metadata") or {}
    return ObjectKey(*gvk_of(body), str(meta.get("namespace") or ""), str(meta.get("name") or ""))


def _pair(body: JsonObject, live: JsonObject) -> bytes:
    """Digest of both, without what changes by itself (status, versions, times of managers)."""
    meta: dict[str, Any] = {k: v for k, v in live["metadata"].items() if k not in ("resourceVersion", "managedFields")}
    entries: list[Mapping[str, Any]] = live["metadata"].get("managedFields") or []
    owners = [{k: v for k, v in e.items() if k != "time"} for e in entries if e.get("subresource") != "status"]
    still = {**{k: v for k, v in live.items() if k != "status"}, "metadata": {**meta, "managedFields": owners}}
    return hashlib.sha256(orjson.dumps([body, still], option=orjson.OPT_SORT_KEYS)).digest()
