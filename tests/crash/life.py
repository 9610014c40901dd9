"""One life of the engine: a process that opens everything anew, ticks towards an end, and may be killed on the way.

The campaign has imported everything already and forks, so that a life costs a look and not a second of imports.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from reconciler.engine import journal
from reconciler.engine.preflight import Preflight
from reconciler.engine.tick import Engine
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.clock import Clock
from reconciler.resources.handler import Handler
from reconciler.resources.helm.handler import TYPE as RELEASE
from reconciler.resources.helm.handler import ReleaseHandler
from reconciler.resources.registry import handlers
from schemas.journal import ClusterStatus, Condition, Phase
from tests.crash.doubles import CrashHandler, CrashRepo
from tests.crash.points import Points

HELM_GONE = timedelta(seconds=30)  # real: that long a killed helm's lock is respected; no helm lives as long here
LONGEST = 600.0  # real seconds of one life
READS = {
    "sts": ("GetCallerIdentity", None),
    "ec2": ("DescribeVpcs", "Vpcs"),
    "iam": ("ListOpenIDConnectProviders", "OpenIDConnectProviderList"),
    "s3": ("ListBuckets", "Buckets"),
    "eks": ("ListClusters", "clusters"),
    "sagemaker": ("ListClusters", "ClusterSummaries"),
    "service-quotas": ("ListServices", "Services"),
}


@dataclass(frozen=True, kw_only=True)
class House:
    """What every life of a run finds: where the repository is, whose clock, which account."""

    folder: Path
    location: str  # of the repository: a folder or file://
    bare: Path  # the repository that nobody can lose
    cluster: str
    account: str
    region: str
    rate: float
    origin: float
    accounts: AwsAccounts

    @property
    def state(self) -> Path:
        return self.folder / "state"


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a life ended. `killed`: by SIGKILL; else what the cluster had come to."""

    killed: bool
    condition: str = ""
    said: str = ""
    unknown: tuple[str, ...] = ()  # ops that a person must resolve


def live(house: House, revision: str, until: Condition, points: Points) -> Ended:
    """Fork a life and wait for its end."""
    told = house.folder / "told.json"
    told.unlink(missing_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _child(house, revision, until, points, told)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) != signal.SIGKILL:
            raise RuntimeError(f"a life ended by signal {os.WTERMSIG(status)}")
        return Ended(killed=True)
    if not told.exists():
        raise RuntimeError(f"a life broke: {(house.folder / 'life.log').read_text()[-4000:]}")
    found: Mapping[str, Any] = json.loads(told.read_text())
    return Ended(
        killed=False, condition=found["condition"], said=found["said"], unknown=tuple(found.get("unknown") or ())
    )


def warmed_accounts(account: str, region: str) -> AwsAccounts:
    """With the service models read, and no connection open: a child must not share its parent's sockets."""
    accounts = AwsAccounts()
    session = accounts.session(account, region)
    for service, (operation, key) in READS.items():
        if key is None:
            session.read(service, operation)
        else:
            session.pages(service, operation, key)
    accounts.close()
    return accounts


def _child(house: House, revision: str, until: Condition, points: Points, told: Path) -> None:
    """Never returns."""
    code = 1
    try:
        os.setpgid(0, 0)  # helm is in our group, git in groups of its own
        logging.basicConfig(filename=house.folder / "life.log", level=logging.WARNING, force=True)
        status = _tick_until(house, revision, until, points)
        unknown = [op.op for op in status.ops.values() if op.phase is Phase.UNKNOWN]
        said = f"{status.rev} {status.condition.value} {status.reason} {status.msg}"
        told.write_text(json.dumps({"condition": status.condition.value, "said": said, "unknown": unknown}))
        code = 0
    except BaseException:
        with (house.folder / "life.log").open("a") as file:
            traceback.print_exc(file=file)
    finally:
        os._exit(code)


def _tick_until(house: House, revision: str, until: Condition, points: Points) -> ClusterStatus:
    """Ends at the wanted condition, at an op whose outcome nobody can tell, or when it takes too long."""
    repo = CrashRepo.open(house.location, state_dir=house.state, writer="test")
    repo.watched_by(points)
    engine = Engine(
        repo=repo,
        accounts=house.accounts,
        handlers=[CrashHandler(_patient(one), points, lambda op: _published(house, op)) for one in handlers()],
        clock=Clock(house.rate, origin=house.origin),
        pool=ThreadPoolExecutor(8),
        state_dir=house.state,
        writer="test",
        preflight=Preflight(),
    )
    end = time.monotonic() + LONGEST
    while True:
        result = engine.tick()
        memory = engine.memories.get(house.cluster)
        # An engine born behind the last line of a cluster that is gone has nothing to do, and remembers nothing.
        status = memory.status() if memory is not None else _told(repo, house.cluster)
        if status is not None:
            there = status.rev == revision
            if there and status.condition is until and not status.open_ops():
                return status
            if there and any(op.phase is Phase.UNKNOWN for op in status.ops.values()):
                return status
            if time.monotonic() > end:
                return status
        elif time.monotonic() > end:
            raise RuntimeError(f"no cluster after {LONGEST} s: {result}")
        time.sleep(max(0.002, min(result.wake, 30.0) / house.rate))


def _told(repo: CrashRepo, cluster: str) -> ClusterStatus | None:
    notes = repo.notes(cluster)
    return journal.read(repo, cluster, notes).status() if notes.tip is not None else None


def _patient(handler: Handler) -> Handler:
    return ReleaseHandler(stale=HELM_GONE) if RELEASE in handler.types else handler


def _published(house: House, op: str) -> bool:
    ref = f"refs/notes/instantstart/status/{house.cluster}"
    command = ["git", f"--git-dir={house.bare}", "grep", "-q", "-F", f'"op":"{op}","phase":"intent"', ref]
    return subprocess.run(command, timeout=120, check=False, start_new_session=True).returncode == 0
