"""A group as wanted, and the read form the service shows of a request."""

from __future__ import annotations

import functools
from typing import Any

import botocore.session

VPC = {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}
ROLE = "arn:aws:iam::111122223333:role/prod-nodes"
PLAN = "arn:aws:sagemaker:us-east-2:111122223333:training-plan/plan-a"

SPEC: dict[str, Any] = {
    "instanceType": "ml.c5.xlarge",
    "count": 4,
    "minCount": 2,
    "subnets": ["subnet-1"],
    "securityGroups": ["sg-1"],
    "executionRole": ROLE,
    "lifecycle": {"sourceS3Uri": "s3://sagemaker-prod/lifecycle/", "onCreate": "on_create.sh"},
    "threadsPerCore": 2,
    "volume": {"sizeGiB": 500},
    "deepHealthChecks": ["InstanceConnectivity", "InstanceStress"],
    "labels": {"team": "a"},
    "taints": [{"key": "gpu", "effect": "NoSchedule"}, {"key": "team", "value": "a", "effect": "NoExecute"}],
    "capacity": {"onDemand": {}},
    "interface": "efa",
}


# How the service's model calls in its answers what a request asks for.
SHOWN_AS = {
    "InstanceCount": "TargetCount",
    "MinInstanceCount": "MinCount",
    "ImageId": "DesiredImageId",
    "ImageReleaseVersion": "DesiredImageReleaseVersion",
}


@functools.cache
def model() -> Any:
    """The service model of SageMaker as botocore has it."""
    loader: Any = botocore.session
    return loader.get_session().get_service_model("sagemaker")


@functools.cache
def shown_members() -> frozenset[str]:
    return frozenset(model().shape_for("ClusterInstanceGroupDetails").members)


def described(request: dict[str, Any], *, current: int = 0) -> dict[str, Any]:
    """What DescribeCluster shows of a group asked for by `request`: the read form, as the service's model has it."""
    named = {SHOWN_AS.get(name, name): value for name, value in request.items()}
    shown = {name: value for name, value in named.items() if name in shown_members() or name.startswith("X")}
    shown |= {"CurrentCount": current, "Status": "InService"}
    shown |= {"TrainingPlanStatus": "Active"} if "TrainingPlanArn" in request else {}
    if "ImageId" in request:
        shown["CurrentImageId"] = "ami-0123456789abcdef0"
    if "ImageReleaseVersion" in request:
        shown["CurrentImageReleaseVersion"] = "1.0.0"
    if "InstanceRequirements" in request:
        types = request["InstanceRequirements"]["InstanceTypes"]
        shown["InstanceRequirements"] = {"CurrentInstanceTypes": types[:1], "DesiredInstanceTypes": types}
        shown["InstanceTypeDetails"] = [{"InstanceType": types[0], "CurrentCount": current, "ThreadsPerCore": 1}]
    if "KubernetesConfig" in request:
        wish = request["KubernetesConfig"]
        shown["KubernetesConfig"] = {f"Desired{name}": value for name, value in wish.items()}
        shown["KubernetesConfig"] |= {"CurrentLabels": {}, "CurrentTaints": []}
    if "AutoPatchConfig" in request:
        patching = dict(request["AutoPatchConfig"])
        schedule = patching.pop("PatchSchedule", None)
        shown["AutoPatchConfig"] = patching
        if schedule is not None:
            shown["AutoPatchConfig"] |= {"DesiredPatchSchedule": schedule, "CurrentPatchSchedule": {}}
    return shown | {"ActiveOperations": {"Scaling": 1}, "ImageVersionStatus": "UpToDate", "TargetStateCount": current}
