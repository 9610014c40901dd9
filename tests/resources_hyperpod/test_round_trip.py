"""Law: for every group shape the service takes, write → DescribeCluster → W gives the same request. Over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from reconciler.live.aws.plain import plain
from reconciler.resources.hyperpod.handler import HyperPod
from reconciler.resources.hyperpod.write_form import write_form
from schemas.values import canonical
from tests.laws.group_requests import requests
from tests.resources_hyperpod.conftest import Ground

pytestmark = pytest.mark.sandbox
# What the server fills in where a request says nothing.
SERVER: dict[str, Any] = {
    "ThreadsPerCore": 1,
    "InstanceStorageConfigs": [],
    "MinInstanceCount": 0,
    "ImageId": "ami-0123456789abcdef0",
}
MOVING = ("Status", "ActiveOperations", "CurrentCount", "InstanceTypeDetails", "TargetStateCount")
TOLD = "DrainFirst"


@st.composite
def group(draw: Any, role: str, subnet: str, security: str) -> dict[str, Any]:
    """A group that this account can have: nothing that no machine, role or subnet is there for."""
    body = draw(
        requests(
            {
                "InstanceCount": st.just(0),
                "InstanceType": st.sampled_from(["ml.m5.xlarge", "ml.p5.48xlarge"]),
                "InstanceRequirements": st.just({"InstanceTypes": ["ml.m5.xlarge", "ml.c5.xlarge"]}),
                "ExecutionRole": st.just(role),
                "OverrideVpcConfig": st.just({"Subnets": [subnet], "SecurityGroupIds": [security]}),
                "SlurmConfig": st.nothing(),
            }
        )
    )
    checks = body.get("InstanceType") == "ml.p5.48xlarge" and not body.get("KubernetesConfig", {}).get("Taints")
    if not checks:
        body.pop("OnStartDeepHealthChecks", None)
    if "Spot" in body.get("CapacityRequirements", {}):
        body.pop("TrainingPlanArn", None)
    for config in body.get("InstanceStorageConfigs", []):
        volume = config.get("EbsVolumeConfig", {})
        if volume.get("RootVolume"):
            volume.pop("VolumeSizeInGB", None)
            volume["VolumeKmsKeyId"] = "key-1"
    patching = body.get("AutoPatchConfig", {})
    if patching.get("PatchingStrategy") == TOLD and "RollingUpdatePolicy" not in patching.get("DeploymentConfig", {}):
        patching["PatchingStrategy"] = "WhenIdle"
    return dict(body)


def test_what_is_sent_back_is_what_was_asked_for_and_changes_nothing(ground: Ground) -> None:
    place, handler = ground.place, HyperPod()
    place.want(ground.cluster(), ground.instances("first", 1))
    place.converge(handler)
    bodies = st.lists(group(ground.role, ground.subnet, ground.group), min_size=15, max_size=15)
    number = iter(range(1000))

    @settings(
        max_examples=4,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(bodies)
    def round_trip(drawn: list[dict[str, Any]]) -> None:
        named = {f"g-{next(number)}": body for body in drawn}
        asked = [{**body, "InstanceGroupName": name} for name, body in named.items()]
        place.aws.mutate("sagemaker", "UpdateCluster", op="01LAW", ClusterName="prod", InstanceGroups=asked)
        before = live(ground)
        for body in asked:
            back, wanted = meant(write_form(before[body["InstanceGroupName"]])), meant(body)
            assert {**back, **wanted} == back
            extra = {name: value for name, value in back.items() if name not in wanted}
            assert all(SERVER[name] == value for name, value in extra.items())
        sent_back = [write_form(group) for group in before.values()]
        place.aws.mutate("sagemaker", "UpdateCluster", op="01LAW", ClusterName="prod", InstanceGroups=sent_back)
        after = live(ground)
        assert {name: still(group) for name, group in after.items()} == {n: still(g) for n, g in before.items()}
        gone = list(named)
        place.aws.mutate("sagemaker", "UpdateCluster", op="01LAW", ClusterName="prod", InstanceGroupsToDelete=gone)
        place.sandbox.until(lambda: len(live(ground)), lambda groups: groups == 1)

    round_trip()


def live(ground: Ground) -> dict[str, dict[str, Any]]:
    return {group["InstanceGroupName"]: group for group in ground.live()["InstanceGroups"]}


def meant(body: dict[str, Any]) -> dict[str, Any]:
    """Moments as they are told; no labels, no taints and no schedule are the same as none said."""
    found: dict[str, Any] = cast("dict[str, Any]", plain(body))
    config = {name: value for name, value in found.pop("KubernetesConfig", {}).items() if value}
    patching = found.get("AutoPatchConfig", {})
    schedule = patching.pop("PatchSchedule", {})
    if schedule:
        patching["PatchSchedule"] = datetime.fromisoformat(schedule["NextPatchDate"])
    return found | ({"KubernetesConfig": config} if config else {})


def still(group: dict[str, Any]) -> str:
    """What does not move by itself."""
    return canonical({name: value for name, value in group.items() if name not in MOVING})
