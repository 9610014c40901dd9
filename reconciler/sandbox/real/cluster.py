"""One real cluster as EKS and the nodes see it: by HTTPS, as its administrator."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from reconciler.sandbox.aws.calls import Json
from reconciler.sandbox.aws.kubernetes_seam import User
from reconciler.sandbox.kubernetes.access import RBAC
from reconciler.sandbox.kubernetes.admission import NOT_READY
from reconciler.sandbox.kubernetes.kinds import Kind, Kinds
from reconciler.sandbox.kubernetes.objects import items
from reconciler.sandbox.kubernetes.simulators.client import Client, Refused
from reconciler.sandbox.real.processes import RealKubernetes

POLICIES = ("cluster-admin", "admin", "edit", "view")
MERGE = "application/merge-patch+json"
_KNOWN_SECONDS = 2.0


class RealCluster:
    """A `KubernetesCluster` on a server that runs. `is_there`: False once it became another cluster; then nothing is
    seen and nothing is written. `stop` ends what was started for it."""

    def __init__(
        self,
        real: RealKubernetes,
        *,
        is_there: Callable[[], bool] = lambda: True,
        stop: Callable[[], None] | None = None,
    ) -> None:
        self.endpoint = real.url
        self.ca = real.ca_pem.encode()
        self._is_there, self._stop = is_there, stop
        self._client = Client(real.url, real.ca_pem, lambda: real.admin_token)
        # One thread, so one connection: callers come in threads that live for a request.
        self._sender = ThreadPoolExecutor(1, thread_name_prefix="eks")
        self._kinds = Kinds()
        self._logs: dict[tuple[str, str, str], list[str]] = {}
        self._bound: set[str] = set()
        self._binding = threading.Lock()
        for policy in POLICIES:
            self._bind(f"eks:{policy}", policy, "")

    def admit(self, user: User) -> User:
        """What access policies give within namespaces are bindings there, made when somebody comes with one."""
        for group in user.groups:
            what, _, rest = group.partition(":")
            policy, _, namespace = rest.partition(":")
            if what == "eks" and namespace and group not in self._bound:
                with self._binding:
                    self._bind(group, policy, namespace)
                    self._until_known(group, namespace)
        return user

    def read(self, api_version: str, kind: str, name: str, namespace: str = "") -> Json | None:
        return self._read(self._path(api_version, kind, namespace, name)) if self._is_there() else None

    def listing(self, api_version: str, kind: str) -> list[Json]:
        if not self._is_there():
            return []
        found: list[Json] = self._ask("GET", self._path(api_version, kind))["items"]
        return [{"apiVersion": api_version, "kind": kind, **each} for each in found]

    def put(self, manifest: Json) -> None:
        if not self._is_there():
            return
        metadata: Json = manifest["metadata"]
        namespace, name = str(metadata.get("namespace") or ""), str(metadata["name"])
        body = {key: value for key, value in manifest.items() if key != "status"}
        collection = self._path(manifest["apiVersion"], manifest["kind"], namespace)
        if namespace and self._read(f"/api/v1/namespaces/{namespace}") is None:
            self._ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        path = f"{collection}/{name}"
        if self._read(path) is None:
            self._ask("POST", collection, body)
        else:
            self._ask("PATCH", path, body)
        status: Any = manifest.get("status")
        if status is not None:
            self._ask("PATCH", f"{path}/status", {"status": status}, manager="kubelet")
        if manifest["kind"] == "Node":
            self._settle_readiness(path, status)

    def remove(self, api_version: str, kind: str, name: str, namespace: str = "") -> None:
        if not self._is_there():
            return
        try:
            self._ask("DELETE", self._path(api_version, kind, namespace, name))
        except Refused as refused:
            if refused.code != 404:
                raise

    def write_log(self, namespace: str, pod: str, container: str, line: str) -> None:
        self._logs.setdefault((namespace, pod, container), []).append(line)

    def read_log(self, namespace: str, pod: str, container: str) -> list[str]:
        return list(self._logs.get((namespace, pod, container), ()))

    def close(self) -> None:
        self._sender.submit(self._client.close)
        self._sender.shutdown(wait=True)
        if self._stop is not None:
            self._stop()

    def _read(self, path: str) -> Json | None:
        try:
            return self._ask("GET", path)
        except Refused as refused:
            if refused.code == 404:
                return None
            raise

    def _ask(self, method: str, path: str, body: Json | None = None, *, manager: str = "eks") -> Json:
        """A connection that lay idle may have been closed by the other side: a read is tried again."""
        query = {"fieldManager": manager} if method in ("POST", "PATCH") else {}
        kind = MERGE if method == "PATCH" else "application/json"

        def send() -> Json:
            try:
                return self._client.request(method, path, query=query, body=body, content_type=kind)
            except Refused as refused:
                if method != "GET" or refused.code != 0:
                    raise
                return self._client.request(method, path)

        return self._sender.submit(send).result()

    def _path(self, api_version: str, kind: str, namespace: str = "", name: str = "") -> str:
        found = self._kinds.of(api_version, kind)
        if found is None:
            raise Refused(404, "NotFound", f"no kind {api_version} {kind}")
        return path_of(found, namespace, name)

    def _bind(self, group: str, policy: str, namespace: str) -> None:
        """What an access policy gives is a role that every cluster has."""
        body = {
            "metadata": {"name": group},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": policy},
            "subjects": [{"kind": "Group", "apiGroup": RBAC, "name": group}],
        }
        where = f"namespaces/{namespace}/rolebindings" if namespace else "clusterrolebindings"
        try:
            self._ask("POST", f"/apis/{RBAC}/v1/{where}", body)
        except Refused as refused:
            if refused.code == 404:  # no such namespace yet: the next who comes tries again
                return
            if refused.code != 409:
                raise
        self._bound.add(group)

    def _until_known(self, group: str, namespace: str) -> None:
        """The server hears of a binding a moment after it was stored, and who comes with it is about to be judged."""
        attributes = {"verb": "list", "resource": "pods", "namespace": namespace}
        asked = {"spec": {"user": "nobody", "groups": [group], "resourceAttributes": attributes}}
        ends = time.monotonic() + _KNOWN_SECONDS
        while time.monotonic() < ends:
            if self._ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", asked)["status"]["allowed"]:
                return
            time.sleep(0.01)

    def _settle_readiness(self, path: str, status: Any) -> None:
        """The node controller's part: the taint of a new node goes when the node is ready."""
        ready = any(each["type"] == "Ready" and each["status"] == "True" for each in items(status, "conditions"))
        taints = items(self._read(path), "spec", "taints")
        left = [taint for taint in taints if taint["key"] != NOT_READY]
        if ready and len(left) < len(taints):
            self._ask("PATCH", path, {"spec": {"taints": left}}, manager="node-controller")


def path_of(kind: Kind, namespace: str, name: str = "") -> str:
    """The path of an object, or of a collection; with no namespace everywhere."""
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    scope = f"/namespaces/{namespace}" if kind.namespaced and namespace else ""
    return f"{root}{scope}/{kind.plural}" + (f"/{name}" if name else "")
