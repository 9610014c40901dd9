"""One API call on its way through the sandbox: who asks, where, what it is, and what it changed."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

_OP = re.compile(r"instantstart-op/([0-9A-Za-z]{26})")
_READS = ("Describe", "List", "Get", "Head", "Search", "Lookup", "Simulate", "Filter", "BatchGet", "Decode")
_WRITES = ("create", "update", "patch", "delete", "deletecollection")


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Something that really changed. `identity` names the thing, so that a second one of the same can be seen."""

    verb: str  # created, updated, deleted, rebooted, replaced
    kind: str  # ec2.vpc, eks.cluster, hyperpod.node ...
    identity: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.kind} {self.identity}{': ' + self.detail if self.detail else ''}"


@dataclass(kw_only=True)
class Call:
    """Mutable only in its effects: handlers add what they changed."""

    service: str
    operation: str
    account: str
    region: str
    principal: str  # ARN of the caller
    user_agent: str = ""
    partial: bool = False  # its first item shall fail
    fails: bool = False  # what it begins shall fail later
    effects: list[Effect] = field(default_factory=list[Effect])
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def op(self) -> str | None:
        return op_of(self.user_agent)

    def changed(self, verb: str, kind: str, identity: str, detail: str = "") -> None:
        self.effects.append(Effect(verb=verb, kind=kind, identity=identity, detail=detail))

    def arn(self, service: str, rest: str) -> str:
        return f"arn:aws:{service}:{self.region}:{self.account}:{rest}"


Handler: TypeAlias = Callable[[Call, Json], Json]


def op_of(user_agent: str) -> str | None:
    """The op id that the product puts in its user agent."""
    found = _OP.search(user_agent)
    return found[1] if found else None


def is_mutating(operation: str) -> bool:
    return not operation.startswith(_READS) and operation not in ("AssumeRole", "HeadObject")


def mutates(service: str, operation: str) -> bool:
    """As `is_mutating`, for Kubernetes too: its operations are a verb and a kind."""
    return operation.partition(" ")[0] in _WRITES if service == "kubernetes" else is_mutating(operation)


def part(tree: Json, name: str) -> Json:
    """A nested object; empty where there is none."""
    found: Any = tree.get(name)
    return found if found is not None else {}


def each(tree: Json, name: str) -> list[Any]:
    """A nested list; empty where there is none."""
    found: Any = tree.get(name)
    return found if found is not None else []
