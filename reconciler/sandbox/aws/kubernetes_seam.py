"""What the AWS side asks of a Kubernetes API: one per EKS cluster, opened when the cluster becomes ACTIVE.

The stand-in keeps objects in a dictionary and serves nobody. It is for tests of the AWS side alone.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from reconciler.sandbox.aws.calls import Json


@dataclass(frozen=True, kw_only=True)
class User:
    """Whom a bearer token stands for."""

    name: str
    groups: tuple[str, ...]


Authenticate = Callable[[str], User | None]  # token → user, None = 401


class KubernetesCluster(Protocol):
    @property
    def endpoint(self) -> str: ...
    @property
    def ca(self) -> bytes:
        """PEM."""
        ...

    def read(self, api_version: str, kind: str, name: str, namespace: str = "") -> Json | None: ...
    def listing(self, api_version: str, kind: str) -> list[Json]: ...
    def put(self, manifest: Json) -> None:
        """Create it, or replace what is there (status included)."""
        ...

    def remove(self, api_version: str, kind: str, name: str, namespace: str = "") -> None: ...
    def write_log(self, namespace: str, pod: str, container: str, line: str) -> None: ...
    def read_log(self, namespace: str, pod: str, container: str) -> list[str]: ...
    def close(self) -> None: ...


class KubernetesHost(Protocol):
    def open(self, name: str, version: str, authenticate: Authenticate) -> KubernetesCluster:
        """`name` is unique in the sandbox: account/region/cluster."""
        ...

    def close(self) -> None: ...


class StandIn:
    def __init__(self) -> None:
        self.endpoint = "https://127.0.0.1:1"
        self.ca = b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
        self._objects: dict[tuple[str, str, str, str], Json] = {}
        self._logs: dict[tuple[str, str, str], list[str]] = {}

    def read(self, api_version: str, kind: str, name: str, namespace: str = "") -> Json | None:
        return copy.deepcopy(self._objects.get((api_version, kind, namespace, name)))

    def listing(self, api_version: str, kind: str) -> list[Json]:
        return [copy.deepcopy(o) for key, o in self._objects.items() if key[:2] == (api_version, kind)]

    def put(self, manifest: Json) -> None:
        metadata: Json = manifest["metadata"]
        key = (manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), metadata["name"])
        self._objects[key] = copy.deepcopy(manifest)

    def remove(self, api_version: str, kind: str, name: str, namespace: str = "") -> None:
        self._objects.pop((api_version, kind, namespace, name), None)

    def write_log(self, namespace: str, pod: str, container: str, line: str) -> None:
        self._logs.setdefault((namespace, pod, container), []).append(line)

    def read_log(self, namespace: str, pod: str, container: str) -> list[str]:
        return list(self._logs.get((namespace, pod, container), []))

    def close(self) -> None:
        self._objects.clear()


class StandInHost:
    def open(self, name: str, version: str, authenticate: Authenticate) -> KubernetesCluster:
        return StandIn()

    def close(self) -> None:
        pass
