"""The sandbox as a process beside us, and the environment that points AWS clients at it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, cast

from reconciler.live.aws.accounts import AwsAccounts
from schemas.errors import InvalidInput

_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
_PEOPLE = ("platform-engineers", "data-scientists")
# What on this machine could send the demo to a real account.
_HIDDEN = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "INSTANTSTART_ROLE")


@dataclass(frozen=True, kw_only=True)
class World:
    """A running sandbox. `origin`: the real moment (epoch seconds) at which its clock showed real time."""

    endpoint: str
    control: str
    account: str
    region: str
    access_key: str
    secret_key: str
    rate: float
    origin: float

    def log(self, since: int = 0) -> list[dict[str, Any]]:
        """Every request, oldest first."""
        return cast("list[dict[str, Any]]", self._get(f"/log?since={since}"))

    def effects(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self._get("/effects"))

    def environment(self) -> dict[str, str]:
        """For us and for everybody who wants to look: `aws`, `kubectl`, `instantstart` in another terminal."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_DEFAULT_REGION": self.region,
            "INSTANTSTART_CLOCK_RATE": f"{self.rate:g}",
            "INSTANTSTART_CLOCK_ORIGIN": f"{self.origin:.3f}",
        }

    def _get(self, door: str) -> Any:
        with urllib.request.urlopen(self.control + door, timeout=30) as answer:
            return json.loads(answer.read())


@contextmanager
def sandbox(rate: float, kubernetes: str = "simulated") -> Generator[World]:
    """Start it, hand it out when it answers, end it. Raises InvalidInput if it does not start."""
    command = [sys.executable, "-m", "reconciler.sandbox", "--rate", f"{rate:g}", "--kubernetes", kubernetes]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, start_new_session=True
    )
    try:
        assert process.stdout is not None
        line = _first_line(process.stdout)
        if not line:
            raise InvalidInput("the sandbox did not start; its own words are above", reason="NoSandbox")
        about = cast("dict[str, Any]", json.loads(line))
        yield World(**{name: about[name] for name in World.__dataclass_fields__})
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_STOP_SECONDS)
        if process.stdout is not None:
            process.stdout.close()


def prepare(world: World) -> int:
    """What a real account would have already: the roles of the people whom the sample lets in. Needs `pointed_at`.

    Returns the newest entry of the request log.
    """
    with AwsAccounts() as accounts:
        session = accounts.session(world.account, world.region)
        trust = {
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{world.account}:root"},
            "Action": "sts:AssumeRole",
        }
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        for name in _PEOPLE:
            session.mutate("iam", "CreateRole", op="demo", RoleName=name, AssumeRolePolicyDocument=document)
    return int(world.log()[-1]["seq"])


@contextmanager
def pointed_at(world: World) -> Generator[None]:
    """This process's environment leads to the sandbox, and nowhere else."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name in _HIDDEN or name.startswith("AWS_ENDPOINT_URL")]:
        del os.environ[name]
    os.environ.update(world.environment())
    os.environ.update(
        AWS_EC2_METADATA_DISABLED="true", AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull
    )
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _first_line(stream: IO[str]) -> str:
    """Empty if the process ended, or said nothing in time."""
    said: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: said.put(stream.readline()), daemon=True).start()
    try:
        return said.get(timeout=_START_SECONDS)
    except queue.Empty:
        return ""
