"""What tests of the API's rules do with a cluster: by calls into the simulated one, or by HTTPS to a real one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Protocol
from urllib.parse import urlencode

import urllib3

from reconciler.sandbox.kubernetes import deletion, patches
from reconciler.sandbox.kubernetes.apiserver import ApiServer, WriteOptions
from reconciler.sandbox.kubernetes.errors import ApiError
from reconciler.sandbox.kubernetes.kinds import Kind, Kinds
from reconciler.sandbox.real.cluster import path_of

Object = dict[str, Any]
Collection = tuple[str, str]  # group, plural

MANAGER = "test"
SETTLE_SECONDS = 60.0  # a real cluster collects garbage when it gets to it


class Api(Protocol):
    """Every method raises ApiError when it is refused. Namespaced objects are in `default` unless told otherwise."""

    def create(self, collection: Collection, body: Object, *, strict: bool = False, namespace: str = ...) -> Object: ...

    def merge(self, collection: Collection, name: str, patch: Object, *, namespace: str = ...) -> Object: ...

    def apply(
        self, body: Object, manager: str = ..., *, force: bool = False, dry_run: bool = False, namespace: str = ...
    ) -> Object: ...

    def get(self, collection: Collection, name: str, *, namespace: str = ...) -> Object | None: ...

    def delete(
        self,
        collection: Collection,
        name: str,
        *,
        propagation: str = "",
        grace: int | None = None,
        uid: str = "",
        namespace: str = ...,
    ) -> None: ...

    def bind(self, pod: str, node: str) -> None: ...

    def eventually(self, check: Callable[[], bool]) -> bool:
        """Whether it comes true once the cluster has done what it does after a reply."""
        ...

    @property
    def warnings(self) -> list[str]:
        """What the last create said beside its reply."""
        ...


class Simulated:
    """The synchronous core, without HTTP."""

    def __init__(self) -> None:
        self.server = ApiServer()
        self.warnings: list[str] = []

    def create(
        self, collection: Collection, body: Object, *, strict: bool = False, namespace: str = "default"
    ) -> Object:
        kind = self.server.kind(*collection)
        options = WriteOptions(manager=MANAGER, validation="Strict" if strict else "Warn")
        written = self.server.create(kind, _namespace(kind, namespace), body, options)
        self.warnings = written.warnings
        return written.stored.obj

    def merge(self, collection: Collection, name: str, patch: Object, *, namespace: str = "default") -> Object:
        kind = self.server.kind(*collection)
        options = WriteOptions(manager=MANAGER)
        where = _namespace(kind, namespace)
        written = self.server.patch(kind, where, name, lambda tree: patches.merge_patch(tree, patch), options)
        return written.stored.obj

    def apply(
        self,
        body: Object,
        manager: str = "git",
        *,
        force: bool = False,
        dry_run: bool = False,
        namespace: str = "default",
    ) -> Object:
        kind = _kind_of(self.server.kinds, body)
        options = WriteOptions(manager=manager, force=force, dry_run=dry_run)
        return self.server.apply(kind, _namespace(kind, namespace), body["metadata"]["name"], body, options).stored.obj

    def get(self, collection: Collection, name: str, *, namespace: str = "default") -> Object | None:
        kind = self.server.kind(*collection)
        found = self.server.store.get(kind.stored, (_namespace(kind, namespace), name))
        return found.obj if found else None

    def delete(
        self,
        collection: Collection,
        name: str,
        *,
        propagation: str = "",
        grace: int | None = None,
        uid: str = "",
        namespace: str = "default",
    ) -> None:
        kind = self.server.kind(*collection)
        options = deletion.DeleteOptions(propagation=propagation, grace=grace, uid=uid)
        deletion.delete(self.server, kind, _namespace(kind, namespace), name, options)

    def bind(self, pod: str, node: str) -> None:
        self.server.bind("default", pod, node, WriteOptions(manager=MANAGER))

    def eventually(self, check: Callable[[], bool]) -> bool:
        self.server.settle()
        return check()


class Remote:
    """A real API server, by plain requests."""

    def __init__(self, url: str, ca_pem: str, token: str) -> None:
        self._pool: Any = urllib3.PoolManager(
            ca_cert_data=ca_pem, retries=False, timeout=120, headers={"Authorization": f"Bearer {token}"}
        )
        self._url = url
        self._kinds = Kinds()
        self.warnings: list[str] = []

    def create(
        self, collection: Collection, body: Object, *, strict: bool = False, namespace: str = "default"
    ) -> Object:
        kind = self._kind(collection)
        typed = {"apiVersion": kind.api_version, "kind": kind.kind, **body}
        validation = "Strict" if strict else "Warn"
        path = path_of(kind, namespace)
        return self.ask("POST", path, typed, fieldManager=MANAGER, fieldValidation=validation)

    def merge(self, collection: Collection, name: str, patch: Object, *, namespace: str = "default") -> Object:
        path = path_of(self._kind(collection), namespace, name)
        return self.ask("PATCH", path, patch, "application/merge-patch+json", fieldManager=MANAGER)

    def apply(
        self,
        body: Object,
        manager: str = "git",
        *,
        force: bool = False,
        dry_run: bool = False,
        namespace: str = "default",
    ) -> Object:
        path = path_of(_kind_of(self._kinds, body), namespace, body["metadata"]["name"])
        query = {
            "fieldManager": manager,
            **({"force": "true"} if force else {}),
            **({"dryRun": "All"} if dry_run else {}),
        }
        return self.ask("PATCH", path, body, "application/apply-patch+yaml", **query)

    def get(self, collection: Collection, name: str, *, namespace: str = "default") -> Object | None:
        try:
            return self.ask("GET", path_of(self._kind(collection), namespace, name))
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def delete(
        self,
        collection: Collection,
        name: str,
        *,
        propagation: str = "",
        grace: int | None = None,
        uid: str = "",
        namespace: str = "default",
    ) -> None:
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if propagation:
            options["propagationPolicy"] = propagation
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if uid:
            options["preconditions"] = {"uid": uid}
        self.ask("DELETE", path_of(self._kind(collection), namespace, name), options)

    def bind(self, pod: str, node: str) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod},
            "target": {"kind": "Node", "name": node},
        }
        self.ask("POST", f"/api/v1/namespaces/default/pods/{pod}/binding", body)

    def eventually(self, check: Callable[[], bool]) -> bool:
        ends = time.monotonic() + SETTLE_SECONDS
        while not (came := check()) and time.monotonic() < ends:
            time.sleep(0.05)
        return came

    def close(self) -> None:
        self._pool.clear()

    def ask(self, method: str, path: str, body: Any = None, content_type: str = "", **query: str) -> Object:
        """One request; a query value that is empty is left out."""
        url = f"{self._url}{path}?{urlencode({name: value for name, value in query.items() if value})}"
        headers = {"Content-Type": content_type or "application/json", **self._pool.headers}
        answer = self._pool.request(method, url, body=None if body is None else json.dumps(body), headers=headers)
        said: Any = json.loads(answer.data)
        self.warnings = [text.split('"', 1)[1][:-1].replace('\\"', '"') for text in answer.headers.getlist("Warning")]
        if answer.status >= 400:
            raise ApiError(answer.status, said.get("reason", ""), said["message"], **said.get("details", {}))
        return dict(said)

    def _kind(self, collection: Collection) -> Kind:
        kind = self._kinds.stored(*collection)
        assert kind is not None, collection
        return kind


def _namespace(kind: Kind, namespace: str) -> str:
    return namespace if kind.namespaced else ""


def _kind_of(kinds: Kinds, body: Object) -> Kind:
    kind = kinds.of(body["apiVersion"], body["kind"])
    assert kind is not None, body
    return kind
