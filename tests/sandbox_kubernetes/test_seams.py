"""Around the requests: who may, what was recorded, what was made to fail."""

import http.client
import json
import ssl
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from reconciler.sandbox.kubernetes.records import AFTER, BEFORE, Fault
from reconciler.sandbox.kubernetes.simulators.client import Client, Refused
from tests.sandbox_kubernetes.conftest import Cluster
from tests.sandbox_kubernetes.objects import config_map

_ROOT = Path(__file__).parents[2]
MAPS = "/api/v1/namespaces/default/configmaps"


def status_of(cluster: Cluster, path: str, **headers: str) -> int:
    where = urlsplit(cluster.endpoint.url)
    context = ssl.create_default_context(cadata=cluster.endpoint.ca_pem)
    connection = http.client.HTTPSConnection(where.hostname or "", where.port, context=context, timeout=120)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def may_soon(client: Client, path: str) -> None:
    """A real server hears of a new binding a moment after it was stored."""
    for _ in range(6000):
        try:
            client.get(path)
            return
        except Refused as refused:
            assert refused.code == 403
            time.sleep(0.02)
    raise AssertionError(f"{path} stays forbidden")


@pytest.mark.behaviour("Tokens and TLS: 401, certificates")
class TestAccess:
    def test_tokens(self, cluster: Cluster) -> None:
        assert status_of(cluster, MAPS) == 401
        assert status_of(cluster, MAPS, Authorization="Bearer wrong") == 401
        assert status_of(cluster, "/apis", Authorization="Bearer wrong") == 401
        assert status_of(cluster, "/healthz") == 200

    def test_certificate_is_not_for_others(self, cluster: Cluster) -> None:
        where = urlsplit(cluster.endpoint.url)
        connection = http.client.HTTPSConnection(where.hostname or "", where.port, timeout=120)
        with pytest.raises(ssl.SSLCertVerificationError):
            connection.request("GET", "/healthz")
        connection.close()

    def test_rbac(self, cluster: Cluster) -> None:
        with closing(cluster.client_of("reader-token")) as reader:
            self._reads_what_it_was_given(cluster, reader)

    def _reads_what_it_was_given(self, cluster: Cluster, reader: Client) -> None:
        with pytest.raises(Refused, match='User "reader" cannot list resource "configmaps"') as caught:
            reader.get(MAPS)
        assert caught.value.code == 403
        rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}
        roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
        cluster.client.create(f"{roles}/roles", {"metadata": {"name": "r"}, "rules": [rule]})
        binding = {
            "metadata": {"name": "r"},
            "roleRef": {"kind": "Role", "name": "r"},
            "subjects": [{"kind": "Group", "name": "team-a"}],
        }
        cluster.client.create(f"{roles}/rolebindings", binding)
        may_soon(reader, MAPS)
        assert reader.get(MAPS)["kind"] == "ConfigMapList"
        for path in ("/api/v1/configmaps", "/api/v1/namespaces/default/secrets", "/metrics"):
            with pytest.raises(Refused) as caught:
                reader.get(path)
            assert caught.value.code == 403, path
        wanted = {"spec": {"resourceAttributes": {"verb": "delete", "resource": "configmaps", "namespace": "default"}}}
        review = reader.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", wanted)
        assert review["status"]["allowed"] is False


@pytest.mark.behaviour("A log of requests with their effects")
@pytest.mark.simulated("the simulated server's own request log")
class TestRecords:
    def test_each_request_with_its_effect(self, cluster: Cluster) -> None:
        cluster.client.create(MAPS, config_map())
        cluster.client.merge(f"{MAPS}/cm", {"data": {"a": "1"}})
        cluster.client.get(f"{MAPS}/cm")
        with pytest.raises(Refused):
            cluster.client.create(MAPS, config_map())
        cluster.client.delete(f"{MAPS}/cm")
        seen = [(each.verb, each.status, [effect.change for effect in each.effects]) for each in cluster.records]
        assert seen == [
            ("create", 201, ["created"]),
            ("patch", 200, []),
            ("get", 200, []),
            ("create", 409, []),
            ("delete", 200, ["deleted"]),
        ]
        first = cluster.records[0]
        assert first.user_agent.startswith("sandbox-simulators/") and len(first.body_sha256) == 64
        assert (first.effects[0].resource, first.effects[0].name) == ("configmaps", "cm")

    def test_dry_run_has_no_effect(self, cluster: Cluster) -> None:
        cluster.client.request("POST", MAPS, query={"dryRun": "All"}, body=config_map())
        assert cluster.records[-1].dry_run and not cluster.records[-1].changed


@pytest.mark.behaviour("Faults on order: errors, delays, lost replies")
@pytest.mark.simulated("the simulated server's own faults")
class TestFaults:
    @pytest.mark.parametrize(("drop", "there"), [(BEFORE, False), (AFTER, True)])
    def test_lost_request_and_lost_reply(self, cluster: Cluster, drop: str, there: bool) -> None:
        cluster.host.faults.append(Fault(drop=drop))
        with pytest.raises(Refused) as caught:
            cluster.client.create(MAPS, config_map())
        assert caught.value.code == 0
        assert (cluster.ids("api/v1/configmaps") == ["cm"]) is there
        assert cluster.records[0].changed is there
        assert cluster.records[0].fault == f"drop {drop}"

    def test_status_without_acting(self, cluster: Cluster) -> None:
        cluster.host.faults.append(Fault(status=429, reason="TooManyRequests", retry_after=3))
        with pytest.raises(Refused) as caught:
            cluster.client.create(MAPS, config_map())
        assert (caught.value.code, caught.value.reason) == (429, "TooManyRequests")
        assert cluster.ids("api/v1/configmaps") == []

    def test_delay_and_latency(self, cluster: Cluster) -> None:
        cluster.client.get(MAPS)
        cluster.host.faults.append(Fault(delay=0.05))
        began = time.monotonic()
        cluster.client.get(MAPS)
        assert time.monotonic() - began >= 0.05
        cluster.host.servers.set_latency(0.03)
        try:
            began = time.monotonic()
            cluster.client.get(MAPS)
            assert time.monotonic() - began >= 0.03
        finally:
            cluster.host.servers.set_latency(0.0)


@pytest.mark.behaviour("Many clusters in one process")
@pytest.mark.simulated("many clusters in one process")
def test_clusters_are_apart_and_end(cluster: Cluster) -> None:
    other = cluster.host.servers.start("another")
    assert other.url != cluster.endpoint.url
    assert cluster.host.servers.start("another") == other, "started once"
    cluster.client.create(MAPS, config_map())
    there = Cluster(other, cluster.host, None)
    assert not there.ids("api/v1/configmaps")
    cluster.host.servers.stop("another")
    with pytest.raises(Refused):
        there.client.get(MAPS)


@pytest.mark.simulated("its own command line")
def test_standalone_server_says_where_it_is() -> None:
    command = [sys.executable, "-m", "reconciler.sandbox.kubernetes", "--port", "0", "--token", "T"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=_ROOT, text=True) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        client = Client(said["endpoint"], said["ca"], lambda: said["token"])
        assert client.get("/version")["gitVersion"].startswith("v1.")
        client.close()
        process.terminate()
        assert process.wait(timeout=120) == 0
