"""Fixtures of the tests of diagnoses; see `ward.py`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api import livebox
from tests.api.conftest import api, kube_host, live
from tests.api.livebox import KubeHost
from tests.diagnosis.ward import Ward
from tests.live.aws_server import FakeAws

__all__ = ["api", "kube_host", "live"]


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory, kube_host: KubeHost) -> Iterator[Ward]:
    """One for the tests of a file."""
    aws = FakeAws()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", aws.url)
        patch.setenv("AWS_ACCESS_KEY_ID", "AKIATESTTESTTESTTEST")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "for-tests-only")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
            patch.setenv(name, "/nonexistent")
        for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE"):
            patch.delenv(name, raising=False)
        box = livebox.make(tmp_path_factory.mktemp("ward"), aws, kube_host.new())
        yield Ward(live=box)
        box.close()
    aws.close()
