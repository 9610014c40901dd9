"""What an instance group may say, and what of it may change. Beyond the model's own constraints."""

from __future__ import annotations

from typing import Any

from reconciler.sandbox.aws.calls import Call, Json, each, part
from reconciler.sandbox.aws.hyperpod.machines import machine
from reconciler.sandbox.aws.hyperpod.records import Group, invalid
from reconciler.sandbox.aws.world import World

_RESERVED = ("kubernetes.io/", "k8s.io/", "sagemaker.amazonaws.com/", "eks.amazonaws.com/", "k8s.aws/", "karpenter.sh/")
_IMMUTABLE = ("InstanceType", "ExecutionRole", "OverrideVpcConfig", "CapacityRequirements", "NetworkInterface")


def check_request(groups: list[Json], *, continuous: bool) -> None:
    """Refuse what no cluster could take."""
    names = [str(group["InstanceGroupName"]) for group in groups]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise invalid(f"Instance group names must be unique within a request: {', '.join(sorted(twice))}")
    for group in groups:
        _check_shape(group, continuous=continuous)
        _check_kubernetes(group)


def check_surroundings(world: World, call: Call, group: Json) -> None:
    """Refuse a group whose subnets, security groups or role are not there."""
    vpc: Json = part(group, "OverrideVpcConfig")
    check_vpc(world, call, vpc)
    check_role(world, str(group["ExecutionRole"]), "sagemaker.amazonaws.com")


def check_vpc(world: World, call: Call, vpc: Json) -> None:
    for subnet in each(vpc, "Subnets"):
        if world.moto.subnet(call.account, call.region, subnet) is None:
            raise invalid(f"The subnet ID '{subnet}' does not exist")
    for group in each(vpc, "SecurityGroupIds"):
        if world.moto.security_group(call.account, call.region, group) is None:
            raise invalid(f"The security group '{group}' does not exist")


def check_role(world: World, role: str, service: str) -> None:
    why_not = world.roles.why_not(role, service)
    if why_not:
        raise invalid(f"{why_not}. Please verify the role exists and that {service} may assume it.")


def check_change(group: Group, wanted: Json, live_types: set[str]) -> None:
    """Refuse a respec that touches what cannot change; an absent field is a changed one."""
    name = group.name
    if ("InstanceType" in wanted) != ("InstanceType" in group.spec):
        raise invalid(f"Instance group {name}: InstanceType and InstanceRequirements cannot replace each other")
    for member in _IMMUTABLE:
        if _norm(wanted.get(member)) != _norm(group.spec.get(member)):
            raise invalid(f"Instance group {name}: {member} cannot be changed after creation")
    if int(wanted.get("ThreadsPerCore", 1)) != int(group.spec.get("ThreadsPerCore", 1)):
        raise invalid(f"Instance group {name}: ThreadsPerCore cannot be changed after creation")
    if "InstanceRequirements" in wanted:
        dropped = live_types - set(wanted["InstanceRequirements"]["InstanceTypes"])
        if dropped:
            raise invalid(f"Instance group {name}: {', '.join(sorted(dropped))} still has running instances")


def _check_shape(group: Json, *, continuous: bool) -> None:
    name = group["InstanceGroupName"]
    if ("InstanceType" in group) == ("InstanceRequirements" in group):
        raise invalid(f"Instance group {name}: exactly one of InstanceType and InstanceRequirements must be given")
    if "SlurmConfig" in group:
        raise invalid(f"Instance group {name}: SlurmConfig is not valid with the EKS orchestrator")
    spot = "Spot" in part(group, "CapacityRequirements")
    if not continuous and (spot or "InstanceRequirements" in group or "MinInstanceCount" in group):
        raise invalid(
            f"Instance group {name}: MinInstanceCount, InstanceRequirements and Spot need Continuous provisioning"
        )
    if int(group.get("MinInstanceCount", 0)) > int(group["InstanceCount"]):
        raise invalid(f"Instance group {name}: MinInstanceCount must not exceed InstanceCount")
    if spot and group.get("TrainingPlanArn"):
        raise invalid(f"Instance group {name}: a training plan cannot be used with Spot")
    for storage in each(group, "InstanceStorageConfigs"):
        volume: Json = part(storage, "EbsVolumeConfig")
        if volume.get("RootVolume") and ("VolumeSizeInGB" in volume or "VolumeKmsKeyId" not in volume):
            raise invalid(f"Instance group {name}: a root volume takes a KMS key and no size")
    patching: Json = part(group, "AutoPatchConfig")
    if patching.get("PatchingStrategy") == "DrainFirst" and not part(patching, "DeploymentConfig").get(
        "RollingUpdatePolicy"
    ):
        raise invalid(f"Instance group {name}: DrainFirst needs a MaximumBatchSize")
    if group.get("OnStartDeepHealthChecks"):
        types = [group["InstanceType"]] if "InstanceType" in group else group["InstanceRequirements"]["InstanceTypes"]
        if not all(machine(kind).accelerated for kind in types):
            raise invalid(f"Instance group {name}: deep health checks need GPU or Trainium instances")


def _check_kubernetes(group: Json) -> None:
    name, config = group["InstanceGroupName"], part(group, "KubernetesConfig")
    taints: list[Json] = each(config, "Taints")
    for key in [*part(config, "Labels"), *(taint["Key"] for taint in taints)]:
        domain = str(key).rpartition("/")[0] + "/"
        if any(domain == reserved or domain.endswith("." + reserved) for reserved in _RESERVED):
            raise invalid(f"Instance group {name}: the prefix of {key} is reserved")
    if taints and group.get("OnStartDeepHealthChecks"):
        raise invalid(f"Instance group {name}: custom taints are not supported with deep health checks")


def _norm(value: Any) -> Any:
    """Lists whose order means nothing, sorted."""
    if isinstance(value, dict):
        return {str(key): _norm(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return sorted(value, key=str)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value
