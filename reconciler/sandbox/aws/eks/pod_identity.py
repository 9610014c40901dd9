"""Pod identity associations: one role per service account, made before the account exists or after."""

from __future__ import annotations

from reconciler.sandbox.aws.calls import Call, Handler, Json, part
from reconciler.sandbox.aws.eks.clusters import paged
from reconciler.sandbox.aws.eks.records import (
    Addon,
    Association,
    EksCluster,
    active,
    cluster_of,
    in_use,
    invalid,
    missing,
    repeated,
    token_of,
)
from reconciler.sandbox.aws.world import World, random_id

_OPTIONS = ("disableSessionTags", "targetRoleArn", "policy")


class PodIdentity:
    def __init__(self, world: World) -> None:
        self._world = world

    def handlers(self) -> dict[str, Handler]:
        return {
            "CreatePodIdentityAssociation": self.create,
            "DescribePodIdentityAssociation": self.describe,
            "UpdatePodIdentityAssociation": self.update,
            "DeletePodIdentityAssociation": self.delete,
            "ListPodIdentityAssociations": self.list,
        }

    def create(self, call: Call, params: Json) -> Json:
        cluster = active(cluster_of(self._world, call.account, call.region, params["clusterName"]))
        namespace, account = str(params["namespace"]), str(params["serviceAccount"])
        for known in cluster.associations.values():
            if (known.namespace, known.service_account) == (namespace, account):
                if repeated(known.token, params):
                    return {"association": _shown(cluster, known)}
                raise in_use(f"Association already exists: {known.id}")
        made = _made(self._world, cluster, namespace, account, str(params["roleArn"]))
        made.tags, made.token = dict(part(params, "tags")), token_of(params)
        made.extra = {name: params[name] for name in _OPTIONS if name in params}
        cluster.associations[made.id] = made
        call.changed("created", "eks.pod-identity-association", f"{cluster.name}/{namespace}/{account}")
        return {"association": _shown(cluster, made)}

    def describe(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["clusterName"])
        return {"association": _shown(cluster, _association(cluster, params))}

    def update(self, call: Call, params: Json) -> Json:
        cluster = active(cluster_of(self._world, call.account, call.region, params["clusterName"]))
        found = _association(cluster, params)
        before = (found.role, dict(found.extra))
        found.role = str(params.get("roleArn", found.role))
        found.extra |= {name: params[name] for name in _OPTIONS if name in params}
        if before != (found.role, found.extra):
            found.modified = self._world.now()
            call.changed("updated", "eks.pod-identity-association", f"{cluster.name}/{found.id}")
        return {"association": _shown(cluster, found)}

    def delete(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["clusterName"])
        found = _association(cluster, params)
        if found.owner:
            raise invalid(f"Association {found.id} is owned by an add-on: {found.owner}")
        del cluster.associations[found.id]
        call.changed("deleted", "eks.pod-identity-association", f"{cluster.name}/{found.id}")
        return {"association": _shown(cluster, found)}

    def list(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["clusterName"])
        found = [
            one
            for one in cluster.associations.values()
            if params.get("namespace") in (None, one.namespace)
            and params.get("serviceAccount") in (None, one.service_account)
        ]
        page = paged([one.id for one in found], "associations", params)
        page["associations"] = [_summary(cluster, cluster.associations[one]) for one in page["associations"]]
        return page


def owned(world: World, cluster: EksCluster, addon: Addon, wanted: Json) -> Association:
    """The association an add-on brings along; it belongs to the add-on."""
    made = _made(world, cluster, addon.namespace, str(wanted["serviceAccount"]), str(wanted["roleArn"]))
    made.owner = addon.arn
    cluster.associations[made.id] = made
    return made


def _made(world: World, cluster: EksCluster, namespace: str, account: str, role: str) -> Association:
    why_not = world.roles.why_not(role, "pods.eks.amazonaws.com")
    if why_not:
        raise invalid(f"Role provided in the request is not usable. {why_not}")
    made = f"a-{random_id(17)}"
    return Association(
        id=made,
        arn=f"arn:aws:eks:{cluster.region}:{cluster.account}:podidentityassociation/{cluster.name}/{made}",
        namespace=namespace,
        service_account=account,
        role=role,
        created=world.now(),
        modified=world.now(),
        tags={},
    )


def _association(cluster: EksCluster, params: Json) -> Association:
    found = cluster.associations.get(params["associationId"])
    if found is None:
        raise missing(f"No association found with ID: {params['associationId']}")
    return found


def _summary(cluster: EksCluster, found: Association) -> Json:
    answer: Json = {
        "clusterName": cluster.name,
        "namespace": found.namespace,
        "serviceAccount": found.service_account,
        "associationArn": found.arn,
        "associationId": found.id,
    }
    return {**answer, "ownerArn": found.owner} if found.owner else answer


def _shown(cluster: EksCluster, found: Association) -> Json:
    return {
        **_summary(cluster, found),
        "roleArn": found.role,
        "tags": found.tags,
        "createdAt": found.created,
        "modifiedAt": found.modified,
        **found.extra,
    }
