"""How one resource type is compared and what a change of each field costs.

A field that declares nothing may not be changed: REFUSED is the default, so that forgetting a rule is safe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reconciler.plan.equality import equal
from schemas.plan import Cost
from schemas.resource import Stage


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a normal form.

    `default`: what an authored value goes back to when its author removes it (None: the field is taken away).
    `forget`: removing it from the document changes nothing, because no default can be known.
    `shared`: others write entries beside ours. Compared is what we write; an entry goes only if we wrote it before.
    `forbids`: given the observed and the wanted value, why and the way out, or None: a change that cannot be though
    others of the field can.
    """

    cost: Cost = Cost.REFUSED
    default: Any = None
    forget: bool = False
    shared: bool = False
    same: Callable[[Any, Any], bool] = equal
    way_out: str = ""
    forbids: Callable[[Any, Any], tuple[str, str] | None] = lambda _observed, _wanted: None


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One resource type. `create` and `delete` are the costs of these verbs; `once` marks what is never repeated;
    `child_of` names the type that takes it away with itself, `inside` the type in which it stays when that one is
    released; `marked` is false for what carries no mark that could be taken off. `stage` and `lane` (of `cluster` and
    `name`) are those of things whose document nobody knows any more; a document may say another stage. `apart`: fields
    that the API changes one at a time, in the order in which that is done; each is an action of its own, with its own
    cost and approval."""

    type: str
    stage: Stage
    lane: str
    fields: Mapping[str, Field] = field(default_factory=dict[str, Field])
    create: Cost = Cost.NONE
    delete: Cost = Cost.DELETE
    once: bool = False
    child_of: str | None = None
    apart: tuple[str, ...] = ()
    inside: str | None = None
    marked: bool = True
    way_out: str = "make a new one under another name, move over, then delete this one"

    def lane_of(self, cluster: str, name: str) -> str:
        return self.lane.format(cluster=cluster, name=name)

    def field(self, name: str) -> Field:
        return self.fields.get(name, _REFUSED)


_REFUSED = Field()
