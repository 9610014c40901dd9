"""The sandbox inside this process, still reached by HTTP: for tests, which want it quick and want to look inside.

Its time stands still until a test moves it: a state that lasts a simulated minute is there as long as a test looks.
"""

from __future__ import annotations

import base64
import json
import threading
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.signers import RequestSigner

from reconciler.sandbox import hosting
from reconciler.sandbox.aws.cloud import Cloud
from reconciler.sandbox.aws.kubernetes_seam import KubernetesHost
from reconciler.sandbox.aws.pace import Pace
from reconciler.sandbox.clock import MovedClock
from reconciler.sandbox.control import CONTROL, Control
from reconciler.sandbox.real.programs import Programs
from reconciler.sandbox.server import SandboxServer

Seen = TypeVar("Seen")

_LONGEST_STEP = 60.0  # simulated seconds


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """An account and Region of a running sandbox."""

    cloud: Cloud
    endpoint: str
    account: str
    access_key: str
    secret_key: str
    region: str
    session_token: str = ""

    @property
    def clock(self) -> MovedClock:
        clock = self.cloud.agenda.clock
        assert isinstance(clock, MovedClock)
        return clock

    def client(self, service: str, **config: Any) -> Any:
        """A boto3 client that sends once."""
        keys = (self.access_key, self.secret_key, self.session_token or None)
        return _client(self.endpoint, keys, self.region, service, tuple(config.items()))

    def with_key(self, access_key: str, secret_key: str, session_token: str = "") -> Sandbox:
        """The same place seen by somebody else."""
        return replace(self, access_key=access_key, secret_key=secret_key, session_token=session_token)

    def eks_token(self, cluster: str) -> str:
        """A bearer token for the cluster's Kubernetes API."""
        client = self.client("sts")
        signing: Any = RequestSigner
        signer = signing(
            client.meta.service_model.service_id,
            self.region,
            "sts",
            "v4",
            client._request_signer._credentials,
            client.meta.events,
        )
        request = {
            "method": "GET",
            "url": f"https://sts.{self.region}.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15",
            "body": {},
            "headers": {"x-k8s-aws-id": cluster},
            "context": {},
        }
        url = signer.generate_presigned_url(request, region_name=self.region, expires_in=60, operation_name="")
        return "k8s-aws-v1." + base64.urlsafe_b64encode(str(url).encode()).decode().rstrip("=")

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
        """Let simulated seconds pass, with all that is due in them."""
        self.clock.sleep(seconds)
        self.cloud.agenda.settle()

    def until(self, look: Callable[[], Seen], wanted: Callable[[Seen], bool], *, within: float = 20_000) -> Seen:
        """Look until it is as wanted, after everything that happens; fails after `within` simulated seconds."""
        end = self.clock.now() + within
        while not wanted(seen := look()):
            assert self.clock.now() < end, f"not as wanted in time: {seen}"
            due = self.cloud.agenda.next()
            soon = self.clock.now() + _LONGEST_STEP  # some things are a matter of age, and nothing is due for them
            self.clock.move(soon if due is None else min(due, soon))
            self.cloud.agenda.settle()
        return seen

    def _control(self, method: str, door: str, body: Any) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.endpoint + CONTROL + door, data=data, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())


def code_of(error: Any) -> str:
    """The code of a botocore ClientError."""
    return str(error.response["Error"]["Code"])


def status_of(error: Any) -> int:
    return int(error.response["ResponseMetadata"]["HTTPStatusCode"])


@cache
def _client(
    endpoint: str,
    keys: tuple[str, str, str | None],
    region: str,
    service: str,
    config: tuple[tuple[str, Any], ...],
) -> Any:
    boto: Any = boto3
    return boto.client(
        service,
        endpoint_url=endpoint,
        aws_access_key_id=keys[0],
        aws_secret_access_key=keys[1],
        aws_session_token=keys[2],
        region_name=region,
        config=Config(**{"retries": {"total_max_attempts": 1}, **dict(config)}),
    )


@contextmanager
def running(
    *,
    kubernetes: KubernetesHost | None = None,
    account: str = "111122223333",
    region: str = "us-west-2",
    pace: Pace | None = None,
    programs: Programs | None = None,
) -> Generator[Sandbox]:
    """`kubernetes` is for tests of the AWS side alone; without it clusters are really served. `programs`: by those."""
    clock = MovedClock()
    cloud = Cloud(clock, kubernetes, pace=pace) if kubernetes else None
    cloud = cloud or hosting.compose(clock, pace=pace, programs=programs)
    server = SandboxServer(0, cloud, Control(cloud, region))
    identity = cloud.world.credentials.account(account)
    serve = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    serve.start()
    cloud.world.moto.warm()
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
