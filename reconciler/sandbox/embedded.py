"""The sandbox inside this process, still reached by HTTP: for tests, which want it quick and want to look inside."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import boto3
from botocore.config import Config

from reconciler.sandbox import hosting
from reconciler.sandbox.aws.cloud import Cloud
from reconciler.sandbox.aws.kubernetes_seam import KubernetesHost
from reconciler.sandbox.aws.pace import Pace
from reconciler.sandbox.clock import Clock
from reconciler.sandbox.control import CONTROL, Control
from reconciler.sandbox.server import SandboxServer

Seen = TypeVar("Seen")


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """An account and Region of a running sandbox."""

    cloud: Cloud
    endpoint: str
    account: str
    access_key: str
    secret_key: str
    region: str

    def client(self, service: str, **config: Any) -> Any:
        """A boto3 client that sends once."""
        return _client(self.endpoint, self.access_key, self.secret_key, self.region, service, tuple(config.items()))

    def of_account(self, account: str) -> Sandbox:
        identity = self.cloud.world.credentials.account(account)
        return replace(self, account=account, access_key=identity.access_key, secret_key=identity.secret)

    def get(self, door: str) -> Any:
        return self._control("GET", door, None)

    def post(self, door: str, body: Any = None) -> Any:
        return self._control("POST", door, body or {})

    def log(self) -> list[dict[str, Any]]:
        """This account's requests."""
        return [entry for entry in self.get("/log") if entry["account"] == self.account]

    def pass_time(self, seconds: float) -> None:
        """Let simulated seconds pass."""
        self.cloud.agenda.clock.sleep(seconds)

    def until(self, look: Callable[[], Seen], wanted: Callable[[Seen], bool], *, within: float = 20_000) -> Seen:
        """Look until it is as wanted; fails after `within` simulated seconds."""
        clock = self.cloud.agenda.clock
        end = clock.now() + within
        while not wanted(seen := look()):
            assert clock.now() < end, f"not as wanted in time: {seen}"
            time.sleep(0.005)
        return seen

    def _control(self, method: str, door: str, body: Any) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.endpoint + CONTROL + door, data=data, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())


@cache
def _client(
    endpoint: str, key: str, secret: str, region: str, service: str, config: tuple[tuple[str, Any], ...]
) -> Any:
    connect: Any = boto3.client
    return connect(
        service,
        endpoint_url=endpoint,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        region_name=region,
        config=Config(**{"retries": {"total_max_attempts": 1}, **dict(config)}),
    )


@contextmanager
def running(
    *,
    rate: float,
    kubernetes: KubernetesHost | None = None,
    account: str = "111122223333",
    region: str = "us-west-2",
    pace: Pace | None = None,
) -> Iterator[Sandbox]:
    """`kubernetes` is for tests of the AWS side alone; without it clusters are really served."""
    clock = Clock(rate)
    cloud = Cloud(clock, kubernetes, pace=pace) if kubernetes else hosting.compose(clock, pace=pace)
    server = SandboxServer(0, cloud, Control(cloud, region))
    identity = cloud.world.credentials.account(account)
    serve = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    serve.start()
    cloud.world.moto.warm()
    cloud.agenda.start()
    try:
        yield Sandbox(
            cloud=cloud,
            endpoint=server.endpoint,
            account=account,
            access_key=identity.access_key,
            secret_key=identity.secret,
            region=region,
        )
    finally:
        server.shutdown()
        server.server_close()
        cloud.stop()
