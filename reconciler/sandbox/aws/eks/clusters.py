"""EKS clusters: minutes to come, one update at a time, one kind of change per call."""

from __future__ import annotations

import base64
import uuid
from functools import partial
from typing import Any

from reconciler.sandbox.aws.calls import Call, Handler, Json, each, part
from reconciler.sandbox.aws.eks import access, authentication
from reconciler.sandbox.aws.eks.records import (
    EksCluster,
    Update,
    active,
    cluster_of,
    in_use,
    invalid,
    missing,
    repeated,
    token_of,
)
from reconciler.sandbox.aws.errors import AwsError
from reconciler.sandbox.aws.world import World, random_id

VERSIONS = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35")
DEFAULT_VERSION = "1.34"
_MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
_NO_ADDRESSES: Json = {
    "code": "InsufficientFreeAddresses",
    "message": "One or more of the subnets does not have enough available IP addresses to create network interfaces",
    "resourceIds": ["subnet-0a1b2c3d4e5f60718"],
}
_CHANGES = {
    "logging": "LoggingUpdate",
    "accessConfig": "AccessConfigUpdate",
    "resourcesVpcConfig": "EndpointAccessUpdate",
    "upgradePolicy": "UpgradePolicyUpdate",
    "zonalShiftConfig": "ZonalShiftConfigUpdate",
    "deletionProtection": "DeletionProtectionUpdate",
}


class Clusters:
    def __init__(self, world: World) -> None:
        self._world = world

    def handlers(self) -> dict[str, Handler]:
        return {
            "CreateCluster": self.create,
            "DescribeCluster": self.describe,
            "ListClusters": self.list,
            "DeleteCluster": self.delete,
            "UpdateClusterConfig": self.update_config,
            "UpdateClusterVersion": self.update_version,
            "DescribeUpdate": self.describe_update,
            "ListUpdates": self.list_updates,
            "DescribeClusterVersions": self.describe_versions,
        }

    def create(self, call: Call, params: Json) -> Json:
        store = self._world.eks.setdefault((call.account, call.region), {})
        known = store.get(params["name"])
        if known is not None:
            if repeated(known.token, params):
                return {"cluster": shown(known)}
            raise in_use(f"Cluster already exists with name: {known.name}")
        self._check(call, params)
        cluster = self._made(call, params)
        store[cluster.name] = cluster
        call.changed("created", "eks.cluster", cluster.name)
        opened = self._failed if call.fails else self._opened
        self._world.agenda.after(self._world.pace.eks_create, lambda: opened(cluster))
        return {"cluster": shown(cluster)}

    def describe(self, call: Call, params: Json) -> Json:
        return {"cluster": shown(cluster_of(self._world, call.account, call.region, params["name"]))}

    def list(self, call: Call, params: Json) -> Json:
        return paged(sorted(self._world.eks.get((call.account, call.region), {})), "clusters", params)

    def delete(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["name"])
        if cluster.status == "DELETING":
            raise in_use(f"Cluster {cluster.name} is being deleted")
        if cluster.request.get("deletionProtection"):
            raise AwsError("InvalidRequestException", f"Cluster {cluster.name} has deletion protection enabled")
        if cluster.nodegroups:
            raise in_use(f"Cluster has nodegroups attached: {', '.join(sorted(cluster.nodegroups))}")
        if cluster.addons:
            raise in_use(f"Cluster has add-ons attached: {', '.join(sorted(cluster.addons))}")
        attached = [
            name
            for name, hyperpod in self._world.hyperpod.get((call.account, call.region), {}).items()
            if hyperpod.eks_arn == cluster.arn
        ]
        if attached:
            raise in_use(f"Cluster is the orchestrator of SageMaker HyperPod cluster {attached[0]}")
        if _running(cluster):
            raise in_use(f"Cluster {cluster.name} currently has an update in progress")
        cluster.status = "DELETING"
        call.changed("deleted", "eks.cluster", cluster.name)
        self._world.agenda.after(self._world.pace.eks_delete, lambda: self._gone(cluster))
        return {"cluster": shown(cluster)}

    def update_config(self, call: Call, params: Json) -> Json:
        cluster = active(cluster_of(self._world, call.account, call.region, params["name"]))
        self._free(cluster)
        changes = [name for name in _CHANGES if name in params]
        if not changes:
            raise invalid("No changes needed for the cluster config provided")
        if len(changes) > 1:
            raise invalid("Only one type of update can be allowed.")
        kind, wanted = changes[0], params[changes[0]]
        current = cluster.request.get(kind)
        merged: Any = _merged(current, wanted)
        if merged == current:
            raise invalid("No changes needed for the cluster config provided")
        if kind == "accessConfig" and _MODES.index(wanted["authenticationMode"]) < _MODES.index(cluster.mode):
            raise invalid("Unsupported authentication mode update: it can only move towards API")
        if kind == "deletionProtection":
            cluster.request[kind] = wanted  # takes effect at once
            call.changed("updated", "eks.cluster", cluster.name, kind)
            return {"update": self._update(call, cluster, _CHANGES[kind], wanted, lambda: None)}
        call.changed("updated", "eks.cluster", cluster.name, kind)
        apply = partial(cluster.request.update, {kind: merged})
        return {"update": self._update(call, cluster, _CHANGES[kind], wanted, apply)}

    def update_version(self, call: Call, params: Json) -> Json:
        cluster = active(cluster_of(self._world, call.account, call.region, params["name"]))
        self._free(cluster)
        wanted = str(params["version"])
        if wanted not in VERSIONS:
            raise invalid(f"unsupported Kubernetes version {wanted}")
        if VERSIONS.index(wanted) != VERSIONS.index(cluster.version) + 1:
            raise invalid(f"Unsupported Kubernetes minor version update from {cluster.version} to {wanted}")
        call.changed("updated", "eks.cluster", cluster.name, f"version {cluster.version}->{wanted}")

        def upgraded() -> None:
            cluster.version = wanted

        return {"update": self._update(call, cluster, "VersionUpdate", {"version": wanted}, upgraded)}

    def describe_update(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["name"])
        update = cluster.updates.get(params["updateId"])
        if update is None:
            raise missing(f"No update found for ID: {params['updateId']}")
        return {"update": shown_update(update)}

    def list_updates(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["name"])
        subject = str(params.get("addonName") or params.get("nodegroupName") or "")
        return paged([u.id for u in cluster.updates.values() if u.subject == subject], "updateIds", params)

    def describe_versions(self, _call: Call, _params: Json) -> Json:
        return {
            "clusterVersions": [
                {"clusterVersion": v, "defaultVersion": v == DEFAULT_VERSION, "status": "STANDARD_SUPPORT"}
                for v in reversed(VERSIONS)
            ]
        }

    # ---- helpers

    def _check(self, call: Call, params: Json) -> None:
        version = str(params.get("version", DEFAULT_VERSION))
        if version not in VERSIONS:
            raise invalid(f"unsupported Kubernetes version {version}")
        network: Json = params["resourcesVpcConfig"]
        subnets = each(network, "subnetIds")
        found = [self._world.moto.subnet(call.account, call.region, wanted) for wanted in subnets]
        unknown = [wanted for wanted, subnet in zip(subnets, found, strict=True) if subnet is None]
        if unknown:
            raise invalid(f"The subnet ID '{unknown[0]}' does not exist")
        if len({subnet.availability_zone for subnet in found if subnet}) < 2:
            raise invalid("Subnets specified must be in at least two different AZs")
        if len({subnet.vpc_id for subnet in found if subnet}) != 1:
            raise invalid("Subnets must be in one VPC")
        for group in each(network, "securityGroupIds"):
            if self._world.moto.security_group(call.account, call.region, group) is None:
                raise invalid(f"The security group '{group}' does not exist")
        why_not = self._world.roles.why_not(str(params["roleArn"]), "eks.amazonaws.com")
        if why_not:
            raise invalid(why_not)

    def _made(self, call: Call, params: Json) -> EksCluster:
        backend = self._world.moto.backend("ec2", call.account, call.region)
        subnets = params["resourcesVpcConfig"]["subnetIds"]
        vpc = backend.get_subnet(subnets[0]).vpc_id
        group = backend.create_security_group(
            f"eks-cluster-sg-{params['name']}-{random_id(8)}", "EKS created security group", vpc_id=vpc
        )
        interfaces = [
            backend.create_network_interface(
                subnet, None, group_ids=[group.id], description=f"Amazon EKS {params['name']}"
            )
            for subnet in subnets[:4]
        ]
        cluster = EksCluster(
            name=params["name"],
            account=call.account,
            region=call.region,
            arn=call.arn("eks", f"cluster/{params['name']}"),
            request={**params, "vpcId": vpc},
            version=str(params.get("version", DEFAULT_VERSION)),
            status="CREATING",
            created=self._world.now(),
            oidc=random_id(32).upper(),
            creator=call.principal,
            security_group=group.id,
            interfaces=[interface.id for interface in interfaces],
            tags=dict(part(params, "tags")),
            token=token_of(params),
        )
        config: Json = part(params, "accessConfig")
        if config.get("bootstrapClusterCreatorAdminPermissions", True) and cluster.mode != "CONFIG_MAP":
            entry = access.entry_of(cluster, call.principal, self._world.now(), kind="STANDARD", groups=[], tags={})
            access.associate(entry, access.ADMIN, {"type": "cluster", "namespaces": []}, self._world.now())
            cluster.entries[entry.principal] = entry
        return cluster

    def _opened(self, cluster: EksCluster) -> None:
        if cluster.status != "CREATING":
            return
        authenticate = authentication.of(cluster, self._world.credentials)
        cluster.kubernetes = self._world.kubernetes.open(
            f"{cluster.account}/{cluster.region}/{cluster.name}", cluster.version, authenticate
        )
        cluster.status = "ACTIVE"

    def _gone(self, cluster: EksCluster) -> None:
        if cluster.kubernetes is not None:
            cluster.kubernetes.close()
        backend = self._world.moto.backend("ec2", cluster.account, cluster.region)
        for interface in cluster.interfaces:
            backend.enis.pop(interface, None)
        backend.groups[cluster.request["vpcId"]].pop(cluster.security_group, None)
        self._world.eks[cluster.account, cluster.region].pop(cluster.name, None)

    def _free(self, cluster: EksCluster) -> None:
        running = _running(cluster)
        if running:
            raise in_use(f"Cluster {cluster.name} currently has an update in progress: {running.id}")

    def _failed(self, cluster: EksCluster) -> None:
        cluster.status, cluster.issues = "FAILED", [_NO_ADDRESSES]

    def _update(self, call: Call, cluster: EksCluster, kind: str, wanted: object, apply: object) -> Json:
        update = Update(
            id=str(uuid.uuid4()),
            kind=kind,
            status="InProgress",
            params=[{"type": kind, "value": str(wanted)}],
            created=self._world.now(),
        )
        cluster.updates[update.id] = update
        cluster.status = "UPDATING"

        def done() -> None:
            if call.fails:
                error = {"errorCode": _NO_ADDRESSES["code"], "errorMessage": _NO_ADDRESSES["message"]}
                update.status, update.errors = "Failed", [{**error, "resourceIds": _NO_ADDRESSES["resourceIds"]}]
            else:
                if callable(apply):
                    apply()
                update.status = "Successful"
            if cluster.status == "UPDATING":
                cluster.status = "ACTIVE"

        self._world.agenda.after(self._world.pace.eks_update, done)
        return shown_update(update)


def _merged(current: Any, wanted: Any) -> Any:
    if type(current) is not dict or type(wanted) is not dict:
        return wanted
    both: Json = {**current, **wanted}
    return both


def shown(cluster: EksCluster) -> Json:
    request = cluster.request
    network: Json = request["resourcesVpcConfig"]
    answer: Json = {
        "name": cluster.name,
        "arn": cluster.arn,
        "createdAt": cluster.created,
        "version": cluster.version,
        "platformVersion": "eks.1",
        "roleArn": request["roleArn"],
        "resourcesVpcConfig": {
            "subnetIds": network.get("subnetIds", []),
            "securityGroupIds": network.get("securityGroupIds", []),
            "clusterSecurityGroupId": cluster.security_group,
            "vpcId": request["vpcId"],
            "endpointPublicAccess": network.get("endpointPublicAccess", True),
            "endpointPrivateAccess": network.get("endpointPrivateAccess", False),
            "publicAccessCidrs": network.get("publicAccessCidrs", ["0.0.0.0/0"]),
        },
        "kubernetesNetworkConfig": {
            "serviceIpv4Cidr": "172.20.0.0/16",
            "ipFamily": "ipv4",
            **part(request, "kubernetesNetworkConfig"),
        },
        "logging": request.get("logging") or {"clusterLogging": []},
        "status": cluster.status,
        "certificateAuthority": {},
        "tags": cluster.tags,
        "encryptionConfig": each(request, "encryptionConfig"),
        "health": {"issues": cluster.issues},
        "accessConfig": {"authenticationMode": cluster.mode},
        "upgradePolicy": request.get("upgradePolicy") or {"supportType": "EXTENDED"},
        "deletionProtection": bool(request.get("deletionProtection", False)),
    }
    if cluster.kubernetes is not None:
        answer["endpoint"] = cluster.kubernetes.endpoint
        answer["certificateAuthority"] = {"data": base64.b64encode(cluster.kubernetes.ca).decode()}
        answer["identity"] = {"oidc": {"issuer": f"https://oidc.eks.{cluster.region}.amazonaws.com/id/{cluster.oidc}"}}
    return answer


def shown_update(update: Update) -> Json:
    return {
        "id": update.id,
        "status": update.status,
        "type": update.kind,
        "params": update.params,
        "createdAt": update.created,
        "errors": update.errors,
    }


def paged(items: list[str], member: str, params: Json) -> Json:
    start, size = int(params.get("nextToken") or 0), int(params.get("maxResults") or 100)
    answer: Json = {member: items[start : start + size]}
    if start + size < len(items):
        answer["nextToken"] = str(start + size)
    return answer


def _running(cluster: EksCluster) -> Update | None:
    return next((u for u in cluster.updates.values() if u.status == "InProgress" and not u.subject), None)
