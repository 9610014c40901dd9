"""Watch-fed copies of the collections that the simulators look at: LIST once, then only what changes."""

import contextlib
import logging
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from reconciler.sandbox.kubernetes.objects import Object, name_of, namespace_of
from reconciler.sandbox.kubernetes.simulators.client import Client, Refused

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.2  # real: the API is away or has forgotten our revision

Key: TypeAlias = tuple[str, str]  # namespace, name


@dataclass(frozen=True, kw_only=True)
class Resource:
    """Where a collection is: `/api/v1` + `pods`."""

    root: str
    plural: str
    namespaced: bool = True

    @property
    def everywhere(self) -> str:
        return f"{self.root}/{self.plural}"

    def collection(self, namespace: str) -> str:
        return f"{self.root}/namespaces/{namespace}/{self.plural}" if self.namespaced else self.everywhere

    def path(self, key: Key) -> str:
        return f"{self.collection(key[0])}/{key[1]}"


PODS = Resource(root="/api/v1", plural="pods")
NODES = Resource(root="/api/v1", plural="nodes", namespaced=False)
NAMESPACES = Resource(root="/api/v1", plural="namespaces", namespaced=False)
SERVICE_ACCOUNTS = Resource(root="/api/v1", plural="serviceaccounts")
VOLUMES = Resource(root="/api/v1", plural="persistentvolumes", namespaced=False)
CLAIMS = Resource(root="/api/v1", plural="persistentvolumeclaims")
DEPLOYMENTS = Resource(root="/apis/apps/v1", plural="deployments")
REPLICA_SETS = Resource(root="/apis/apps/v1", plural="replicasets")
DAEMON_SETS = Resource(root="/apis/apps/v1", plural="daemonsets")
STATEFUL_SETS = Resource(root="/apis/apps/v1", plural="statefulsets")
JOBS = Resource(root="/apis/batch/v1", plural="jobs")
BUDGETS = Resource(root="/apis/policy/v1", plural="poddisruptionbudgets")

ALL = (
    NAMESPACES, NODES, PODS, SERVICE_ACCOUNTS, VOLUMES, CLAIMS, DEPLOYMENTS, REPLICA_SETS, DAEMON_SETS, STATEFUL_SETS,
    JOBS, BUDGETS,
)  # fmt: skip

# the resource, the key, and the object before and now (None: absent)
Changed: TypeAlias = Callable[[Resource, Key, Object | None, Object | None], None]


class Cache:
    """One collection, kept by one thread. Objects in it are never changed in place."""

    def __init__(self, client: Client, resource: Resource, changed: Changed) -> None:
        self.resource = resource
        self.synced = threading.Event()
        self._client = client
        self._changed = changed
        self._objects: dict[Key, Object] = {}
        self._stopping = threading.Event()
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, name=f"watch-{resource.plural}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._socket is not None:
            with contextlib.suppress(OSError):
                # past the TLS layer: the reading thread sees the end at once
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def get(self, key: Key) -> Object | None:
        return self._objects.get(key)

    def all(self) -> list[Object]:
        return list(self._objects.values())

    def put(self, obj: Object) -> None:
        """Take the answer of our own write, so that the next step sees it before the watch brings it."""
        key = (namespace_of(obj), name_of(obj))
        known = self._objects.get(key)
        if known is None or int(known["metadata"]["resourceVersion"]) < int(obj["metadata"]["resourceVersion"]):
            self._objects[key] = obj

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                revision = self._list()
                self._follow(revision)
            except Refused as refused:
                if not self._stopping.is_set():
                    log.debug("watch of %s: %s", self.resource.plural, refused)
                    self._stopping.wait(RETRY_SECONDS)
        self._client.close()

    def _list(self) -> str:
        listed = self._client.get(self.resource.everywhere)
        items = {(namespace_of(item), name_of(item)): item for item in listed["items"]}
        for key in [key for key in self._objects if key not in items]:
            self._set(key, None)
        for key, item in items.items():
            self._set(key, item)
        self.synced.set()
        revision: str = listed["metadata"]["resourceVersion"]
        return revision

    def _follow(self, revision: str) -> None:
        while not self._stopping.is_set():
            for event in self._client.watch(self.resource.everywhere, revision, self._connected):
                obj: Object = event["object"]
                if event["type"] == "ERROR":
                    return  # too old: list again
                revision = obj["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    key = (namespace_of(obj), name_of(obj))
                    self._set(key, None if event["type"] == "DELETED" else obj)

    def _connected(self, connection: socket.socket) -> None:
        self._socket = connection
        if self._stopping.is_set():
            self.stop()

    def _set(self, key: Key, obj: Object | None) -> None:
        before = self._objects.get(key)
        if obj is None:
            self._objects.pop(key, None)
        elif before is not None and int(before["metadata"]["resourceVersion"]) > int(
            obj["metadata"]["resourceVersion"]
        ):
            return
        else:
            self._objects[key] = obj
        self._changed(self.resource, key, before, obj)
