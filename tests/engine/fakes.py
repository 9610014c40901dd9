"""A whole engine over a real repository and an invented cloud, so that a tick costs milliseconds.

The documents, desired state, plan, gates, journal and git are the real ones; only the handlers are not. One generic
family per layer keeps what it is told to make, can lose replies, refuse, go blind, see late and die, and counts
every effect.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from reconciler.config_repo.errors import ObjectMissing, RemoteUnavailable
from reconciler.config_repo.records import NotesAppend, NotesResult
from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository
from reconciler.engine.kubes import Kubes
from reconciler.engine.tick import Engine, Result
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.clock import SteppedClock
from reconciler.resources.base import BaseHandler
from reconciler.resources.handler import Call, Handler, Reply, Settlement, Verdict, World
from schemas.errors import LostReply, Refused, StopUntilChange
from schemas.journal import ClusterStatus, Condition, EffectClass, OpRecord
from schemas.plan import Action, Verb
from schemas.resource import Health, Mark, Observed, Presence, Resource, absent, refs_in, resolve
from schemas.values import digest

AUTHOR = ("Engineer", "engineer@example.com")
POLICY = """apiVersion: instantstart/v1
kind: Policy
metadata:
  name: default
spec:
  approvals:
    requireFor: [replace]
"""
REBOOT, GROUP = "hyperpod.Reboot", "hyperpod.InstanceGroup"
NETWORK = ("ec2.Zones", "ec2.Vpc", "ec2.InternetGateway", "ec2.Subnet", "ec2.Address", "ec2.NatGateway")
LAYERS = (
    (*NETWORK, "ec2.RouteTable", "ec2.VpcEndpoint", "ec2.SecurityGroup"),
    ("iam.Role", "iam.OpenIDConnectProvider"),
    ("eks.Cluster", "eks.AccessEntry", "eks.Addon"),
    ("helm.Release",),
    ("s3.Bucket", "s3.Objects", "k8s.Storage"),
    ("hyperpod.Cluster", GROUP),
    (REBOOT,),
)
CLASSES = {
    "iam.Role": EffectClass.NAME,
    "eks.Cluster": EffectClass.TOKEN,
    "eks.Addon": EffectClass.TOKEN,
    "ec2.NatGateway": EffectClass.TOKEN,
    "hyperpod.Cluster": EffectClass.NAME,
    "s3.Bucket": EffectClass.NAME,
    "helm.Release": EffectClass.NAME,
    GROUP: EffectClass.CONVERGENT,
    "s3.Objects": EffectClass.CONVERGENT,
    "k8s.Storage": EffectClass.CONVERGENT,
}
UNIQUE = (EffectClass.TOKEN, EffectClass.NAME, EffectClass.CONVERGENT)  # a second create finds the first one
SLOW = ("eks.Cluster", "hyperpod.Cluster")
TOKEN_LIFE = 600
SETTLED = (Condition.READY, Condition.STALLED, Condition.GONE)
PATIENCE = 20  # quiet ticks
CHILDREN = {"hyperpod.Cluster": GROUP, "eks.Cluster": "eks.AccessEntry"}


class FlakyRepo(ConfigRepo):
    """The journal's remote: `trouble` says what happens to the next publishes (ok, away, unconfirmed, rejected)."""

    trouble: list[str]

    def append_notes(self, batch: Sequence[NotesAppend]) -> dict[str, NotesResult]:
        match self.trouble.pop(0) if self.trouble else "ok":
            case "away":
                raise RemoteUnavailable("the remote cannot be reached")
            case "unconfirmed":
                super().append_notes(batch)
                raise RemoteUnavailable("the remote did not answer in time")
            case "rejected":
                return {i.cluster: NotesResult(accepted=False, tip=i.expected_tip, rejected_by="no") for i in batch}
            case _:
                return super().append_notes(batch)


class Died(BaseException):
    """The process is no more, in the middle of what it did."""


@dataclass(kw_only=True)
class Thing:
    key: str
    type: str
    name: str
    op: str
    id: str
    spec: dict[str, Any]
    token: str | None
    seen_at: float
    ready_at: float


@dataclass(kw_only=True)
class Cloud:
    """What is there and what was ever done. `faults`: (text in "type verb key", what happens) for the next sends."""

    clock: SteppedClock
    things: list[Thing] = field(default_factory=list[Thing])
    effects: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])  # op, verb, key
    sends: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    boots: dict[str, int] = field(default_factory=dict[str, int])
    faults: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    blind: set[str] = field(default_factory=set[str])
    strange: set[str] = field(default_factory=set[str])  # clusters in which something stands that no rule knows
    looks: list[str] = field(default_factory=list[str])
    lag: float = 0.0
    published: Callable[[str], bool] = field(default=lambda _op: True)
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    def now(self) -> float:
        return self.clock.now().timestamp()

    def seen(self, key: str) -> Thing | None:
        found = [t for t in self.things if t.key == key and t.seen_at <= self.now()]
        return found[0] if found else None

    def of(self, type_: str) -> list[Thing]:
        return [t for t in self.things if t.type == type_]

    def fault(self, what: str) -> str | None:
        for index, (match, kind) in enumerate(self.faults):
            if match in what:
                del self.faults[index]
                return kind
        return None

    def make(self, key: str, type_: str, name: str, op: str, spec: dict[str, Any], cls: EffectClass) -> Thing:
        same = next((t for t in self.things if t.key == key), None)
        token = op if cls is EffectClass.TOKEN else None
        if same is not None and cls in UNIQUE:
            if cls is EffectClass.TOKEN and same.token == token:
                return same
            if cls is EffectClass.CONVERGENT:
                same.spec = spec
                return same
            raise Refused(f"{name} is there already", reason="ResourceInUse")
        self.effects.append((op, "create", key))
        slow = 60.0 if type_ in SLOW else 0.0
        thing = Thing(
            key=key,
            type=type_,
            name=name,
            op=op,
            id=f"{type_.rsplit('.', 1)[-1].lower()}-{next(self._ids)}",
            spec=spec,
            token=token,
            seen_at=self.now() + self.lag,
            ready_at=self.now() + self.lag + slow,
        )
        self.things.append(thing)
        return thing


class Family(BaseHandler):
    """Everything of some types, generically."""

    def __init__(self, cloud: Cloud, types: tuple[str, ...], after: tuple[str, ...]) -> None:
        self.cloud = cloud
        self.types = types
        self.looks_after = after

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        self.cloud.looks.append(self.types[0])
        if self.cloud.blind & set(self.types):
            raise Refused("cannot look", reason="Throttled")
        keys = {r.key for r in wanted}
        mine = [t for t in self.cloud.things if t.type in self.types and t.key.split("/")[1] == world.cluster]
        left = [self._observed(t) for t in mine if t.key not in keys and t.seen_at <= self.cloud.now()]
        if world.cluster in self.cloud.strange and mine:
            left.append(replace(left[0] if left else self._observed(mine[0]), key="x.Y/z", type="x.Y"))
        return [*(self._of(r) for r in wanted), *left]

    def _of(self, resource: Resource) -> Observed:
        if resource.type == REBOOT:
            return self._node(resource)
        if resource.reference:
            zones = {"0.name": "a", "1.name": "b", "name:usw2-az2": "b", "nat": "nat-0", "id": resource.name}
            return Observed(
                key=resource.key,
                type=resource.type,
                name=resource.name,
                presence=Presence.PRESENT,
                attrs={**zones, "name": resource.name},
                health=Health.HEALTHY,
                ready=True,
            )
        thing = self.cloud.seen(resource.key)
        return absent(resource) if thing is None else self._observed(thing)

    def _node(self, resource: Resource) -> Observed:
        cluster = f"hyperpod.Cluster/{resource.cluster}"
        if resource.name not in self.cloud.boots or self.cloud.seen(cluster) is None:
            return absent(resource)
        return Observed(
            key=resource.key,
            type=resource.type,
            name=resource.name,
            presence=Presence.PRESENT,
            health=Health.HEALTHY,
            ready=True,
            mark=Mark.CHILD,
        )

    def _observed(self, thing: Thing) -> Observed:
        up = self.cloud.now() >= thing.ready_at
        more = {"issuer": "https://i.example", "issuerHost": "i.example"} if thing.type == "eks.Cluster" else {}
        return Observed(
            key=thing.key,
            type=thing.type,
            name=thing.name,
            presence=Presence.PRESENT,
            spec=dict(thing.spec),
            attrs={"id": thing.id, "arn": f"arn:aws:x:::{thing.id}", "name": thing.name, **more},
            health=Health.HEALTHY if up else Health.PROGRESSING,
            reason="" if up else "Creating",
            ready=up,
            mark=Mark.CHILD if thing.type == GROUP else Mark.OURS,
            op=None if thing.type == GROUP else thing.op,
            identity=thing.id,
        )

    def calls(self, world: World, actions: Sequence[Action]) -> Sequence[Call]:
        if self.cloud.fault(f"draft {self.types[0]}") is not None:
            raise KeyError("a mistake of ours")
        drafted = [self._call(world, action) for action in actions]
        made = [call for call in drafted if call is not None]
        first = next((c for c in made if c.key.startswith("hyperpod.Cluster/") and c.verb == "create"), None)
        if first is None:
            return made
        # CreateCluster takes all groups along.
        groups = tuple(a for c in made for a in c.actions if a.type == GROUP)
        return [replace(first, actions=(*first.actions, *groups))]

    def _call(self, world: World, action: Action) -> Call | None:
        want: Any = resolve(action.want, world.observed)
        if action.verb in (Verb.CREATE, Verb.UPDATE) and any(True for _ in refs_in(want)):
            return None
        cls = CLASSES.get(action.type, EffectClass.TAG) if action.verb is Verb.CREATE else EffectClass.CONVERGENT
        before: dict[str, Any] = {"identity": action.identity} if action.identity else {}
        if action.verb is Verb.RUN:
            cls, before = EffectClass.ONCE, {"boot": self.cloud.boots[action.name]}
        slow = action.type in SLOW and action.verb is Verb.CREATE
        return Call(
            key=action.key,
            lane=action.lane,
            verb=action.verb.value,
            call=f"{action.type}:{action.verb.value}",
            cls=cls,
            want=digest(action.want),
            say=f"{action.verb.value} {action.key}",
            actions=(action,),
            params={"want": want, "fields": action.fields, "type": action.type, "name": action.name},
            before=before,
            settle=120 if cls in (EffectClass.TAG, EffectClass.NAME, EffectClass.TOKEN) else 0,
            deadline=600,
            token_life=TOKEN_LIFE if cls is EffectClass.TOKEN else 0,
            closes_on_reply=not slow and cls is not EffectClass.ONCE,
        )

    def send(self, world: World, call: Call, op: str) -> Reply:
        del world
        self.cloud.sends.append((op, call.verb, call.key))
        assert self.cloud.published(op), f"{call.call} of {call.key} left before its intent"
        kind = self.cloud.fault(f"{call.call} {call.key}")
        match kind:
            case "refused":
                raise Refused("not now", reason="Throttled")
            case "failed":
                raise StopUntilChange("never", reason="ValidationException")
            case "lost":
                raise LostReply("no answer", reason="Timeout")
            case "bug":
                raise KeyError("a mistake of ours")
            case "died":
                raise Died
            case _:
                pass
        ref = self._effect(call, op)
        match kind:
            case "lost_effect":
                raise LostReply("no answer", reason="Timeout")
            case "bug_effect":
                raise KeyError("a mistake of ours")
            case "died_effect":
                raise Died
            case _:
                return Reply(ref=ref)

    def _effect(self, call: Call, op: str) -> dict[str, Any]:
        cloud = self.cloud
        want = cast("dict[str, Any]", call.params["want"])
        if call.verb == "create":
            made = cloud.make(call.key, str(call.params["type"]), str(call.params["name"]), op, dict(want), call.cls)
            return {"id": made.id}
        if call.verb == "run":
            cloud.effects.append((op, "run", call.key))
            cloud.boots[str(call.params["name"])] += 1
            return {}
        thing = next((t for t in cloud.things if t.key == call.key), None)
        cloud.effects.append((op, call.verb, call.key))
        if call.verb == "delete":
            child = CHILDREN.get(str(call.params["type"]))
            cluster = call.key.split("/")[1]
            cloud.things[:] = [
                t
                for t in cloud.things
                if t.key != call.key and not (t.type == child and t.key.split("/")[1] == cluster)
            ]
        elif thing is not None:
            thing.spec.update({name: want.get(name) for name in call.params["fields"]})
        return {}

    def settled(self, world: World, op: OpRecord) -> Settlement:
        if self.cloud.fault(f"settle {op.key}") is not None:
            raise Refused("the probe did not answer", reason="Throttled")
        if op.cls is not EffectClass.ONCE:
            return super().settled(world, op)
        node = op.key.rpartition("#")[2]
        if node not in self.cloud.boots:
            return Settlement(verdict=Verdict.SUBJECT_GONE, reason="NodeGone", how="probe")
        if self.cloud.boots[node] != op.before["boot"]:
            return Settlement(verdict=Verdict.HAPPENED, how="probe", message="booted")
        return Settlement(verdict=Verdict.PENDING, how="probe")


class _NoPods:
    def list(self, *_args: Any, **_more: Any) -> list[Any]:
        return []


class _FakeKubes:
    def of(self, _world: World) -> Any:
        return _NoPods()

    def forget(self, _cluster: str) -> None:
        return

    def close(self) -> None:
        return


def families(cloud: Cloud) -> list[Handler]:
    made: list[Handler] = []
    for index, types in enumerate(LAYERS):
        after = tuple(t for layer in LAYERS[:index] for t in layer) if index else ()
        made.append(Family(cloud, types, after))
    return made


def cluster_yaml(name: str = "prod", extra: str = "") -> str:
    return f"""apiVersion: instantstart/v1
kind: Cluster
metadata:
  name: {name}
spec:
  account: "111122223333"
  region: us-west-2
  kubernetesVersion: "1.33"
{extra}"""


def group_yaml(name: str, count: int = 2, extra: str = "") -> str:
    return f"""apiVersion: instantstart/v1
kind: InstanceGroup
metadata:
  name: {name}
spec:
  instanceType: ml.m5.2xlarge
  count: {count}
  zone: usw2-az2
{extra}"""


def reboot_yaml(name: str, *nodes: str, expires: str = "2027-01-01T00:00:00Z") -> str:
    return f"""apiVersion: instantstart/v1
kind: Operation
metadata:
  name: {name}
spec:
  expires: "{expires}"
  reboot:
    nodes: [{", ".join(nodes)}]
"""


@dataclass(kw_only=True)
class Rig:
    """One repository, one cloud, one engine at a time."""

    path: Path
    state: Path
    location: str = ""
    policy: str = POLICY
    clock: SteppedClock = field(default_factory=lambda: SteppedClock(datetime(2026, 3, 1, 10, tzinfo=UTC)))
    cloud: Cloud = field(init=False)
    trouble: list[str] = field(default_factory=list[str])
    writer: str = "test"
    beside_of: Rig | None = None
    _engine: Engine | None = None
    _pool: ThreadPoolExecutor | None = None

    def __post_init__(self) -> None:
        if self.beside_of is not None:
            self.clock, self.cloud = self.beside_of.clock, self.beside_of.cloud
            return
        self.cloud = Cloud(clock=self.clock, published=self._published)
        init_repository(self.path, {"clusters/policy.yaml": self.policy.encode()}, branch="main", author=AUTHOR)

    @classmethod
    def beside(cls, rig: Rig) -> Rig:
        """Another engine over the same repository and cloud."""
        state = rig.state.with_name(f"{rig.state.name}-beside")
        return cls(path=rig.path, state=state, location=rig.location, beside_of=rig)

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            repo = self.open_repo()
            repo.trouble = self.trouble
            self._pool = ThreadPoolExecutor(2)
            self._engine = Engine(
                repo=repo,
                accounts=self.accounts(),
                handlers=self.handlers(),
                clock=self.clock,
                pool=self._pool,
                state_dir=self.state,
                writer=self.writer,
            )
            self._engine.kubes = cast("Kubes", self.kubes())
        return self._engine

    def accounts(self) -> AwsAccounts:
        return AwsAccounts()

    def handlers(self) -> list[Handler]:
        return families(self.cloud)

    def kubes(self) -> object:
        return _FakeKubes()

    def open_repo(self) -> FlakyRepo:
        return FlakyRepo.open(self.location or str(self.path), state_dir=self.state, writer=self.writer)

    @property
    def repo(self) -> ConfigRepo:
        return self.engine.repo

    def restart(self) -> None:
        """A new process: everything in memory is lost."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)
        if self._engine is not None:
            self._engine.close()
        self._engine = self._pool = None

    close = restart

    def commit(self, files: Mapping[str, str | None], cluster: str = "prod") -> str:
        return self.commit_paths({f"clusters/{cluster}/{name}.yaml": text for name, text in files.items()})

    def commit_paths(self, files: Mapping[str, str | None]) -> str:
        self.repo.fetch()
        changes = {path: None if text is None else text.encode() for path, text in files.items()}
        return self.repo.commit(onto=self.repo.head(), changes=changes, message="change", author=AUTHOR)

    def tick(self, seconds: float = 0.0) -> Result:
        """One tick with everything due; the clock moves on first."""
        self.clock.advance(seconds)
        for memory in self.engine.memories.values():
            memory.wake = 0.0
        return self.engine.tick()

    def settle(self, ticks: int = 100, seconds: float = 30.0) -> ClusterStatus:
        """Tick until nothing is written any more: at once where every cluster is at its end, else after some time,
        because much of what an engine does is waiting."""
        quiet = 0
        for _ in range(ticks):
            result = self.tick(seconds)
            quiet = quiet + 1 if result.lines == 0 and result.sent == 0 else 0
            found = [memory.status() for memory in self.engine.memories.values()]
            ended = all(status.condition in SETTLED for status in found)
            if found and quiet >= (2 if ended else PATIENCE):
                return next((status for status in found if status.cluster == "prod"), found[0])
        raise AssertionError("it does not come to rest\n" + self.story())

    def order(self, do: str, subject: str, cluster: str = "prod", **more: str) -> None:
        body = {"cluster": cluster, "do": do, "subject": subject, "principal": AUTHOR[1], "why": "test", **more}
        self.repo.put_order(self.engine.new_op(), body)

    def status(self, cluster: str = "prod") -> ClusterStatus:
        return self.engine.memories[cluster].status()

    def lines(self, cluster: str = "prod") -> list[dict[str, Any]]:
        notes = self.repo.notes(cluster).entries.values()
        return sorted((json.loads(x) for n in notes for x in n.decode().splitlines()), key=lambda line: line["seq"])

    def story(self, cluster: str = "prod") -> str:
        keys = ("seq", "t", "op", "phase", "stage", "state", "reason", "say")
        return "\n".join(" ".join(str(x[k]) for k in keys if k in x) for x in self.lines(cluster)[-40:])

    def _published(self, op: str) -> bool:
        wanted = f'"op":"{op}","phase":"intent"'.encode()
        for cluster in self.repo.journal_clusters():
            with contextlib.suppress(ObjectMissing):  # another cluster's, spoiled
                if any(wanted in text for text in self.repo.notes(cluster).entries.values()):
                    return True
        return False
