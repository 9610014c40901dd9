"""One Kubernetes cluster: apply, create, delete, read, compare, watch. Objects are plain dicts.

Every change carries the journal's op id in its user agent. Reads are whole or an error. Work on many objects runs on
up to 32 threads over one connection pool; the cluster is safe to use from many threads, and `close` releases
everything.
"""

from __future__ import annotations

import builtins
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, TypeVar

from reconciler.live.kube import applying, comparing, watching
from reconciler.live.kube.applying import Applied
from reconciler.live.kube.comparison import MANAGER, Comparison
from reconciler.live.kube.kinds import Discovery, Gvk, ObjectKey, Served, gvk_of, key_of
from reconciler.live.kube.log_stream import LogStream
from reconciler.live.kube.tokens import TokenProvider
from reconciler.live.kube.transport import APPLY, Transport
from schemas.values import JsonObject

THREADS = 32
PAGE = 500

Propagation = Literal["Background", "Foreground", "Orphan"]
T = TypeVar("T")
R = TypeVar("R")


class KubeCluster:
    """The API of one cluster, by endpoint, CA certificate (PEM text) and a provider of tokens."""

    def __init__(
        self,
        endpoint: str,
        ca_pem: str,
        tokens: TokenProvider,
        *,
        threads: int = THREADS,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.transport = Transport(endpoint, ca_pem, tokens, pause=pause)
        self._discovery = Discovery(self.transport.read)
        self._workers = ThreadPoolExecutor(threads, thread_name_prefix="kube")
        self._settled = comparing.Settled()

    def apply(
        self,
        objects: Sequence[JsonObject],
        *,
        op: str,
        field_manager: str = MANAGER,
        force: bool = True,
        dry_run: bool = False,
    ) -> builtins.list[JsonObject]:
        """Server-side apply; the live objects, in the order given.

        All are tried, whatever happens to some; then the weightiest error is raised (`apply_each` tells them apart).
        """
        return applying.results(
            self.apply_each(objects, op=op, field_manager=field_manager, force=force, dry_run=dry_run)
        )

    def apply_each(
        self,
        objects: Sequence[JsonObject],
        *,
        op: str,
        field_manager: str = MANAGER,
        force: bool = True,
        dry_run: bool = False,
    ) -> builtins.list[Applied]:
        """Server-side apply, one outcome per object. Namespaces and CRDs go first, webhook configurations last."""

        def send(body: JsonObject) -> JsonObject:
            return self.apply_one(body, op=op, field_manager=field_manager, force=force, dry_run=dry_run)

        return applying.apply_in_waves(objects, send, self.key, self.map)

    def apply_one(
        self, body: JsonObject, *, op: str, field_manager: str = MANAGER, force: bool = True, dry_run: bool = False
    ) -> JsonObject:
        served = self.served(gvk_of(body))
        key = key_of(body, served)
        path = served.path(key.namespace, key.name)
        query = {"fieldManager": field_manager, "force": "true" if force else "false"}
        if dry_run:
            return self.transport.ask("PATCH", path, body, {**query, "dryRun": "All"}, APPLY)
        return self.transport.change("PATCH", path, op=op, body=body, query=query, content_type=APPLY)

    def create(self, body: JsonObject, *, op: str, field_manager: str = MANAGER) -> JsonObject:
        """POST: for runs, which are made once and never applied. `AlreadyExists` if the name is taken."""
        served = self.served(gvk_of(body))
        path = served.path(key_of(body, served).namespace)
        return self.transport.change("POST", path, op=op, body=body, query={"fieldManager": field_manager})

    def delete(
        self,
        gvk: Gvk,
        namespace: str | None,
        name: str,
        *,
        op: str,
        uid: str | None = None,
        propagation: Propagation = "Background",
    ) -> JsonObject:
        """Delete one object. With `uid` only that very one: another of its name is a refusal (Conflict)."""
        options: JsonObject = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        path = self._path(gvk, namespace, name)
        return self.transport.change("DELETE", path, op=op, body=options)

    def patch_json(
        self,
        gvk: Gvk,
        namespace: str | None,
        name: str,
        patch: Sequence[JsonObject],
        *,
        op: str,
        field_manager: str = MANAGER,
        subresource: str | None = None,
    ) -> JsonObject:
        """RFC 6902. A `test` operation in it is a guard; the server answers Invalid if it does not hold."""
        path = self._path(gvk, namespace, name) + (f"/{subresource}" if subresource else "")
        return self.transport.change(
            "PATCH",
            path,
            op=op,
            body=list(patch),
            query={"fieldManager": field_manager},
            content_type="application/json-patch+json",
        )

    def get(self, gvk: Gvk, namespace: str | None, name: str) -> JsonObject:
        """One object, or `NotFound`."""
        return self.transport.read(self._path(gvk, namespace, name))

    def list(
        self,
        gvk: Gvk,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
    ) -> builtins.list[JsonObject]:
        """All objects, from all pages, each with apiVersion and kind. `namespace` None: everywhere."""
        return [item for items, _ in self.list_pages(gvk, namespace, label_selector, field_selector) for item in items]

    def list_pages(
        self,
        gvk: Gvk,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
    ) -> Iterator[tuple[builtins.list[JsonObject], str]]:
        """Pages of 500 and the list's resource version, so that a caller may drop what it does not keep."""
        query = {"limit": str(PAGE)}
        if label_selector:
            query["labelSelector"] = label_selector
        if field_selector:
            query["fieldSelector"] = field_selector
        path = self.served(gvk).path(namespace)
        while True:
            answer = self.transport.read(path, query)
            meta: Mapping[str, Any] = answer.get("metadata") or {}
            items: builtins.list[JsonObject] = answer.get("items") or []
            for item in items:
                item.setdefault("apiVersion", gvk.api_version)
                item.setdefault("kind", gvk.kind)
            yield items, str(meta.get("resourceVersion") or "")
            following = str(meta.get("continue") or "")
            if not following:
                return
            query["continue"] = following

    def page(
        self,
        gvk: Gvk,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int = PAGE,
        following: str = "",
    ) -> tuple[builtins.list[JsonObject], str]:
        """One page, and the server's word for where the next begins ("": there is none). A word that is too old is
        `CallRefused` with reason Expired."""
        query = {"limit": str(limit)}
        given = {"labelSelector": label_selector, "fieldSelector": field_selector, "continue": following}
        query |= {name: value for name, value in given.items() if value}
        answer = self.transport.read(self.served(gvk).path(namespace), query)
        items: builtins.list[JsonObject] = answer.get("items") or []
        for item in items:
            item.setdefault("apiVersion", gvk.api_version)
            item.setdefault("kind", gvk.kind)
        meta: Mapping[str, Any] = answer.get("metadata") or {}
        return items, str(meta.get("continue") or "")

    def log_stream(
        self,
        namespace: str,
        pod: str,
        container: str | None = None,
        *,
        since: str | None = None,
        tail: int | None = None,
        previous: bool = False,
        follow: bool = False,
        silence: float = 30.0,
    ) -> LogStream:
        """The lines of a container as they come, each with its time. `since`: RFC 3339, in whole seconds; `silence`:
        real seconds without a line after which the connection is given up. Text from outside: data."""
        query = {"timestamps": "true"}
        given = {"container": container, "sinceTime": since, "tailLines": None if tail is None else str(tail)}
        query |= {name: value for name, value in given.items() if value is not None}
        query |= {name: "true" for name, wanted in (("previous", previous), ("follow", follow)) if wanted}
        path = self._path(Gvk("v1", "Pod"), namespace, pod) + "/log"
        return LogStream(self.transport, path, query, silence)

    def logs(
        self, namespace: str, pod: str, container: str | None = None, *, tail: int = 200, previous: bool = False
    ) -> str:
        """The last lines of a container. Text from outside: data, never instructions."""
        query = {"tailLines": str(tail), "limitBytes": str(1024 * 1024)}
        if container:
            query["container"] = container
        if previous:
            query["previous"] = "true"
        return self.transport.text(self._path(Gvk("v1", "Pod"), namespace, pod) + "/log", query)

    def compare(
        self, desired: Sequence[JsonObject], *, label_selector: str | None = None, field_manager: str = MANAGER
    ) -> builtins.list[Comparison]:
        """How each desired object stands to the live one, in the order given.

        One LIST per kind; a server-side dry run only where the objects alone do not settle it. What could not be
        read is Unknown, never Absent.
        """
        return comparing.compare(self, desired, label_selector, field_manager, self._settled)

    def watch(
        self,
        gvk: Gvk,
        on_event: Callable[[watching.WatchEvent], None],
        stop: threading.Event,
        *,
        namespace: str | None = None,
        label_selector: str | None = None,
        on_open: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        """Follow a kind until `stop` is set or the cluster is closed; blocks, so give it a thread. `on_open` is given
        what wakes that thread at once, anew for each connection; without it `stop` is seen within a minute."""
        watching.watch(self, gvk, on_event, stop, namespace=namespace, label_selector=label_selector, on_open=on_open)

    def served(self, gvk: Gvk) -> Served:
        """How the cluster serves a kind; `NotFound` with reason KindNotServed if it does not."""
        return self._discovery.find(gvk)

    def key(self, body: Mapping[str, Any]) -> ObjectKey:
        return key_of(body, self.served(gvk_of(body)))

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> builtins.list[R]:
        """`work` on every item, on this cluster's threads, results in order."""
        return list(self._workers.map(work, items))

    def close(self) -> None:
        self.transport.close()
        self._workers.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> KubeCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path(self, gvk: Gvk, namespace: str | None, name: str) -> str:
        served = self.served(gvk)
        if served.namespaced and not namespace:
            namespace = "default"
        return served.path(namespace, name)
