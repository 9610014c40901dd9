"""An invented cloud, and handlers for it: one generic family per layer keeps what it is told to make, can lose replies,
refuse, go blind, see late and die, and counts every effect."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from reconciler.live.clock import SteppedClock
from reconciler.resources.base import BaseHandler
from reconciler.resources.handler import Call, Handler, Reply, Settlement, Verdict, World
from schemas.errors import LostReply, Refused, StopUntilChange
from schemas.journal import EffectClass, OpRecord
from schemas.plan import Action, Verb
from schemas.resource import Health, Mark, Observed, Presence, Resource, absent, refs_in, resolve
from schemas.values import digest

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
CHILDREN = {"hyperpod.Cluster": GROUP, "eks.Cluster": "eks.AccessEntry"}


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
    why_blind: str = "Throttled"
    unmarked: set[str] = field(default_factory=set[str])  # keys of things whose mark somebody took off
    strange: set[str] = field(default_factory=set[str])  # clusters in which something stands that no rule knows
    looks: list[str] = field(default_factory=list[str])
    lag: float = 0.0
    endpoint: str = ""  # of the Kubernetes API behind each EKS cluster, where a test has one
    published: Callable[[str], bool] = field(default=lambda _op: True)
    early: list[str] = field(default_factory=list[str])  # what left before its intent
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
            raise Refused("cannot look", reason=self.cloud.why_blind)
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
        if more and self.cloud.endpoint:
            more["endpoint"] = self.cloud.endpoint
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
            mark=self._mark(thing),
            op=None if thing.type == GROUP else thing.op,
            identity=thing.id,
        )

    def _mark(self, thing: Thing) -> Mark:
        if thing.key in self.cloud.unmarked:
            return Mark.FOREIGN
        return Mark.CHILD if thing.type == GROUP else Mark.OURS

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
        if not self.cloud.published(op):  # told at the end: whatever is raised here, the engine lives with
            self.cloud.early.append(f"{call.call} of {call.key} left before its intent {op}")
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


def families(cloud: Cloud) -> list[Handler]:
    made: list[Handler] = []
    for index, types in enumerate(LAYERS):
        after = tuple(t for layer in LAYERS[:index] for t in layer) if index else ()
        made.append(Family(cloud, types, after))
    return made
