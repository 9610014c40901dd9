"""Offerings where AWS does not tell everything: each part says so by itself, and nothing is made up."""

from __future__ import annotations

from typing import Any

import jsonpointer
import pytest

from tests.api.livebox import LiveBox
from tests.live.aws_server import Answer

ZONES = """<DescribeAvailabilityZonesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><availabilityZoneInfo>
<item><zoneName>us-west-2b</zoneName><zoneId>usw2-az2</zoneId><zoneState>available</zoneState></item>
<item><zoneName>us-west-2-lax-1a</zoneName><zoneId>usw2-lax1-az1</zoneId><zoneType>local-zone</zoneType></item>
</availabilityZoneInfo></DescribeAvailabilityZonesResponse>"""
OFFERED = """<DescribeInstanceTypeOfferingsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
<instanceTypeOfferingSet><item><instanceType>p5.48xlarge</instanceType><location>usw2-az2</location></item>
</instanceTypeOfferingSet></DescribeInstanceTypeOfferingsResponse>"""
HARDWARE = """<DescribeInstanceTypesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><instanceTypeSet><item>
<instanceType>p5.48xlarge</instanceType><vCpuInfo><defaultVCpus>192</defaultVCpus></vCpuInfo>
<memoryInfo><sizeInMiB>2097152</sizeInMiB></memoryInfo><gpuInfo><gpus><item><name>H100</name>
<manufacturer>NVIDIA</manufacturer><count>8</count><memoryInfo><sizeInMiB>81920</sizeInMiB></memoryInfo></item></gpus>
</gpuInfo></item></instanceTypeSet></DescribeInstanceTypesResponse>"""
RESERVED = """<DescribeCapacityReservationsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
<capacityReservationSet><item><capacityReservationId>cr-1</capacityReservationId><instanceType>p5.48xlarge</instanceType>
<availabilityZone>us-west-2b</availabilityZone><availabilityZoneId>usw2-az2</availabilityZoneId><state>active</state>
<totalInstanceCount>4</totalInstanceCount><availableInstanceCount>1</availableInstanceCount></item></capacityReservationSet>
</DescribeCapacityReservationsResponse>"""
PLAN = {
    "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/march",
    "TrainingPlanName": "march",
    "Status": "Active",
    "TotalInstanceCount": 16,
    "AvailableInstanceCount": 12,
    "TargetResources": ["hyperpod-cluster"],
    "ReservedCapacitySummaries": [
        {
            "ReservedCapacityArn": "arn:aws:sagemaker:us-west-2:111122223333:reserved-capacity/one",
            "InstanceType": "ml.p5.48xlarge",
            "TotalInstanceCount": 16,
            "Status": "Active",
            "AvailabilityZoneId": "usw2-az2",
        }
    ],
}
QUOTAS = [
    {"QuotaName": "ml.p5.48xlarge for cluster usage", "Value": 8.0},
    {"QuotaName": "Total number of instances allowed across SageMaker HyperPod clusters", "Value": 100.0},
]
GROUP = {
    "InstanceGroupName": "gpu",
    "InstanceType": "ml.p5.48xlarge",
    "CurrentCount": 2,
    "TargetCount": 5,
    "Status": "InService",
}


def all_of_it(live: LiveBox) -> Any:
    summary = {"ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl", "ClusterName": "prod"}
    listed = {**summary, "CreationTime": 1772359200.0, "ClusterStatus": "InService"}
    versions = [{"clusterVersion": v, "defaultVersion": v == "1.34"} for v in ("1.9", "1.34", "1.33")]
    live.says |= {
        "DescribeAvailabilityZones": lambda _: Answer(raw=ZONES.encode()),
        "DescribeInstanceTypeOfferings": lambda _: Answer(raw=OFFERED.encode()),
        "DescribeInstanceTypes": lambda _: Answer(raw=HARDWARE.encode()),
        "DescribeCapacityReservations": lambda _: Answer(raw=RESERVED.encode()),
        "ListServiceQuotas": lambda _: Answer(json={"Quotas": QUOTAS}),
        "ListClusters": lambda _: Answer(json={"ClusterSummaries": [listed]}),
        "DescribeCluster": lambda _: Answer(json={**listed, "InstanceGroups": [GROUP]}),
        "ListTrainingPlans": lambda _: Answer(json={"TrainingPlanSummaries": [PLAN]}),
        "": lambda _: Answer(json={"clusterVersions": versions}),  # eks, by path
    }
    return live.ready()


def test_everything_that_is_known(live: LiveBox) -> None:
    told = all_of_it(live).get("/offerings?cluster=prod").json()
    assert [zone["id"] for zone in told["zones"]] == ["usw2-az2"], "local zones have no HyperPod"
    (one,) = told["instance_types"]
    assert one == {
        "instance_type": "ml.p5.48xlarge",
        "accelerated": True,
        "zones": ["usw2-az2"],
        "gpus": 8,
        "gpu": "NVIDIA H100",
        "gpu_memory_gib": 80.0,
        "efa_interfaces": 32,
        "vcpus": 192,
        "memory_gib": 2048.0,
        "addresses": {"plain": 50, "efa": 81},
        "on_demand": {"limit": 8, "used": 5, "left": 3},
        "spot": {"limit": None, "used": 0, "left": None},
        "training_plans": ["march"],
        "reservations": ["cr-1"],
    }, "what a group still wants counts as used; a quota that nobody told is not known"
    assert told["instances"] == {"limit": 100, "used": 5, "left": 95} and told["per_cluster"] is None
    assert [version["version"] for version in told["kubernetes_versions"]] == ["1.34", "1.33", "1.9"]
    assert told["training_plans"][0]["zones"] == ["usw2-az2"] and told["reservations"][0]["available"] == 1
    assert told["observed_at"] and all(part["unknown_since"] is None for part in told["parts"])


def denied(operation: str) -> Answer:
    """In the words of EC2, or of the others."""
    if operation in ("DescribeAvailabilityZones", "DescribeInstanceTypeOfferings", "DescribeCapacityReservations"):
        error = "<Error><Code>UnauthorizedOperation</Code><Message>not yours</Message></Error>"
        return Answer(status=403, raw=f"<Response><Errors>{error}</Errors></Response>".encode())
    return Answer(status=400, code="AccessDeniedException", message="not yours")


@pytest.mark.parametrize(
    ("operation", "part", "unknown"),
    [
        ("ListServiceQuotas", "quotas", "/instance_types/0/on_demand/left"),
        ("ListClusters", "usage", "/instance_types/0/on_demand/left"),
        ("ListTrainingPlans", "training-plans", "/training_plans"),
        ("DescribeCapacityReservations", "capacity-reservations", "/reservations"),
        ("DescribeInstanceTypeOfferings", "instance-types", "/instance_types/0/zones"),
        ("DescribeAvailabilityZones", "zones", "/zones"),
    ],
)
def test_a_part_that_cannot_be_asked_is_not_known(live: LiveBox, operation: str, part: str, unknown: str) -> None:
    reader = all_of_it(live)
    live.says[operation] = lambda _: denied(operation)
    told = reader.get("/offerings?cluster=prod").json()
    find: Any = jsonpointer.resolve_pointer
    assert find(told, unknown) is None
    parts = {one["name"]: one for one in told["parts"]}
    assert parts[part]["reason"] == "AccessDenied" and parts[part]["observed_at"] is None
    assert sum(one["unknown_since"] is not None for one in told["parts"]) == 1, "the others are told"


def test_where_nothing_can_be_asked_nothing_is_offered(live: LiveBox) -> None:
    reader = live.ready()
    live.says.clear()
    live.says[""] = lambda _: denied("")
    live.says["DescribeAvailabilityZones"] = lambda _: denied("DescribeAvailabilityZones")
    answer = reader.get("/offerings?cluster=prod")
    assert answer.status_code == 503 and answer.json()["reason"] == "AccessDenied"


@pytest.mark.parametrize(
    ("query", "status", "reason"),
    [
        ("cluster=nowhere", 404, "UnknownCluster"),
        ("cluster=prod&region=us-west-2", 422, "InvalidRequest"),
        ("account=12", 422, "InvalidRequest"),
        ("region=nowhere", 422, "InvalidRequest"),
        ("", 422, "NoRegion"),
    ],
)
def test_offerings_of_nowhere(
    live: LiveBox, monkeypatch: pytest.MonkeyPatch, query: str, status: int, reason: str
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    answer = live.ready().get(f"/offerings?{query}")
    assert (answer.status_code, answer.json()["reason"]) == (status, reason)


def test_another_account_than_that_of_the_credentials_is_not_asked(live: LiveBox) -> None:
    answer = all_of_it(live).get("/offerings?account=999999999999&region=us-west-2")
    assert (answer.status_code, answer.json()["reason"]) == (503, "WrongAccount")
