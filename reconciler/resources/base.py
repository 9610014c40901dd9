"""What most handlers share: reading an op's fate from the newest look, and our marks on AWS objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from reconciler.resources.handler import Settlement, Verdict, World
from schemas.journal import OpRecord, Phase
from schemas.plan import Verb
from schemas.resource import Bar, Health, Mark, Observed, Presence, Resource

TAG_CLUSTER = "instantstart:cluster"
TAG_KEY = "instantstart:key"
TAG_OP = "instantstart:op"
TAG_ADOPTED = "instantstart:adopted"
OUR_TAGS = (TAG_CLUSTER, TAG_KEY, TAG_OP, TAG_ADOPTED)


def marks(cluster: str, key: str, op: str) -> dict[str, str]:
    """The tags that make an AWS object ours."""
    return {TAG_CLUSTER: cluster, TAG_KEY: key, TAG_OP: op}


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """The `[{Key, Value}]` spelling most services use."""
    return [{"Key": key, "Value": value} for key, value in sorted(tags.items())]


def tag_map(tags: Iterable[Mapping[str, Any]] | None) -> dict[str, str]:
    """`[{Key, Value}]` (any case) back to a plain mapping."""
    found: dict[str, str] = {}
    for tag in tags or ():
        found[str(tag.get("Key", tag.get("key")))] = str(tag.get("Value", tag.get("value")))
    return found


def mark_of(tags: Mapping[str, str], resource_key: str, cluster: str) -> Mark:
    """OURS only if the tags name this very key: a copied label is no mark."""
    if tags.get(TAG_CLUSTER) != cluster or tags.get(TAG_KEY) != resource_key:
        return Mark.FOREIGN
    return Mark.ADOPTED if tags.get(TAG_ADOPTED) == "true" else Mark.OURS


def bar_of(tags: Mapping[str, str], cluster: str) -> Bar | None:
    """Why something with these tags cannot be taken over: another cluster of ours has it."""
    owner = tags.get(TAG_CLUSTER)
    if owner is None or owner == cluster:
        return None
    return Bar(
        "OthersMark",
        f"it carries the mark of cluster {owner} (tag {TAG_CLUSTER}), which manages it",
        f"let go of it there first, by taking the folder of {owner} down; only if {owner} is no more, remove the tags",
    )


def written_tags(tags: Mapping[str, str], world: World, key: str) -> dict[str, str]:
    """The live tags whose keys a document writes, or wrote before: all others (our marks, those of a cost tool)
    belong to somebody else and are neither compared nor taken away."""
    known = written_entries(world, key, "tags")
    return {name: value for name, value in tags.items() if name in known}


def written_entries(world: World, key: str, name: str) -> set[str]:
    """Entries of the map `name` that a document writes, or wrote before."""
    known: set[str] = set()
    for resource in (world.desired.get(key), world.previous.get(key)):
        if resource is not None:
            known |= set(cast("Mapping[str, Any]", resource.spec.get(name) or {}))
    return known


class BaseHandler:
    """Reads an op's fate from `world.observed`; families override where the API shows more."""

    types: tuple[str, ...] = ()
    looks_after: tuple[str, ...] = ()

    def settled(self, world: World, op: OpRecord) -> Settlement:
        seen = world.observed.get(op.key)
        if seen is None or seen.presence is Presence.UNKNOWN:
            return Settlement(verdict=Verdict.UNREADABLE, reason=seen.reason if seen else "NotLooked")
        if op.verb in (Verb.DELETE, Verb.RELEASE):
            return self._settled_removal(op, seen)
        if seen.presence is Presence.ABSENT:
            return Settlement(verdict=Verdict.ABSENT)
        if op.verb == Verb.CREATE and op.phase is Phase.INTENT and seen.op != op.op:
            return Settlement(
                verdict=Verdict.TAKEN, reason="NameTaken", message=f"{seen.name} is there, not from this op"
            )
        if seen.health is Health.FAILED:
            return Settlement(verdict=Verdict.FAILED, reason=seen.reason or "Failed", message=seen.message)
        return Settlement(verdict=Verdict.HAPPENED, ref=self.ref(seen))

    def ref(self, seen: Observed) -> dict[str, Any]:
        """The few ids worth keeping in the journal."""
        return {name: seen.attrs[name] for name in ("arn", "id") if seen.attrs.get(name)}

    def _settled_removal(self, op: OpRecord, seen: Observed) -> Settlement:
        gone = seen.presence is Presence.ABSENT or (op.verb == Verb.RELEASE and not seen.ours)
        if gone:
            return Settlement(verdict=Verdict.HAPPENED)
        guard = cast("str", op.before.get("identity", ""))
        if guard and seen.identity and seen.identity != guard:
            return Settlement(
                verdict=Verdict.SUBJECT_GONE, reason="Replaced", message="another object has the name now"
            )
        if seen.health is Health.FAILED:
            return Settlement(verdict=Verdict.FAILED, reason=seen.reason or "DeleteFailed", message=seen.message)
        # It stands, and no reply says that it was taken up: no trace, also when an earlier sending was refused.
        return Settlement(verdict=Verdict.PENDING if op.phase is Phase.SUBMITTED else Verdict.ABSENT)


def of_types(resources: Iterable[Resource], *types: str) -> list[Resource]:
    return [resource for resource in resources if resource.type in types]
