"""How objects go: grace, finalizers, propagation to dependants, the end of a namespace and of a CRD.

Background work (what the controller manager does on a real cluster a
moment after the reply) is put on the server's `deferred` queue.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from reconciler.sandbox.kubernetes.errors import ApiError, bad_request, conflict
from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.objects import Object, clone, dig, items, mapping, name_of, namespace_of, rfc3339
from reconciler.sandbox.kubernetes.store import Collection, Key, Stored

if TYPE_CHECKING:
    from reconciler.sandbox.kubernetes.apiserver import ApiServer

ORPHAN, BACKGROUND, FOREGROUND = "Orphan", "Background", "Foreground"
_FINALIZERS = {ORPHAN: "orphan", FOREGROUND: "foregroundDeletion"}
_CRD_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"


@dataclass(frozen=True, kw_only=True)
class DeleteOptions:
    """A metav1.DeleteOptions, read."""

    propagation: str = ""
    grace: int | None = None
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False

    @classmethod
    def read(cls, body: Object, query: dict[str, str]) -> DeleteOptions:
        preconditions: Object = mapping(body, "preconditions")
        propagation = query.get("propagationPolicy") or body.get("propagationPolicy") or ""
        if propagation not in ("", ORPHAN, BACKGROUND, FOREGROUND):
            raise bad_request(f"propagationPolicy: Unsupported value: {propagation!r}")
        if body.get("orphanDependents") is not None and not propagation:
            propagation = ORPHAN if body["orphanDependents"] else BACKGROUND
        grace = query.get("gracePeriodSeconds", body.get("gracePeriodSeconds"))
        return cls(
            propagation=propagation,
            grace=None if grace is None else int(grace),
            uid=preconditions.get("uid") or "",
            resource_version=preconditions.get("resourceVersion") or "",
            dry_run=query.get("dryRun") == "All" or "All" in items(body, "dryRun"),
        )


def delete(api: ApiServer, kind: Kind, namespace: str, name: str, options: DeleteOptions) -> tuple[Stored, bool]:
    """The last or the terminating state, and whether the object is gone for good."""
    stored = api.get(kind, namespace, name)
    _check_preconditions(kind, stored.obj, options)
    _refuse_protected(kind, name)
    if options.dry_run:
        return stored, True
    new: Object = {**stored.obj, "metadata": dict(stored.obj["metadata"])}
    metadata: Object = new["metadata"]
    changed = _add_finalizer(kind, metadata, options)
    grace = _grace(kind, stored.obj, options)
    waits = bool(metadata.get("finalizers")) or grace > 0
    first = not metadata.get("deletionTimestamp")
    if kind.stored == ("", "namespaces"):
        waits = True
        if first:
            new["status"] = {**mapping(new, "status"), "phase": "Terminating"}
            api.deferred.append(lambda: _empty_namespace(api, name))
    if kind.plural == "customresourcedefinitions":
        waits = True
        if first:
            metadata["finalizers"] = [*items(metadata, "finalizers"), _CRD_FINALIZER]
            api.deferred.append(lambda: _empty_definition(api, name))
    if not waits:
        return api.drop(kind, new), True
    shorter = grace < (metadata.get("deletionGracePeriodSeconds") or 0)
    if not first and not changed and not shorter:
        return stored, False
    if first or shorter:
        metadata["deletionTimestamp"] = rfc3339(api.now() + grace)
        metadata["deletionGracePeriodSeconds"] = grace
        if first and "generation" in metadata:
            metadata["generation"] += 1
    kept = api.commit(kind, new, stored)
    _schedule_finalizers(api, kind, new)
    return kept, False


def after_commit(api: ApiServer, kind: Kind, obj: Object) -> None:
    """Keeps the owner index and looks for owners that are not there (any more)."""
    uid = obj["metadata"]["uid"]
    key = (namespace_of(obj), name_of(obj))
    api.places[uid] = (kind.stored, key)
    owners = obj["metadata"].get("ownerReferences")
    if not owners:
        return
    for owner in owners:
        api.owned.setdefault(owner["uid"], set()).add((kind.stored, key))
    if any(owner["uid"] not in api.places for owner in owners):
        api.deferred.append(lambda: _collect(api, kind.stored, key))


def after_drop(api: ApiServer, kind: Kind, obj: Object) -> None:
    """Looks at dependants, at an owner that waits for this object, and at its namespace."""
    uid = obj["metadata"]["uid"]
    api.places.pop(uid, None)
    for dependant in sorted(api.owned.pop(uid, ())):
        api.deferred.append(partial(_collect, api, *dependant))
    for owner in items(obj["metadata"], "ownerReferences"):
        api.owned.get(owner["uid"], set()).discard((kind.stored, (namespace_of(obj), name_of(obj))))
        if owner["uid"] in api.places:
            api.deferred.append(partial(_finish_foreground, api, owner["uid"]))
    namespace = namespace_of(obj)
    if namespace:
        found = api.store.get(("", "namespaces"), ("", namespace))
        if found is not None and found.obj["metadata"].get("deletionTimestamp"):
            api.deferred.append(lambda: _finish_namespace(api, namespace))
    if kind.custom:
        api.deferred.append(lambda: _finish_definition(api, f"{kind.plural}.{kind.group}"))


def _check_preconditions(kind: Kind, obj: Object, options: DeleteOptions) -> None:
    metadata = obj["metadata"]
    for what, wanted, has in (
        ("UID", options.uid, metadata["uid"]),
        ("ResourceVersion", options.resource_version, metadata["resourceVersion"]),
    ):
        if wanted and wanted != has:
            text = f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {has}"
            raise conflict(kind.plural, kind.group, metadata["name"], text)


def _refuse_protected(kind: Kind, name: str) -> None:
    if kind.stored == ("", "namespaces") and name in ("default", "kube-system", "kube-public"):
        raise ApiError(
            403, "Forbidden", f'namespaces "{name}" is forbidden: this namespace may not be deleted', name=name
        )


def _add_finalizer(kind: Kind, metadata: Object, options: DeleteOptions) -> bool:
    policy = options.propagation
    if not policy:
        # batch/v1 jobs, alone among the kinds, keep their pods unless told otherwise
        policy = ORPHAN if kind.stored == ("batch", "jobs") else BACKGROUND
    has: list[str] = items(metadata, "finalizers")
    wanted = [each for each in has if each not in _FINALIZERS.values()]
    if policy in _FINALIZERS:
        wanted.append(_FINALIZERS[policy])
    if wanted == has or (not options.propagation and metadata.get("deletionTimestamp")):
        return False
    if wanted:
        metadata["finalizers"] = wanted
    else:
        metadata.pop("finalizers", None)
    return True


def _grace(kind: Kind, obj: Object, options: DeleteOptions) -> int:
    if kind.stored != ("", "pods"):
        return 0
    # nothing runs: no kubelet has to stop it
    if not dig(obj, "spec", "nodeName") or dig(obj, "status", "phase") in ("Succeeded", "Failed"):
        return 0
    if options.grace is not None:
        return max(options.grace, 0)
    return int(dig(obj, "spec", "terminationGracePeriodSeconds") or 0)


def _schedule_finalizers(api: ApiServer, kind: Kind, obj: Object) -> None:
    finalizers: list[str] = items(obj["metadata"], "finalizers")
    uid = obj["metadata"]["uid"]
    if "orphan" in finalizers:
        api.deferred.append(lambda: _orphan(api, kind, uid))
    if "foregroundDeletion" in finalizers:
        api.deferred.append(lambda: _start_foreground(api, uid))


def _collect(api: ApiServer, collection: Collection, key: Key) -> None:
    """Garbage collection of one dependant: delete it if all its owners are gone, else cut the dead references."""
    found = api.store.get(collection, key)
    kind = api.kinds.stored(*collection)
    if found is None or kind is None:
        return
    owners: list[Object] = items(found.obj["metadata"], "ownerReferences")
    alive = [owner for owner in owners if _is_alive(api, owner, key[0])]
    if len(alive) == len(owners):
        return
    if not alive:
        delete(api, kind, *key, DeleteOptions(propagation=BACKGROUND))
        return
    new: Object = {**found.obj, "metadata": {**found.obj["metadata"], "ownerReferences": alive}}
    api.commit(kind, new, found)


def _is_alive(api: ApiServer, owner: Object, namespace: str) -> bool:
    place = api.places.get(owner["uid"])
    if place is None:
        return False
    collection, (owner_namespace, name) = place
    kind = api.kinds.stored(*collection)
    # an owner in another namespace, or of another kind than the reference says, is no owner
    return (
        kind is not None
        and kind.kind == owner.get("kind")
        and name == owner.get("name")
        and owner_namespace in ("", namespace)
    )


def _dependants(api: ApiServer, uid: str) -> list[tuple[Kind, Stored]]:
    found: list[tuple[Kind, Stored]] = []
    for collection, key in sorted(api.owned.get(uid, ())):
        stored = api.store.get(collection, key)
        kind = api.kinds.stored(*collection)
        if stored is None or kind is None:
            continue
        if any(owner["uid"] == uid for owner in items(stored.obj["metadata"], "ownerReferences")):
            found.append((kind, stored))
    return found


def _owner(api: ApiServer, uid: str) -> tuple[Kind, Stored] | None:
    place = api.places.get(uid)
    if place is None:
        return None
    kind, stored = api.kinds.stored(*place[0]), api.store.get(*place)
    return None if kind is None or stored is None else (kind, stored)


def _orphan(api: ApiServer, kind: Kind, uid: str) -> None:
    for dependant_kind, stored in _dependants(api, uid):
        metadata: Object = dict(stored.obj["metadata"])
        metadata["ownerReferences"] = [owner for owner in metadata["ownerReferences"] if owner["uid"] != uid]
        if not metadata["ownerReferences"]:
            del metadata["ownerReferences"]
        api.commit(dependant_kind, {**stored.obj, "metadata": metadata}, stored)
    api.owned.pop(uid, None)
    _take_finalizer(api, uid, "orphan")


def _start_foreground(api: ApiServer, uid: str) -> None:
    for kind, stored in _dependants(api, uid):
        if not stored.obj["metadata"].get("deletionTimestamp"):
            options = DeleteOptions(propagation=FOREGROUND)
            delete(api, kind, namespace_of(stored.obj), name_of(stored.obj), options)
    _finish_foreground(api, uid)


def _finish_foreground(api: ApiServer, uid: str) -> None:
    owner = _owner(api, uid)
    if owner is None or "foregroundDeletion" not in items(owner[1].obj["metadata"], "finalizers"):
        return
    blocking = [
        stored
        for _, stored in _dependants(api, uid)
        if any(
            each["uid"] == uid and each.get("blockOwnerDeletion") for each in stored.obj["metadata"]["ownerReferences"]
        )
    ]
    if not blocking:
        _take_finalizer(api, uid, "foregroundDeletion")


def _take_finalizer(api: ApiServer, uid: str, finalizer: str) -> None:
    found = _owner(api, uid)
    if found is None:
        return
    kind, stored = found
    new: Object = clone(stored.obj)
    left = [each for each in items(new["metadata"], "finalizers") if each != finalizer]
    if left:
        new["metadata"]["finalizers"] = left
        api.commit(kind, new, stored)
        return
    new["metadata"].pop("finalizers", None)
    if new["metadata"].get("deletionTimestamp") and not new["metadata"].get("deletionGracePeriodSeconds"):
        api.drop(kind, new)
    else:
        api.commit(kind, new, stored)


def _empty_namespace(api: ApiServer, namespace: str) -> None:
    for kind, stored in _content(api, namespace):
        if not stored.obj["metadata"].get("deletionTimestamp"):
            delete(api, kind, namespace, name_of(stored.obj), DeleteOptions(propagation=BACKGROUND))
    _finish_namespace(api, namespace)


def _finish_namespace(api: ApiServer, namespace: str) -> None:
    kind = api.kind("", "namespaces")
    found = api.store.get(kind.stored, ("", namespace))
    if found is None or not found.obj["metadata"].get("deletionTimestamp") or _content(api, namespace):
        return
    new: Object = clone(found.obj)
    new["spec"] = {"finalizers": []}
    if new["metadata"].get("finalizers"):
        if dig(found.obj, "spec", "finalizers"):
            api.commit(kind, new, found)
        return
    api.drop(kind, new)


def _content(api: ApiServer, namespace: str) -> list[tuple[Kind, Stored]]:
    found: list[tuple[Kind, Stored]] = []
    for collection in api.store.collections():
        kind = api.kinds.stored(*collection)
        if kind is not None and kind.namespaced:
            found += [(kind, stored) for stored in api.store.all(collection) if namespace_of(stored.obj) == namespace]
    return found


def _empty_definition(api: ApiServer, name: str) -> None:
    found = api.store.get(("apiextensions.k8s.io", "customresourcedefinitions"), ("", name))
    if found is None:
        return
    spec: Object = found.obj["spec"]
    kind = api.kinds.stored(spec["group"], spec["names"]["plural"])
    if kind is not None:
        for stored in api.store.all(kind.stored):
            delete(api, kind, namespace_of(stored.obj), name_of(stored.obj), DeleteOptions(propagation=BACKGROUND))
    _finish_definition(api, name)


def _finish_definition(api: ApiServer, name: str) -> None:
    found = api.store.get(("apiextensions.k8s.io", "customresourcedefinitions"), ("", name))
    if found is None or not found.obj["metadata"].get("deletionTimestamp"):
        return
    spec: Object = found.obj["spec"]
    if any(api.store.all((spec["group"], spec["names"]["plural"]))):
        return
    _take_finalizer(api, found.obj["metadata"]["uid"], _CRD_FINALIZER)
