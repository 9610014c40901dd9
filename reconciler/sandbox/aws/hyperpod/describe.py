"""How a cluster, its groups and nodes read. The read form differs from the write form, as in the real API."""

from __future__ import annotations

from collections import Counter

from reconciler.sandbox.aws.calls import Json
from reconciler.sandbox.aws.hyperpod.records import Group, HyperPodCluster, Node, shuffled

_AS_WRITTEN = (
    "InstanceType",
    "LifeCycleConfig",
    "ExecutionRole",
    "OnStartDeepHealthChecks",
    "TrainingPlanArn",
    "OverrideVpcConfig",
    "ScheduledUpdateConfig",
    "CapacityRequirements",
    "NetworkInterface",
)
_AMI = "ami-0123456789abcdef0"
_RELEASE = "1.0.20"


def cluster(found: HyperPodCluster) -> Json:
    answer: Json = {
        **summary(found),
        "InstanceGroups": [_group(found, found.groups[name]) for name in shuffled(list(found.groups), found.arn)],
        "NodeRecovery": found.recovery,
    }
    optional = {
        "Orchestrator": found.request.get("Orchestrator"),
        "VpcConfig": found.request.get("VpcConfig"),
        "NodeProvisioningMode": found.request.get("NodeProvisioningMode"),
        "FailureMessage": found.message or None,
        "TieredStorageConfig": found.tiered,
        "ClusterRole": found.role,
        "AutoScaling": found.autoscaling,
    }
    return answer | {name: value for name, value in optional.items() if value is not None}


def summary(found: HyperPodCluster) -> Json:
    return {
        "ClusterArn": found.arn,
        "ClusterName": found.name,
        "ClusterStatus": found.status,
        "CreationTime": found.created,
    }


def node_summary(node: Node, *, logical: bool) -> Json:
    answer: Json = {
        "InstanceGroupName": node.group,
        "InstanceId": node.id,
        "InstanceType": node.type,
        "LaunchTime": node.launched,
        "InstanceStatus": _status(node),
        "PrivateDnsHostname": f"ip-{node.ip.replace('.', '-')}",
        "CurrentImageReleaseVersion": _RELEASE,
        "ImageVersionStatus": "UpToDate",
    }
    return answer | {"NodeLogicalId": node.logical} if logical else answer


def node_details(found: HyperPodCluster, node: Node) -> Json:
    group = found.groups.get(node.group)
    answer: Json = {
        "InstanceGroupName": node.group,
        "InstanceId": node.id,
        "NodeLogicalId": node.logical,
        "InstanceStatus": _status(node),
        "InstanceType": node.type,
        "LaunchTime": node.launched,
        "ThreadsPerCore": 1,
        "InstanceStorageConfigs": [],
        "PrivatePrimaryIp": node.ip,
        "PrivateDnsHostname": f"ip-{node.ip.replace('.', '-')}",
        "Placement": {"AvailabilityZone": node.zone, "AvailabilityZoneId": node.zone_id},
        "CurrentImageId": _AMI,
        "DesiredImageId": _AMI,
        "LifeCycleConfig": node.lifecycle,
    }
    if group is not None:
        answer["ThreadsPerCore"] = group.spec.get("ThreadsPerCore", 1)
        answer["InstanceStorageConfigs"] = group.spec.get("InstanceStorageConfigs", [])
        answer["CapacityType"] = "Spot" if group.spot else "OnDemand"
        answer["KubernetesConfig"] = _kubernetes(group)
    return answer


def _group(found: HyperPodCluster, group: Group) -> Json:
    running = found.running(group.name)
    spec = group.spec
    answer: Json = {
        "InstanceGroupName": group.name,
        "CurrentCount": len(running),
        "TargetCount": group.target,
        "Status": group.status,
        "ThreadsPerCore": spec.get("ThreadsPerCore", 1),
        "InstanceStorageConfigs": spec.get("InstanceStorageConfigs", []),
        "CurrentImageId": _AMI,
        "DesiredImageId": spec["ImageId"] if spec.get("ImageId", "default") != "default" else _AMI,
        "ImageVersionStatus": "UpToDate",
        "SoftwareUpdateStatus": "Succeeded",
        **{name: spec[name] for name in _AS_WRITTEN if name in spec},
    }
    if found.continuous:
        answer["MinCount"] = group.minimum or 0
        answer["ActiveOperations"] = {"Scaling": 1} if len(running) != group.target else {}
    if "InstanceRequirements" in spec:
        types = list(spec["InstanceRequirements"]["InstanceTypes"])
        answer["InstanceRequirements"] = {"CurrentInstanceTypes": types, "DesiredInstanceTypes": types}
    answer["InstanceTypeDetails"] = [
        {"InstanceType": kind, "CurrentCount": count, "ThreadsPerCore": spec.get("ThreadsPerCore", 1)}
        for kind, count in sorted(Counter(node.type for node in running).items())
    ]
    if group.labels or group.taints or group.current_labels or group.current_taints:
        answer["KubernetesConfig"] = _kubernetes(group)
    if "AutoPatchConfig" in spec:
        patch = dict(spec["AutoPatchConfig"])
        schedule = patch.pop("PatchSchedule", None)
        if schedule:
            patch |= {"CurrentPatchSchedule": schedule, "DesiredPatchSchedule": schedule}
        answer["AutoPatchConfig"] = patch
    if "TrainingPlanArn" in spec:
        answer["TrainingPlanStatus"] = "Active"
    if "ImageReleaseVersion" in spec:
        answer["CurrentImageReleaseVersion"] = answer["DesiredImageReleaseVersion"] = spec["ImageReleaseVersion"]
    return answer


def _kubernetes(group: Group) -> Json:
    return {
        "CurrentLabels": group.current_labels,
        "DesiredLabels": group.labels,
        "CurrentTaints": group.current_taints,
        "DesiredTaints": group.taints,
    }


def _status(node: Node) -> Json:
    return {"Status": node.status, "Message": node.message} if node.message else {"Status": node.status}
