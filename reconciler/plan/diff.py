"""The explicit difference of one resource: what its author wrote, and what an author wrote before and no longer does.

Everything else that is live belongs to somebody else and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import jsonpointer

from reconciler.plan.equality import joined
from reconciler.plan.rules import Field, Rule
from schemas.resource import Observed, Resource, refs_in, resolve
from schemas.values import JsonObject


@dataclass(frozen=True, kw_only=True)
class Change:
    """One field that must move: from the observed to the wanted value. `written` is what the document says, with its
    Refs; where others write beside us, `wanted` has their entries too.

    `from_git`: the document changed it; otherwise the world did (drift).
    """

    field: str
    observed: Any
    wanted: Any
    written: Any
    rule: Field
    from_git: bool


def changes(
    resource: Resource,
    previous: Resource | None,
    seen: Observed,
    rule: Rule,
    observed: Mapping[str, Observed],
    moved: frozenset[str] = frozenset(),
) -> list[Change]:
    """Fields of a present resource that differ, in order of their names.

    `moved`: fields that earlier revisions changed on the way to `previous`; that may not have come true yet.
    A field whose wanted value is not known yet (an open Ref) is not compared: it cannot be said to differ.
    """
    before: JsonObject = previous.spec if previous is not None else {}
    found: list[Change] = []
    for name in sorted(resource.spec.keys() | (before.keys() - resource.spec.keys())):
        how = rule.field(name)
        removed = name not in resource.spec
        if removed and (how.forget or name in resource.made_with):
            continue  # no default is known, or none is put on what was there before us
        written = how.default if removed else resource.spec[name]
        wanted = resolve(written, observed)
        if any(True for _ in refs_in(wanted)):
            continue
        live = seen.spec.get(name, how.default)
        if how.shared:
            given_up = None if how.forget else resolve(before.get(name), observed)
            wanted = joined(wanted, live, given_up)
        if how.same(wanted, live):
            continue
        known = previous is not None and name in before and name not in moved
        from_git = removed or not known or before[name] != resource.spec[name]
        found.append(
            Change(
                field=name, observed=seen.spec.get(name), wanted=wanted, written=written, rule=how, from_git=from_git
            )
        )
    return found


def patch(moved: list[Change]) -> tuple[JsonObject, ...]:
    """The changes as an RFC 6902 patch over the normal form. Mappings are gone into, lists are replaced whole, and
    the order is that of the names: the same difference is always the same patch."""
    source = {c.field: c.observed for c in moved if c.observed is not None}
    target = {c.field: c.wanted for c in moved if c.wanted is not None}
    return tuple(_steps(source, target, ""))


def _steps(source: Any, target: Any, at: str) -> Iterator[JsonObject]:
    if not isinstance(source, Mapping) or not isinstance(target, Mapping):
        yield {"op": "replace", "path": at, "value": target}
        return
    before, after = cast("Mapping[str, Any]", source), cast("Mapping[str, Any]", target)
    for name in sorted(before.keys() | after.keys()):
        path = f"{at}/{jsonpointer.escape(name)}"
        if name not in after:
            yield {"op": "remove", "path": path}
        elif name not in before:
            yield {"op": "add", "path": path, "value": after[name]}
        elif before[name] != after[name]:
            yield from _steps(before[name], after[name], path)
