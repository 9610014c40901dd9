"""From allowed actions to the next calls in the lane `hyperpod/<cluster>`. Pure but for what `world` has seen.

Cluster, groups and node recovery share UpdateCluster, so there is one order for all, and the next kind of call waits
until the one before has settled:

    create   CreateCluster once, with all groups that are due
    mark     AddTags or DeleteTags (adopt, release)
    tags     AddTags and DeleteTags: what a document writes, and wrote before
    a        UpdateCluster without groups: node recovery
    b        adds, changes and scale-ups, folded into one call (one group a call on a classic cluster)
    d        scale-downs, in a call of their own
    e        InstanceGroupsToDelete, alone
    delete   DeleteCluster, which takes its groups along

What a call asked for is kept as evidence in `before`, small and by group, so that a later look can tell whether the
API shows it: `{"asked": {group: {field: value or short digest}}}`, `{"deleted": [group]}`, `{"nodeRecovery": value}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, cast

from reconciler.resources.drafts import SAY
from reconciler.resources.handler import Call, World
from reconciler.resources.hyperpod.look import CLUSTER, GROUP, cluster_key, group_key
from reconciler.resources.hyperpod.write_form import MUTABLE
from schemas.journal import EffectClass
from schemas.plan import Action, Verb
from schemas.resource import Observed, Presence, refs_in, resolve
from schemas.values import JsonObject, digest

_T = TypeVar("_T")

FOLDED = 10  # groups in one call: the op's line in the journal names them all and is at most 2 KiB
SETTLE = 180
HOUR = 3600


def draft(world: World, actions: Sequence[Action]) -> list[Call]:
    """The next calls; nothing while the cluster takes no change."""
    cluster = world.observed.get(cluster_key(world.cluster))
    if cluster is None or cluster.presence is Presence.UNKNOWN:
        return []
    due = [action for action in actions if action.type in (CLUSTER, GROUP)]
    if cluster.presence is Presence.ABSENT:
        return list(_create(world, due))
    if cluster.reason == "NotEks":
        return []
    marking = [_mark(world, action) for action in due if action.type == CLUSTER and action.verb in _MARKS]
    if marking:
        return marking
    if not cluster.ours:
        return []
    removal = _only(due, CLUSTER, Verb.DELETE)
    if removal:
        return [_delete_cluster(world, removal[0], due)]
    tagging = [action for action in _only(due, CLUSTER, Verb.UPDATE) if "tags" in action.fields]
    if tagging:
        return [_retag(cluster, tagging[0])]
    if cluster.attrs.get("status") != "InService" or cluster.reason == "DeepHealthCheck":
        return []
    return _changes(world, cluster, due)


def _changes(world: World, cluster: Observed, due: Sequence[Action]) -> list[Call]:
    recovery = [action for action in _only(due, CLUSTER, Verb.UPDATE) if "nodeRecovery" in action.fields]
    if recovery:
        return [_node_recovery(world, recovery[0])]
    groups = [action for action in due if action.type == GROUP and _closed(world, action)]
    downs = [action for action in groups if action.verb == Verb.UPDATE and _lowers(world, action)]
    ups = [action for action in groups if action.verb in (Verb.CREATE, Verb.UPDATE) and action not in downs]
    ups = [action for action in ups if _fits(world, action)]
    if ups:
        return list(_updates(world, cluster, ups, "raise"))
    if downs:
        return list(_updates(world, cluster, downs, "lower"))
    return list(_group_deletes(world, cluster, groups))


def _create(world: World, due: Sequence[Action]) -> Iterator[Call]:
    groups = [action for action in _only(due, GROUP, Verb.CREATE) if _closed(world, action)]
    static = [action for action in groups if _count(world, action) > 0]
    for action in _only(due, CLUSTER, Verb.CREATE):
        if not static or not _closed(world, action):
            return  # at least one group that is not empty; the plan refuses what never can be
        want: JsonObject = {
            "cluster": _want(world, action),
            "groups": {group.name: _want(world, group) for group in groups},
        }
        counts = {group.name: _count(world, group) for group in groups}
        yield Call(
            key=action.key,
            lane=action.lane,
            verb=Verb.CREATE.value,
            call="sagemaker:CreateCluster",
            cls=EffectClass.NAME,
            want=digest(want),
            say=_say(f"create HyperPod cluster {action.name} with {_named(groups)}"),
            actions=(action, *groups),
            params={
                "do": "create",
                "key": action.key,
                "name": action.name,
                "counts": counts,
                **want,
            },
            settle=SETTLE,
            deadline=2 * HOUR,
            closes_on_reply=False,
        )
        return


def _mark(world: World, action: Action) -> Call:
    adopt = action.verb in (Verb.ADOPT, Verb.MARK)
    return Call(
        key=action.key,
        lane=action.lane,
        verb=action.verb.value,
        call="sagemaker:AddTags" if adopt else "sagemaker:DeleteTags",
        cls=EffectClass.CONVERGENT,
        want=digest({action.verb.value: action.key}),
        say=f"{action.verb.value} HyperPod cluster {action.name}",
        actions=(action,),
        params={"do": action.verb.value, "key": action.key, "arn": world.attr(action.key, "arn")},
    )


def _retag(cluster: Observed, action: Action) -> Call:
    """Tags alone: no node notices. The look shows only tags that a document knows, so nobody else's goes."""
    wanted = cast("dict[str, str]", action.want.get("tags") or {})
    shown = cast("dict[str, str]", cluster.spec.get("tags") or {})
    put = {name: value for name, value in wanted.items() if shown.get(name) != value}
    drop = sorted(shown.keys() - wanted.keys())
    return Call(
        key=action.key,
        lane=action.lane,
        verb=Verb.UPDATE.value,
        call="sagemaker:AddTags" if put else "sagemaker:DeleteTags",
        cls=EffectClass.CONVERGENT,
        want=digest({"tags": wanted}),
        say=_say(f"tags of HyperPod cluster {cluster.name}: {', '.join([*sorted(put), *drop])}"),
        actions=(action,),
        params={"do": "tags", "arn": cluster.attrs["arn"], "put": put, "drop": drop},
    )


def _delete_cluster(world: World, removal: Action, due: Sequence[Action]) -> Call:
    groups = _only(due, GROUP, Verb.DELETE)
    seen = world.observed[removal.key]
    return Call(
        key=removal.key,
        lane=removal.lane,
        verb=Verb.DELETE.value,
        call="sagemaker:DeleteCluster",
        cls=EffectClass.NAME,
        want=digest({"absent": removal.key}),
        say=f"delete HyperPod cluster {seen.name}",
        actions=(removal, *groups),
        params={"do": "delete", "name": seen.name, "identity": seen.identity},
        before={"identity": seen.identity},
        settle=SETTLE,
        deadline=2 * HOUR,
        closes_on_reply=False,
    )


def _node_recovery(world: World, action: Action) -> Call:
    value = action.want.get("nodeRecovery") or "Automatic"
    return Call(
        key=action.key,
        lane=action.lane,
        verb=Verb.UPDATE.value,
        call="sagemaker:UpdateCluster",
        cls=EffectClass.CONVERGENT,
        want=digest({"nodeRecovery": value}),
        say=f"node recovery of {action.name}: {value}",
        actions=(action,),
        params={"do": "recovery", "name": world.observed[action.key].name, "nodeRecovery": value},
        before={"nodeRecovery": value},
        settle=SETTLE,
        closes_on_reply=False,
    )


def _updates(world: World, cluster: Observed, actions: Sequence[Action], move: str) -> Iterator[Call]:
    """`move`: raise (counts may only rise or stay) or lower."""
    for names in _chunks(list(dict.fromkeys(action.name for action in actions)), _fold(cluster)):
        chunk = [action for action in actions if action.name in names]
        groups: JsonObject = {}
        for action in chunk:
            groups[action.name] = _merged(groups.get(action.name), _respec(world, action))
        verbs = {action.verb for action in chunk}
        yield Call(
            key=chunk[0].key,
            lane=chunk[0].lane,
            verb=verbs.pop().value if len(verbs) == 1 else Verb.UPDATE.value,
            call="sagemaker:UpdateCluster",
            cls=EffectClass.CONVERGENT,
            want=digest(groups),
            say=_say(f"{'scale down' if move == 'lower' else 'update'} {_named(chunk)} of {cluster.name}"),
            actions=tuple(chunk),
            params={"do": "update", "name": cluster.name, "move": move, "groups": groups},
            before={"asked": {name: evidence(group) for name, group in groups.items()}},
            settle=SETTLE,
            closes_on_reply=False,
        )


def _group_deletes(world: World, cluster: Observed, groups: Sequence[Action]) -> Iterator[Call]:
    gone = [action for action in groups if action.verb in (Verb.DELETE, Verb.REPLACE) and _deletable(world, action)]
    standing = set(cast("list[str]", cluster.detail.get("groups", [])))
    if standing <= {action.name for action in gone}:
        return  # a cluster keeps one group at least: the last go with the cluster
    for chunk in _chunks(gone, FOLDED):
        names = [action.name for action in chunk]
        yield Call(
            key=chunk[0].key,
            lane=chunk[0].lane,
            verb=Verb.DELETE.value,
            call="sagemaker:UpdateCluster",
            cls=EffectClass.CONVERGENT,
            want=digest({"absent": names}),
            say=_say(f"delete {_named(chunk)} of {cluster.name}"),
            actions=tuple(chunk),
            params={"do": "deleteGroups", "name": cluster.name, "identity": cluster.identity, "groups": names},
            before={"deleted": names, "cluster": digest(cluster.identity)[:12]},
            settle=SETTLE,
            deadline=2 * HOUR,
            closes_on_reply=False,
        )


def evidence(group: JsonObject) -> JsonObject:
    """What a look must show for one group: counts as they are, anything else as eight hex digits."""
    want: JsonObject = group["want"]
    fields = [field for field in group["fields"] or MUTABLE if field in want or group["fields"]]
    asked = {field: fingerprint(field, want.get(field)) for field in fields}
    if group["fields"] is None:
        asked["count"] = group["count"]
    if "minCount" in asked and "count" in asked:
        asked["minCount"] = min(asked["minCount"], asked["count"])
    return {field: value for field, value in asked.items() if value is not None}


def fingerprint(field: str, value: Any) -> Any:
    """A spec's value small enough for the journal; absent, empty and default are one."""
    if field == "count":
        return value
    if field == "minCount":
        return int(value or 0)
    return digest(value or None)[:8]


def _respec(world: World, action: Action) -> JsonObject:
    """`fields` is None for a group that is to be made."""
    if action.verb == Verb.CREATE:
        return {"want": _want(world, action), "fields": None, "count": _count(world, action)}
    return {"want": _want(world, action), "fields": sorted(action.fields)}


def _count(world: World, action: Action) -> int:
    """A new group's count; one that an autoscaler owns starts as `initial` says, else empty."""
    if "count" in action.want:
        return int(action.want["count"])
    resource = world.desired.get(action.key)
    return int(resource.initial.get("count", 0)) if resource is not None else 0


def _want(world: World, action: Action) -> JsonObject:
    return cast("JsonObject", resolve(action.want, world.observed))


def _closed(world: World, action: Action) -> bool:
    """Everything it refers to is known."""
    return action.verb in (Verb.DELETE, Verb.REPLACE) or not any(refs_in(_want(world, action)))


def _lowers(world: World, action: Action) -> bool:
    if "count" not in action.fields or action.want.get("count") is None:
        return False
    return int(action.want["count"]) < int(world.attr(action.key, "target") or 0)


def _fits(world: World, action: Action) -> bool:
    """A change needs the group; one that is being deleted takes none, and its name is free only afterwards."""
    status = world.attr(action.key, "status")
    return status is None if action.verb == Verb.CREATE else status not in (None, "Deleting")


def _deletable(world: World, action: Action) -> bool:
    seen = world.observed.get(group_key(world.cluster, action.name))
    return seen is not None and seen.present and seen.ours and seen.attrs.get("status") != "Deleting"


def _only(actions: Sequence[Action], kind: str, verb: Verb) -> list[Action]:
    return [action for action in actions if action.type == kind and action.verb == verb]


def _fold(cluster: Observed) -> int:
    return FOLDED if cluster.detail.get("continuous") else 1


def _merged(first: JsonObject | None, second: JsonObject) -> JsonObject:
    """Two actions on one group (drift of the count beside a change from git) are one body."""
    if first is None or first["fields"] is None or second["fields"] is None:
        return first or second
    overlaid: JsonObject = {field: second["want"].get(field) for field in second["fields"]}
    return {"want": {**first["want"], **overlaid}, "fields": sorted({*first["fields"], *second["fields"]})}


def _chunks(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    for at in range(0, len(items), size):
        yield items[at : at + size]


def _named(actions: Sequence[Action]) -> str:
    if len(actions) == 1:
        return f"group {actions[0].name}"
    return f"{len(actions)} groups"


def _say(sentence: str) -> str:
    return sentence[:SAY]


_MARKS = (Verb.ADOPT, Verb.MARK, Verb.RELEASE)
