"""The sandbox's API server with its request log and its faults at hand."""

from __future__ import annotations

from collections.abc import Callable

from reconciler.sandbox.kubernetes.access import MASTERS, UserInfo
from reconciler.sandbox.kubernetes.records import Fault, RequestRecord
from reconciler.sandbox.kubernetes.server import ApiServers

TOKEN = "a-token-for-tests"
Breaks = Callable[[RequestRecord], Fault | None]


class Kubernetes:
    """One simulated cluster. `breaks` is asked before each request; `tokens` are those it takes."""

    def __init__(self) -> None:
        self.requests: list[RequestRecord] = []
        self.breaks: Breaks | None = None
        self.tokens = {TOKEN}
        admin = UserInfo(name="kubernetes-admin", groups=(MASTERS,))
        self._servers = ApiServers(
            authenticate=lambda _: lambda given: admin if given in self.tokens else None,
            on_request=self.requests.append,
            before_request=lambda record: self.breaks(record) if self.breaks else None,
        )
        endpoint = self._servers.start("live-tests")
        self.url, self.ca_pem = endpoint.url, endpoint.ca_pem

    def calm(self) -> None:
        """No faults, no delay, the one token, an empty request log."""
        self.breaks = None
        self.tokens = {TOKEN}
        self._servers.set_latency(0.0)
        self.requests.clear()

    def set_latency(self, seconds: float) -> None:
        self._servers.set_latency(seconds)

    def close(self) -> None:
        self._servers.close()
