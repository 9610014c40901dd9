"""Fixtures: a scripted AWS and a Kubernetes API on loopback, and the product's own ways into them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.aws.sessions import AwsSession, Patience
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.tokens import FixedToken
from reconciler.sandbox.real.processes import RealKubernetes
from tests.live.aws_server import ACCOUNT, FakeAws
from tests.live.kube_server import TOKEN, Kubernetes, Real, Simulated, calm


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAws]:
    fake = FakeAws()
    monkeypatch.setenv("AWS_ENDPOINT_URL", fake.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATESTTESTTESTTEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "for-tests-only")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    yield fake
    fake.close()


@pytest.fixture
def accounts(aws: FakeAws) -> Iterator[AwsAccounts]:
    with AwsAccounts(patience=Patience(connect=20, read=60, mutate=60)) as opened:
        yield opened


@pytest.fixture
def session(accounts: AwsAccounts) -> AwsSession:
    return accounts.session(ACCOUNT, "us-west-2")


@pytest.fixture(scope="session")
def kubernetes(real_kubernetes: RealKubernetes | None) -> Iterator[Kubernetes]:
    """The API server on TLS, one for all tests of a process; each test takes namespaces of its own."""
    server: Kubernetes = Real(real_kubernetes) if real_kubernetes else Simulated()
    yield server
    server.close()


@pytest.fixture
def kube(kubernetes: Kubernetes) -> Iterator[KubeCluster]:
    calm(kubernetes)
    with KubeCluster(kubernetes.url, kubernetes.ca_pem, FixedToken(TOKEN), pause=lambda _: None) as cluster:
        yield cluster
    calm(kubernetes)
