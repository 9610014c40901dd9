"""Questions to one account and Region about what can be had there. Each answer is whole or an error; none of them
changes anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from reconciler.live.aws.sessions import AwsSession
from reconciler.live.errors import NotFound
from reconciler.reads.parts import View, told
from reconciler.resources.hyperpod.write_form import member
from schemas import instance_types
from schemas.values import JsonObject

CHUNK: Final = 100  # instance types in one question
MOST_CLUSTERS: Final = 300
PREFIX: Final = "ml."
TOTAL: Final = "Total number of instances allowed across SageMaker HyperPod clusters"
PER_CLUSTER: Final = "Maximum number instances allowed per SageMaker HyperPod cluster"
_USAGE = re.compile(r"(ml\.\S+) for cluster (spot )?usage", re.IGNORECASE)


class ZoneView(View):
    """An availability zone: its name differs between accounts, its id does not."""

    name: str
    id: str
    state: str


class HardwareView(View):
    """What EC2 says of a machine. `gpu`: maker and name; memory in GiB."""

    vcpus: int | None = None
    memory_gib: float | None = None
    gpus: int | None = None
    gpu: str = ""
    gpu_memory_gib: float | None = None
    efa_interfaces: int | None = None


class QuotasView(View):
    """Service quotas of HyperPod; null: the account's quotas do not tell. By instance type: on demand and spot."""

    total: int | None = None
    per_cluster: int | None = None
    on_demand: dict[str, int]
    spot: dict[str, int]


class UsageView(View):
    """Instances that the HyperPod clusters of the account have or want, by type."""

    on_demand: dict[str, int]
    spot: dict[str, int]
    clusters: int


class TrainingPlanView(View):
    """Machines that were bought before. `zones`: ids."""

    arn: str
    name: str
    status: str
    start: str
    end: str
    total: int | None
    available: int | None
    in_use: int | None
    targets: tuple[str, ...]
    instance_types: tuple[str, ...]
    zones: tuple[str, ...]


class ReservationView(View):
    """A capacity reservation; open ones are used by themselves. `instance_type` in HyperPod's words."""

    id: str
    instance_type: str
    zone: str
    zone_id: str
    state: str
    total: int | None
    available: int | None
    match: str
    start: str
    end: str | None
    kind: str


class KubernetesVersionView(View):
    """A Kubernetes version of EKS. `default`: the one EKS takes by itself."""

    version: str
    default: bool
    status: str
    standard_support_ends: str | None
    extended_support_ends: str | None


def zones(aws: AwsSession) -> tuple[ZoneView, ...]:
    listed = aws.pages("ec2", "DescribeAvailabilityZones", "AvailabilityZones")
    found = [
        ZoneView(name=str(z["ZoneName"]), id=str(z.get("ZoneId") or ""), state=str(z.get("State") or ""))
        for z in listed
        if z.get("ZoneType", "availability-zone") == "availability-zone"
    ]
    return tuple(sorted(found, key=lambda zone: zone.name))


def offered(aws: AwsSession) -> dict[str, tuple[str, ...]]:
    """HyperPod's types that EC2 offers here, each with the ids of its zones."""
    found: dict[str, set[str]] = {}
    for some in _chunks(instance_types.NAMES):
        bare = [name.removeprefix(PREFIX) for name in some]
        for offer in aws.pages(
            "ec2",
            "DescribeInstanceTypeOfferings",
            "InstanceTypeOfferings",
            LocationType="availability-zone-id",
            Filters=[{"Name": "instance-type", "Values": bare}],
        ):
            found.setdefault(f"{PREFIX}{offer['InstanceType']}", set()).add(str(offer["Location"]))
    return {name: tuple(sorted(there)) for name, there in sorted(found.items())}


def hardware(aws: AwsSession) -> dict[str, HardwareView]:
    """Of HyperPod's types that EC2 knows here."""
    found: dict[str, HardwareView] = {}
    for some in _chunks(instance_types.NAMES):
        bare = [name.removeprefix(PREFIX) for name in some]
        filters = [{"Name": "instance-type", "Values": bare}]  # by name, an unknown one would fail the whole question
        for kind in aws.pages("ec2", "DescribeInstanceTypes", "InstanceTypes", Filters=filters):
            found[f"{PREFIX}{kind['InstanceType']}"] = _hardware(kind)
    return found


def _hardware(kind: JsonObject) -> HardwareView:
    gpus: Sequence[Mapping[str, Any]] = member(kind, "GpuInfo").get("Gpus") or ()
    gpu: Mapping[str, Any] = gpus[0] if gpus else {}
    return HardwareView(
        vcpus=_int(member(kind, "VCpuInfo").get("DefaultVCpus")),
        memory_gib=_gib(member(kind, "MemoryInfo")),
        gpus=_int(gpu.get("Count")),
        gpu=f"{gpu.get('Manufacturer', '')} {gpu.get('Name', '')}".strip(),
        gpu_memory_gib=_gib(member(gpu, "MemoryInfo")),
        efa_interfaces=_int(member(member(kind, "NetworkInfo"), "EfaInfo").get("MaximumEfaInterfaces")),
    )


def _gib(memory: Mapping[str, Any]) -> float | None:
    size = memory.get("SizeInMiB")
    return size / 1024 if isinstance(size, int) else None


def quotas(aws: AwsSession) -> QuotasView:
    """By name: their codes differ by type and are published nowhere."""
    values = {
        str(quota["QuotaName"]): int(quota["Value"])
        for quota in aws.pages("service-quotas", "ListServiceQuotas", "Quotas", ServiceCode="sagemaker")
        if "Value" in quota and "QuotaName" in quota
    }
    on_demand: dict[str, int] = {}
    spot: dict[str, int] = {}
    for name, value in values.items():
        match = _USAGE.fullmatch(name)
        if match is not None:
            (spot if match[2] else on_demand)[match[1]] = value
    return QuotasView(total=values.get(TOTAL), per_cluster=values.get(PER_CLUSTER), on_demand=on_demand, spot=spot)


def usage(aws: AwsSession) -> UsageView:
    """Over all HyperPod clusters of the account in this Region, ours or not: quotas count them all."""
    on_demand: Counter[str] = Counter()
    spot: Counter[str] = Counter()
    listed = aws.pages("sagemaker", "ListClusters", "ClusterSummaries")
    for summary in listed[:MOST_CLUSTERS]:
        try:
            live = aws.read("sagemaker", "DescribeCluster", ClusterName=summary["ClusterName"])
        except NotFound:
            continue  # it went while we looked
        for group in (*(live.get("InstanceGroups") or ()), *(live.get("RestrictedInstanceGroups") or ())):
            is_spot = "Spot" in member(group, "CapacityRequirements")
            (spot if is_spot else on_demand).update(_counts(group))
    return UsageView(on_demand=dict(on_demand), spot=dict(spot), clusters=len(listed))


def _counts(group: Mapping[str, Any]) -> dict[str, int]:
    """What a group has, or, where it wants more of its one type, what it wants."""
    kind, target = group.get("InstanceType"), int(group.get("TargetCount") or 0)
    details: Sequence[Mapping[str, Any]] = group.get("InstanceTypeDetails") or ()
    found = {str(d["InstanceType"]): int(d.get("CurrentCount") or 0) for d in details if d.get("InstanceType")}
    if kind:
        found[str(kind)] = max(found.get(str(kind), int(group.get("CurrentCount") or 0)), target)
    return found


def training_plans(aws: AwsSession) -> tuple[TrainingPlanView, ...]:
    """Those that HyperPod can use and that are not over."""
    listed = aws.pages("sagemaker", "ListTrainingPlans", "TrainingPlanSummaries")
    found = [_plan(summary) for summary in listed]
    return tuple(plan for plan in found if plan.status not in ("Expired", "Failed") and _is_for_us(plan))


def _is_for_us(plan: TrainingPlanView) -> bool:
    return not plan.targets or "hyperpod-cluster" in plan.targets


def _plan(summary: JsonObject) -> TrainingPlanView:
    reserved: Sequence[Mapping[str, Any]] = summary.get("ReservedCapacitySummaries") or ()
    return TrainingPlanView(
        arn=str(summary.get("TrainingPlanArn") or ""),
        name=told(str(summary.get("TrainingPlanName") or ""), 100),
        status=str(summary.get("Status") or ""),
        start=str(summary.get("StartTime") or ""),
        end=str(summary.get("EndTime") or ""),
        total=_int(summary.get("TotalInstanceCount")),
        available=_int(summary.get("AvailableInstanceCount")),
        in_use=_int(summary.get("InUseInstanceCount")),
        targets=tuple(summary.get("TargetResources") or ()),
        instance_types=tuple(sorted({str(r["InstanceType"]) for r in reserved if r.get("InstanceType")})),
        zones=tuple(sorted({str(r["AvailabilityZoneId"]) for r in reserved if r.get("AvailabilityZoneId")})),
    )


def reservations(aws: AwsSession) -> tuple[ReservationView, ...]:
    """Capacity reservations of types that HyperPod has."""
    states = [{"Name": "state", "Values": ["active", "scheduled", "pending"]}]
    listed = aws.pages("ec2", "DescribeCapacityReservations", "CapacityReservations", Filters=states)
    return tuple(
        ReservationView(
            id=str(one.get("CapacityReservationId") or ""),
            instance_type=f"{PREFIX}{one.get('InstanceType')}",
            zone=str(one.get("AvailabilityZone") or ""),
            zone_id=str(one.get("AvailabilityZoneId") or ""),
            state=str(one.get("State") or ""),
            total=_int(one.get("TotalInstanceCount")),
            available=_int(one.get("AvailableInstanceCount")),
            match=str(one.get("InstanceMatchCriteria") or ""),
            start=str(one.get("StartDate") or ""),
            end=str(one["EndDate"]) if one.get("EndDate") else None,
            kind=str(one.get("ReservationType") or "default"),
        )
        for one in listed
        if instance_types.exists(f"{PREFIX}{one.get('InstanceType')}")
    )


def versions(aws: AwsSession) -> tuple[KubernetesVersionView, ...]:
    """Newest first."""
    listed = aws.pages("eks", "DescribeClusterVersions", "clusterVersions")
    found = [
        KubernetesVersionView(
            version=str(one["clusterVersion"]),
            default=bool(one.get("defaultVersion")),
            status=str(one.get("versionStatus") or one.get("status") or ""),
            standard_support_ends=_text(one.get("endOfStandardSupportDate")),
            extended_support_ends=_text(one.get("endOfExtendedSupportDate")),
        )
        for one in listed
    ]
    return tuple(sorted(found, key=lambda version: _numbers(version.version), reverse=True))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _chunks(names: Iterable[str]) -> Iterator[list[str]]:
    ordered = sorted(names)
    return (ordered[start : start + CHUNK] for start in range(0, len(ordered), CHUNK))


def _int(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _text(value: Any) -> str | None:
    return str(value) if value else None
