"""What a write keeps of the object that is there, what makes a new generation of it, and when it may go."""

from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.objects import Object, clone, dig, items


def has_generation(kind: Kind) -> bool:
    return kind.custom or kind.plural not in _NO_GENERATION


def needs_version(kind: Kind) -> bool:
    return kind.custom or kind.plural in ("customresourcedefinitions", "leases", "poddisruptionbudgets")


def first_status(kind: Kind, obj: Object, now: str) -> Object:
    """What a new object's status is before anybody has written one."""
    if kind.plural == "customresourcedefinitions":
        stored = [each.get("name") for each in items(obj, "spec", "versions") if each.get("storage")]
        return {"acceptedNames": {"plural": "", "kind": ""}, "conditions": None, "storedVersions": stored}
    if kind.plural == "persistentvolumes":
        return {"lastPhaseTransitionTime": now}
    status: Object = clone(_FIRST_STATUS.get(kind.plural, {}))
    return status


def meaning(kind: Kind, obj: Object) -> Object:
    """What a change of bumps the generation."""
    ignored = (
        {"metadata", "status", "apiVersion"}
        if "status" in kind.subresources or not kind.custom
        else {"metadata", "apiVersion"}
    )
    return {key: value for key, value in obj.items() if key not in ignored}


def with_kept_parts(kind: Kind, before: Object, obj: Object, subresource: str) -> Object:
    """The new object with the parts that this endpoint may not write."""
    live: Object = before["metadata"]
    if subresource == "status":
        metadata = dict(live)
        if "managedFields" in obj["metadata"]:
            metadata["managedFields"] = obj["metadata"]["managedFields"]
        kept = {**before, "apiVersion": obj["apiVersion"], "metadata": metadata}
        if "status" in obj:
            kept["status"] = obj["status"]
        else:
            kept.pop("status", None)
        return kept
    if "status" in kind.subresources:
        obj.pop("status", None)
        if "status" in before:
            obj["status"] = before["status"]
    metadata = obj["metadata"]
    for key in _SERVER_METADATA:
        if key in live:
            metadata[key] = live[key]
        else:
            metadata.pop(key, None)
    return obj


def without_book_keeping(obj: Object) -> Object:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in ("managedFields", "resourceVersion")}
    return {**obj, "metadata": metadata, "apiVersion": ""}


def may_go(kind: Kind, obj: Object) -> bool:
    """A deleted object goes with its last finalizer; a pod after its grace period, a namespace after its content."""
    if obj["metadata"].get("finalizers"):
        return False
    if kind.stored == ("", "pods") and obj["metadata"].get("deletionGracePeriodSeconds"):
        return False
    return kind.stored != ("", "namespaces") or not dig(obj, "spec", "finalizers")


_SERVER_METADATA = (
    "uid", "creationTimestamp", "name", "namespace", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
    "resourceVersion", "generateName", "selfLink",
)  # fmt: skip
# kinds without a generation of their own
_NO_GENERATION = {
    "namespaces", "nodes", "services", "configmaps", "secrets", "serviceaccounts", "events", "endpoints",
    "persistentvolumes", "persistentvolumeclaims", "resourcequotas", "limitranges", "podtemplates",
    "controllerrevisions", "roles", "rolebindings", "clusterroles", "clusterrolebindings", "storageclasses",
    "csidrivers", "csinodes", "volumeattachments", "leases", "runtimeclasses", "endpointslices",
    "horizontalpodautoscalers", "apiservices",
}  # fmt: skip
_FIRST_STATUS: dict[str, Object] = {
    "services": {"loadBalancer": {}},
    "ingresses": {"loadBalancer": {}},
    "daemonsets": {
        "currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0,
    },
    "statefulsets": {"availableReplicas": 0, "replicas": 0},
    "replicasets": {"replicas": 0},
    "replicationcontrollers": {"replicas": 0},
    "horizontalpodautoscalers": {"currentMetrics": None, "desiredReplicas": 0},
    "poddisruptionbudgets": {"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0},
}  # fmt: skip
