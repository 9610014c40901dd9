"""A real Kubernetes API behind the sandbox's EKS: its clusters' endpoint, and tokens as EKS takes them.

There is one server, so there is one cluster at a time: what is opened later gets it empty, and what was opened before
is there no more. What EKS and the nodes write they write as its administrator.
"""

from __future__ import annotations

from typing import Any

from reconciler.sandbox.aws.calls import Json
from reconciler.sandbox.aws.kubernetes_seam import Authenticate
from reconciler.sandbox.kubernetes.access import RBAC, UserInfo
from reconciler.sandbox.kubernetes.admission import NOT_READY
from reconciler.sandbox.kubernetes.errors import ApiError
from reconciler.sandbox.kubernetes.kinds import Kinds
from reconciler.sandbox.kubernetes.objects import items
from tests.kube_servers.processes import RealKubernetes
from tests.kube_servers.verbs import Remote, path_of

MERGE = "application/merge-patch+json"
POLICIES = ("cluster-admin", "admin", "edit", "view")


class RealHost:
    """A `KubernetesHost` for the sandbox's AWS side."""

    def __init__(self, real: RealKubernetes) -> None:
        self._real = real
        self.newest = 0

    def open(self, name: str, version: str, authenticate: Authenticate) -> RealCluster:
        self.newest += 1
        self._real.reset()

        def user(token: str) -> UserInfo | None:
            found = authenticate(token)
            return UserInfo(name=found.name, groups=found.groups) if found else None

        self._real.authenticate = user
        return RealCluster(self, self._real, self.newest)

    def close(self) -> None:
        self._real.authenticate = lambda token: None


class RealCluster:
    """As EKS and the nodes see it. Once another was opened, nothing is there and nothing is written."""

    def __init__(self, host: RealHost, real: RealKubernetes, number: int) -> None:
        self.endpoint = real.url
        self.ca = real.ca_pem.encode()
        self._host, self._number = host, number
        self._remote = Remote(real.url, real.ca_pem, real.admin_token)
        self._kinds = Kinds()
        self._logs: dict[tuple[str, str, str], list[str]] = {}
        for policy in POLICIES:
            self._grant(policy)

    def read(self, api_version: str, kind: str, name: str, namespace: str = "") -> Json | None:
        if not self._is_newest:
            return None
        return self._read(self._path(api_version, kind, namespace, name))

    def listing(self, api_version: str, kind: str) -> list[Json]:
        if not self._is_newest:
            return []
        found: list[Json] = self._remote.ask("GET", self._path(api_version, kind))["items"]
        return [{"apiVersion": api_version, "kind": kind, **each} for each in found]

    def put(self, manifest: Json) -> None:
        if not self._is_newest:
            return
        metadata: Json = manifest["metadata"]
        namespace, name = str(metadata.get("namespace") or ""), str(metadata["name"])
        body = {key: value for key, value in manifest.items() if key != "status"}
        collection = self._path(manifest["apiVersion"], manifest["kind"], namespace)
        if namespace and self._read(f"/api/v1/namespaces/{namespace}") is None:
            self._remote.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        path = f"{collection}/{name}"
        if self._read(path) is None:
            self._remote.ask("POST", collection, body, fieldManager="eks")
        else:
            self._remote.ask("PATCH", path, body, MERGE, fieldManager="eks")
        status: Any = manifest.get("status")
        if status is not None:
            self._remote.ask("PATCH", f"{path}/status", {"status": status}, MERGE, fieldManager="kubelet")
        if manifest["kind"] == "Node":
            self._settle_readiness(path, status)

    def remove(self, api_version: str, kind: str, name: str, namespace: str = "") -> None:
        if not self._is_newest:
            return
        try:
            self._remote.ask("DELETE", self._path(api_version, kind, namespace, name))
        except ApiError as error:
            if error.code != 404:
                raise

    def write_log(self, namespace: str, pod: str, container: str, line: str) -> None:
        self._logs.setdefault((namespace, pod, container), []).append(line)

    def read_log(self, namespace: str, pod: str, container: str) -> list[str]:
        return list(self._logs.get((namespace, pod, container), ()))

    def close(self) -> None:
        self._remote.close()

    @property
    def _is_newest(self) -> bool:
        return self._number == self._host.newest

    def _read(self, path: str) -> Json | None:
        try:
            return self._remote.ask("GET", path)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def _path(self, api_version: str, kind: str, namespace: str = "", name: str = "") -> str:
        found = self._kinds.of(api_version, kind)
        if found is None:
            raise ApiError(404, "NotFound", f"no kind {api_version} {kind}")
        return path_of(found, namespace, name)

    def _grant(self, policy: str) -> None:
        """What an access policy gives everywhere is a role that every cluster has."""
        body = {
            "metadata": {"name": f"eks:{policy}"},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": policy},
            "subjects": [{"kind": "Group", "apiGroup": RBAC, "name": f"eks:{policy}"}],
        }
        self._remote.ask("POST", f"/apis/{RBAC}/v1/clusterrolebindings", body)

    def _settle_readiness(self, path: str, status: Any) -> None:
        """The node controller's part: the taint of a new node goes when the node is ready."""
        ready = any(each["type"] == "Ready" and each["status"] == "True" for each in items(status, "conditions"))
        taints = items(self._read(path), "spec", "taints")
        left = [taint for taint in taints if taint["key"] != NOT_READY]
        if ready and len(left) < len(taints):
            self._remote.ask("PATCH", path, {"spec": {"taints": left}}, MERGE, fieldManager="node-controller")
