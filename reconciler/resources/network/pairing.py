"""Which EC2 object answers for which key. Pure.

Our mark on the object decides; an id that a document adopts decides before it. Something of the same name that is
not ours is shown as foreign. Two objects that carry one key leave nobody sure: Unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from reconciler.resources.base import TAG_CLUSTER, TAG_KEY
from reconciler.resources.network.sight import Live
from schemas.resource import Resource

NAMED = frozenset({"ec2.SecurityGroup"})  # types with a name that can be taken


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One key and what stands for it: nothing (absent), one object, or several (unknown)."""

    key: str
    wanted: Resource | None
    found: tuple[Live, ...]


def unmarked(
    cluster: str, wanted: Iterable[Resource], sight: Mapping[str, Sequence[Live]], made: Mapping[str, str]
) -> dict[str, list[str]]:
    """Ids, by type, of what we made and see no mark of."""
    marked = {live.tags.get(TAG_KEY) for lives in sight.values() for live in lives}
    lost: dict[str, list[str]] = defaultdict(list)
    for resource in wanted:
        if resource.key in made and resource.key not in marked and resource.type in sight:
            lost[resource.type].append(made[resource.key])
    return dict(lost)


def pair(
    kind: str,
    cluster: str,
    wanted: Iterable[Resource],
    there: Sequence[Live],
    made: Mapping[str, str] = MappingProxyType({}),
) -> list[Pair]:
    """One pair for every wanted resource and one for everything of ours that nobody wants. `made`: ids that the
    journal knows, for what lost its mark."""
    marked: dict[str, list[Live]] = defaultdict(list)
    for live in there:
        key = live.tags.get(TAG_KEY, "")
        if live.tags.get(TAG_CLUSTER) == cluster and key.startswith(f"{kind}/{cluster}"):
            marked[key].append(live)
    pairs: list[Pair] = []
    for resource in wanted:
        candidates = marked.pop(resource.key, [])
        if resource.adopt:
            candidates = _distinct([*candidates, *(live for live in there if live.id == resource.adopt)])
        if not candidates:
            candidates = [live for live in there if live.id == made.get(resource.key)]
        if not candidates and kind in NAMED:
            candidates = [live for live in there if live.raw.get("GroupName") == resource.name]
        pairs.append(Pair(key=resource.key, wanted=resource, found=_standing(candidates)))
    pairs.extend(Pair(key=key, wanted=None, found=_standing(lives)) for key, lives in sorted(marked.items()))
    return pairs


def _standing(candidates: Sequence[Live]) -> tuple[Live, ...]:
    """Without what is failed or on its way out, if something else stands; of those left over the first is enough."""
    lasting = [live for live in candidates if not live.passing]
    return tuple(lasting) if lasting else tuple(candidates[:1])


def _distinct(candidates: Sequence[Live]) -> list[Live]:
    return list({live.id: live for live in candidates}.values())
