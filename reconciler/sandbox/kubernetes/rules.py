"""What the real server refuses in a built-in object although every field has the right type.

`broken_rules(kind, obj)` looks at one object, `broken_changes(old, new)`
at what may not change. Both answer causes (field, reason, message).
"""

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from reconciler.sandbox.kubernetes import quantities
from reconciler.sandbox.kubernetes.objects import Object, dig
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


def broken_metadata(kind: str, metadata: Object) -> Iterator[Cause]:
    name: str = metadata["name"]
    if kind in _RBAC:
        if "/" in name or "%" in name or name in (".", ".."):
            yield "metadata.name", INVALID, f'Invalid value: "{name}": may not contain "/" or "%"'
    elif kind in _LABEL_NAMED:
        if len(name) > 63 or not _LABEL.match(name):
            yield "metadata.name", INVALID, f'Invalid value: "{name}": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "-"'
    elif kind == "Service":
        if len(name) > 63 or not _LABEL.match(name):
            yield "metadata.name", INVALID, f'Invalid value: "{name}": a DNS label must have at most 63 lower case alphanumeric characters or "-"'
    elif len(name) > 253 or not _SUBDOMAIN.match(name):
        yield "metadata.name", INVALID, f'Invalid value: "{name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "-" or "."'
    yield from broken_labels("metadata.labels", metadata.get("labels") or {})
    total = 0
    for key, value in (metadata.get("annotations") or {}).items():
        total += len(key) + len(str(value).encode())
        if not _qualified(key.lower()):
            yield "metadata.annotations", INVALID, f'Invalid value: "{key}": name part must consist of alphanumeric characters, "-", "_" or "."'
    if total > MAX_ANNOTATION_BYTES:
        yield "metadata.annotations", TOO_LONG, f"Too long: may not be more than {MAX_ANNOTATION_BYTES} bytes"
    for finalizer in metadata.get("finalizers") or []:
        if not _qualified(finalizer):
            yield "metadata.finalizers", INVALID, f'Invalid value: "{finalizer}": name is not qualified'
    controllers = 0
    for index, owner in enumerate(metadata.get("ownerReferences") or []):
        controllers += bool(owner.get("controller"))
        for key in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(key):
                yield f"metadata.ownerReferences[{index}].{key}", INVALID, 'Invalid value: "": must not be empty'
    if controllers > 1:
        yield "metadata.ownerReferences", INVALID, "Invalid value: only one reference can have Controller set to true"


def broken_labels(path: str, labels: Object) -> Iterator[Cause]:
    for key, value in labels.items():
        if not _qualified(key):
            yield path, INVALID, f'Invalid value: "{key}": name part must consist of alphanumeric characters, "-", "_" or "."'
        if len(value) > 63 or (value and not _LABEL_NAME.match(value)):
            yield path, INVALID, f'Invalid value: "{value}": a valid label must be an empty string or at most 63 characters, alphanumeric, "-", "_" or "."'


def broken_rules(kind: str, obj: Object) -> Iterator[Cause]:
    """Rules of one built-in object after defaulting."""
    check = _CHECKS.get(kind)
    if check is not None:
        yield from check(obj)


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
        if dig(old, *path) != dig(new, *path):
            yield ".".join(path), INVALID, f"Invalid value: {dig(new, *path)!r}: field is immutable"


_IMMUTABLE: dict[str, tuple[tuple[str, ...], ...]] = {
    "Deployment": (("spec", "selector"),),
    "ReplicaSet": (("spec", "selector"),),
    "DaemonSet": (("spec", "selector"),),
    "Job": (("spec", "selector"), ("spec", "template"), ("spec", "completionMode"), ("spec", "completions"), ("spec", "podFailurePolicy")),
    "StorageClass": (("provisioner",), ("parameters",), ("reclaimPolicy",), ("volumeBindingMode",)),
    "RoleBinding": (("roleRef",),),
    "ClusterRoleBinding": (("roleRef",),),
    "PriorityClass": (("value",), ("preemptionPolicy",)),
    "RuntimeClass": (("handler",),),
    "CSIDriver": (("spec", "attachRequired"), ("spec", "fsGroupPolicy")),
    "IngressClass": (("spec", "controller"),),
}  # fmt: skip


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
    yield from _one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy"), ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"))
    if not spec.get("containers"):
        yield f"{path}.containers", REQUIRED, "Required value"
    volumes: set[str] = set()
    for index, volume in enumerate(spec.get("volumes") or []):
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
        for index, container in enumerate(spec.get(field) or []):
            here = f"{path}.{field}[{index}]"
            name = container.get("name") or ""
            if name in names:
                yield f"{here}.name", DUPLICATE, f'Duplicate value: "{name}"'
            names.add(name)
            yield from _container(here, container, volumes)
    for index, toleration in enumerate(spec.get("tolerations") or []):
        operator = toleration.get("operator") or "Equal"
        yield from _one_of(f"{path}.tolerations[{index}].operator", operator, ("Equal", "Exists"))
        if operator == "Exists" and toleration.get("value"):
            yield f"{path}.tolerations[{index}].operator", INVALID, "Invalid value: value must be empty when `operator` is 'Exists'"
        if not toleration.get("key") and operator != "Exists":
            yield f"{path}.tolerations[{index}].operator", INVALID, "Invalid value: operator must be Exists when `key` is empty"
    required = dig(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    if required is not None and not required.get("nodeSelectorTerms"):
        yield f"{path}.affinity.nodeAffinity", REQUIRED, "Required value: must have at least one node selector term"
    for key, value in (spec.get("nodeSelector") or {}).items():
        yield from broken_labels(f"{path}.nodeSelector", {key: value})


def _container(path: str, container: Object, volumes: set[str]) -> Iterator[Cause]:
    name = container.get("name") or ""
    if len(name) > 63 or not _LABEL.match(name):
        yield f"{path}.name", INVALID, f'Invalid value: "{name}": a lowercase RFC 1123 label is needed'
    if not container.get("image"):
        yield f"{path}.image", REQUIRED, "Required value"
    yield from _one_of(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), ("Always", "IfNotPresent", "Never"))
    mounts: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or []):
        if mount.get("name") not in volumes:
            yield f"{path}.volumeMounts[{index}].name", "FieldValueNotFound", f'Not found: "{mount.get("name")}"'
        if mount.get("mountPath") in mounts:
            yield f"{path}.volumeMounts[{index}].mountPath", INVALID, f'Invalid value: "{mount.get("mountPath")}": must be unique'
        mounts.add(mount.get("mountPath"))
    for index, port in enumerate(container.get("ports") or []):
        number = port.get("containerPort")
        if not isinstance(number, int) or not 0 < number < 65536:
            yield f"{path}.ports[{index}].containerPort", INVALID, f"Invalid value: {number}: must be between 1 and 65535, inclusive"
        yield from _one_of(f"{path}.ports[{index}].protocol", port.get("protocol"), ("SCTP", "TCP", "UDP"))
    yield from _resources(f"{path}.resources", container.get("resources") or {})


def _resources(path: str, resources: Object) -> Iterator[Cause]:
    limits: Object = resources.get("limits") or {}
    requests: Object = resources.get("requests") or {}
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            if quantities.value(amount) < 0:
                yield f"{path}.{field}[{name}]", INVALID, f'Invalid value: "{amount}": must be greater than or equal to 0'
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
            yield f"{path}.requests", INVALID, f'Invalid value: "{amount}": must be less than or equal to {name} limit of {limit}'


def _extended(name: str) -> bool:
    return ("/" in name and not name.startswith("kubernetes.io/")) or name.startswith("hugepages-")


def _workload(obj: Object) -> Iterator[Cause]:
    spec: Object = obj["spec"]
    template: Object = spec.get("template") or {}
    labels: Object = dig(template, "metadata", "labels") or {}
    if isinstance(spec.get("replicas"), int) and spec["replicas"] < 0:
        yield "spec.replicas", INVALID, f"Invalid value: {spec['replicas']}: must be greater than or equal to 0"
    selector = spec.get("selector")
    if selector is not None and not (selector.get("matchLabels") or selector.get("matchExpressions")):
        yield "spec.selector", INVALID, "Invalid value: empty selector is invalid"
    elif selector is not None and not matches_selector(selector, labels):
        yield "spec.template.metadata.labels", INVALID, f"Invalid value: {labels!r}: `selector` does not match template `labels`"
    yield from broken_labels("spec.template.metadata.labels", labels)
    if "spec" in template:
        yield from _pod_spec("spec.template.spec", template["spec"], ("Always",))


def _job(obj: Object) -> Iterator[Cause]:
    spec: Object = obj["spec"]
    template: Object = spec.get("template") or {}
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
    if len(str(obj["spec"].get("schedule") or "").split()) != 5 and not str(obj["spec"].get("schedule")).startswith("@"):
        yield "spec.schedule", INVALID, f'Invalid value: "{obj["spec"].get("schedule")}": expected exactly 5 fields'
    template: Object = dig(obj, "spec", "jobTemplate", "spec", "template") or {}
    if "spec" in template:
        yield from _pod_spec("spec.jobTemplate.spec.template.spec", template["spec"], ("OnFailure", "Never"))


def _service(obj: Object) -> Iterator[Cause]:
    spec: Object = obj["spec"]
    kinds = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
    yield from _one_of("spec.type", spec.get("type"), kinds)
    yield from _one_of("spec.sessionAffinity", spec.get("sessionAffinity"), ("ClientIP", "None"))
    ports = spec.get("ports") or []
    if not ports and spec.get("type") != "ExternalName" and spec.get("clusterIP") != "None":
        yield "spec.ports", REQUIRED, "Required value"
    if spec.get("type") == "ExternalName" and not spec.get("externalName"):
        yield "spec.externalName", REQUIRED, "Required value"
    seen: set[tuple[Any, Any]] = set()
    for index, port in enumerate(ports):
        number = port.get("port")
        if not isinstance(number, int) or not 0 < number < 65536:
            yield f"spec.ports[{index}].port", INVALID, f"Invalid value: {number}: must be between 1 and 65535, inclusive"
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
    for index, mode in enumerate(spec.get("accessModes") or []):
        yield from _one_of(f"spec.accessModes[{index}]", mode, _ACCESS_MODES)
    sources = [key for key, value in spec.items() if key not in _VOLUME_FIELDS and isinstance(value, dict)]
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
    for index, mode in enumerate(spec.get("accessModes") or []):
        yield from _one_of(f"spec.accessModes[{index}]", mode, _ACCESS_MODES)
    storage = dig(spec, "resources", "requests", "storage")
    if storage is None:
        yield "spec.resources[storage]", REQUIRED, "Required value"
    elif quantities.value(storage) <= 0:
        yield "spec.resources[storage]", INVALID, f'Invalid value: "{storage}": must be greater than zero'


def _data(obj: Object) -> Iterator[Cause]:
    total = 0
    for field in ("data", "binaryData"):
        for key, value in (obj.get(field) or {}).items():
            if len(key) > 253 or not _DATA_KEY.match(key):
                yield f"{field}[{key}]", INVALID, f'Invalid value: "{key}": a valid config key must consist of alphanumeric characters, "-", "_" or "."'
            total += len(value.encode()) if field == "data" and obj["kind"] == "ConfigMap" else len(value) * 3 // 4
    if total > MAX_DATA_BYTES:
        yield "data" if obj["kind"] == "Secret" else "", TOO_LONG, f"Too long: may not be more than {MAX_DATA_BYTES} bytes"


def _node(obj: Object) -> Iterator[Cause]:
    for index, taint in enumerate(obj["spec"].get("taints") or []):
        yield from _one_of(f"spec.taints[{index}].effect", taint.get("effect"), ("NoSchedule", "PreferNoSchedule", "NoExecute"))


def _autoscaler(obj: Object) -> Iterator[Cause]:
    spec: Object = obj["spec"]
    low, high = spec.get("minReplicas", 1), spec.get("maxReplicas", 0)
    if high < 1 or low > high:
        yield "spec.maxReplicas", INVALID, f"Invalid value: {high}: must be greater than or equal to `minReplicas`"


def _role_binding(obj: Object) -> Iterator[Cause]:
    yield from _one_of("roleRef.kind", dig(obj, "roleRef", "kind"), ("Role", "ClusterRole"))


def _pod_changes(old: Object, new: Object) -> Iterator[Cause]:
    def frozen(pod: Object) -> Object:
        spec = {key: value for key, value in pod["spec"].items() if key not in _POD_MUTABLE}
        for field in ("containers", "initContainers"):
            spec[field] = [{**container, "image": ""} for container in spec.get(field) or []]
        return spec

    if frozen(old) != frozen(new):
        yield "spec", FORBIDDEN, "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds`"
    before: list[Any] = old["spec"].get("tolerations") or []
    after: list[Any] = new["spec"].get("tolerations") or []
    if any(toleration not in after for toleration in before):
        yield "spec.tolerations", FORBIDDEN, "Forbidden: existing toleration can not be modified except its tolerationSeconds"


def _claim_changes(old: Object, new: Object) -> Iterator[Cause]:
    before, after = dict(old["spec"]), dict(new["spec"])
    for spec in (before, after):
        resources = dict(spec.get("resources") or {})
        requests = dict(resources.get("requests") or {})
        requests.pop("storage", None)
        spec["resources"] = {**resources, "requests": requests}
        spec.pop("volumeAttributesClassName", None)
    if "volumeName" not in before:
        after.pop("volumeName", None)
    if before != after:
        yield "spec", FORBIDDEN, "Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
    was, now = (dig(claim, "spec", "resources", "requests", "storage") for claim in (old, new))
    if was and now and quantities.value(now) < quantities.value(was):
        yield "spec.resources.requests.storage", FORBIDDEN, "Forbidden: field can not be less than status.capacity"
    elif was != now and dig(old, "status", "phase") != "Bound":
        yield "spec", FORBIDDEN, "Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"


def _service_changes(old: Object, new: Object) -> Iterator[Cause]:
    before, after = old["spec"], new["spec"]
    if before.get("type") == "ExternalName" or after.get("type") == "ExternalName":
        return
    if before.get("clusterIP") and after.get("clusterIP") != before["clusterIP"]:
        yield "spec.clusterIPs[0]", INVALID, f"Invalid value: {after.get('clusterIPs')!r}: may not change once set"


def _stateful_set_changes(old: Object, new: Object) -> Iterator[Cause]:
    free = {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}
    before = {key: value for key, value in old["spec"].items() if key not in free}
    after = {key: value for key, value in new["spec"].items() if key not in free}
    if before != after:
        yield "spec", FORBIDDEN, "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"


def _volume_changes(old: Object, new: Object) -> Iterator[Cause]:
    def source(volume: Object) -> Object:
        return {key: value for key, value in volume["spec"].items() if key not in _VOLUME_FIELDS}

    if source(old) != source(new):
        yield "spec.persistentvolumesource", FORBIDDEN, "Forbidden: spec.persistentvolumesource is immutable after creation"
    for field in ("volumeMode",):
        if old["spec"].get(field) != new["spec"].get(field):
            yield f"spec.{field}", INVALID, f"Invalid value: {new['spec'].get(field)!r}: field is immutable"
    if "nodeAffinity" in old["spec"] and old["spec"]["nodeAffinity"] != new["spec"].get("nodeAffinity"):
        yield "spec.nodeAffinity", INVALID, "Invalid value: field is immutable, except for updating from beta label to GA"


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


_ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
_VOLUME_FIELDS = {
    "capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName", "mountOptions",
    "volumeMode", "nodeAffinity", "volumeAttributesClassName",
}  # fmt: skip
_POD_MUTABLE = {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "ephemeralContainers"}

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
    "RoleBinding": _role_binding,
    "ClusterRoleBinding": _role_binding,
}
