"""What a family of live resources must be able to do, and the small records that pass between it and the engine.

A handler looks, drafts calls, sends one of them, and reads from a later look what became of it. It never retries,
never journals, never decides whether something is allowed, and never blocks: a long call is started and looked at
again on later ticks.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from reconciler.live.aws.sessions import AwsSession
from reconciler.live.clock import Clock
from reconciler.live.kube.cluster import KubeCluster
from schemas.journal import EffectClass, OpRecord
from schemas.plan import Action
from schemas.resource import Observed, Resource
from schemas.values import JsonObject


@dataclass(kw_only=True)
class World:
    """One cluster in one tick: who may be called, what is wanted, what was seen so far.

    `observed` grows while the tick looks: a handler may read what the handlers before it saw. `kube` raises
    `Refused` while the control plane is not there. `file` reads a file of the cluster's folder at this revision
    (raises `InvalidInput`). `made`: by key, the id or ARN of what the journal says we made and have not deleted.
    `role_made_at` tells when a role was made by this journal (a role younger than two
    minutes explains an AccessDenied).
    """

    cluster: str
    account: str
    region: str
    aws: AwsSession
    kube: Callable[[], KubeCluster]
    clock: Clock
    desired: Mapping[str, Resource]
    previous: Mapping[str, Resource]
    observed: dict[str, Observed]
    file: Callable[[str], bytes]
    cache_dir: str
    made: Mapping[str, str] = field(default_factory=dict[str, str])
    role_made_at: Callable[[str], float | None] = field(default=lambda _arn: None)

    def attr(self, key: str, name: str) -> Any:
        """An attribute of something seen, or None."""
        seen = self.observed.get(key)
        return None if seen is None or not seen.present else seen.attrs.get(name)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One mutation, drafted. The engine journals it as an op's intent and then asks the handler to send it.

    `params` are for `send` alone. `want` digests the state asked for. `settle`: seconds during which absence after
    a lost reply means nothing. `deadline`: seconds after which "cannot tell" becomes unknown (or, for what was
    submitted, after which it counts as failed). `before` is evidence to compare with later (class once).
    `closes_on_reply`: the reply itself shows the request, nothing needs to be followed (its health is looked at
    anyway).
    """

    key: str
    lane: str
    verb: str
    call: str
    cls: EffectClass
    want: str
    say: str
    actions: tuple[Action, ...]
    params: JsonObject = field(default_factory=dict[str, Any])
    before: JsonObject = field(default_factory=dict[str, Any])
    settle: int = 0
    deadline: int = 3600
    token_life: int = 0
    closes_on_reply: bool = True


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the server answered. `ref` holds ids and ARNs for the journal, never more than a few short strings.

    `failures` maps an item (an instance id, a group) to (reason, message) where a 200 carried errors inside.
    """

    ref: JsonObject = field(default_factory=dict[str, Any])
    failures: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])


class Verdict(enum.StrEnum):
    """What a look says about an op."""

    PENDING = "pending"  # under way, or cannot be told yet
    HAPPENED = "happened"  # the API shows what was asked
    FAILED = "failed"  # the API says that it failed
    ABSENT = "absent"  # no trace of it
    TAKEN = "taken"  # the name is there but it is not from this op
    SUBJECT_GONE = "subject-gone"  # what it was about is no more
    UNREADABLE = "unreadable"  # the look failed


@dataclass(frozen=True, kw_only=True)
class Settlement:
    verdict: Verdict
    ref: JsonObject = field(default_factory=dict[str, Any])
    reason: str = ""
    message: str = ""
    how: str = "found"  # or probe


class Handler(Protocol):
    """One family. `types` are the resource types it answers for; `looks_after` the types that must be seen first."""

    types: tuple[str, ...]
    looks_after: tuple[str, ...]

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        """One Observed for every wanted resource, and for everything of ours (by mark) that nobody wants any more,
        and for what stands in our scope but is not ours (mark FOREIGN, key `<type>/<cluster>/<name>`).

        `wanted` = desired and previously desired resources of these types. Refs in them may be resolved with
        `schemas.resource.resolve(value, world.observed)`. Raises RetryLater when it cannot see: the engine makes
        everything of these types Unknown, so never answer ABSENT on an error.
        """
        ...

    def calls(self, world: World, actions: Sequence[Action]) -> Sequence[Call]:
        """Draft the next calls for actions that may go. May fold several actions into one call, and may leave out
        what cannot go yet (an open Ref, a lane of its own that must wait). Order matters inside a lane."""
        ...

    def send(self, world: World, call: Call, op: str) -> Reply:
        """Send the call once; the op id goes into the tag and the user agent. Raises Refused, LostReply,
        StopUntilChange (certainly nothing happened and it will not pass)."""
        ...

    def settled(self, world: World, op: OpRecord) -> Settlement:
        """What the newest look (world.observed) or a probe says about an op without a final outcome."""
        ...
