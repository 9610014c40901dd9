"""Access entries: which principals may enter the cluster. Those that we did not mark are shown and never touched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reconciler.live.errors import NotFound
from reconciler.resources.base import TAG_KEY, TAG_OP, bar_of, mark_of, written_entries
from reconciler.resources.control_plane.clusters import cluster_key
from reconciler.resources.control_plane.marking import adopting, releasing
from reconciler.resources.control_plane.normal_form import scope_form
from reconciler.resources.drafts import (
    OP,
    Draft,
    Step,
    SteppingHandler,
    as_map,
    dropped,
    new_marks,
    removing,
    resolved,
    step,
)
from reconciler.resources.handler import Call, World
from schemas.journal import EffectClass
from schemas.plan import Action
from schemas.resource import Health, Mark, Observed, Presence, Resource, absent, resolve, unknown
from schemas.values import JsonObject

TYPE = "eks.AccessEntry"
SETTLE = 120


class AccessEntryHandler(SteppingHandler):
    """`eks.AccessEntry`: the entry first, its policies as an update."""

    types: tuple[str, ...] = (TYPE,)
    looks_after: tuple[str, ...] = ("eks.Cluster", "iam.Role")

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        cluster = world.observed.get(cluster_key(world.cluster))
        if cluster is None or cluster.presence is Presence.UNKNOWN:
            return [unknown(resource, "ClusterUnknown", "the EKS cluster could not be seen") for resource in wanted]
        if not cluster.present or not cluster.attrs.get("endpoint"):
            return [absent(resource) for resource in wanted]
        try:
            principals: list[Any] = list(
                world.aws.pages("eks", "ListAccessEntries", "accessEntries", clusterName=cluster.name)
            )
        except NotFound:  # the cluster went since it was seen, and its entries with it
            return [absent(resource) for resource in wanted]
        asked = {_principal(world, resource): resource for resource in wanted}
        nodes = world.attr(f"iam.Role/{world.cluster}/execution", "arn")
        # What the services let in by themselves is neither ours nor anybody's surprise.
        principals = [p for p in principals if p in asked or (p != nodes and "/aws-service-role/" not in str(p))]
        found = {
            seen.key: seen
            for principal in principals
            if (seen := _look(world, cluster.name, str(principal), asked.get(str(principal)))) is not None
        }
        return [*found.values(), *(absent(resource) for resource in wanted if resource.key not in found)]

    def create(self, world: World, action: Action) -> Draft | None:
        principal, cluster = resolved(world, action.want["principal"]), _cluster(world)
        if principal is None or cluster is None:
            return None
        made = step(
            "eks",
            "CreateAccessEntry",
            clusterName=cluster,
            principalArn=principal,
            clientRequestToken=OP,
            tags=new_marks(world, action),
        )
        say = f"Let {principal.rpartition('/')[2]} into EKS cluster {cluster}"
        return Draft(steps=[made], say=say, cls=EffectClass.NAME, settle=SETTLE)

    def update(self, world: World, action: Action, seen: Observed) -> Draft | None:
        where = {"clusterName": seen.detail["cluster"], "principalArn": seen.spec["principal"]}
        wanted, there = as_map(action.want.get("policies")), as_map(seen.spec.get("policies"))
        steps: list[Step] = [
            step("eks", "AssociateAccessPolicy", **where, policyArn=arn, accessScope=scope_form(as_map(scope)))
            for arn, scope in sorted(wanted.items())
            if there.get(arn) != scope
        ]
        steps += [
            removing("eks", "DisassociateAccessPolicy", **where, policyArn=arn)
            for arn in dropped(action, "policies", there)
        ]
        return Draft(steps=steps, say=f"Update access of {seen.name}: policies")

    def delete(self, world: World, action: Action, seen: Observed) -> Draft | None:
        where = {"clusterName": seen.detail["cluster"], "principalArn": seen.spec["principal"]}
        return Draft(
            steps=[removing("eks", "DeleteAccessEntry", **where)],
            say=f"Take access from {seen.name}",
            cls=EffectClass.NAME,
        )

    def adopt(self, world: World, action: Action, seen: Observed) -> Draft | None:
        return adopting(world, action, seen, f"access entry of {seen.name}")

    def release(self, world: World, action: Action, seen: Observed) -> Draft | None:
        return releasing(seen, f"access entry of {seen.name}")

    def reply_ref(self, call: Call, answers: Sequence[JsonObject]) -> JsonObject:
        return {"arn": answers[0]["accessEntry"]["accessEntryArn"]} if call.verb == "create" else {}


def _look(world: World, cluster: str, principal: str, resource: Resource | None) -> Observed | None:
    try:
        where = {"clusterName": cluster, "principalArn": principal}
        entry = world.aws.read("eks", "DescribeAccessEntry", **where)["accessEntry"]
        tags: dict[str, str] = as_map(entry.get("tags"))
        key = resource.key if resource else tags.get(TAG_KEY, "")
        mark = mark_of(tags, key, world.cluster) if key.startswith(f"{TYPE}/{world.cluster}/") else Mark.FOREIGN
        if resource is None and mark is Mark.FOREIGN:
            # HyperPod lets in the roles of its groups by itself.
            return None if entry.get("type") == "HYPERPOD_LINUX" else _foreign(world, entry)
        associated = world.aws.pages("eks", "ListAssociatedAccessPolicies", "associatedAccessPolicies", **where)
    except NotFound:
        return None
    policies = {str(each["policyArn"]): scope_form(as_map(each.get("accessScope"))) for each in associated}
    if mark is not Mark.OURS:  # what else an entry carried before us is not ours to take away
        written = written_entries(world, key, "policies")
        policies = {arn: scope for arn, scope in policies.items() if arn in written}
    return Observed(
        key=key,
        type=TYPE,
        name=principal,
        presence=Presence.PRESENT,
        spec={"principal": principal, "policies": _in_words_of(resource, policies)},
        attrs={"arn": entry["accessEntryArn"], "principal": principal},
        health=Health.HEALTHY,
        ready=True,
        mark=mark,
        bar=bar_of(tags, world.cluster),
        op=tags.get(TAG_OP),
        identity=f"{entry['accessEntryArn']}@{entry.get('createdAt', '')}",
        detail={"cluster": cluster},
    )


def _foreign(world: World, entry: JsonObject) -> Observed:
    principal = str(entry["principalArn"])
    return Observed(
        key=f"{TYPE}/{world.cluster}/{principal}",
        type=TYPE,
        name=principal,
        presence=Presence.PRESENT,
        attrs={"arn": entry["accessEntryArn"], "principal": principal},
        health=Health.HEALTHY,
        ready=True,
        identity=str(entry["accessEntryArn"]),
        message=f"an access entry of {principal} ({entry.get('type', 'STANDARD')}) that is not ours: left alone",
    )


def _in_words_of(resource: Resource | None, policies: JsonObject) -> JsonObject:
    """Scopes as git writes them where they mean the same (order of namespaces)."""
    ours = as_map(resource.spec.get("policies")) if resource else {}
    return {
        arn: ours[arn] if scope_form(as_map(ours.get(arn))) == scope and arn in ours else scope
        for arn, scope in policies.items()
    }


def _principal(world: World, resource: Resource) -> str:
    principal = resolve(resource.spec.get("principal"), world.observed)
    return resource.adopt or (principal if isinstance(principal, str) else resource.name)


def _cluster(world: World) -> str | None:
    seen = world.observed.get(cluster_key(world.cluster))
    return seen.name if seen is not None and seen.ready else None
