"""HyperPod clusters: what must be there before, coming, going, and being read."""

from __future__ import annotations

from reconciler.sandbox.aws.calls import Call, Handler, Json, each, part
from reconciler.sandbox.aws.eks import access
from reconciler.sandbox.aws.eks.records import EksCluster
from reconciler.sandbox.aws.errors import AwsError
from reconciler.sandbox.aws.hyperpod import describe, group_rules, limits
from reconciler.sandbox.aws.hyperpod.provisioning import Provisioning
from reconciler.sandbox.aws.hyperpod.records import (
    Group,
    HyperPodCluster,
    cluster_of,
    conflict,
    invalid,
)
from reconciler.sandbox.aws.kubernetes_seam import KubernetesCluster
from reconciler.sandbox.aws.world import World, random_id

_NO_CAPACITY = (
    "We currently do not have sufficient capacity for the requested instance type in the Availability Zone of the"
    " subnet. Please try again."
)
_SERVICE_ROLE = "role/aws-service-role/sagemaker.amazonaws.com/AWSServiceRoleForSageMakerHyperPod"


def dependencies_installed(kubernetes: KubernetesCluster) -> bool:
    """Is the HyperPod Helm chart in this cluster? Its health monitoring agent tells."""
    return any(
        daemon["metadata"].get("namespace") == "aws-hyperpod"
        and str(daemon["metadata"]["name"]).endswith("health-monitoring-agent")
        for daemon in kubernetes.listing("apps/v1", "DaemonSet")
    )


class Clusters:
    def __init__(self, world: World, provisioning: Provisioning) -> None:
        self._world, self._provisioning = world, provisioning

    def handlers(self) -> dict[str, Handler]:
        return {
            "CreateCluster": self.create,
            "DescribeCluster": self.describe,
            "ListClusters": self.list,
            "DeleteCluster": self.delete,
        }

    def create(self, call: Call, params: Json) -> Json:
        store = self._world.hyperpod.setdefault((call.account, call.region), {})
        if params["ClusterName"] in store:
            raise AwsError("ResourceInUse", f"Resource cluster {params['ClusterName']} already exists")
        eks = self._check(call, params)
        cluster = HyperPodCluster(
            name=params["ClusterName"],
            arn=call.arn("sagemaker", f"cluster/{random_id(12)}"),
            account=call.account,
            region=call.region,
            request=params,
            eks_arn=eks.arn if eks is not None else "",
            created=self._world.now(),
            tags={tag["Key"]: tag["Value"] for tag in each(params, "Tags")},
            recovery=str(params.get("NodeRecovery", "Automatic")),
            role=params.get("ClusterRole"),
            tiered=params.get("TieredStorageConfig"),
        )
        for spec in params["InstanceGroups"]:
            cluster.groups[spec["InstanceGroupName"]] = group_of(spec)
        store[cluster.name] = cluster
        if eks is not None:
            self._let_in(cluster, eks)
        call.changed("created", "hyperpod.cluster", cluster.name)
        cluster.event(self._world.now(), f"Cluster {cluster.name} is being created")
        if part(params, "AutoScaling").get("Mode") == "Enable":
            enable_autoscaling(self._world, cluster)
        populate = self._failed if call.fails else self._populate
        self._world.agenda.after(self._world.pace.hyperpod_create, lambda: populate(cluster))
        return {"ClusterArn": cluster.arn}

    def describe(self, call: Call, params: Json) -> Json:
        return describe.cluster(cluster_of(self._world, call.account, call.region, params["ClusterName"]))

    def list(self, call: Call, params: Json) -> Json:
        found = list(self._world.hyperpod.get((call.account, call.region), {}).values())
        found = [one for one in found if str(params.get("NameContains", "")) in one.name]
        by_name = params.get("SortBy") == "NAME"
        found.sort(key=lambda one: (one.name if by_name else "", one.created, one.name))
        if params.get("SortOrder", "Ascending") == "Descending":
            found.reverse()
        return limits.paged([describe.summary(one) for one in found], "ClusterSummaries", params)

    def delete(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["ClusterName"])
        if cluster.status in ("Deleting", "Creating", "RollingBack"):
            raise conflict(f"Cluster {cluster.name} is {cluster.status} and cannot be deleted")
        cluster.status = "Deleting"
        call.changed("deleted", "hyperpod.cluster", cluster.name)
        for group in cluster.groups.values():
            group.status, group.target = "Deleting", 0
        for node in list(cluster.nodes.values()):
            self._provisioning.terminate(cluster, node)
        self._world.agenda.after(self._world.pace.cluster_delete, lambda: self._gone(cluster))
        return {"ClusterArn": cluster.arn}

    # ---- helpers

    def _check(self, call: Call, params: Json) -> EksCluster | None:
        """The EKS cluster that orchestrates; None: Slurm does, as where no orchestrator is named."""
        continuous = params.get("NodeProvisioningMode") == "Continuous"
        groups: list[Json] = each(params, "InstanceGroups")
        if params.get("RestrictedInstanceGroups"):
            raise AwsError("NotSupportedHere", "Restricted instance groups are not supported here")
        if not groups:
            raise invalid("At least one instance group must be specified")
        group_rules.check_request(groups, continuous=continuous)
        orchestrator: Json = part(params, "Orchestrator")
        slurm = "Eks" not in orchestrator
        if slurm and continuous:
            raise AwsError("NotSupportedHere", "Continuous provisioning with Slurm is not supported here")
        if not params.get("VpcConfig"):
            if slurm:
                raise AwsError("NotSupportedHere", "A cluster without a VpcConfig is not supported here")
            raise invalid("VpcConfig is required with the EKS orchestrator")
        eks = None if slurm else self._eks(call, str(orchestrator["Eks"]["ClusterArn"]))
        group_rules.check_vpc(self._world, call, params["VpcConfig"])
        for group in groups:
            group_rules.check_surroundings(self._world, call, group)
        scaling: Json = part(params, "AutoScaling")
        if scaling.get("Mode") == "Enable" and not (continuous and params.get("ClusterRole")):
            raise invalid("AutoScaling needs NodeProvisioningMode Continuous and a ClusterRole")
        if params.get("ClusterRole"):
            group_rules.check_role(self._world, params["ClusterRole"], "hyperpod.sagemaker.amazonaws.com")
        limits.check(self._world, call, None, groups)
        return eks

    def _eks(self, call: Call, arn: str) -> EksCluster:
        found = next(
            (one for one in self._world.eks.get((call.account, call.region), {}).values() if one.arn == arn), None
        )
        if found is None:
            raise invalid(f"EKS cluster {arn} does not exist in this account and Region")
        if found.status != "ACTIVE" or found.kubernetes is None:
            raise invalid(f"EKS cluster {found.name} must be ACTIVE, but it is {found.status}")
        if found.mode == "CONFIG_MAP":
            raise invalid("The EKS cluster's authentication mode must be API or API_AND_CONFIG_MAP")
        taken = [
            one.name for one in self._world.hyperpod.get((call.account, call.region), {}).values() if one.eks_arn == arn
        ]
        if taken:
            raise invalid(f"EKS cluster {found.name} is already the orchestrator of cluster {taken[0]}")
        if not dependencies_installed(found.kubernetes):
            raise invalid(
                f"Amazon EKS orchestrator cluster {found.name} is missing required dependencies. "
                "Install the HyperPod Helm chart before you create the cluster."
            )
        return found

    def _let_in(self, cluster: HyperPodCluster, eks: EksCluster) -> None:
        """HyperPod makes its own access entries: one per execution role, one for its service-linked role."""
        service_role = f"arn:aws:iam::{cluster.account}:{_SERVICE_ROLE}"
        wanted = {str(group.spec["ExecutionRole"]): "HYPERPOD_LINUX" for group in cluster.groups.values()}
        for principal, kind in {**wanted, service_role: "STANDARD"}.items():
            if principal not in eks.entries:
                eks.entries[principal] = access.entry_of(
                    eks, principal, self._world.now(), kind=kind, groups=[], tags={}
                )
                cluster.entries.append(principal)

    @staticmethod
    def _failed(cluster: HyperPodCluster) -> None:
        cluster.status, cluster.message = "Failed", _NO_CAPACITY
        for group in cluster.groups.values():
            group.status = "Failed"

    def _populate(self, cluster: HyperPodCluster) -> None:
        if cluster.status != "Creating":
            return
        if cluster.continuous:
            cluster.status = "InService"
            cluster.event(self._world.now(), f"Cluster {cluster.name} is in service")
        for group in list(cluster.groups.values()):
            group.current_labels, group.current_taints = group.labels, group.taints
            self._provisioning.scale(cluster, group)
            self._provisioning.watch_minimum(cluster, group)
            if not self._still_coming(cluster):
                return

    @staticmethod
    def _still_coming(cluster: HyperPodCluster) -> bool:
        """A classic cluster may have begun to roll back over the first group already."""
        return cluster.status != "RollingBack"

    def _gone(self, cluster: HyperPodCluster) -> None:
        for eks in self._world.eks.get((cluster.account, cluster.region), {}).values():
            if eks.arn == cluster.eks_arn:
                for principal in cluster.entries:
                    eks.entries.pop(principal, None)
        self._world.hyperpod[cluster.account, cluster.region].pop(cluster.name, None)


def group_of(spec: Json) -> Group:
    return Group(
        name=spec["InstanceGroupName"],
        spec={name: value for name, value in spec.items() if name not in ("InstanceCount", "MinInstanceCount")},
        target=int(spec["InstanceCount"]),
        minimum=spec.get("MinInstanceCount"),
    )


def enable_autoscaling(world: World, cluster: HyperPodCluster) -> None:
    state: Json = {"Mode": "Enable", "AutoScalerType": "Karpenter", "Status": "Creating"}
    cluster.autoscaling = state
    world.agenda.after(world.pace.autoscaling_enable, lambda: state.update(Status="InService"))
