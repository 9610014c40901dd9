"""What the workload controllers share: pods from a template, pods of an owner, statuses written only on change."""

import hashlib

import orjson

from reconciler.sandbox.kubernetes.objects import Object, clone, dig, items, mapping, name_of, namespace_of
from reconciler.sandbox.kubernetes.simulators.cache import PODS, Key, Resource
from reconciler.sandbox.kubernetes.simulators.client import Refused
from reconciler.sandbox.kubernetes.simulators.world import World


def reference(owner: Object) -> Object:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": name_of(owner),
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(obj: Object) -> Object | None:
    return next((each for each in items(obj["metadata"], "ownerReferences") if each.get("controller")), None)


def owner_key(obj: Object | None, kind: str) -> list[Key]:
    """The key of the controller of `obj`, if it is of that kind."""
    owner = controller_of(obj) if obj else None
    return [(namespace_of(obj), owner["name"])] if obj and owner and owner["kind"] == kind else []


def pods_of(world: World, owner: Object) -> list[Object]:
    """The owner's pods, those that are going away included, by name."""
    uid = owner["metadata"]["uid"]
    found = world.all(PODS, lambda pod: (controller_of(pod) or {}).get("uid") == uid)
    return sorted(found, key=name_of)


def create_pod(
    world: World,
    owner: Object,
    template: Object,
    *,
    name: str = "",
    labels: dict[str, str] | None = None,
    spec: Object | None = None,
) -> bool:
    """A pod of the template; False if one of that name exists. `spec` is merged over the template's."""
    metadata: Object = dict(mapping(template, "metadata"))
    metadata.pop("creationTimestamp", None)
    metadata["labels"] = {**mapping(metadata, "labels"), **(labels or {})}
    metadata["ownerReferences"] = [reference(owner)]
    if name:
        metadata["name"] = name
    else:
        metadata["generateName"] = f"{name_of(owner)}-"
    body: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**clone(template["spec"]), **(spec or {})},
    }
    try:
        world.write(PODS, world.client.create(PODS.collection(namespace_of(owner)), body))
    except Refused as refused:
        if refused.reason != "AlreadyExists":
            raise
        return False
    return True


def delete_pod(world: World, pod: Object) -> None:
    if not pod["metadata"].get("deletionTimestamp"):
        world.client.delete(PODS.path((namespace_of(pod), name_of(pod))), uid=pod["metadata"]["uid"])


def is_going(obj: Object) -> bool:
    return bool(obj["metadata"].get("deletionTimestamp"))


def is_over(pod: Object) -> bool:
    return dig(pod, "status", "phase") in ("Succeeded", "Failed")


def is_ready(pod: Object) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in items(pod, "status", "conditions"))


def template_hash(template: Object) -> str:
    """Like pod-template-hash: the same for the same template."""
    return hashlib.sha256(orjson.dumps(template, option=orjson.OPT_SORT_KEYS)).hexdigest()[:10]


def write_status(world: World, resource: Resource, obj: Object, status: Object) -> None:
    """Replace the status if it is another one; nulls in `status` are dropped by the server."""
    wanted = {key: value for key, value in status.items() if value not in (None, 0, [])}
    before: Object = mapping(obj, "status")
    if {key: value for key, value in before.items() if value not in (None, 0, [])} == wanted:
        return
    patch: Object = {key: wanted.get(key) for key in {**before, **wanted}}
    path = resource.path((namespace_of(obj), name_of(obj)))
    try:
        world.write(resource, world.client.merge(f"{path}/status", {"status": patch}))
    except Refused as refused:
        if refused.code != 404:
            raise


def condition(kind: str, status: bool, reason: str, message: str, before: Object, now: str) -> Object:
    """A condition whose transition time moves only with its status."""
    text = "True" if status else "False"
    old = next((each for each in items(before, "conditions") if each["type"] == kind), None)
    since = old["lastTransitionTime"] if old and old["status"] == text else now
    return {"type": kind, "status": text, "reason": reason, "message": message, "lastTransitionTime": since}
