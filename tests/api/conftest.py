"""Fixtures of the API's tests. `api` is a whole service; see `apibox.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api import livebox
from tests.api.apibox import ApiBox, make
from tests.api.livebox import KubeHost, LiveBox
from tests.engine_support import chart, engine_cloud
from tests.live.aws_server import FakeAws

__all__ = ["chart", "engine_cloud"]


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ApiBox]:
    box = make(tmp_path)
    yield box
    box.close()


@pytest.fixture(scope="session")
def kube_host() -> Iterator[KubeHost]:
    made = KubeHost()
    yield made
    made.servers.close()


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kube_host: KubeHost) -> Iterator[LiveBox]:
    """A service with a Kubernetes API and a scripted AWS; see `livebox.py`."""
    aws = FakeAws()
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATESTTESTTESTTEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "for-tests-only")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    box = livebox.make(tmp_path, aws, kube_host.new())
    yield box
    box.close()
    aws.close()
