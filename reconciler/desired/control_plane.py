"""Stage control-plane: the EKS cluster with its role, OIDC provider and access entries."""

from __future__ import annotations

import hashlib

from reconciler.desired import policies
from reconciler.desired.names import Names
from reconciler.desired.network import eks_subnets
from schemas.documents.cluster import Access, Cluster, ClusterSpec
from schemas.resource import Resource, Source, Stage
from schemas.values import JsonObject

IRSA_AUDIENCE = "sts.amazonaws.com"


def control_plane(cluster: Cluster, names: Names, written: JsonObject, source: Source) -> list[Resource]:
    """Resources of the stage control-plane. `written`: the Cluster's spec as its author wrote it: of an adopted EKS
    cluster nothing else is compared."""
    spec = cluster.spec
    region = names.region
    role = Resource(
        key=names.key("iam.Role", "control-plane"),
        type="iam.Role",
        name=names.role("control-plane"),
        cluster=names.cluster,
        stage=Stage.CONTROL_PLANE,
        lane=f"iam/{names.role('control-plane')}",
        spec={
            "trust": {"services": ["eks.amazonaws.com"], "actions": ["sts:AssumeRole", "sts:TagSession"]},
            "managed": [policies.managed(region, "AmazonEKSClusterPolicy")],
            "inline": {},
        },
        source=source,
    )
    endpoint: JsonObject = {"public": spec.endpoint.public, "private": spec.endpoint.private}
    if spec.endpoint.public:
        endpoint["publicCidrs"] = sorted(spec.endpoint.public_cidrs)
    # What an adopted control plane was made with stays as it is: it could not be changed anyway.
    born: JsonObject = {
        "authenticationMode": "API",
        "endpoint": endpoint,
        "logging": sorted(spec.logging),
        "role": names.ref("iam.Role", "control-plane", "arn"),
        "subnets": eks_subnets(names),
        "securityGroups": [names.ref("ec2.SecurityGroup", "nodes")],
    }
    adopt = spec.adopt.eks
    eks = Resource(
        key=names.key("eks.Cluster"),
        type="eks.Cluster",
        name=adopt or names.cluster,
        cluster=names.cluster,
        stage=Stage.CONTROL_PLANE,
        lane=names.eks_lane,
        spec={
            "version": spec.kubernetes_version,
            "tags": dict(spec.hyperpod.tags),
            **(_said(spec, written, names) if adopt else born),
        },
        source=source,
        adopt=adopt,
    )
    audiences: JsonObject = {"audiences": [IRSA_AUDIENCE]}
    oidc = Resource(
        key=names.key("iam.OpenIDConnectProvider"),
        type="iam.OpenIDConnectProvider",
        name=names.cluster,
        cluster=names.cluster,
        stage=Stage.CONTROL_PLANE,
        lane=f"iam/oidc/{names.cluster}",
        spec={"url": names.ref("eks.Cluster", attr="issuer"), **({} if adopt else audiences)},
        made_with=audiences if adopt else {},
        source=source,
        takes_over=True,
        on_demand=adopt is not None,
    )
    found = [eks, oidc, *access_entries(cluster, names, source)]
    return found if adopt else [role, *found]


def _said(spec: ClusterSpec, written: JsonObject, names: Names) -> JsonObject:
    """What the author wrote about a control plane that was there before."""
    found: JsonObject = {"vpc": names.ref("ec2.Vpc")}
    if "logging" in written:
        found["logging"] = sorted(spec.logging)
    asked = written.get("endpoint")
    if isinstance(asked, dict):
        whole: JsonObject = {"public": spec.endpoint.public, "private": spec.endpoint.private}
        whole["publicCidrs"] = sorted(spec.endpoint.public_cidrs)
        found["endpoint"] = {name: value for name, value in whole.items() if name in asked}
    return found


def access_entries(cluster: Cluster, names: Names, source: Source) -> list[Resource]:
    """One access entry per principal, with all its policies."""
    by_principal: dict[str, list[Access]] = {}
    for access in cluster.spec.access:
        by_principal.setdefault(access.principal, []).append(access)
    return [
        Resource(
            key=names.key("eks.AccessEntry", slug(principal)),
            type="eks.AccessEntry",
            name=principal,
            cluster=names.cluster,
            stage=Stage.CONTROL_PLANE,
            lane=names.eks_lane,
            spec={"principal": principal, "policies": {_policy(names, a): _scope(a) for a in granted}},
            after=(names.key("eks.Cluster"),),
            source=source,
            takes_over=True,
        )
        for principal, granted in sorted(by_principal.items())
    ]


def slug(principal: str) -> str:
    """A short name of a principal that fits a key and differs for every ARN."""
    return f"{principal.rsplit('/', 1)[-1][:30]}-{hashlib.sha256(principal.encode()).hexdigest()[:8]}"


def _policy(names: Names, access: Access) -> str:
    return f"arn:{policies.partition(names.region)}:eks::aws:cluster-access-policy/{access.policy}"


def _scope(access: Access) -> JsonObject:
    if access.namespaces is None:
        return {"type": "cluster"}
    return {"type": "namespace", "namespaces": sorted(access.namespaces)}
