"""What an update of a built-in object may not do. Answers causes (field, reason, message)."""

import json
from collections.abc import Iterator
from typing import Any

from reconciler.sandbox.kubernetes import quantities
from reconciler.sandbox.kubernetes.objects import Object, dig, items, mapping
from reconciler.sandbox.kubernetes.rules import FORBIDDEN, INVALID, VOLUME_FIELDS, Cause


def broken_changes(kind: str, old: Object, new: Object) -> Iterator[Cause]:
    """What an update may not do."""
    if kind == "Pod":
        yield from _pod_changes(old, new)
        return
    if kind == "PersistentVolumeClaim":
        yield from _claim_changes(old, new)
        return
    if kind == "Service":
        yield from _service_changes(old, new)
        return
    if kind == "StatefulSet":
        yield from _stateful_set_changes(old, new)
        return
    if kind in ("ConfigMap", "Secret"):
        yield from _data_changes(kind, old, new)
        return
    if kind == "PersistentVolume":
        yield from _volume_changes(old, new)
        return
    for path in _IMMUTABLE.get(kind, ()):
        value = dig(new, *path)
        if dig(old, *path) != value:
            why = "cannot change roleRef" if path == ("roleRef",) else "field is immutable"
            yield ".".join(path), INVALID, f"Invalid value: {json.dumps(value, separators=(',', ':'))}: {why}"


_IMMUTABLE: dict[str, tuple[tuple[str, ...], ...]] = {
    "Deployment": (("spec", "selector"),),
    "ReplicaSet": (("spec", "selector"),),
    "DaemonSet": (("spec", "selector"),),
    "Job": (
        ("spec", "selector"),
        ("spec", "template"),
        ("spec", "completionMode"),
        ("spec", "completions"),
        ("spec", "podFailurePolicy"),
    ),
    "StorageClass": (("provisioner",), ("parameters",), ("reclaimPolicy",), ("volumeBindingMode",)),
    "RoleBinding": (("roleRef",),),
    "ClusterRoleBinding": (("roleRef",),),
    "PriorityClass": (("value",), ("preemptionPolicy",)),
    "RuntimeClass": (("handler",),),
    "CSIDriver": (("spec", "attachRequired"), ("spec", "fsGroupPolicy")),
    "IngressClass": (("spec", "controller"),),
}  # fmt: skip


def _pod_changes(old: Object, new: Object) -> Iterator[Cause]:
    def frozen(pod: Object) -> Object:
        spec = {key: value for key, value in pod["spec"].items() if key not in _POD_MUTABLE}
        for field in ("containers", "initContainers"):
            spec[field] = [{**container, "image": ""} for container in items(spec, field)]
        return spec

    if frozen(old) != frozen(new):
        yield (
            "spec",
            FORBIDDEN,
            "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
            "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds`",
        )
    before: list[Any] = items(old["spec"], "tolerations")
    after: list[Any] = items(new["spec"], "tolerations")
    if any(toleration not in after for toleration in before):
        yield (
            "spec.tolerations",
            FORBIDDEN,
            "Forbidden: existing toleration can not be modified except its tolerationSeconds",
        )


def _claim_changes(old: Object, new: Object) -> Iterator[Cause]:
    before, after = dict(old["spec"]), dict(new["spec"])
    for spec in (before, after):
        resources = dict(mapping(spec, "resources"))
        requests = dict(mapping(resources, "requests"))
        requests.pop("storage", None)
        spec["resources"] = {**resources, "requests": requests}
        spec.pop("volumeAttributesClassName", None)
    if "volumeName" not in before:
        after.pop("volumeName", None)
    if before != after:
        yield (
            "spec",
            FORBIDDEN,
            _CLAIM_IS_IMMUTABLE,
        )
    was, now = (dig(claim, "spec", "resources", "requests", "storage") for claim in (old, new))
    if was and now and quantities.value(now) < quantities.value(was):
        yield "spec.resources.requests.storage", FORBIDDEN, "Forbidden: field can not be less than status.capacity"
    elif was != now and dig(old, "status", "phase") != "Bound":
        yield (
            "spec",
            FORBIDDEN,
            _CLAIM_IS_IMMUTABLE,
        )


def _service_changes(old: Object, new: Object) -> Iterator[Cause]:
    before, after = old["spec"], new["spec"]
    if before.get("type") == "ExternalName" or after.get("type") == "ExternalName":
        return
    if before.get("clusterIP") and after.get("clusterIP") != before["clusterIP"]:
        yield "spec.clusterIPs[0]", INVALID, f"Invalid value: {after.get('clusterIPs')!r}: may not change once set"


def _stateful_set_changes(old: Object, new: Object) -> Iterator[Cause]:
    free = {
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    }
    before = {key: value for key, value in old["spec"].items() if key not in free}
    after = {key: value for key, value in new["spec"].items() if key not in free}
    if before != after:
        yield (
            "spec",
            FORBIDDEN,
            "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
            "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' "
            "are forbidden",
        )


def _volume_changes(old: Object, new: Object) -> Iterator[Cause]:
    def source(volume: Object) -> Object:
        return {key: value for key, value in volume["spec"].items() if key not in VOLUME_FIELDS}

    if source(old) != source(new):
        yield (
            "spec.persistentvolumesource",
            FORBIDDEN,
            "Forbidden: spec.persistentvolumesource is immutable after creation",
        )
    for field in ("volumeMode",):
        if old["spec"].get(field) != new["spec"].get(field):
            yield f"spec.{field}", INVALID, f"Invalid value: {new['spec'].get(field)!r}: field is immutable"
    if "nodeAffinity" in old["spec"] and old["spec"]["nodeAffinity"] != new["spec"].get("nodeAffinity"):
        yield (
            "spec.nodeAffinity",
            INVALID,
            "Invalid value: field is immutable, except for updating from beta label to GA",
        )


def _data_changes(kind: str, old: Object, new: Object) -> Iterator[Cause]:
    if kind == "Secret" and old.get("type") != new.get("type"):
        yield "type", INVALID, f'Invalid value: "{new.get("type")}": field is immutable'
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        yield "immutable", FORBIDDEN, "Forbidden: field is immutable when `immutable` is set"
    for field in ("data", "binaryData"):
        if old.get(field) != new.get(field):
            yield field, FORBIDDEN, "Forbidden: field is immutable when `immutable` is set"


_CLAIM_IS_IMMUTABLE = (
    "Forbidden: spec is immutable after creation except resources.requests and "
    "volumeAttributesClassName for bound claims"
)
_POD_MUTABLE = {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "ephemeralContainers"}
