"""One real Kubernetes API behind the EKS of a sandbox in this process.

There is one server, so there is one cluster at a time: what is opened later gets it empty, and what was opened before
is there no more.
"""

from __future__ import annotations

from reconciler.sandbox.aws.kubernetes_seam import Authenticate
from reconciler.sandbox.kubernetes.access import UserInfo
from reconciler.sandbox.real.cluster import RealCluster
from reconciler.sandbox.real.processes import RealKubernetes


class OneServer:
    """A `KubernetesHost` for the sandbox's AWS side."""

    def __init__(self, real: RealKubernetes) -> None:
        self._real = real
        self._newest = 0

    def open(self, name: str, version: str, authenticate: Authenticate) -> RealCluster:
        self._newest += 1
        number = self._newest
        self._real.reset()
        cluster = RealCluster(self._real, is_there=lambda: number == self._newest)

        def user(token: str) -> UserInfo | None:
            found = authenticate(token)
            return None if found is None else UserInfo(name=found.name, groups=cluster.admit(found).groups)

        self._real.authenticate = user
        return cluster

    def close(self) -> None:
        self._real.authenticate = lambda token: None
