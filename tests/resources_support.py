"""A sandbox for the tests of handlers, a World on it, and a small engine: look, plan, draft, send, look again.

Import the fixtures into a conftest: `from tests.resources_support import clouds, place`.
"""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.aws.sessions import AwsSession
from reconciler.live.clock import Clock
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.tokens import EksTokens
from reconciler.plan.make import PlanInput, make
from reconciler.plan.registry import rule_for
from reconciler.resources.handler import Call, Handler, Settlement, World
from reconciler.sandbox import embedded
from reconciler.sandbox.embedded import Sandbox
from reconciler.sandbox.real.processes import RealKubernetes
from schemas.errors import InvalidInput, Refused
from schemas.journal import OpRecord, Phase
from schemas.plan import Action, Plan, Verb
from schemas.resource import Health, Observed, Ref, Resource, Source, Stage
from tests.aws_environment import aws_environment
from tests.kube_servers.hosting import OneServer

CLUSTER = "prod"
REGION = "us-west-2"
ROUNDS = 60  # no plan in these tests needs more looks

_ACCOUNTS = itertools.count(333300000000)
_OPS = itertools.count(1)


class SandboxTime(Clock):
    """The product's clock, on the sandbox's time."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__()
        self._sandbox, self._began = sandbox, sandbox.clock.now()
        self._start = datetime.fromtimestamp(self._began, UTC)

    def sleep(self, seconds: float) -> None:
        self._sandbox.pass_time(seconds)

    def _elapsed(self) -> float:
        return self._sandbox.clock.now() - self._began


@dataclass(kw_only=True)
class Place:
    """One account of the sandbox, and one cluster's world in it."""

    sandbox: Sandbox
    aws: AwsSession
    clock: Clock
    cache_dir: str
    cluster: str = CLUSTER
    kube: Callable[[], KubeCluster] | None = None
    opened: dict[str, KubeCluster] = field(default_factory=dict[str, KubeCluster])
    desired: dict[str, Resource] = field(default_factory=dict[str, Resource])
    previous: dict[str, Resource] = field(default_factory=dict[str, Resource])
    observed: dict[str, Observed] = field(default_factory=dict[str, Observed])
    ops: list[OpRecord] = field(default_factory=list[OpRecord])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    roles: dict[str, float] = field(default_factory=dict[str, float])

    def world(self) -> World:
        return World(
            cluster=self.cluster,
            account=self.sandbox.account,
            region=self.sandbox.region,
            aws=self.aws,
            kube=self.kube or self.real_kube,
            clock=self.clock,
            desired=self.desired,
            previous=self.previous,
            observed=self.observed,
            file=self._file,
            cache_dir=self.cache_dir,
            role_made_at=self.roles.get,
        )

    def want(self, *resources: Resource) -> None:
        """Git now says this; what it said before is `previous`."""
        self.previous = {**self.previous, **self.desired}
        self.desired = {resource.key: resource for resource in resources}

    def look(self, *handlers: Handler) -> dict[str, Observed]:
        """One tick's look with these handlers, in this order."""
        self.observed = {}
        world = self.world()
        for handler in handlers:
            wanted = {**self.previous, **self.desired}
            mine = [resource for resource in wanted.values() if resource.type in handler.types]
            self.observed.update({seen.key: seen for seen in handler.look(world, mine)})
        return self.observed

    def plan(self) -> Plan:
        given = PlanInput(
            cluster=self.cluster,
            revision=None,
            desired=self.desired,
            previous=self.previous,
            observed=self.observed,
        )
        return make(given)

    def send(self, handler: Handler, call: Call) -> OpRecord:
        """Send a drafted call as one op; what it became is kept in `ops`."""
        op = OpRecord.model_validate(
            {
                "op": f"01TEST{next(_OPS):020d}",
                "phase": Phase.INTENT,
                "key": call.key,
                "lane": call.lane,
                "verb": call.verb,
                "call": call.call,
                "class": call.cls,
                "before": dict(call.before),
            }
        )
        reply = handler.send(self.world(), call, op.op)
        ended = Phase.SUCCEEDED if call.closes_on_reply else Phase.SUBMITTED
        op = op.model_copy(update={"phase": ended, "ref": dict(reply.ref)})
        self.ops.append(op)
        return op

    def settle(self, handler: Handler, op: OpRecord) -> Settlement:
        return handler.settled(self.world(), op)

    def converge(self, *handlers: Handler, until: Callable[[Plan], bool] | None = None) -> Plan:
        """Look, plan and send until the plan is empty and all is well; fails after a bounded number of rounds."""
        done = until or self.is_well
        open_ops: list[tuple[Handler, OpRecord]] = []
        plan = Plan(cluster=self.cluster, revision=None)
        for _ in range(ROUNDS):
            self.look(*handlers)
            open_ops = [(h, op) for h, op in open_ops if self.settle(h, op).verdict.value in ("pending", "unreadable")]
            plan = self.plan()
            if not open_ops and done(plan):
                return plan
            lanes = {op.lane for _, op in open_ops}
            moved = False
            for handler in handlers:
                actions = [a for a in plan.actions if a.type in handler.types and self._may_go(a)]
                for call in handler.calls(self.world(), [a for a in actions if a.lane not in lanes]):
                    moved = True
                    try:
                        op = self.send(handler, call)
                    except Refused:
                        continue
                    if not call.closes_on_reply:
                        open_ops.append((handler, op))
                        lanes.add(call.lane)
            if not moved:
                self.sandbox.pass_time(30)
        raise AssertionError(f"not done after {ROUNDS} rounds: {[(a.verb, a.key) for a in plan.actions]}")

    def is_well(self, plan: Plan) -> bool:
        """Nothing left to do, and everything that is there is healthy."""
        return plan.empty and all(not s.present or s.health is Health.HEALTHY for s in self.observed.values())

    def real_kube(self) -> KubeCluster:
        """The API of the cluster's control plane, as the newest look shows it."""
        seen = self.observed.get(f"eks.Cluster/{self.cluster}")
        if seen is None or not seen.attrs.get("endpoint"):
            raise Refused("there is no control plane yet", reason="NotConnected")
        endpoint = str(seen.attrs["endpoint"])
        if endpoint not in self.opened:
            authority = base64.b64decode(seen.attrs["ca"]).decode()
            self.opened[endpoint] = KubeCluster(endpoint, authority, EksTokens(self.aws, seen.name))
        return self.opened[endpoint]

    def close(self) -> None:
        for each in self.opened.values():
            each.close()

    def _may_go(self, action: Action) -> bool:
        if action.verb is Verb.CREATE:
            return all((seen := self.observed.get(key)) is not None and seen.ready for key in action.needs)
        if action.verb is Verb.DELETE:
            there = [seen for key in action.needs if (seen := self.observed.get(key)) is not None and seen.present]
            return all(rule_for(seen.type).child_of == action.type for seen in there)  # children go with it
        return True

    def _file(self, path: str) -> bytes:
        if path not in self.files:
            raise InvalidInput(f"{path} is not there")
        return self.files[path]


@pytest.fixture(scope="session")
def clouds(real_kubernetes: RealKubernetes | None) -> Iterator[Sandbox]:
    """One sandbox for all tests of this process."""
    host = OneServer(real_kubernetes) if real_kubernetes else None
    with embedded.running(kubernetes=host) as sandbox:
        yield sandbox


@pytest.fixture
def place(clouds: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """An account nobody else uses, reached as the product reaches AWS: by AWS_ENDPOINT_URL."""
    sandbox = clouds.of_account(str(next(_ACCOUNTS)))
    for name, value in aws_environment(sandbox, tmp_path).items():
        monkeypatch.setenv(name, value)
    with AwsAccounts() as accounts:
        found = Place(
            sandbox=sandbox,
            aws=accounts.session(sandbox.account, sandbox.region),
            clock=SandboxTime(sandbox),
            cache_dir=str(tmp_path / "cache"),
        )
        yield found
        found.close()


def resource(key: str, spec: Mapping[str, Any] | None = None, **rest: Any) -> Resource:
    """A desired resource with the defaults that do not matter in a test."""
    kind, _, what = key.partition("/")
    cluster = what.partition("/")[0]
    return Resource(
        key=key,
        type=kind,
        name=rest.pop("name", what.replace("/", "-")),
        cluster=cluster,
        stage=rest.pop("stage", Stage.NETWORK),
        lane=rest.pop("lane", f"lane/{key}"),
        spec=dict(spec or {}),
        source=Source("Cluster", cluster),
        **rest,
    )


def ref(key: str, attr: str = "id") -> Ref:
    return Ref(key, attr)


def trust(*services: str) -> str:
    statement = {"Effect": "Allow", "Principal": {"Service": list(services)}, "Action": "sts:AssumeRole"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def by_key(seen: Iterable[Observed]) -> dict[str, Observed]:
    return {each.key: each for each in seen}


def operations(place: Place, *verbs: str) -> Sequence[str]:
    """The operations this account has seen, in order; with `verbs` only those that start with one of them."""
    names = [str(entry["operation"]) for entry in place.sandbox.log()]
    return [name for name in names if not verbs or name.startswith(verbs)]
