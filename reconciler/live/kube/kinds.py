"""Kinds, keys of objects, and what a cluster says it serves."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from reconciler.live.errors import CallRefused, NotFound
from schemas.values import JsonObject

_PLAIN = re.compile(r"[a-z0-9-]+")  # what quoting leaves as it is: nearly all names


class Gvk(NamedTuple):
    """A kind as documents write it: `Gvk("apps/v1", "Deployment")`."""

    api_version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.api_version}/{self.kind}"

    @property
    def group(self) -> str:
        """Empty for the core group."""
        return self.api_version.rpartition("/")[0]


class ObjectKey(NamedTuple):
    """One object in a cluster; `namespace` is "" for what has none."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def gvk(self) -> Gvk:
        return Gvk(self.api_version, self.kind)

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {where}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """A kind as the cluster serves it."""

    gvk: Gvk
    plural: str
    namespaced: bool
    root: str  # "/api/v1" or "/apis/<group>/<version>"

    def path(self, namespace: str | None = None, name: str | None = None) -> str:
        """The URL path of one object, or of a collection; names are quoted, they may be data from outside."""
        parts = [self.root]
        if self.namespaced and namespace:
            parts += ["namespaces", _quoted(namespace)]
        parts.append(self.plural)
        if name is not None:
            parts.append(_quoted(name))
        return "/".join(parts)


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quote(name, safe="")


def gvk_of(body: Mapping[str, Any]) -> Gvk:
    return Gvk(str(body.get("apiVersion") or ""), str(body.get("kind") or ""))


class Discovery:
    """Which kinds a cluster serves: asked once per group version, and again when a kind is unknown. Thread-safe."""

    def __init__(self, get: Callable[[str], JsonObject]) -> None:
        """`get` reads one path as JSON."""
        self._get = get
        self._lock = threading.Lock()
        self._served: dict[Gvk, Served] = {}

    def find(self, gvk: Gvk) -> Served:
        """The kind, or `NotFound` (reason KindNotServed) if the cluster does not serve it now."""
        known = self._served.get(gvk)
        if known is not None:
            return known
        with self._lock:
            if gvk not in self._served:
                self._read(gvk.api_version)
        known = self._served.get(gvk)
        if known is None:
            raise not_served(gvk)
        return known

    def forget(self, gvk: Gvk) -> None:
        """Its operator may have gone: ask again next time."""
        with self._lock:
            self._served.pop(gvk, None)

    def _read(self, api_version: str) -> None:
        if not api_version or api_version.count("/") > 1:
            return
        root = f"/apis/{quote(api_version)}" if "/" in api_version else f"/api/{quote(api_version)}"
        try:
            answer = self._get(root)
        except NotFound:
            return
        for entry in answer.get("resources") or ():
            if "/" in entry["name"]:
                continue  # a subresource
            gvk = Gvk(api_version, entry["kind"])
            self._served[gvk] = Served(gvk=gvk, plural=entry["name"], namespaced=bool(entry["namespaced"]), root=root)


def not_served(gvk: Gvk) -> NotFound:
    message = f"the cluster serves no kind {gvk.kind} of {gvk.api_version}: is its operator installed?"
    return NotFound(message, reason="KindNotServed").told(code="NotFound", operation=f"k8s:discover {gvk}")


def key_of(body: Mapping[str, Any], served: Served) -> ObjectKey:
    """The key of an object, its namespace filled in as the server would."""
    meta: Mapping[str, Any] = body.get("metadata") or {}
    name = str(meta.get("name") or "")
    if not name:
        raise CallRefused(f"a {served.gvk.kind} without a name", reason="Invalid")
    namespace = str(meta.get("namespace") or "default") if served.namespaced else ""
    return ObjectKey(served.gvk.api_version, served.gvk.kind, namespace, name)
