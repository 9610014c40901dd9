"""Fixtures: an S3 on loopback, and one cluster's world in it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any, cast

import pytest

from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.clock import Clock
from reconciler.resources.handler import World
from schemas.errors import InvalidInput

ACCOUNT = "123456789012"  # the only one that moto's server knows


SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("http://%s:%s" % server.get_host_and_port(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def s3_url() -> Iterator[str]:
    """In a process of its own: moto asks every account that it has for a key it does not know, which takes a minute
    after tests that made a hundred of them in this one."""
    command = [sys.executable, "-c", SERVER]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=quiet, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()
        process.kill()


@pytest.fixture
def files() -> dict[str, bytes]:
    """The cluster's folder."""
    return {}


@pytest.fixture(params=["us-east-1", "us-west-2"])
def world(
    s3_url: str, files: dict[str, bytes], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATESTTESTTESTTEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "for-tests-only")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.delenv("AWS_PROFILE", raising=False)

    def file(path: str) -> bytes:
        if path not in files:
            raise InvalidInput(f"no file {path}")
        return files[path]

    region = str(request.param)
    with AwsAccounts() as accounts:
        yield World(
            cluster="prod",
            account=ACCOUNT,
            region=region,
            aws=accounts.session(ACCOUNT, region),
            kube=lambda: cast(Any, None),
            clock=Clock(),
            desired={},
            previous={},
            observed={},
            file=file,
            cache_dir="",
        )
