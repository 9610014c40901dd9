"""The EKS cluster itself: made once, then changed one kind of change at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reconciler.live.errors import CallRejected, NotFound
from reconciler.resources.base import TAG_OP, bar_of, mark_of, written_tags
from reconciler.resources.control_plane.marking import adopting, releasing
from reconciler.resources.control_plane.normal_form import (
    cluster_attrs,
    cluster_health,
    cluster_spec,
    first_error,
    identity_of,
    next_version,
)
from reconciler.resources.drafts import (
    OP,
    Draft,
    Step,
    SteppingHandler,
    as_list,
    as_map,
    fields_of,
    in_words_of,
    later_if_role_is_young,
    new_marks,
    removing,
    resolved,
    step,
)
from reconciler.resources.handler import Call, Reply, Settlement, Verdict, World
from schemas.journal import EffectClass, OpRecord, Phase
from schemas.plan import Action, Verb
from schemas.resource import Bar, Health, Observed, Presence, Resource, absent, resolve
from schemas.values import JsonObject

TYPE = "eks.Cluster"
SETTLE = 180
TOKEN_LIFE = 6 * 3600
CREATE_DEADLINE = 3600
UPDATE_DEADLINE = 2 * 3600
LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")


def cluster_key(cluster: str) -> str:
    return f"{TYPE}/{cluster}"


class ClusterHandler(SteppingHandler):
    """`eks.Cluster`: creation is followed until ACTIVE, an update by its update id."""

    types: tuple[str, ...] = (TYPE,)
    looks_after: tuple[str, ...] = ("ec2.Subnet", "ec2.SecurityGroup")

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        found = [_look(world, r.key, r.adopt or r.name, r) or absent(r) for r in wanted]
        if not wanted:  # git may have forgotten it while it still stands
            seen = _look(world, cluster_key(world.cluster), world.cluster, None)
            found = [seen] if seen is not None else []
        return found

    def create(self, world: World, action: Action) -> Draft | None:
        want = resolved(world, action.want)
        if want is None:
            return None
        endpoint = as_map(want.get("endpoint"))
        network: JsonObject = {
            "subnetIds": as_list(want.get("subnets")),
            "securityGroupIds": as_list(want.get("securityGroups")),
            **_endpoint(endpoint),
        }
        params: JsonObject = {
            "name": action.name,
            "roleArn": want["role"],
            "resourcesVpcConfig": network,
            "accessConfig": {
                "authenticationMode": want.get("authenticationMode", "API"),
                "bootstrapClusterCreatorAdminPermissions": True,
            },
            "bootstrapSelfManagedAddons": False,
            "clientRequestToken": OP,
            "tags": {**as_map(want.get("tags")), **new_marks(world, action)},
        }
        if want.get("version"):
            params["version"] = want["version"]
        if want.get("logging"):
            params["logging"] = {"clusterLogging": [{"types": as_list(want["logging"]), "enabled": True}]}
        return Draft(
            steps=[step("eks", "CreateCluster", **params)],
            say=f"Create EKS cluster {action.name}",
            cls=EffectClass.TOKEN,
            settle=SETTLE,
            deadline=CREATE_DEADLINE,
            token_life=TOKEN_LIFE,
            closes_on_reply=False,
        )

    def drafts(self, world: World, actions: Sequence[Action]) -> Sequence[Draft | None]:
        """EKS takes one kind of change at a time: the first goes, and its sentence names those that wait for it."""
        made = list(super().drafts(world, actions))
        changes = [n for n, each in enumerate(actions) if each.verb is Verb.UPDATE and "tags" not in each.fields]
        due = [(n, draft) for n in changes if (draft := made[n]) is not None]
        if len(due) > 1:
            (first, draft), *waiting = due
            later = ", ".join(name for n, _ in waiting for name in actions[n].fields)
            made[first] = replace(draft, say=f"{draft.say}, then {later}")
            for n, _ in waiting:
                made[n] = None
        return made

    def update(self, world: World, action: Action, seen: Observed) -> Draft | None:
        """One field: the plan makes each an action of its own."""
        if seen.detail.get("status") != "ACTIVE":
            return None
        want = resolved(world, {name: action.want.get(name) for name in fields_of(action)})
        if want is None:
            return None
        if "tags" in want:
            return _retag(seen, as_map(want["tags"]))
        (name,) = want
        change = _change(name, seen, want[name])
        if change is None:
            return None
        return Draft(
            steps=[change],
            say=f"Update EKS cluster {seen.name}: {_said(name, change, want)}",
            settle=SETTLE,
            deadline=UPDATE_DEADLINE,
            closes_on_reply=False,
        )

    def delete(self, world: World, action: Action, seen: Observed) -> Draft | None:
        return Draft(
            steps=[removing("eks", "DeleteCluster", name=seen.name)],
            say=f"Delete EKS cluster {seen.name}",
            cls=EffectClass.NAME,
            settle=SETTLE,
            deadline=CREATE_DEADLINE,
            closes_on_reply=False,
        )

    def adopt(self, world: World, action: Action, seen: Observed) -> Draft | None:
        return adopting(world, action, seen, f"EKS cluster {seen.name}")

    def release(self, world: World, action: Action, seen: Observed) -> Draft | None:
        return releasing(seen, f"EKS cluster {seen.name}")

    def send(self, world: World, call: Call, op: str) -> Reply:
        first: Step = call.params["steps"][0]
        try:
            return super().send(world, call, op)
        except CallRejected as error:
            if call.verb == "update" and "no changes needed" in error.message.lower():
                return Reply()  # an earlier reply was lost; the next look shows it
            raise later_if_role_is_young(world, str(first.params.get("roleArn", "")), error) from error

    def reply_ref(self, call: Call, answers: Sequence[JsonObject]) -> JsonObject:
        for answer in answers:
            if "update" in answer:
                return {"update": answer["update"]["id"]}
            if "cluster" in answer:
                return {"arn": answer["cluster"]["arn"], "id": identity_of(answer["cluster"])}
        return {}

    def settled(self, world: World, op: OpRecord) -> Settlement:
        seen = world.observed.get(op.key)
        if seen is None or seen.presence is not Presence.PRESENT:
            return super().settled(world, op)
        if op.verb == Verb.CREATE and not (op.phase is Phase.INTENT and seen.op != op.op):
            # An issue of a cluster that serves is its health, not the fate of its creation.
            if seen.ready:
                return Settlement(verdict=Verdict.HAPPENED, ref=self.ref(seen))
            if seen.health is Health.PROGRESSING:
                return Settlement(verdict=Verdict.PENDING, ref=self.ref(seen), reason=seen.reason)
        if op.verb == Verb.DELETE and seen.health is Health.DELETING:
            return Settlement(verdict=Verdict.PENDING, reason=seen.reason)
        if op.verb == Verb.UPDATE:
            return _settled_update(world, op, seen)
        return super().settled(world, op)


def _look(world: World, key: str, name: str, resource: Resource | None) -> Observed | None:
    try:
        cluster = world.aws.read("eks", "DescribeCluster", name=name)["cluster"]
    except NotFound:
        return None
    tags: dict[str, str] = as_map(cluster.get("tags"))
    wanted = as_map(resolve(resource.spec, world.observed)) if resource else {}
    spec = {**cluster_spec(cluster), "tags": written_tags(tags, world, key)}
    if not spec["endpoint"]["public"] and wanted.get("endpoint"):
        spec["endpoint"]["publicCidrs"] = as_map(wanted["endpoint"]).get("publicCidrs", [])  # they say nothing now
    health, ready, reason, message = cluster_health(cluster)
    return Observed(
        key=key,
        type=TYPE,
        name=name,
        presence=Presence.PRESENT,
        spec=as_map(in_words_of(wanted, spec)),
        attrs=cluster_attrs(cluster),
        health=health,
        ready=ready,
        reason=reason,
        message=message,
        mark=mark_of(tags, key, world.cluster),
        bar=bar_of(tags, world.cluster) or _closed_to_us(name, spec),
        op=tags.get(TAG_OP),
        identity=identity_of(cluster),
        detail={"status": cluster.get("status")},
    )


def _closed_to_us(name: str, spec: JsonObject) -> Bar | None:
    """HyperPod and we come in by access entries."""
    if spec.get("authenticationMode") != "CONFIG_MAP":
        return None
    return Bar(
        "NoAccessEntries",
        f"EKS cluster {name} lets nobody in by access entries (authentication mode CONFIG_MAP)",
        f"aws eks update-cluster-config --name {name} --access-config authenticationMode=API_AND_CONFIG_MAP",
    )


def _settled_update(world: World, op: OpRecord, seen: Observed) -> Settlement:
    """By its update id; without one (the reply was lost) an update under way may be it."""
    update_id = (op.ref or {}).get("update")
    if not update_id:
        under_way = seen.detail.get("status") == "UPDATING"
        return Settlement(verdict=Verdict.PENDING if under_way else Verdict.HAPPENED)
    try:
        update = world.aws.read("eks", "DescribeUpdate", name=seen.name, updateId=update_id)["update"]
    except NotFound:
        return Settlement(verdict=Verdict.HAPPENED, reason="UpdateForgotten")  # the next plan compares anyway
    match update.get("status"):
        case "Successful":
            return Settlement(verdict=Verdict.HAPPENED, ref={"update": update_id})
        case "Failed" | "Cancelled":
            code, text = first_error(as_list(update.get("errors")))
            return Settlement(
                verdict=Verdict.FAILED,
                reason=code or f"Update{update['status']}",
                message=text or f"{update.get('type')} {update['status']}",
            )
        case _:
            return Settlement(verdict=Verdict.PENDING, ref={"update": update_id})


def _change(field: str, seen: Observed, wanted: Any) -> Step | None:
    """The one call for one kind of change."""
    match field:
        case "version":
            target = next_version(str(seen.spec.get("version")), str(wanted))
            if target is None:
                return None
            return step("eks", "UpdateClusterVersion", name=seen.name, version=target, clientRequestToken=OP)
        case "endpoint":
            return _config(seen, resourcesVpcConfig=_endpoint(as_map(wanted)))
        case "logging":
            return _config(seen, logging=_logging(as_list(wanted)))
        case _:
            return _config(seen, accessConfig={"authenticationMode": wanted})


def _retag(seen: Observed, wanted: JsonObject) -> Draft:
    """Tags go by calls of their own, at once and beside any update of the cluster."""
    shown = as_map(seen.spec.get("tags"))
    put = {name: value for name, value in wanted.items() if shown.get(name) != value}
    drop = sorted(shown.keys() - wanted.keys())
    steps: list[Step] = []
    if put:
        steps.append(step("eks", "TagResource", resourceArn=seen.attrs["arn"], tags=put))
    if drop:
        steps.append(removing("eks", "UntagResource", resourceArn=seen.attrs["arn"], tagKeys=drop))
    return Draft(steps=steps, say=f"Tags of EKS cluster {seen.name}: {', '.join([*sorted(put), *drop])}")


def _config(seen: Observed, **change: Any) -> Step:
    return step("eks", "UpdateClusterConfig", name=seen.name, clientRequestToken=OP, **change)


def _endpoint(endpoint: Mapping[str, Any]) -> JsonObject:
    found: JsonObject = {}
    if "public" in endpoint:
        found["endpointPublicAccess"] = bool(endpoint["public"])
    if "private" in endpoint:
        found["endpointPrivateAccess"] = bool(endpoint["private"])
    if endpoint.get("publicCidrs") and endpoint.get("public", True):
        found["publicAccessCidrs"] = as_list(endpoint["publicCidrs"])
    return found


def _logging(wanted: list[Any]) -> JsonObject:
    on, off = [each for each in LOG_TYPES if each in wanted], [each for each in LOG_TYPES if each not in wanted]
    groups = [{"types": on, "enabled": True}, {"types": off, "enabled": False}]
    return {"clusterLogging": [group for group in groups if group["types"]]}


def _said(field: str, change: Step, want: Mapping[str, Any]) -> str:
    if field != "version":
        return field
    target = str(change.params["version"])
    return f"version {target}" if target == want["version"] else f"version {target} on the way to {want['version']}"
