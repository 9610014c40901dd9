"""The whole state of an account in a normal form: what is there, by key tag and spec, without what chance made."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from botocore.exceptions import ClientError

from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.errors import NotFound
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.tokens import EksTokens
from tests.engine_support import Sandbox

Normal = dict[str, list[str]]  # kind -> its objects, each as canonical JSON, sorted

_KUBE = (
    ("v1", "Namespace"),
    ("v1", "Node"),
    ("v1", "ServiceAccount"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "PersistentVolume"),
    ("v1", "PersistentVolumeClaim"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "Deployment"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
)
_EC2 = (
    ("describe_vpcs", "Vpcs"),
    ("describe_subnets", "Subnets"),
    ("describe_internet_gateways", "InternetGateways"),
    ("describe_nat_gateways", "NatGateways"),
    ("describe_route_tables", "RouteTables"),
    ("describe_security_groups", "SecurityGroups"),
    ("describe_vpc_endpoints", "VpcEndpoints"),
    ("describe_addresses", "Addresses"),
)
# Made by chance, by the hour, or by how often something was looked at.
_DROPPED = re.compile(
    r"ResponseMetadata|.*(Time|Date|Timestamp|At)$|RoleId|.*[Cc]lient(Request)?Token|PublicIp|PrivateIp.*|"
    r"AvailableIpAddressCount|certificateAuthority|endpoint|issuer|health|resourceVersion|uid|managedFields|generation|"
    r"creationTimestamp|.*Status|status|AssociationId|.*AssociationId|ETag|Owner|ThumbprintList|data|podCIDR.*|"
    r"SecurityGroupRules|CurrentCount|InstanceTypeDetails|spec\.providerID|providerID|finalizers|claimRef|op"
)
_CHANCE = (
    (re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b"), "<op>"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"/id/[0-9A-Z]{32}"), "/id/<oidc>"),
    (re.compile(r":cluster/[0-9a-z]{12}\b"), ":cluster/<hyperpod>"),
    (re.compile(r"\b[a-z]{1,12}-[0-9a-f]{8,17}\b"), "<id>"),
)


def world(sandbox: Sandbox, cluster: str) -> Normal:
    """Everything that the account has, by its own API."""
    found: Normal = {}
    names = {sandbox.account: "<account>"}
    for kind, things in (
        *_network(sandbox, names),
        *_identities(sandbox),
        *_buckets(sandbox),
        *_control_planes(sandbox, cluster),
        *_hyperpod(sandbox),
    ):
        found[kind] = sorted(_text(thing, names) for thing in things)
    return found


def difference(one: Normal, other: Normal) -> list[str]:
    """What the one has and the other has not, both ways."""
    told: list[str] = []
    for kind in sorted(one.keys() | other.keys()):
        left, right = list(one.get(kind, [])), list(other.get(kind, []))
        for text in list(left):
            if text in right:
                left.remove(text)
                right.remove(text)
        told += [f"- {kind} {text}" for text in left] + [f"+ {kind} {text}" for text in right]
    return told


def _network(sandbox: Sandbox, names: dict[str, str]) -> Iterable[tuple[str, list[Any]]]:
    ec2 = sandbox.client("ec2")
    for tag in ec2.describe_tags()["Tags"]:
        if tag["Key"] == "instantstart:key":
            names[tag["ResourceId"]] = f"<{tag['Value']}>"
    for call, key in _EC2:
        things = getattr(ec2, call)()[key]
        yield f"ec2.{key}", [t for t in things if _ours(t) and not str(t.get("State", "")).startswith("delet")]


def _ours(thing: Mapping[str, Any]) -> bool:
    return any(tag["Key"] == "instantstart:key" for tag in thing.get("Tags", ()))


def _identities(sandbox: Sandbox) -> Iterable[tuple[str, list[Any]]]:
    iam = sandbox.client("iam")
    roles: list[Any] = []
    for role in iam.list_roles()["Roles"]:
        name = role["RoleName"]
        inline = {
            policy: iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
            for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]
        }
        attached = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
        tags = iam.list_role_tags(RoleName=name)["Tags"]
        roles.append({**role, "inline": inline, "attached": attached, "tags": tags})
    yield "iam.Roles", roles
    arns = [one["Arn"] for one in iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]]
    yield "iam.Providers", [iam.get_open_id_connect_provider(OpenIDConnectProviderArn=arn) for arn in arns]


def _buckets(sandbox: Sandbox) -> Iterable[tuple[str, list[Any]]]:
    s3 = sandbox.client("s3")
    found: list[Any] = []
    for bucket in s3.list_buckets()["Buckets"]:
        name = bucket["Name"]
        keys = [one["Key"] for one in s3.list_objects_v2(Bucket=name).get("Contents", ())]
        found.append(
            {
                "name": name,
                "objects": [[key, s3.get_object(Bucket=name, Key=key)["Body"].read().decode()] for key in keys],
                "tags": _set(s3.get_bucket_tagging, name, "TagSet"),
                "encryption": _set(s3.get_bucket_encryption, name, "ServerSideEncryptionConfiguration"),
                "public": _set(s3.get_public_access_block, name, "PublicAccessBlockConfiguration"),
            }
        )
    yield "s3.Buckets", found


def _set(read: Callable[..., Any], bucket: str, member: str) -> Any:
    """What a bucket was given of its own; None where it never was."""
    try:
        return read(Bucket=bucket)[member]
    except ClientError as error:
        code = str(cast("Any", error).response["Error"]["Code"])
        if not code.startswith("NoSuch") and not code.endswith("NotFoundError"):
            raise
        return None


def _control_planes(sandbox: Sandbox, cluster: str) -> Iterable[tuple[str, list[Any]]]:
    eks = sandbox.client("eks")
    names = eks.list_clusters()["clusters"]
    yield "eks.Clusters", [eks.describe_cluster(name=name)["cluster"] for name in names]
    if cluster not in names:
        return
    addons = eks.list_addons(clusterName=cluster)["addons"]
    yield "eks.Addons", [eks.describe_addon(clusterName=cluster, addonName=name)["addon"] for name in addons]
    entries = eks.list_access_entries(clusterName=cluster)["accessEntries"]
    yield (
        "eks.AccessEntries",
        [eks.describe_access_entry(clusterName=cluster, principalArn=arn)["accessEntry"] for arn in entries],
    )
    about = eks.describe_cluster(name=cluster)["cluster"]
    if about["status"] == "ACTIVE":
        yield from _kubernetes(sandbox, about)


def _kubernetes(sandbox: Sandbox, about: Mapping[str, Any]) -> Iterable[tuple[str, list[Any]]]:
    pem = base64.b64decode(about["certificateAuthority"]["data"]).decode()
    with AwsAccounts() as accounts:
        tokens = EksTokens(accounts.session(sandbox.account, sandbox.region), about["name"])
        with KubeCluster(about["endpoint"], pem, tokens) as kube:
            for version, kind in _KUBE:
                try:
                    things = kube.list(Gvk(version, kind))
                except NotFound:
                    continue
                yield f"kubernetes.{kind}", [_of_kubernetes(thing) for thing in things if _lasts(thing)]


def _lasts(thing: Mapping[str, Any]) -> bool:
    """Of a release's revisions only the newest says something."""
    labels: Mapping[str, str] = thing["metadata"].get("labels") or {}
    return labels.get("owner") != "helm" or labels.get("status") == "deployed"


def _of_kubernetes(thing: dict[str, Any]) -> dict[str, Any]:
    meta = thing["metadata"]
    labels: dict[str, str] = dict(meta.get("labels") or {})
    if labels.get("owner") == "helm":
        for name in ("version", "modifiedAt", "createdAt"):
            labels.pop(name, None)
        meta = {**meta, "name": labels["name"], "labels": labels}
    if thing["kind"] == "Node":
        labels = {name: value for name, value in labels.items() if value not in (meta["name"], meta.get("uid"))}
        meta = {**meta, "name": "node", "labels": labels}
    return {**thing, "metadata": meta}


def _hyperpod(sandbox: Sandbox) -> Iterable[tuple[str, list[Any]]]:
    client = sandbox.client("sagemaker")
    clusters: list[Any] = []
    nodes: list[Any] = []
    for one in client.list_clusters()["ClusterSummaries"]:
        about = client.describe_cluster(ClusterName=one["ClusterName"])
        tags = client.list_tags(ResourceArn=about["ClusterArn"])["Tags"]
        counts = {g["InstanceGroupName"]: (g["CurrentCount"], g["Status"]) for g in about["InstanceGroups"]}
        clusters.append({**about, "tags": tags, "counts": counts, "is": about["ClusterStatus"]})
        listed = client.list_cluster_nodes(ClusterName=one["ClusterName"])["ClusterNodeSummaries"]
        nodes += [[n["InstanceGroupName"], n["InstanceType"], n["InstanceStatus"]["Status"]] for n in listed]
    yield "hyperpod.Clusters", clusters
    yield "hyperpod.Nodes", nodes


def _text(thing: Any, names: Mapping[str, str]) -> str:
    text = json.dumps(_settled(thing), default=str)
    for identity, name in names.items():
        text = text.replace(identity, name)
    for pattern, instead in _CHANCE:
        text = pattern.sub(instead, text)
    return json.dumps(_settled(json.loads(text)), sort_keys=True)  # in the order of names, not of ids


def _settled(thing: Any) -> Any:
    """Without what changes by itself; lists in an order of their own."""
    if isinstance(thing, dict):
        members = cast("dict[str, Any]", thing)
        kept = {name: _settled(value) for name, value in members.items() if not _DROPPED.fullmatch(name)}
        if members.get("Key") == "instantstart:op":
            kept["Value"] = "<op>"
        return kept
    if isinstance(thing, list | tuple):
        parts = [_settled(part) for part in cast("list[Any]", thing)]
        return sorted(parts, key=lambda part: json.dumps(part, sort_keys=True))
    return thing
