"""What earlier revisions wanted, taken together: all those that may have left something in the cloud.

The newest of them alone does not say enough. A field that one revision wrote and a later one took away again is still
live if neither of them came true; a count that one revision changed is git's wish and no drift, although the next
revision repeats it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from reconciler.plan.equality import joined
from reconciler.plan.registry import rule_for
from reconciler.plan.rules import Rule
from schemas.resource import Resource
from schemas.values import JsonObject


@dataclass(frozen=True, kw_only=True)
class Previous:
    """`resources`: by key, with every field that any revision wrote, the newest value of each. `moved`: by key, the
    fields whose value was not the same in all of them."""

    resources: dict[str, Resource] = field(default_factory=dict[str, Resource])
    moved: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


def together(revisions: Iterable[Mapping[str, Resource]], *, ready: bool) -> Previous:
    """`revisions`: resources of each, oldest first. `ready`: the first of them came true, so that whatever it lacks
    was wanted anew by the others."""
    found: dict[str, Resource] = {}
    last: dict[str, Resource] = {}
    moved: dict[str, set[str]] = {}
    for number, resources in enumerate(revisions):
        for key, resource in resources.items():
            before = last.get(key)
            if before is resource:  # revisions share what they have in common
                continue
            last[key] = resource
            if before is None:
                found[key] = resource
                if number > 0 and ready:
                    moved[key] = set(resource.spec)
            elif before.spec == resource.spec:
                found[key] = replace(resource, spec=found[key].spec)
            else:
                moved.setdefault(key, set()).update(_changed(before.spec, resource.spec))
                found[key] = replace(resource, spec=_merged(found[key].spec, resource.spec, rule_for(resource.type)))
    return Previous(resources=found, moved={key: frozenset(names) for key, names in moved.items()})


def _changed(before: JsonObject, after: JsonObject) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def _merged(older: JsonObject, newer: JsonObject, rule: Rule) -> JsonObject:
    """Entries of a shared field are each their author's; any other value is replaced as a whole."""
    beside = {
        name: joined(value, older[name], None)
        for name, value in newer.items()
        if name in older and rule.field(name).shared
    }
    return {**older, **newer, **beside}
