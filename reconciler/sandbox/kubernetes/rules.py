"""What the real server refuses in a built-in object although every field has the right type.

Answers causes (field, reason, message). What may not change is in `immutability`.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from reconciler.sandbox.kubernetes import quantities
from reconciler.sandbox.kubernetes.objects import Object, dig, items, mapping
from reconciler.sandbox.kubernetes.pruning import Findings
from reconciler.sandbox.kubernetes.selectors import matches_selector

Cause: TypeAlias = tuple[str, str, str]

REQUIRED, INVALID, FORBIDDEN = "FieldValueRequired", "FieldValueInvalid", "FieldValueForbidden"
UNSUPPORTED, DUPLICATE, TOO_LONG = "FieldValueNotSupported", "FieldValueDuplicate", "FieldValueTooLong"

MAX_DATA_BYTES = 1024 * 1024
MAX_ANNOTATION_BYTES = 256 * 1024

_SUBDOMAIN = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
_LABEL = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
_DNS1035 = re.compile(r"^[a-z]([-a-z0-9]*[a-z0-9])?$")
_LABEL_NAME = re.compile(r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
_DATA_KEY = re.compile(r"^[-._a-zA-Z0-9]+$")
_RBAC = {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
_LABEL_NAMED = {"Namespace"}


def missing_fields(findings: Findings) -> list[Cause]:
    """Required fields that are absent; a status is never asked for them."""
    causes: list[Cause] = []
    for path, name in findings.missing:
        if path.split(".")[0] in ("status", "metadata") or (name, path) in _FILLED_LATER:
            continue
        causes.append((f"{path}.{name}" if path else name, REQUIRED, "Required value"))
    return causes


def broken_metadata(kind: str, metadata: Object) -> Iterator[Cause]:
    name: str = metadata["name"]
    if kind in _RBAC:
        if "/" in name or "%" in name or name in (".", ".."):
            yield "metadata.name", INVALID, f'Invalid value: "{name}": may not contain "/" or "%"'
    elif kind in _LABEL_NAMED:
        if len(name) > 63 or not _LABEL.match(name):
            yield (
                "metadata.name",
                INVALID,
                f'Invalid value: "{name}": a lowercase RFC 1123 label must consist of alphanumeric characters or "-"',
            )
    elif kind == "Service":
        if len(name) > 63 or not _LABEL.match(name):
            yield (
                "metadata.name",
                INVALID,
                f'Invalid value: "{name}": a DNS label must have at most 63 lower case alphanumeric characters or "-"',
            )
    elif len(name) > 253 or not _SUBDOMAIN.match(name):
        yield (
            "metadata.name",
            INVALID,
            f'Invalid value: "{name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric '
            'characters, "-" or "."',
        )
    yield from broken_labels("metadata.labels", mapping(metadata, "labels"))
    total = 0
    for key, value in mapping(metadata, "annotations").items():
        total += len(key) + len(str(value).encode())
        if not _qualified(key.lower()):
            yield (
                "metadata.annotations",
                INVALID,
                f'Invalid value: "{key}": name part must consist of alphanumeric characters, "-", "_" or "."',
            )
    if total > MAX_ANNOTATION_BYTES:
        yield "metadata.annotations", TOO_LONG, f"Too long: may not be more than {MAX_ANNOTATION_BYTES} bytes"
    for finalizer in items(metadata, "finalizers"):
        if not _qualified(finalizer):
            yield "metadata.finalizers", INVALID, f'Invalid value: "{finalizer}": name is not qualified'
    controllers = 0
    for index, owner in enumerate(items(metadata, "ownerReferences")):
        controllers += bool(owner.get("controller"))
        for key in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(key):
                yield f"metadata.ownerReferences[{index}].{key}", INVALID, 'Invalid value: "": must not be empty'
    if controllers > 1:
        yield "metadata.ownerReferences", INVALID, "Invalid value: only one reference can have Controller set to true"


def broken_labels(path: str, labels: Object) -> Iterator[Cause]:
    for key, value in labels.items():
        if not _qualified(key):
            yield (
                path,
                INVALID,
                f'Invalid value: "{key}": name part must consist of alphanumeric characters, "-", "_" or "."',
            )
        if len(value) > 63 or (value and not _LABEL_NAME.match(value)):
            yield (
                path,
                INVALID,
                f'Invalid value: "{value}": a valid label must be an empty string or at most 63 characters, '
                'alphanumeric, "-", "_" or "."',
            )


def broken_rules(kind: str, obj: Object) -> Iterator[Cause]:
    """Rules of one built-in object after defaulting."""
    check = _CHECKS.get(kind)
    if check is not None:
        yield from check(obj)


def _qualified(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not _SUBDOMAIN.match(prefix)):
        return False
    return len(name) <= 63 and _LABEL_NAME.match(name) is not None


def _one_of(path: str, value: Any, allowed: tuple[str, ...]) -> Iterator[Cause]:
    if value not in allowed:
        choices = ", ".join(f'"{each}"' for each in allowed)
        yield path, UNSUPPORTED, f'Unsupported value: "{value}": supported values: {choices}'


def _pod(obj: Object) -> Iterator[Cause]:
    yield from _pod_spec("spec", obj["spec"], ("Always", "OnFailure", "Never"))


def _pod_spec(path: str, spec: Object, restart: tuple[str, ...]) -> Iterator[Cause]:
    yield from _one_of(f"{path}.restartPolicy", spec.get("restartPolicy"), restart)
    yield from _one_of(
        f"{path}.dnsPolicy", spec.get("dnsPolicy"), ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
    )
    if not spec.get("containers"):
        yield f"{path}.containers", REQUIRED, "Required value"
    volumes: set[str] = set()
    for index, volume in enumerate(items(spec, "volumes")):
        here = f"{path}.volumes[{index}]"
        name = volume.get("name") or ""
        if not _LABEL.match(name) or len(name) > 63:
            yield f"{here}.name", INVALID, f'Invalid value: "{name}": a lowercase RFC 1123 label is needed'
        if name in volumes:
            yield f"{here}.name", DUPLICATE, f'Duplicate value: "{name}"'
        if len(set(volume) - {"name"}) > 1:
            yield here, FORBIDDEN, "Forbidden: may not specify more than 1 volume type"
        volumes.add(name)
    names: set[str] = set()
    for field in ("initContainers", "containers"):
        for index, container in enumerate(items(spec, field)):
            here = f"{path}.{field}[{index}]"
            name = container.get("name") or ""
            if name in names:
                yield f"{here}.name", DUPLICATE, f'Duplicate value: "{name}"'
            names.add(name)
            yield from _container(here, container, volumes)
    for index, toleration in enumerate(items(spec, "tolerations")):
        operator = toleration.get("operator") or "Equal"
        yield from _one_of(f"{path}.tolerations[{index}].operator", operator, ("Equal", "Exists"))
        if operator == "Exists" and toleration.get("value"):
            yield (
                f"{path}.tolerations[{index}].operator",
                INVALID,
                "Invalid value: value must be empty when `operator` is 'Exists'",
            )
        if not toleration.get("key") and operator != "Exists":
            yield (
                f"{path}.tolerations[{index}].operator",
                INVALID,
                "Invalid value: operator must be Exists when `key` is empty",
            )
    required = dig(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    if required is not None and not required.get("nodeSelectorTerms"):
        yield f"{path}.affinity.nodeAffinity", REQUIRED, "Required value: must have at least one node selector term"
    for key, value in mapping(spec, "nodeSelector").items():
        yield from broken_labels(f"{path}.nodeSelector", {key: value})


def _container(path: str, container: Object, volumes: set[str]) -> Iterator[Cause]:
    name = container.get("name") or ""
    if len(name) > 63 or not _LABEL.match(name):
        yield f"{path}.name", INVALID, f'Invalid value: "{name}": a lowercase RFC 1123 label is needed'
    if not container.get("image"):
        yield f"{path}.image", REQUIRED, "Required value"
    yield from _one_of(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), ("Always", "IfNotPresent", "Never"))
    mounts: set[str] = set()
    for index, mount in enumerate(items(container, "volumeMounts")):
        if mount.get("name") not in volumes:
            yield f"{path}.volumeMounts[{index}].name", "FieldValueNotFound", f'Not found: "{mount.get("name")}"'
        if mount.get("mountPath") in mounts:
            yield (
                f"{path}.volumeMounts[{index}].mountPath",
                INVALID,
                f'Invalid value: "{mount.get("mountPath")}": must be unique',
            )
        mounts.add(mount.get("mountPath"))
    for index, port in enumerate(items(container, "ports")):
        number = port.get("containerPort")
        if not isinstance(number, int) or not 0 < number < 65536:
            yield (
                f"{path}.ports[{index}].containerPort",
                INVALID,
                f"Invalid value: {number}: must be between 1 and 65535, inclusive",
            )
        yield from _one_of(f"{path}.ports[{index}].protocol", port.get("protocol"), ("SCTP", "TCP", "UDP"))
    yield from _resources(f"{path}.resources", mapping(container, "resources"))


def _resources(path: str, resources: Object) -> Iterator[Cause]:
    limits: Object = mapping(resources, "limits")
    requests: Object = mapping(resources, "requests")
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            if quantities.value(amount) < 0:
                yield (
                    f"{path}.{field}[{name}]",
                    INVALID,
                    f'Invalid value: "{amount}": must be greater than or equal to 0',
                )
            if _extended(name) and quantities.value(amount) % 1:
                yield f"{path}.{field}[{name}]", INVALID, f'Invalid value: "{amount}": must be an integer'
    for name, amount in requests.items():
        limit = limits.get(name)
        if limit is None:
            if _extended(name):
                yield f"{path}.limits", REQUIRED, "Required value: Limit must be set for non overcommitable resources"
        elif _extended(name) and quantities.value(amount) != quantities.value(limit):
            yield f"{path}.requests", INVALID, f'Invalid value: "{amount}": must be equal to {name} limit of {limit}'
        elif quantities.value(amount) > quantities.value(limit):
            yield (
                f"{path}.requests",
                INVALID,
                f'Invalid value: "{amount}": must be less than or equal to {name} limit of {limit}',
            )


def _extended(name: str) -> bool:
    return ("/" in name and not name.startswith("kubernetes.io/")) or name.startswith("hugepages-")


def _workload(obj: Object) -> Iterator[Cause]:
    spec: Object = obj["spec"]
    template: Object = mapping(spec, "template")
    labels: Object = mapping(template, "metadata", "labels")
    if isinstance(spec.get("replicas"), int) and spec["replicas"] < 0:
        yield "spec.replicas", INVALID, f"Invalid value: {spec['replicas']}: must be greater than or equal to 0"
    selector = spec.get("selector")
    if selector is not None and not (selector.get("matchLabels") or selector.get("matchExpressions")):
        yield "spec.selector", INVALID, "Invalid value: empty selector is invalid"
    elif selector is not None and not matches_selector(selector, labels):
        yield (
            "spec.template.metadata.labels",
            INVALID,
            f"Invalid value: {labels!r}: `selector` does not match template `labels`",
        )
    yield from broken_labels("spec.template.metadata.labels", labels)
    if "spec" in template:
        yield from _pod_spec("spec.template.spec", template["spec"], ("Always",))


def _job(obj: Object) -> Iterator[Cause]:
    spec: Object = obj["spec"]
    template: Object = mapping(spec, "template")
    if len(obj["metadata"]["name"]) > 63:
        yield "metadata.name", INVALID, "Invalid value: must be no more than 63 characters"
    for field in ("parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished", "activeDeadlineSeconds"):
        if isinstance(spec.get(field), int) and spec[field] < 0:
            yield f"spec.{field}", INVALID, f"Invalid value: {spec[field]}: must be greater than or equal to 0"
    if "spec" in template:
        yield from _pod_spec("spec.template.spec", template["spec"], ("OnFailure", "Never"))


def _cron_job(obj: Object) -> Iterator[Cause]:
    if len(obj["metadata"]["name"]) > 52:
        yield "metadata.name", INVALID, "Invalid value: must be no more than 52 characters"
    if len(str(obj["spec"].get("schedule") or "").split()) != 5 and not str(obj["spec"].get("schedule")).startswith(
        "@"
    ):
        yield "spec.schedule", INVALID, f'Invalid value: "{obj["spec"].get("schedule")}": expected exactly 5 fields'
    template: Object = mapping(obj, "spec", "jobTemplate", "spec", "template")
    if "spec" in template:
        yield from _pod_spec("spec.jobTemplate.spec.template.spec", template["spec"], ("OnFailure", "Never"))


def _service(obj: Object) -> Iterator[Cause]:
    spec: Object = obj["spec"]
    kinds = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
    yield from _one_of("spec.type", spec.get("type"), kinds)
    yield from _one_of("spec.sessionAffinity", spec.get("sessionAffinity"), ("ClientIP", "None"))
    ports = items(spec, "ports")
    if not ports and spec.get("type") != "ExternalName" and spec.get("clusterIP") != "None":
        yield "spec.ports", REQUIRED, "Required value"
    if spec.get("type") == "ExternalName" and not spec.get("externalName"):
        yield "spec.externalName", REQUIRED, "Required value"
    seen: set[tuple[Any, Any]] = set()
    for index, port in enumerate(ports):
        number = port.get("port")
        if not isinstance(number, int) or not 0 < number < 65536:
            yield (
                f"spec.ports[{index}].port",
                INVALID,
                f"Invalid value: {number}: must be between 1 and 65535, inclusive",
            )
        if len(ports) > 1 and not port.get("name"):
            yield f"spec.ports[{index}].name", REQUIRED, "Required value"
        if (number, port.get("protocol")) in seen:
            yield f"spec.ports[{index}]", DUPLICATE, f"Duplicate value: {number}"
        seen.add((number, port.get("protocol")))


def _persistent_volume(obj: Object) -> Iterator[Cause]:
    spec: Object = obj["spec"]
    if not dig(spec, "capacity", "storage"):
        yield "spec.capacity", REQUIRED, "Required value"
    if not spec.get("accessModes"):
        yield "spec.accessModes", REQUIRED, "Required value"
    for index, mode in enumerate(items(spec, "accessModes")):
        yield from _one_of(f"spec.accessModes[{index}]", mode, _ACCESS_MODES)
    sources = [key for key, value in spec.items() if key not in VOLUME_FIELDS and isinstance(value, dict)]
    if not sources:
        yield "spec", REQUIRED, "Required value: must specify a volume type"
    if len(sources) > 1:
        yield "spec", FORBIDDEN, "Forbidden: may not specify more than 1 volume type"
    if (csi := spec.get("csi")) and not csi.get("volumeHandle"):
        yield "spec.csi.volumeHandle", REQUIRED, "Required value"


def _claim(obj: Object) -> Iterator[Cause]:
    spec: Object = obj["spec"]
    if not spec.get("accessModes"):
        yield "spec.accessModes", REQUIRED, "Required value: at least 1 access mode is required"
    for index, mode in enumerate(items(spec, "accessModes")):
        yield from _one_of(f"spec.accessModes[{index}]", mode, _ACCESS_MODES)
    storage = dig(spec, "resources", "requests", "storage")
    if storage is None:
        yield "spec.resources[storage]", REQUIRED, "Required value"
    elif quantities.value(storage) <= 0:
        yield "spec.resources[storage]", INVALID, f'Invalid value: "{storage}": must be greater than zero'


def _data(obj: Object) -> Iterator[Cause]:
    total = 0
    for field in ("data", "binaryData"):
        for key, value in mapping(obj, field).items():
            if len(key) > 253 or not _DATA_KEY.match(key):
                yield (
                    f"{field}[{key}]",
                    INVALID,
                    f'Invalid value: "{key}": a valid config key must consist of alphanumeric characters, '
                    '"-", "_" or "."',
                )
            total += len(value.encode()) if field == "data" and obj["kind"] == "ConfigMap" else len(value) * 3 // 4
    if total > MAX_DATA_BYTES:
        yield (
            "data" if obj["kind"] == "Secret" else "[]",
            TOO_LONG,
            f"Too long: may not be more than {MAX_DATA_BYTES} bytes",
        )


def _node(obj: Object) -> Iterator[Cause]:
    for index, taint in enumerate(items(obj["spec"], "taints")):
        yield from _one_of(
            f"spec.taints[{index}].effect", taint.get("effect"), ("NoSchedule", "PreferNoSchedule", "NoExecute")
        )


def _autoscaler(obj: Object) -> Iterator[Cause]:
    spec: Object = obj["spec"]
    low, high = spec.get("minReplicas", 1), spec.get("maxReplicas", 0)
    if high < 1 or low > high:
        yield "spec.maxReplicas", INVALID, f"Invalid value: {high}: must be greater than or equal to `minReplicas`"


def _role(obj: Object) -> Iterator[Cause]:
    for index, rule in enumerate(items(obj, "rules")):
        at = f"rules[{index}]"
        if not rule.get("verbs"):
            yield f"{at}.verbs", REQUIRED, "Required value: verbs must contain at least one value"
        if paths := items(rule, "nonResourceURLs"):
            if obj["kind"] == "Role":
                shown = json.dumps(paths, separators=(",", ":"))
                why = "namespaced rules cannot apply to non-resource URLs"
                yield f"{at}.nonResourceURLs", INVALID, f"Invalid value: {shown}: {why}"
            continue
        for part, what in (("apiGroups", "api group"), ("resources", "resource")):
            if not rule.get(part):
                yield f"{at}.{part}", REQUIRED, f"Required value: resource rules must supply at least one {what}"


def _role_binding(obj: Object) -> Iterator[Cause]:
    yield from _one_of("roleRef.kind", dig(obj, "roleRef", "kind"), ("Role", "ClusterRole"))


_FILLED_LATER = {("apiGroup", "roleRef"), ("kind", "subjects"), ("metadata", "")}
_ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
VOLUME_FIELDS = {
    "capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName", "mountOptions",
    "volumeMode", "nodeAffinity", "volumeAttributesClassName",
}  # fmt: skip

_CHECKS: dict[str, Any] = {
    "Pod": _pod,
    "Deployment": _workload,
    "ReplicaSet": _workload,
    "DaemonSet": _workload,
    "StatefulSet": _workload,
    "Job": _job,
    "CronJob": _cron_job,
    "Service": _service,
    "PersistentVolume": _persistent_volume,
    "PersistentVolumeClaim": _claim,
    "ConfigMap": _data,
    "Secret": _data,
    "Node": _node,
    "HorizontalPodAutoscaler": _autoscaler,
    "Role": _role,
    "ClusterRole": _role,
    "RoleBinding": _role_binding,
    "ClusterRoleBinding": _role_binding,
}
