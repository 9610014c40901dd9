"""API servers for the tests of this folder: a new simulated cluster per test, or a real one that is emptied first."""

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
from reconciler.sandbox.real.processes import RealKubernetes
from tests.kube_servers.verbs import Api, Remote, Simulated

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
    """One cluster and an administrator's client. `host` is what the simulated one offers beside the API."""

    def __init__(self, endpoint: Endpoint, host: Host | None, real: RealKubernetes | None) -> None:
        self.endpoint = endpoint
        self._host = host
        self._real = real
        self.client = self.client_of(TOKEN)

    @property
    def host(self) -> Host:
        assert self._host is not None, "a test of the simulated server's own ways is not marked `simulated`"
        return self._host

    def client_of(self, token: str) -> Client:
        return Client(self.endpoint.url, self.endpoint.ca_pem, lambda: token)

    @property
    def records(self) -> list[RequestRecord]:
        return [record for record in self.host.records if record.cluster == self.endpoint.cluster]

    def ids(self, path: str) -> list[str]:
        """Names in a collection path such as `api/v1/pods`."""
        listed: list[Any] = self.client.get(f"/{path}")["items"]
        return [item["metadata"]["name"] for item in listed]

    def compact(self) -> None:
        """Forget the past, as a server does after a while; sure to be seen with pod templates alone."""
        if self._real is not None:
            self._real.compact()
        else:
            self.host.servers.call(self.endpoint.cluster, lambda api: api.store.compact())


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    made = Host()
    yield made
    made.servers.close()


@pytest.fixture
def real(real_kubernetes: RealKubernetes | None) -> RealKubernetes | None:
    """The real cluster, with nothing of earlier tests in it."""
    if real_kubernetes is not None:
        real_kubernetes.authenticate = USERS.get
        real_kubernetes.reset()
    return real_kubernetes


@pytest.fixture
def cluster(request: pytest.FixtureRequest, real: RealKubernetes | None) -> Iterator[Cluster]:
    if real is not None:
        made = Cluster(Endpoint(cluster="real", url=real.url, ca_pem=real.ca_pem), None, real)
        yield made
        made.client.close()
        return
    host: Host = request.getfixturevalue("host")
    name = next(_names)
    made = Cluster(host.servers.start(name), host, None)
    yield made
    made.client.close()
    host.faults.clear()
    host.servers.stop(name)


@pytest.fixture
def api(real: RealKubernetes | None) -> Iterator[Api]:
    """The API's verbs, for tests of its rules."""
    if real is None:
        yield Simulated()
        return
    remote = Remote(real.url, real.ca_pem, TOKEN)
    yield remote
    remote.close()


@pytest.fixture
def simulators(cluster: Cluster) -> Iterator[Simulators]:
    made = Simulators(cluster.endpoint.url, cluster.endpoint.ca_pem, lambda: TOKEN, clock=Clock(RATE))
    with made:
        yield made
