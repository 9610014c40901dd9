"""Instance groups in three shapes: as DescribeCluster shows them, as UpdateCluster takes them, and as we compare them.

    read form    what DescribeCluster answers (TargetCount, DesiredLabels, ...)
    write form   what CreateCluster and UpdateCluster take (InstanceCount, KubernetesConfig.Labels, ...)
    normal form  `Resource.spec` and `Observed.spec` of hyperpod.InstanceGroup

UpdateCluster replaces a listed group whole, so a change is the write form of what is live, overlaid with the changed
fields alone; whatever else stands there (a taint set by hand, a patch schedule) goes back as it came. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from schemas.errors import StopUntilChange
from schemas.values import JsonObject

# What DescribeCluster shows and no request takes. Everything else goes back as it came, whatever it is: a member that
# we have no word for must not be lost by a change of another one.
READ_ONLY = frozenset(
    {
        "Status",
        "InstanceTypeDetails",
        "TrainingPlanStatus",
        "ImageVersionStatus",
        "SoftwareUpdateStatus",
        "ActiveSoftwareUpdateConfig",
        "ActiveOperations",
        "TargetStateCount",
    }
)
RENAMED = {"TargetCount": "InstanceCount", "MinCount": "MinInstanceCount"}
PAIRED = ("InstanceRequirements", "KubernetesConfig", "AutoPatchConfig")  # hold Current… and Desired… themselves
_CURRENT, _DESIRED = "Current", "Desired"


def write_form(live: Mapping[str, Any]) -> JsonObject:
    """W(o): the group as UpdateCluster would take it, changing nothing. An empty object may mean something
    (`Spot: {}`), so it is kept."""
    body = _desired({name: value for name, value in live.items() if name not in READ_ONLY})
    body.setdefault("InstanceCount", live.get("CurrentCount", 0))
    if not body.get("OnStartDeepHealthChecks", True):
        del body["OnStartDeepHealthChecks"]  # the write form takes no empty list
    if member(body, "InstanceRequirements").get("InstanceTypes"):
        body.pop("InstanceType", None)  # one or the other
    else:
        body.pop("InstanceRequirements", None)
    if not member(body, "AutoPatchConfig").get("PatchingStrategy"):
        body.pop("AutoPatchConfig", None)
    if not member(body, "KubernetesConfig"):
        body.pop("KubernetesConfig", None)  # it showed what is, and nothing that is wanted
    return body


def normal_form(live: Mapping[str, Any], vpc: Mapping[str, Any]) -> JsonObject:
    """The live group as a spec. `vpc` is the cluster's VpcConfig, which a group without its own lives in."""
    body = write_form(live)
    place = member(body, "OverrideVpcConfig") or vpc
    kubernetes = member(body, "KubernetesConfig")
    spec: JsonObject = {
        "count": body["InstanceCount"],
        "subnets": sorted(place.get("Subnets", ())),
        "securityGroups": sorted(place.get("SecurityGroupIds", ())),
        "executionRole": body.get("ExecutionRole", ""),
        "deepHealthChecks": sorted(body.get("OnStartDeepHealthChecks", ())),
        "labels": dict(kubernetes.get("Labels", {})),
        "taints": sorted_taints(_taint_back(taint) for taint in kubernetes.get("Taints", ())),
        "capacity": _capacity(body),
    }
    if "InstanceRequirements" in body:
        spec["instanceTypes"] = list(body["InstanceRequirements"]["InstanceTypes"])
    else:
        spec["instanceType"] = body.get("InstanceType", "")
    if body.get("MinInstanceCount"):
        spec["minCount"] = body["MinInstanceCount"]
    lifecycle = member(body, "LifeCycleConfig")
    if lifecycle:
        spec["lifecycle"] = {ours: lifecycle[theirs] for ours, theirs in _LIFECYCLE.items() if theirs in lifecycle}
    if body.get("TrainingPlanArn"):
        spec["trainingPlan"] = body["TrainingPlanArn"]
    if "ThreadsPerCore" in body:
        spec["threadsPerCore"] = body["ThreadsPerCore"]
    volume = next((_volume_back(config) for config in body.get("InstanceStorageConfigs", ()) if _is_data(config)), None)
    if volume is not None:
        spec["volume"] = volume
    interface = member(body, "NetworkInterface").get("InterfaceType")
    if interface:
        spec["interface"] = interface
    return spec


def new_group(name: str, spec: Mapping[str, Any], count: int) -> JsonObject:
    """The write form of a group that is not there yet. `spec` without open Refs; `count` may be an initial one."""
    body: JsonObject = {
        "InstanceGroupName": name,
        "InstanceCount": count,
        "ExecutionRole": spec["executionRole"],
    }
    if spec.get("instanceTypes"):
        body["InstanceRequirements"] = {"InstanceTypes": list(spec["instanceTypes"])}
    else:
        body["InstanceType"] = spec["instanceType"]
    if spec.get("subnets"):
        body["OverrideVpcConfig"] = {
            "Subnets": list(spec["subnets"]),
            "SecurityGroupIds": list(spec["securityGroups"]),
        }
    if spec.get("threadsPerCore"):
        body["ThreadsPerCore"] = spec["threadsPerCore"]
    if spec.get("interface"):
        body["NetworkInterface"] = {"InterfaceType": spec["interface"]}
    if "spot" in member(spec, "capacity"):
        body["CapacityRequirements"] = {"Spot": {}}
    for field, put in MUTABLE.items():
        if field != "count" and spec.get(field):
            put(body, spec[field])
    return _bounded(body)


def overlay(body: Mapping[str, Any], want: Mapping[str, Any], fields: Iterable[str]) -> JsonObject:
    """`body` (a write form) with `fields` of the spec `want` in it; a field that `want` lacks goes to its default.

    Raises StopUntilChange for a field that HyperPod cannot change on a group that is there.
    """
    changed: JsonObject = dict(body)
    for field in fields:
        if field not in MUTABLE:
            raise StopUntilChange(
                f"{field} of a group that is there cannot change: add a group with a new name, move, delete the old",
                reason="ImmutableField",
            )
        MUTABLE[field](changed, want.get(field))
    return _bounded(changed)


def sorted_taints(taints: Iterable[JsonObject]) -> list[JsonObject]:
    return sorted(taints, key=lambda taint: (taint["key"], taint["effect"], taint.get("value", "")))


def member(owner: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object inside an answer; empty if it is not there."""
    value = owner.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _desired(shown: Mapping[str, Any]) -> JsonObject:
    """Of `CurrentX` and `DesiredX` the wish, as `X`; what has no such pair as it is."""
    found: JsonObject = {}
    for name, value in shown.items():
        if name.startswith(_CURRENT):
            continue
        ours = RENAMED.get(name, name.removeprefix(_DESIRED))
        found[ours] = _desired(value) if name in PAIRED else value
    return found


def _bounded(body: JsonObject) -> JsonObject:
    """The minimum is never above the count."""
    if body.get("MinInstanceCount", 0) > body["InstanceCount"]:
        body["MinInstanceCount"] = body["InstanceCount"]
    return body


def _set_count(body: JsonObject, value: Any) -> None:
    if value is not None:  # without a count (an autoscaler owns it) the live one stays
        body["InstanceCount"] = value


def _set_minimum(body: JsonObject, value: Any) -> None:
    _put(body, "MinInstanceCount", value)


def _set_lifecycle(body: JsonObject, value: Any) -> None:
    script = {theirs: value[ours] for ours, theirs in _LIFECYCLE.items() if ours in value} if value else None
    _put(body, "LifeCycleConfig", script)


def _set_checks(body: JsonObject, value: Any) -> None:
    _put(body, "OnStartDeepHealthChecks", list(value) if value else None)


def _set_labels(body: JsonObject, value: Any) -> None:
    body["KubernetesConfig"] = {**member(body, "KubernetesConfig"), "Labels": dict(value or {})}


def _set_taints(body: JsonObject, value: Any) -> None:
    taints = [{theirs: taint[ours] for ours, theirs in _TAINT.items() if taint.get(ours)} for taint in value or ()]
    body["KubernetesConfig"] = {**member(body, "KubernetesConfig"), "Taints": taints}


def _set_volume(body: JsonObject, value: Any) -> None:
    """Our volume is the first data volume; root volume and FSx mounts beside it stay."""
    configs: list[JsonObject] = list(body.get("InstanceStorageConfigs", ()))
    at = next((index for index, config in enumerate(configs) if _is_data(config)), len(configs))
    rest = configs[:at] + configs[at + 1 :]
    if value:
        volume: JsonObject = {"VolumeSizeInGB": value["sizeGiB"]}
        if value.get("kmsKey"):
            volume["VolumeKmsKeyId"] = value["kmsKey"]
        rest.insert(at, {"EbsVolumeConfig": volume})
    _put(body, "InstanceStorageConfigs", rest or None)


def _set_plan(body: JsonObject, value: Any) -> None:
    """A training plan may be swapped for another; that it is one is fixed with the group."""
    _put(body, "TrainingPlanArn", value)


MUTABLE = {
    "count": _set_count,
    "minCount": _set_minimum,
    "lifecycle": _set_lifecycle,
    "deepHealthChecks": _set_checks,
    "labels": _set_labels,
    "taints": _set_taints,
    "volume": _set_volume,
    "trainingPlan": _set_plan,
}

_LIFECYCLE = {"sourceS3Uri": "SourceS3Uri", "onCreate": "OnCreate", "onInitComplete": "OnInitComplete"}
_TAINT = {"key": "Key", "value": "Value", "effect": "Effect"}


def _put(body: JsonObject, name: str, value: Any) -> None:
    if value is None:
        body.pop(name, None)
    else:
        body[name] = value


def _taint_back(taint: Mapping[str, Any]) -> JsonObject:
    return {ours: taint[theirs] for ours, theirs in _TAINT.items() if taint.get(theirs)}


def _is_data(config: Mapping[str, Any]) -> bool:
    return "EbsVolumeConfig" in config and not config["EbsVolumeConfig"].get("RootVolume")


def _volume_back(config: Mapping[str, Any]) -> JsonObject:
    volume = config["EbsVolumeConfig"]
    found: JsonObject = {"sizeGiB": volume.get("VolumeSizeInGB")}
    if volume.get("VolumeKmsKeyId"):
        found["kmsKey"] = volume["VolumeKmsKeyId"]
    return found


def _capacity(body: Mapping[str, Any]) -> JsonObject:
    """An empty object selects: `Spot: {}` is spot, whatever its truth value says."""
    if body.get("TrainingPlanArn"):
        return {"trainingPlan": {}}
    return {"spot": {}} if "Spot" in member(body, "CapacityRequirements") else {"onDemand": {}}
