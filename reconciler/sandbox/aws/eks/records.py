"""What EKS remembers. Records are mutable: they are the simulated cloud's state, always touched under its lock."""

from __future__ import annotations

from dataclasses import dataclass, field

from reconciler.sandbox.aws.calls import Json, each, part
from reconciler.sandbox.aws.errors import AwsError
from reconciler.sandbox.aws.kubernetes_seam import KubernetesCluster
from reconciler.sandbox.aws.world import World


@dataclass(kw_only=True)
class Addon:
    name: str
    arn: str
    version: str
    configuration: str | None
    role: str | None
    namespace: str
    created: float
    modified: float
    status: str
    tags: dict[str, str]
    token: tuple[str, Json]
    needs_nodes: bool
    ready_at: float
    fails: bool = False
    associations: list[str] = field(default_factory=list[str])
    nodes_seen_at: float | None = None


@dataclass(kw_only=True)
class AccessEntry:
    principal: str
    arn: str
    username: str
    groups: list[str]
    kind: str
    created: float
    modified: float
    tags: dict[str, str]
    policies: dict[str, Json] = field(default_factory=dict[str, Json])
    token: tuple[str, Json] | None = None


@dataclass(kw_only=True)
class Association:
    id: str
    arn: str
    namespace: str
    service_account: str
    role: str
    created: float
    modified: float
    tags: dict[str, str]
    owner: str | None = None
    extra: Json = field(default_factory=Json)
    token: tuple[str, Json] | None = None


@dataclass(kw_only=True)
class NodeGroup:
    name: str
    arn: str
    request: Json
    status: str
    created: float
    tags: dict[str, str]
    nodes: list[str] = field(default_factory=list[str])
    token: tuple[str, Json] | None = None


@dataclass(kw_only=True)
class Update:
    id: str
    kind: str
    status: str
    params: list[Json]
    created: float
    subject: str = ""  # add-on or node group it is about
    errors: list[Json] = field(default_factory=list[Json])


@dataclass(kw_only=True)
class EksCluster:
    name: str
    account: str
    region: str
    arn: str
    request: Json
    version: str
    status: str
    created: float
    oidc: str
    creator: str
    security_group: str
    interfaces: list[str]
    tags: dict[str, str]
    token: tuple[str, Json]
    issues: list[Json] = field(default_factory=list[Json])
    kubernetes: KubernetesCluster | None = None
    addons: dict[str, Addon] = field(default_factory=dict[str, Addon])
    entries: dict[str, AccessEntry] = field(default_factory=dict[str, AccessEntry])
    associations: dict[str, Association] = field(default_factory=dict[str, Association])
    nodegroups: dict[str, NodeGroup] = field(default_factory=dict[str, NodeGroup])
    updates: dict[str, Update] = field(default_factory=dict[str, Update])

    @property
    def mode(self) -> str:
        access: Json = part(self.request, "accessConfig")
        return str(access.get("authenticationMode", "CONFIG_MAP"))


def cluster_of(world: World, account: str, region: str, name: str) -> EksCluster:
    found = world.eks.get((account, region), {}).get(name)
    if found is None:
        raise missing(f"No cluster found for name: {name}.")
    return found


def active(cluster: EksCluster) -> EksCluster:
    if cluster.status != "ACTIVE":
        raise AwsError(
            "InvalidRequestException" if cluster.status == "CREATING" else "ResourceInUseException",
            f"Cluster {cluster.name} is in {cluster.status} state and cannot be modified",
        )
    return cluster


def missing(message: str) -> AwsError:
    return AwsError("ResourceNotFoundException", message, 404)


def in_use(message: str) -> AwsError:
    return AwsError("ResourceInUseException", message, 409)


def invalid(message: str) -> AwsError:
    return AwsError("InvalidParameterException", message, 400)


def repeated(token: tuple[str, Json] | None, params: Json) -> bool:
    """Is this the same request again? The same token with other parameters is refused."""
    given = params.get("clientRequestToken")
    if token is None or not given or token[0] != given:
        return False
    if token[1] != params:
        raise invalid("The clientRequestToken was used before with different parameters.")
    return True


def token_of(params: Json) -> tuple[str, Json]:
    return (str(params.get("clientRequestToken", "")), params)


def has_nodes(cluster: EksCluster) -> bool:
    """Is there a node that ordinary pods can run on?"""
    if cluster.kubernetes is None:
        return False
    return any(_hosts_pods(node) for node in cluster.kubernetes.listing("v1", "Node"))


def _hosts_pods(node: Json) -> bool:
    conditions: list[Json] = part(node, "status").get("conditions") or []
    ready = any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)
    spec: Json = part(node, "spec")
    taints: list[Json] = each(spec, "taints")
    return ready and not spec.get("unschedulable") and not any(t["effect"] != "PreferNoSchedule" for t in taints)
