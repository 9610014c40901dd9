"""Journal lines and the status folded from them.

One JSON object a line, compact, ASCII, keys in a fixed order (the order of the fields here). When which line is written
is in ARCHITECTURE.md, "The journal".
"""

from __future__ import annotations

import enum
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

MAX_LINE = 2048  # bytes; a rollout may be longer
MAX_ROLLOUT = 65536
VERSION = 1


class Phase(enum.StrEnum):
    INTENT = "intent"
    SUBMITTED = "submitted"
    REFUSED = "refused"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"
    RESOLVED = "resolved"
    CANCELLED = "cancelled"

    @property
    def open(self) -> bool:
        """An op in this phase keeps its lane busy."""
        return self in (Phase.INTENT, Phase.SUBMITTED, Phase.REFUSED, Phase.UNKNOWN)


class EffectClass(enum.StrEnum):
    """How a lost reply is resolved."""

    CONVERGENT = "convergent"
    TOKEN = "token"
    NAME = "name"
    TAG = "tag"
    ONCE = "once"


class StageState(enum.StrEnum):
    WAITING = "Waiting"
    PROGRESSING = "Progressing"
    READY = "Ready"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


def moment(text: str) -> str:
    """The same text if it is a time with a zone, as pydantic wants it: raises ValueError."""
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("a time without zone")
    return text


# Others can write to the ref too: what we calculate with has its form, or the line is broken.
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Time = Annotated[str, AfterValidator(moment)]
MaybeTime = Annotated[str, AfterValidator(lambda text: moment(text) if text else text)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    at: Time
    say: str = Field(max_length=120)
    v: int = VERSION
    seq: int = Field(ge=1)
    roll: int


class OpRecord(BaseModel):
    """An op with everything needed to follow it: the fields of its intent, and its newest phase."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    op: str
    phase: Phase
    attempt: int = 1
    at: MaybeTime = ""  # when its intent was written
    ended: MaybeTime = ""  # when its newest line was written
    seq: int = 0  # of its newest line
    key: str = ""
    lane: str = ""
    verb: str = ""
    call: str = ""
    cls: EffectClass = Field(default=EffectClass.CONVERGENT, alias="class")
    token: str | None = None
    want: str = ""
    actions: tuple[str, ...] = ()
    policy: str | None = None
    nodes: int = 0  # that it takes away or reboots
    gpus: int = 0  # that go with them
    approved: tuple[str, ...] = ()  # by which words its actions passed the gate
    before: dict[str, Any] = Field(default_factory=dict)
    settle: int = 0
    deadline: int = 0
    asked: str = ""
    after: str | None = None
    ref: dict[str, Any] | None = None
    reason: str | None = None
    msg: str | None = None
    next: Time | None = None
    as_: Literal["happened", "not-happened"] | None = Field(default=None, alias="as")

    @property
    def outcome(self) -> str:
        """The phase in which it ended; of what a person resolved, what they said."""
        return self.as_ or self.phase.value

    def serves(self, digest: str) -> bool:
        """Whether it was sent for the action with this digest; its own may be abbreviated."""
        return any(digest.startswith(text) for text in self.actions)

    def model_dump_compact(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True) | {"phase": self.phase.value}


class Hold(BaseModel):
    """An action that was planned and not allowed to pass."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    key: str
    action: str
    reason: str
    state: Literal["held", "released"] = "held"
    msg: str = ""
    at: MaybeTime = ""  # since when it is in this state


class Let(BaseModel):
    """By whose word an action may pass, until when (empty: for good), and the ulid of the order."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    by: str
    until: MaybeTime = ""
    order: str = ""


class RolloutLine(_Line):
    t: Literal["rollout"] = "rollout"
    rev: Sha
    input: Sha | None = None
    from_: Sha | None = Field(default=None, alias="from")
    base: tuple[Sha, ...] = ()
    rewritten: bool | None = None
    writer: str
    plan: dict[str, Any] | None = None
    open: tuple[OpRecord, ...] = ()
    done: dict[str, str] = Field(default_factory=dict)
    holds: tuple[Hold, ...] = ()
    kinds: tuple[str, ...] = ()
    ready: Sha | None = None  # the newest revision that reached Ready before this rollout
    approved: tuple[str, ...] = ()  # action digests that orders let pass and that were not used up
    lets: dict[str, tuple[Let, ...]] = Field(default_factory=dict)  # and by whose word
    refs: dict[str, str] = Field(default_factory=dict)  # key -> id or ARN of what we made and have not deleted
    stages: tuple[str, ...] = ()  # that must be Ready before the revision is
    adopted: dict[str, str] = Field(default_factory=dict)  # key -> name of what was adopted and not released


class OpLine(_Line):
    t: Literal["op"] = "op"
    op: str
    phase: Phase
    attempt: int = 1
    key: str | None = None
    lane: str | None = None
    verb: str | None = None
    call: str | None = None
    cls: EffectClass | None = Field(default=None, alias="class")
    token: str | None = None
    want: str | None = None
    actions: tuple[str, ...] | None = None
    policy: str | None = None
    nodes: int | None = None
    gpus: int | None = None
    approved: tuple[str, ...] | None = None
    before: dict[str, Any] | None = None
    settle: int | None = None
    deadline: int | None = None
    asked: str | None = None
    after: str | None = None
    ref: dict[str, Any] | None = None
    how: Literal["reply", "found", "probe"] | None = None
    reason: str | None = None
    msg: str | None = Field(default=None, max_length=500)
    next: Time | None = None
    as_: Literal["happened", "not-happened"] | None = Field(default=None, alias="as")


class StageLine(_Line):
    t: Literal["stage"] = "stage"
    stage: str
    state: StageState
    reason: str = ""
    msg: str = Field(default="", max_length=500)
    progress: str | None = None


class OrderLine(_Line):
    t: Literal["order"] = "order"
    do: str
    subject: str
    by: str
    why: str = ""
    id: str | None = None  # the ulid of the order's ref, so that it is folded once
    until: MaybeTime = ""  # when its word expires


class HoldLine(_Line):
    t: Literal["hold"] = "hold"
    key: str
    action: str
    reason: str
    state: Literal["held", "released"] = "held"
    msg: str = Field(default="", max_length=500)


class RunLine(_Line):
    t: Literal["run"] = "run"
    key: str
    state: Literal["accepted", "running", "succeeded", "failed", "stopped"]
    detail: str = ""


class EndLine(_Line):
    t: Literal["end"] = "end"
    by: str
    carried: tuple[str, ...] = ()


Line = Annotated[RolloutLine | OpLine | StageLine | OrderLine | HoldLine | RunLine | EndLine, Field(discriminator="t")]
LINE: TypeAdapter[Any] = TypeAdapter(Line)


class StageStatus(BaseModel):
    model_config = ConfigDict(frozen=True)

    state: StageState
    reason: str = ""
    msg: str = ""
    progress: str | None = None
    at: str = ""  # since when
    seq: int = 0


class Condition(enum.StrEnum):
    """The one word for a cluster or revision. The last two exist only while true."""

    READY = "Ready"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    SUPERSEDED = "Superseded"
    GONE = "Gone"
    UNKNOWN = "Unknown"  # no journal yet


class RevisionStatus(BaseModel):
    model_config = ConfigDict(frozen=True)

    rev: str
    condition: Condition
    reason: str = ""
    msg: str = ""
    stages: dict[str, StageStatus] = Field(default_factory=dict)


class ClusterStatus(BaseModel):
    """fold(lines): all that the journal says about one cluster."""

    model_config = ConfigDict(frozen=True)

    cluster: str
    seq: int = 0
    at: str = ""  # of the newest line
    roll: int = 0
    rev: str | None = None
    input: str | None = None
    started: str = ""
    base: tuple[str, ...] = ()
    last_ready: str | None = None
    since: int = 0  # seq at which this rollout began, or was Ready last
    plan: dict[str, Any] | None = None
    condition: Condition = Condition.UNKNOWN
    reason: str = ""
    msg: str = ""
    stages: dict[str, StageStatus] = Field(default_factory=dict)
    ops: dict[str, OpRecord] = Field(default_factory=dict)  # open ones and those ended in this rollout
    done: dict[str, str] = Field(default_factory=dict)
    holds: dict[str, Hold] = Field(default_factory=dict)
    approved: tuple[str, ...] = ()  # action digests let pass by an order
    lets: dict[str, tuple[Let, ...]] = Field(default_factory=dict)  # by whose word
    orders: tuple[str, ...] = ()  # ulids folded
    retries: dict[str, int] = Field(default_factory=dict)  # subject -> seq of the newest retry order
    kinds: tuple[str, ...] = ()
    refs: dict[str, str] = Field(default_factory=dict)
    adopted: dict[str, str] = Field(default_factory=dict)  # key -> the name under which it was adopted
    gone: bool = False
    broken: str | None = None  # JournalBroken: read only

    def open_ops(self) -> tuple[OpRecord, ...]:
        return tuple(op for op in self.ops.values() if op.phase.open)

    def unmade(self) -> frozenset[str]:
        """Keys whose newest operation is a creation that has not succeeded."""
        newest: dict[str, OpRecord] = {}
        for op in self.ops.values():
            if op.key not in newest or newest[op.key].at <= op.at:
                newest[op.key] = op
        return frozenset(key for key, op in newest.items() if op.verb == "create" and op.phase is not Phase.SUCCEEDED)
