"""Access entries and the policies bound to them: who may speak to a cluster's Kubernetes API."""

from __future__ import annotations

import uuid

from reconciler.sandbox.aws.calls import Call, Handler, Json, each, part
from reconciler.sandbox.aws.eks.records import (
    AccessEntry,
    EksCluster,
    cluster_of,
    in_use,
    invalid,
    missing,
    repeated,
    token_of,
)
from reconciler.sandbox.aws.errors import AwsError
from reconciler.sandbox.aws.world import World

_POLICIES = ("AmazonEKSClusterAdminPolicy", "AmazonEKSAdminPolicy", "AmazonEKSEditPolicy", "AmazonEKSViewPolicy")
_PREFIX = "arn:aws:eks::aws:cluster-access-policy/"
ADMIN = _PREFIX + _POLICIES[0]
_RESERVED = ("system:", "eks:", "aws:", "amazon:", "iam:")
_KINDS = ("STANDARD", "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "EC2", "HYBRID_LINUX", "HYPERPOD_LINUX")


class Access:
    def __init__(self, world: World) -> None:
        self._world = world

    def handlers(self) -> dict[str, Handler]:
        return {
            "CreateAccessEntry": self.create,
            "DescribeAccessEntry": self.describe,
            "UpdateAccessEntry": self.update,
            "DeleteAccessEntry": self.delete,
            "ListAccessEntries": self.list,
            "AssociateAccessPolicy": self.associate,
            "DisassociateAccessPolicy": self.disassociate,
            "ListAssociatedAccessPolicies": self.list_associated,
            "ListAccessPolicies": lambda call, params: {
                "accessPolicies": [{"name": name, "arn": _PREFIX + name} for name in _POLICIES]
            },
        }

    def create(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        principal, kind = str(params["principalArn"]), str(params.get("type", "STANDARD"))
        known = cluster.entries.get(principal)
        if known is not None:
            if repeated(known.token, params):
                return {"accessEntry": shown(cluster, known)}
            raise in_use("The specified access entry resource is already in use on this cluster.")
        if kind not in _KINDS:
            raise invalid(f"Unsupported access entry type: {kind}")
        if ":role/" in principal and self._world.moto.role(principal) is None:
            raise invalid(f"The specified principalArn is invalid: invalid principal. ({principal})")
        groups = list(each(params, "kubernetesGroups"))
        if any(group.startswith(_RESERVED) for group in groups):
            raise invalid(f"The kubernetes group name must not start with any of {', '.join(_RESERVED)}")
        entry = entry_of(
            cluster, principal, self._world.now(), kind=kind, groups=groups, tags=dict(part(params, "tags"))
        )
        entry.username = str(params.get("username") or entry.username)
        entry.token = token_of(params)
        cluster.entries[principal] = entry
        call.changed("created", "eks.access-entry", f"{cluster.name}/{principal}")
        return {"accessEntry": shown(cluster, entry)}

    def describe(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        return {"accessEntry": shown(cluster, _entry(cluster, params))}

    def update(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        entry = _entry(cluster, params)
        groups = list(params.get("kubernetesGroups", entry.groups))
        username = str(params.get("username", entry.username))
        if (groups, username) != (entry.groups, entry.username):
            entry.groups, entry.username, entry.modified = groups, username, self._world.now()
            call.changed("updated", "eks.access-entry", f"{cluster.name}/{entry.principal}")
        return {"accessEntry": shown(cluster, entry)}

    def delete(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        entry = _entry(cluster, params)
        del cluster.entries[entry.principal]
        call.changed("deleted", "eks.access-entry", f"{cluster.name}/{entry.principal}")
        return {}

    def list(self, call: Call, params: Json) -> Json:
        return {"accessEntries": sorted(self._cluster(call, params).entries)}

    def associate(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        entry = _entry(cluster, params)
        policy: str = params["policyArn"]
        if policy not in {_PREFIX + name for name in _POLICIES}:
            raise invalid(f"The policyArn parameter format is not valid: {policy}")
        if entry.kind != "STANDARD":
            raise AwsError("InvalidRequestException", f"Access entries of type {entry.kind} take no access policies")
        scope: Json = {"namespaces": [], **params["accessScope"]}
        if (scope["type"] == "namespace") != bool(scope["namespaces"]):
            raise invalid("accessScope of type namespace needs namespaces, of type cluster takes none")
        known = entry.policies.get(policy)
        if known is None or known["accessScope"] != scope:
            associate(entry, policy, scope, self._world.now())
            call.changed("updated", "eks.access-entry", f"{cluster.name}/{entry.principal}", policy)
        return {**_names(cluster, entry), "associatedAccessPolicy": entry.policies[policy]}

    def disassociate(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        entry = _entry(cluster, params)
        if entry.policies.pop(params["policyArn"], None) is None:
            raise missing("The specified policyArn is not associated with the access entry.")
        call.changed("updated", "eks.access-entry", f"{cluster.name}/{entry.principal}", "policy removed")
        return {}

    def list_associated(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        entry = _entry(cluster, params)
        return {**_names(cluster, entry), "associatedAccessPolicies": list(entry.policies.values())}

    def _cluster(self, call: Call, params: Json) -> EksCluster:
        cluster = cluster_of(self._world, call.account, call.region, params["clusterName"])
        if cluster.mode == "CONFIG_MAP":
            raise AwsError(
                "InvalidRequestException",
                "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] "
                "to perform this operation.",
            )
        return cluster


def entry_of(
    cluster: EksCluster, principal: str, now: float, *, kind: str, groups: list[str], tags: dict[str, str]
) -> AccessEntry:
    """A new entry, not yet part of the cluster."""
    what, _, name = principal.split(":", 5)[5].partition("/")
    user = f"arn:aws:sts::{cluster.account}:assumed-role/{name.rpartition('/')[2]}/{{{{SessionName}}}}"
    return AccessEntry(
        principal=principal,
        arn=f"arn:aws:eks:{cluster.region}:{cluster.account}:access-entry/{cluster.name}/{what}/{cluster.account}/"
        f"{name}/{uuid.uuid4()}",
        username=user if what == "role" else principal,
        groups=groups,
        kind=kind,
        created=now,
        modified=now,
        tags=tags,
    )


def associate(entry: AccessEntry, policy: str, scope: Json, now: float) -> None:
    entry.policies[policy] = {"policyArn": policy, "accessScope": scope, "associatedAt": now, "modifiedAt": now}


def shown(cluster: EksCluster, entry: AccessEntry) -> Json:
    return {
        **_names(cluster, entry),
        "kubernetesGroups": entry.groups,
        "accessEntryArn": entry.arn,
        "createdAt": entry.created,
        "modifiedAt": entry.modified,
        "tags": entry.tags,
        "username": entry.username,
        "type": entry.kind,
    }


def _entry(cluster: EksCluster, params: Json) -> AccessEntry:
    entry = cluster.entries.get(params["principalArn"])
    if entry is None:
        raise missing(f"The specified principalArn could not be found: {params['principalArn']}")
    return entry


def _names(cluster: EksCluster, entry: AccessEntry) -> Json:
    return {"clusterName": cluster.name, "principalArn": entry.principal}
