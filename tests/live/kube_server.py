"""A Kubernetes API with its request log and its faults at hand: the sandbox's, or a real one behind a proxy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from reconciler.sandbox.kubernetes.access import MASTERS, UserInfo
from reconciler.sandbox.kubernetes.records import Fault, RequestRecord
from reconciler.sandbox.kubernetes.server import ApiServers
from reconciler.sandbox.real.processes import RealKubernetes
from tests.kube_servers.recording import Recording

TOKEN = "a-token-for-tests"
ADMIN = UserInfo(name="kubernetes-admin", groups=(MASTERS,))
Breaks = Callable[[RequestRecord], Fault | None]


class Kubernetes(Protocol):
    """One cluster. `breaks` is asked before each request; `tokens` are those it takes."""

    requests: list[RequestRecord]
    breaks: Breaks | None
    tokens: set[str]
    url: str
    ca_pem: str

    def set_latency(self, seconds: float) -> None: ...

    def close(self) -> None: ...


def calm(server: Kubernetes) -> None:
    """No faults, no delay, the one token, an empty request log."""
    server.breaks = None
    server.tokens = {TOKEN}
    server.set_latency(0.0)
    server.requests.clear()


class Simulated:
    """The sandbox's API server."""

    def __init__(self) -> None:
        self.requests: list[RequestRecord] = []
        self.breaks: Breaks | None = None
        self.tokens = {TOKEN}
        self._servers = ApiServers(
            authenticate=lambda _: lambda given: ADMIN if given in self.tokens else None,
            on_request=self.requests.append,
            before_request=lambda record: self.breaks(record) if self.breaks else None,
        )
        endpoint = self._servers.start("live-tests")
        self.url, self.ca_pem = endpoint.url, endpoint.ca_pem

    def set_latency(self, seconds: float) -> None:
        self._servers.set_latency(seconds)

    def close(self) -> None:
        self._servers.close()


class Real(Recording):
    """A real API server. What earlier tests left in it is taken away first."""

    def __init__(self, real: RealKubernetes) -> None:
        super().__init__(real.url, real.ca_pem)
        self.tokens = {TOKEN}
        real.reset()
        real.authenticate = lambda given: ADMIN if given in self.tokens else None

    def set_latency(self, seconds: float) -> None:
        self.latency = seconds
