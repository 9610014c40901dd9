"""What stays when adopted things are let go of. Pure.

An adopted thing is released with everything in it, so what is in it stays: a group in a HyperPod cluster, an add-on
in an EKS cluster. And what we made for that stays too, because it still stands on it: the subnet and the role of a
group, the script its nodes run, the role of an add-on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from reconciler.plan.registry import rule_for
from schemas.resource import Mark, Observed, Resource, refs_in, resolve


def staying(
    desired: Mapping[str, Resource], previous: Mapping[str, Resource], observed: Mapping[str, Observed]
) -> frozenset[str]:
    """Keys that nobody wants any more and that must not be deleted all the same."""
    left = {key: r for key, r in previous.items() if key not in desired and _is_there(observed.get(key))}
    let_go = {seen.type for seen in observed.values() if seen.key in left and _was_there_before_us(seen, left)}
    inside = {key for key, resource in left.items() if rule_for(resource.type).inside in let_go}
    found: set[str] = set()
    todo = list(_stood_on(left, inside, observed))
    while todo:
        key = todo.pop()
        if key in found or key not in left:
            continue
        found.add(key)
        todo.extend(left[key].needs())
    return frozenset(found | inside)


def _stood_on(left: Mapping[str, Resource], inside: Collection[str], observed: Mapping[str, Observed]) -> Iterator[str]:
    """What things that a document adopted need, and what things in them were made with by us."""
    for key, resource in left.items():
        seen = observed[key]
        if resource.adopt is not None and seen.mark is Mark.ADOPTED:
            yield from resource.lasting_needs()
        elif key in inside and (seen.mark is Mark.OURS or _stands_on_ours(resource, seen, observed)):
            yield from resource.needs()


def _was_there_before_us(seen: Observed, left: Mapping[str, Resource]) -> bool:
    """Adopted, or adopted and released a moment ago."""
    return seen.mark is Mark.ADOPTED or left[seen.key].adopt is not None


def _stands_on_ours(resource: Resource, seen: Observed, observed: Mapping[str, Observed]) -> bool:
    """It was made with things of ours, and was not there before them."""
    for name, value in {**resource.made_with, **resource.spec}.items():
        if any(True for _ in refs_in(value)) and name in seen.spec and resolve(value, observed) == seen.spec[name]:
            return True
    return False


def _is_there(seen: Observed | None) -> bool:
    return seen is not None and seen.present
