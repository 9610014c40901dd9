"""A real Kubernetes API behind each EKS cluster of the sandbox.

One is started ahead, beside the sandbox's own start, so that the first EKS cluster need not wait for it. Requests of
clients do not pass through the sandbox: it writes them down from the server's audit log, and cannot make them fail.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from reconciler.sandbox.aws.kubernetes_seam import Authenticate, KubernetesCluster
from reconciler.sandbox.clock import Clock
from reconciler.sandbox.kubernetes.access import UserInfo
from reconciler.sandbox.kubernetes.records import OnRequest
from reconciler.sandbox.kubernetes.simulators.cluster import Simulators
from reconciler.sandbox.real.audit import Audit
from reconciler.sandbox.real.cluster import RealCluster
from reconciler.sandbox.real.processes import RealKubernetes
from reconciler.sandbox.real.programs import Programs

_STOP_SECONDS = 10.0


class RealHost:
    """A `KubernetesHost`. With `simulators` each cluster has a scheduler, kubelets and controllers."""

    def __init__(self, programs: Programs, clock: Clock, on_request: OnRequest, *, simulators: bool) -> None:
        self._programs, self._clock, self._on_request, self._simulators = programs, clock, on_request, simulators
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="real-kubernetes")
        self._ahead: Future[RealKubernetes] | None = self._starter.submit(self._start)
        self._running: list[RealKubernetes] = []

    def open(self, name: str, version: str, authenticate: Authenticate) -> KubernetesCluster:
        started, self._ahead = self._ahead or self._starter.submit(self._start), None
        real = started.result()
        self._running.append(real)
        stops: list[Callable[[], None]] = [lambda: self._stop(real)]
        audit = Audit(real, name, self._on_request)
        stops.append(audit.close)
        if self._simulators:
            stops.append(self._simulated(real))

        def stop() -> None:
            for one in reversed(stops):
                one()

        cluster = RealCluster(real, stop=stop)

        def user(token: str) -> UserInfo | None:
            found = authenticate(token)
            return None if found is None else UserInfo(name=found.name, groups=cluster.admit(found).groups)

        real.authenticate = user
        return cluster

    def close(self) -> None:
        if self._ahead is not None and self._ahead.exception() is None:
            self._running.append(self._ahead.result())
        for real in list(self._running):
            self._stop(real)
        self._starter.shutdown(wait=True)

    def _start(self) -> RealKubernetes:
        return RealKubernetes(self._programs, audit=True)

    def _stop(self, real: RealKubernetes) -> None:
        if real in self._running:
            self._running.remove(real)
            real.close()

    def _simulated(self, real: RealKubernetes) -> Callable[[], None]:
        """Start what lives in the cluster, beside: it lists everything first, and the cloud waits for nobody."""
        simulators = Simulators(real.url, real.ca_pem, lambda: real.admin_token, clock=self._clock)
        starting = threading.Thread(target=simulators.start, name="simulators", daemon=True)
        starting.start()

        def stop() -> None:
            starting.join(_STOP_SECONDS)
            simulators.stop()

        return stop
