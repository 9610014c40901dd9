"""The plan: what CLI, API, UI, MCP and pull-request comment show, and the only thing act executes."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass, field

from schemas.resource import Source, Stage
from schemas.values import JsonObject, JsonValue, digest


class Verb(enum.StrEnum):
    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    RUN = "run"
    ADOPT = "adopt"
    RELEASE = "release"
    MARK = "mark"  # our mark was taken off something that the journal knows to be ours


class Cost(enum.StrEnum):
    """What a change does to what runs, mildest first. A field that declares nothing is REFUSED."""

    NONE = "none"
    IN_PLACE = "inPlace"
    ROLLING = "rolling"
    REPLACE = "replace"
    DELETE = "delete"
    REFUSED = "refused"

    def is_worse(self, other: Cost) -> bool:
        order = list(Cost)
        return order.index(self) > order.index(other)


@dataclass(frozen=True, kw_only=True)
class Action:
    """One planned step on one resource.

    `patch` is an RFC 6902 patch from the observed to the target normal form. `want` is the target state as far as
    it is known, open Refs as Refs. `guards` are the observed values the step relies on. `because` says what asked
    for it: git, drift, prune, teardown.
    """

    verb: Verb
    key: str
    type: str
    name: str
    stage: Stage
    lane: str
    cost: Cost
    source: Source
    want: JsonObject = field(default_factory=dict[str, JsonValue])
    patch: tuple[JsonObject, ...] = ()
    guards: JsonObject = field(default_factory=dict[str, JsonValue])
    identity: str = ""
    needs: tuple[str, ...] = ()
    because: str = "git"
    fields: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @functools.cached_property  # asked for at every step of a tick
    def digest(self) -> str:
        """What an approval binds to: verb, key, target, cost and, for delete and replace, the live identity."""
        body: JsonObject = {"verb": self.verb.value, "key": self.key, "want": self.want, "cost": self.cost.value}
        if self.verb in (Verb.UPDATE, Verb.RUN):
            body["want"] = {name: self.want.get(name) for name in self.fields} if self.fields else self.want
        if self.verb in (Verb.DELETE, Verb.REPLACE):
            body["identity"] = self.identity
        return digest(body)


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A change that cannot be made as written, with the way out."""

    key: str
    stage: Stage
    source: Source
    reason: str
    message: str
    way_out: str = ""


class Severity(enum.StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Something a person should know before saying yes."""

    severity: Severity
    reason: str
    message: str
    source: Source | None = None
    key: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Unmanaged:
    """Something live in our scope that is not ours: shown, never touched."""

    key: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Actions in an order in which they may be executed, with everything that stands beside them."""

    cluster: str
    revision: str | None
    actions: tuple[Action, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    findings: tuple[Finding, ...] = ()
    unmanaged: tuple[Unmanaged, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.actions and not self.refusals

    @property
    def digest(self) -> str:
        return digest([a.digest for a in self.actions])

    def counts(self) -> dict[str, int]:
        """Number of actions per verb, every verb present."""
        found = {verb.value: 0 for verb in Verb}
        for action in self.actions:
            found[action.verb.value] += 1
        return found
