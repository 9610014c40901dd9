"""API servers over TLS for the tests of this folder: one process-wide host, a new cluster per test that asks."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.sandbox.clock import Clock
from reconciler.sandbox.kubernetes.access import MASTERS, UserInfo
from reconciler.sandbox.kubernetes.records import Fault, RequestRecord
from reconciler.sandbox.kubernetes.server import ApiServers, Endpoint
from reconciler.sandbox.kubernetes.simulators.client import Client
from reconciler.sandbox.kubernetes.simulators.cluster import Simulators

TOKEN = "admin-token"
RATE = 60.0  # a simulated minute in a second

USERS = {
    TOKEN: UserInfo(name="kubernetes-admin", groups=(MASTERS,)),
    "reader-token": UserInfo(name="reader", groups=("team-a",)),
}

_names = (f"cluster-{number}" for number in itertools.count())


class Host:
    """The servers, what they recorded, and the faults that are due: each is used once."""

    def __init__(self) -> None:
        self.records: list[RequestRecord] = []
        self.faults: list[Fault] = []
        self.servers = ApiServers(
            authenticate=lambda cluster: USERS.get,
            on_request=self.records.append,
            before_request=self._fault,
            clock=Clock(RATE),
        )

    def _fault(self, record: RequestRecord) -> Fault | None:
        return self.faults.pop(0) if self.faults and record.verb != "watch" else None


class Cluster:
    """One cluster and an administrator's client."""

    def __init__(self, host: Host, endpoint: Endpoint) -> None:
        self.host = host
        self.endpoint = endpoint
        self.client = self.client_of(TOKEN)

    def client_of(self, token: str) -> Client:
        return Client(self.endpoint.url, self.endpoint.ca_pem, lambda: token)

    @property
    def records(self) -> list[RequestRecord]:
        return [record for record in self.host.records if record.cluster == self.endpoint.cluster]

    def ids(self, resource: str) -> list[str]:
        """Names in a collection path such as `api/v1/pods`."""
        listed: list[Any] = self.client.get(f"/{resource}")["items"]
        return [item["metadata"]["name"] for item in listed]


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    made = Host()
    yield made
    made.servers.close()


@pytest.fixture
def cluster(host: Host) -> Iterator[Cluster]:
    name = next(_names)
    made = Cluster(host, host.servers.start(name))
    yield made
    made.client.close()
    host.faults.clear()
    host.servers.stop(name)


@pytest.fixture
def simulators(cluster: Cluster) -> Iterator[Simulators]:
    made = Simulators(cluster.endpoint.url, cluster.endpoint.ca_pem, lambda: TOKEN, clock=Clock(RATE))
    with made:
        yield made
