"""Static binding of claims to volumes, release, and the protection of what is in use.

There is no provisioner: a claim that names a storage class waits for a
volume of that class. A released volume keeps its claimRef with the uid of
the claim that is gone, and is not bound again until a person takes it off.
"""

from collections.abc import Sequence

from reconciler.sandbox.kubernetes.objects import Object, dig, items, mapping, name_of, namespace_of
from reconciler.sandbox.kubernetes.quantities import value
from reconciler.sandbox.kubernetes.simulators import pods
from reconciler.sandbox.kubernetes.simulators.cache import CLAIMS, PODS, VOLUMES, Key, Resource
from reconciler.sandbox.kubernetes.simulators.client import Refused
from reconciler.sandbox.kubernetes.simulators.world import World

_CLAIM_FINALIZER = "kubernetes.io/pvc-protection"
_VOLUME_FINALIZER = "kubernetes.io/pv-protection"


class Claims:
    name = "claims"

    def __init__(self, world: World) -> None:
        self._world = world

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]:
        if resource == CLAIMS:
            return [key] if now else ()
        if resource == VOLUMES:
            return [
                (namespace_of(each), name_of(each))
                for each in self._world.all(CLAIMS)
                if _is_pending(each) or dig(each, "spec", "volumeName") == key[1]
            ]
        if resource == PODS and (now is None or pods.is_over(now)):
            return [(namespace_of(each), name_of(each)) for each in self._world.all(CLAIMS) if pods.is_going(each)]
        return ()

    def sync(self, key: Key) -> None:
        claim = self._world.get(CLAIMS, key)
        if claim is None:
            return
        if pods.is_going(claim):
            self._let_go(key, claim)
            return
        volume = self._volume_for(claim)
        if volume is None:
            if not _is_pending(claim) and dig(claim, "spec", "volumeName"):
                pods.write_status(self._world, CLAIMS, claim, {"phase": "Lost"})
            return
        if dig(volume, "spec", "claimRef", "uid") != claim["metadata"]["uid"]:
            volume = self._reserve(volume, claim)
        if not claim["spec"].get("volumeName"):
            claim = self._world.write(
                CLAIMS, self._world.client.merge(CLAIMS.path(key), {"spec": {"volumeName": name_of(volume)}})
            )
        status: Object = {
            "phase": "Bound",
            "accessModes": volume["spec"]["accessModes"],
            "capacity": volume["spec"]["capacity"],
        }
        pods.write_status(self._world, CLAIMS, claim, status)
        if dig(volume, "status", "phase") != "Bound":
            pods.write_status(self._world, VOLUMES, volume, {"phase": "Bound"})

    def _volume_for(self, claim: Object) -> Object | None:
        """The bound or named volume, else the smallest free one that fits."""
        name = claim["spec"].get("volumeName")
        if name:
            volume = self._world.get(VOLUMES, ("", name))
            return volume if volume and _may_bind(volume, claim) and _same_class(volume, claim) else None
        fitting = [volume for volume in self._world.all(VOLUMES) if _may_bind(volume, claim) and _fits(volume, claim)]
        reserved = [volume for volume in fitting if volume["spec"].get("claimRef")]
        return min(
            reserved or fitting,
            key=lambda volume: (value(volume["spec"]["capacity"]["storage"]), name_of(volume)),
            default=None,
        )

    def _reserve(self, volume: Object, claim: Object) -> Object:
        reference = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": namespace_of(claim),
            "name": name_of(claim),
            "uid": claim["metadata"]["uid"],
            "resourceVersion": claim["metadata"]["resourceVersion"],
        }
        path = VOLUMES.path(("", name_of(volume)))
        return self._world.write(VOLUMES, self._world.client.merge(path, {"spec": {"claimRef": reference}}))

    def _let_go(self, key: Key, claim: Object) -> None:
        in_use = any(
            namespace_of(pod) == key[0]
            and not pods.is_over(pod)
            and any(
                dig(volume, "persistentVolumeClaim", "claimName") == key[1] for volume in items(pod["spec"], "volumes")
            )
            for pod in self._world.all(PODS)
        )
        if not in_use:
            _take_finalizer(self._world, CLAIMS, claim, _CLAIM_FINALIZER)


class Volumes:
    name = "volumes"

    def __init__(self, world: World) -> None:
        self._world = world

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]:
        if resource == VOLUMES:
            return [key] if now else ()
        if resource == CLAIMS and now is None:
            return [
                ("", name_of(each))
                for each in self._world.all(VOLUMES)
                if dig(each, "spec", "claimRef", "name") == key[1]
            ]
        return ()

    def sync(self, key: Key) -> None:
        volume = self._world.get(VOLUMES, key)
        if volume is None:
            return
        claim = self._claim_of(volume)
        if pods.is_going(volume):
            if claim is None:
                _take_finalizer(self._world, VOLUMES, volume, _VOLUME_FINALIZER)
            return
        reference: Object | None = volume["spec"].get("claimRef")
        if reference is None or not reference.get("uid"):
            pods.write_status(self._world, VOLUMES, volume, {"phase": "Available"})
        elif claim is None:
            pods.write_status(self._world, VOLUMES, volume, {"phase": "Released"})
            if volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
                self._world.client.delete(VOLUMES.path(key), uid=volume["metadata"]["uid"])

    def _claim_of(self, volume: Object) -> Object | None:
        reference: Object = mapping(volume["spec"], "claimRef")
        claim = self._world.get(CLAIMS, (reference.get("namespace") or "", reference.get("name") or ""))
        return claim if claim is not None and claim["metadata"]["uid"] == reference.get("uid") else None


def _is_pending(claim: Object) -> bool:
    return dig(claim, "status", "phase") in (None, "Pending")


def _may_bind(volume: Object, claim: Object) -> bool:
    """Free, or kept for this very claim. A claimRef with another uid means: that claim is another one."""
    if pods.is_going(volume):
        return False
    reference: Object | None = volume["spec"].get("claimRef")
    if reference is None:
        return dig(volume, "status", "phase") in (None, "Pending", "Available", "Released", "Bound")
    if (reference.get("namespace"), reference.get("name")) != (namespace_of(claim), name_of(claim)):
        return False
    return reference.get("uid") in (None, "", claim["metadata"]["uid"])


def _same_class(volume: Object, claim: Object) -> bool:
    return (volume["spec"].get("storageClassName") or "") == (claim["spec"].get("storageClassName") or "")


def _fits(volume: Object, claim: Object) -> bool:
    wanted, has = claim["spec"], volume["spec"]
    labels: dict[str, str] = mapping(volume["metadata"], "labels")
    selector: Object = mapping(wanted, "selector")
    return (
        _same_class(volume, claim)
        and set(wanted["accessModes"]) <= set(has["accessModes"])
        and wanted.get("volumeMode") == has.get("volumeMode")
        and value(has["capacity"]["storage"]) >= value(wanted["resources"]["requests"]["storage"])
        and all(labels.get(key) == text for key, text in mapping(selector, "matchLabels").items())
    )


def _take_finalizer(world: World, resource: Resource, obj: Object, finalizer: str) -> None:
    left = [each for each in items(obj["metadata"], "finalizers") if each != finalizer]
    path = resource.path((namespace_of(obj), name_of(obj)))
    try:
        world.client.merge(path, {"metadata": {"finalizers": left or None, "uid": obj["metadata"]["uid"]}})
    except Refused as refused:
        if refused.code not in (404, 409):
            raise
