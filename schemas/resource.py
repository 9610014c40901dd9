"""Resources, references between them, and what a look at the world saw."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from schemas.values import JsonObject, JsonValue

_type: Callable[[object], object] = type  # values are Any, and `type` would spread that


class Stage(enum.StrEnum):
    """Where in the order of building a resource stands; teardown goes the other way."""

    VALIDATE = "validate"
    NETWORK = "network"
    CONTROL_PLANE = "control-plane"
    DEPENDENCIES = "dependencies"
    COMPUTE = "compute"
    FEATURES = "features"
    STORAGE = "storage"
    WORKLOADS = "workloads"
    OPERATIONS = "operations"


STAGES: tuple[Stage, ...] = tuple(Stage)


@dataclass(frozen=True, slots=True)
class Ref:
    """A value that is known only when another resource exists: its attribute `attr`.

    Written as `{"$ref": "ec2.Vpc/prod#id"}` where it is digested or printed. A `weak` one stands in a list and asks
    for nothing: while the other is not there, the list goes without it.
    """

    key: str
    attr: str = "id"
    weak: bool = False

    def as_json(self) -> JsonObject:
        return {"$ref": f"{self.key}#{self.attr}"}

    def __str__(self) -> str:
        return f"known after {self.key}"


@dataclass(frozen=True, slots=True)
class Source:
    """The document that asked for a resource: kind, name, and where it is written."""

    kind: str
    name: str
    path: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One desired thing in AWS or Kubernetes.

    `key` is `<type>/<cluster>[/<what>]` and names the thing for ever; `name` is what AWS or Kubernetes calls it.
    `spec` is in normal form and holds only fields that were authored or that we stand for: it is compared with
    the observed spec field by field. `initial` is used at creation and never compared (a free CIDR block, say).
    `adopt` is the live name or id of a thing that a document tells us to take over; `takes_over` says that what
    already stands under this name is adopted too, and made if nothing stands there.
    `reference` marks a thing that is only looked up, never made: an existing bucket, the list of zones.
    `made_with` are values that nobody wrote: part of a create, never compared. `made_after` are keys that only a
    create waits for. `on_demand` marks a thing that serves others: it is made when something planned needs it.
    """

    key: str
    type: str
    name: str
    cluster: str
    stage: Stage
    lane: str
    spec: JsonObject = field(default_factory=dict[str, JsonValue])
    initial: JsonObject = field(default_factory=dict[str, JsonValue])
    after: tuple[str, ...] = ()
    source: Source
    adopt: str | None = None
    takes_over: bool = False
    reference: bool = False
    made_with: JsonObject = field(default_factory=dict[str, JsonValue])
    made_after: tuple[str, ...] = ()
    on_demand: bool = False

    def needs(self) -> tuple[str, ...]:
        """Keys that must be healthy enough before this one is made: explicit ones and those behind Refs."""
        inside = {"spec": self.spec, "initial": self.initial, "made_with": self.made_with}
        return _keys((*self.after, *self.made_after), inside)

    def lasting_needs(self) -> tuple[str, ...]:
        """Those of them that a change of what is there waits for as well."""
        return _keys(self.after, self.spec)


class Presence(enum.StrEnum):
    PRESENT = "present"
    ABSENT = "absent"
    UNKNOWN = "unknown"  # the look failed or was partial: nothing is made or deleted on its strength


class Health(enum.StrEnum):
    """An ordered vocabulary, best first; a stage is as healthy as its worst resource."""

    HEALTHY = "healthy"
    PROGRESSING = "progressing"
    DELETING = "deleting"
    UNKNOWN = "unknown"
    FAILED = "failed"

    def is_worse(self, other: Health) -> bool:
        order = list(Health)
        return order.index(self) > order.index(other)


class Mark(enum.StrEnum):
    """Whose a live object is."""

    OURS = "ours"
    ADOPTED = "adopted"  # it was there before us: released when no longer wanted, not deleted
    CHILD = "child"  # cannot carry a mark; follows its parent
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Bar:
    """Why a live thing cannot be taken over, with the way out."""

    reason: str
    message: str
    way_out: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """What one look saw of one resource. `spec` is in the same normal form as `Resource.spec`.

    `attrs` are what Refs read (ids, ARNs, endpoints). `identity` is the live identity with the creation time
    where the API has one, so that a later thing of the same name is not taken for this one. `guards` are values
    that an action may rely on and that act reads again. `op` is the op tag found on the object. `ready` says that
    others may build on it even if it is not fully healthy. `detail` is for the handler alone and is never shown.
    `bar` says why a document cannot adopt it.
    """

    key: str
    type: str
    name: str
    presence: Presence
    spec: JsonObject = field(default_factory=dict[str, JsonValue])
    attrs: JsonObject = field(default_factory=dict[str, JsonValue])
    health: Health = Health.UNKNOWN
    ready: bool = False
    reason: str = ""
    message: str = ""
    progress: str | None = None
    mark: Mark = Mark.FOREIGN
    op: str | None = None
    identity: str = ""
    guards: JsonObject = field(default_factory=dict[str, JsonValue])
    detail: JsonObject = field(default_factory=dict[str, JsonValue])
    bar: Bar | None = None

    @property
    def present(self) -> bool:
        return self.presence is Presence.PRESENT

    @property
    def ours(self) -> bool:
        return self.mark is not Mark.FOREIGN


def absent(resource: Resource) -> Observed:
    """The resource is certainly not there."""
    return Observed(key=resource.key, type=resource.type, name=resource.name, presence=Presence.ABSENT)


def unknown(resource: Resource, reason: str, message: str) -> Observed:
    """Nobody can tell now whether the resource is there."""
    return Observed(
        key=resource.key,
        type=resource.type,
        name=resource.name,
        presence=Presence.UNKNOWN,
        reason=reason,
        message=message,
    )


def _keys(first: tuple[str, ...], value: JsonValue) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *(ref.key for ref in refs_in(value) if not ref.weak))))


def refs_in(value: JsonValue) -> Iterator[Ref]:
    """All references inside a value, in order."""
    found: list[Ref] = []
    _collect(value, found)
    return iter(found)


def resolve(value: JsonValue, observed: Mapping[str, Observed]) -> JsonValue:
    """The value with every Ref that can be resolved replaced; a Ref to what is not there yet stays."""
    if isinstance(value, Ref):
        seen = observed.get(value.key)
        return value if seen is None or not seen.present or value.attr not in seen.attrs else seen.attrs[value.attr]
    if isinstance(value, Mapping):
        return {k: resolve(v, observed) for k, v in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        resolved = [resolve(v, observed) for v in cast("list[Any]", value)]
        return [v for v in resolved if not (isinstance(v, Ref) and v.weak)]
    return value


def _collect(value: Any, found: list[Ref]) -> None:
    kind = _type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return
    if kind is Ref:
        found.append(value)
    elif isinstance(value, Mapping):
        for inner in cast("Mapping[str, Any]", value).values():
            _collect(inner, found)
    elif isinstance(value, (list, tuple)):
        for inner in cast("list[Any]", value):
            _collect(inner, found)
