"""A Storage in Kubernetes: a volume on a bucket and the claim that pods mount.

The two are made, seen and removed as one. What we wrote is compared; what the server and others add is left out.
A volume whose claim was deleted by hand is Released and remembers the claim's uid: that memory is taken away, so
that the claim, once it is back, binds again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from reconciler.live.errors import NotFound
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk, gvk_of
from reconciler.live.kube.quantities import equal_quantities
from reconciler.resources.base import BaseHandler, of_types
from reconciler.resources.drafts import as_map
from reconciler.resources.handler import Call, Reply, World
from reconciler.resources.storage.volume_health import Condition, condition, is_ending, is_released
from schemas.journal import EffectClass
from schemas.plan import Action, Verb
from schemas.resource import Mark, Observed, Presence, Resource, absent, refs_in, resolve
from schemas.values import JsonObject, JsonValue, digest

STORAGE = "k8s.Storage"
LABEL_CLUSTER = "instantstart.dev/cluster"
ANNOTATION_KEY = "instantstart.dev/key"
ANNOTATION_OP = "instantstart.dev/op"
VOLUME, CLAIM = "PersistentVolume", "PersistentVolumeClaim"
KINDS = (VOLUME, CLAIM)  # in the order in which they are made


class Volumes(BaseHandler):
    """Storages on S3. Server-side apply is convergent, so both objects go in one op."""

    types: tuple[str, ...] = (STORAGE,)
    looks_after: tuple[str, ...] = ("eks.Cluster", "eks.Addon", "s3.Bucket")

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        resources = of_types(wanted, STORAGE)
        control_plane = world.observed.get(f"eks.Cluster/{world.cluster}")
        known = control_plane is not None and control_plane.presence is not Presence.UNKNOWN
        if known and not world.attr(f"eks.Cluster/{world.cluster}", "endpoint"):
            # Without an endpoint there is certainly nothing in Kubernetes.
            return [absent(resource) for resource in resources]
        return [_look(world, world.kube(), resource) for resource in resources]

    def calls(self, world: World, actions: Sequence[Action]) -> Sequence[Call]:
        drafts = [_draft(world, action) for action in actions if action.type == STORAGE]
        return [call for call in drafts if call is not None]

    def send(self, world: World, call: Call, op: str) -> Reply:
        kube = world.kube()
        manifests = cast("dict[str, JsonObject]", call.params["manifests"])
        if call.verb == Verb.DELETE:
            for kind in reversed(KINDS):
                _remove(kube, manifests[kind], call.key, op)
            return Reply()
        if call.verb == Verb.RELEASE:
            for kind in KINDS:
                _let_go(kube, manifests[kind], op)
            return Reply()
        _forget_claim(kube, manifests[VOLUME], op)
        applied = kube.apply([_with_op(manifests[kind], op) for kind in KINDS], op=op)
        return Reply(ref=_ids(applied[KINDS.index(VOLUME)]))


def _look(world: World, kube: KubeCluster, resource: Resource) -> Observed:
    spec = cast("JsonObject", resolve(resource.spec, world.observed))
    wanted = cast("dict[str, JsonObject]", spec["manifests"])
    live = {kind: found for kind in KINDS if (found := _get(kube, wanted[kind])) is not None}
    if not live:
        return absent(resource)
    users = _users(kube, wanted[CLAIM]) if is_ending(live.get(CLAIM)) else []
    now = condition(live.get(VOLUME), live.get(CLAIM), users)
    return _observed(resource, spec, live, now)


def _observed(resource: Resource, spec: JsonObject, live: Mapping[str, JsonObject], now: Condition) -> Observed:
    wanted = cast("dict[str, JsonObject]", spec["manifests"])
    shown: JsonObject = {kind: authored(wanted[kind], found) for kind, found in live.items()}
    if is_released(live.get(VOLUME)):
        # Shown as it is, so that the plan sees a difference and heals it.
        shown[VOLUME]["spec"]["claimRef"] = live[VOLUME]["spec"]["claimRef"]
    volume = live.get(VOLUME)
    return Observed(
        key=resource.key,
        type=STORAGE,
        name=resource.name,
        presence=Presence.PRESENT,
        spec={
            "bucket": spec["bucket"] if volume is None else _bucket(volume),
            "prefix": spec["prefix"],
            "readOnly": spec["readOnly"],
            "namespace": spec["namespace"],
            "manifests": shown,
        },
        attrs={"claim": resource.name, "namespace": spec["namespace"], **_ids(volume)},
        health=now.health,
        ready=now.ready,
        reason=now.reason,
        message=now.message,
        mark=_mark(resource, live),
        op=next((op for found in live.values() if (op := _annotations(found).get(ANNOTATION_OP))), None),
        identity=str(_ids(volume).get("id", "")),
    )


def authored(wanted: JsonValue, live: JsonValue, name: str = "") -> Any:
    """`live` as far as `wanted` has something to say about it; equal amounts in the words of `wanted`."""
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        there = cast("Mapping[str, Any]", live)
        return {k: authored(v, there[k], k) for k, v in cast("Mapping[str, Any]", wanted).items() if k in there}
    return cast("Any", wanted) if name == "storage" and equal_quantities(wanted, live) else live


def _mark(resource: Resource, live: Mapping[str, JsonObject]) -> Mark:
    """Ours if all that is there carries our mark."""
    for found in live.values():
        labels: Mapping[str, str] = found["metadata"].get("labels") or {}
        if labels.get(LABEL_CLUSTER) != resource.cluster or _annotations(found).get(ANNOTATION_KEY) != resource.key:
            return Mark.FOREIGN
    return Mark.OURS


def _draft(world: World, action: Action) -> Call | None:
    if action.verb is Verb.ADOPT:
        return None  # no document can name a volume of others
    resource = world.desired.get(action.key) or world.previous.get(action.key)
    spec = action.want if "manifests" in action.want else (resource.spec if resource is not None else {})
    manifests = resolve(spec.get("manifests") or {}, world.observed)
    if not manifests or any(refs_in(manifests)):
        return None
    removal = action.verb in (Verb.DELETE, Verb.REPLACE)
    call = "k8s:Delete" if removal else "k8s:Patch" if action.verb is Verb.RELEASE else "k8s:Apply"
    return Call(
        key=action.key,
        lane=action.lane,
        verb=Verb.DELETE.value if removal else action.verb.value,
        call=call,
        cls=EffectClass.CONVERGENT,
        want=digest({"absent": action.key} if removal else manifests),
        say=f"{action.verb.value} volume and claim of Storage {action.name}"[:120],
        actions=(action,),
        params={"manifests": manifests},
        before={"identity": action.identity} if removal else {},
        settle=60,
        deadline=1800,
        closes_on_reply=not removal,
    )


def _ids(volume: JsonObject | None) -> JsonObject:
    """Another volume of the same name has another uid."""
    uid = volume["metadata"].get("uid") if volume is not None else None
    return {"id": str(uid)} if uid else {}


def _let_go(kube: KubeCluster, manifest: JsonObject, op: str) -> None:
    """It stays, without what is left of our mark."""
    live = _get(kube, manifest)
    if live is None:
        return
    patch: list[JsonObject] = [{"op": "test", "path": "/metadata/uid", "value": live["metadata"]["uid"]}]
    for where, ours in (("labels", (LABEL_CLUSTER,)), ("annotations", (ANNOTATION_KEY, ANNOTATION_OP))):
        there = as_map(live["metadata"].get(where))
        left = [name.replace("~", "~0").replace("/", "~1") for name in ours if name in there]
        patch += [{"op": "remove", "path": f"/metadata/{where}/{name}"} for name in left]
    if len(patch) > 1:
        kube.patch_json(*_address(manifest), patch, op=op)


def _forget_claim(kube: KubeCluster, manifest: JsonObject, op: str) -> None:
    """Lets a Released volume be claimed again."""
    volume = _get(kube, manifest)
    if volume is None or not is_released(volume):
        return
    held: Mapping[str, Any] = volume["spec"]["claimRef"]
    patch = [{"op": "test", "path": "/spec/claimRef/uid", "value": held["uid"]}]
    patch += [{"op": "remove", "path": f"/spec/claimRef/{name}"} for name in ("uid", "resourceVersion") if name in held]
    kube.patch_json(*_address(manifest), patch, op=op)


def _remove(kube: KubeCluster, manifest: JsonObject, key: str, op: str) -> None:
    """Only what carries our mark, and only the very object that was seen."""
    found = _get(kube, manifest)
    if found is None or _annotations(found).get(ANNOTATION_KEY) != key or is_ending(found):
        return
    with contextlib.suppress(NotFound):
        kube.delete(*_address(manifest), op=op, uid=str(found["metadata"]["uid"]))


def _users(kube: KubeCluster, claim: JsonObject) -> list[str]:
    """Pods that mount the claim: they keep it from going."""
    pods = kube.list(Gvk("v1", "Pod"), namespace=str(claim["metadata"]["namespace"]))
    return sorted(str(pod["metadata"]["name"]) for pod in pods if _mounts(pod, str(claim["metadata"]["name"])))


def _mounts(pod: JsonObject, claim: str) -> bool:
    volumes: list[JsonObject] = as_map(pod.get("spec")).get("volumes") or []
    return any(as_map(volume.get("persistentVolumeClaim")).get("claimName") == claim for volume in volumes)


def _get(kube: KubeCluster, manifest: JsonObject) -> JsonObject | None:
    try:
        return kube.get(*_address(manifest))
    except NotFound:
        return None


def _address(manifest: JsonObject) -> tuple[Gvk, str | None, str]:
    return gvk_of(manifest), manifest["metadata"].get("namespace"), str(manifest["metadata"]["name"])


def _with_op(manifest: JsonObject, op: str) -> JsonObject:
    metadata: JsonObject = dict(manifest["metadata"])
    return {
        **manifest,
        "metadata": {**metadata, "annotations": {**as_map(metadata.get("annotations")), ANNOTATION_OP: op}},
    }


def _bucket(volume: JsonObject) -> str:
    return str(as_map(as_map(volume["spec"].get("csi")).get("volumeAttributes")).get("bucketName", ""))


def _annotations(found: JsonObject) -> dict[str, str]:
    return found["metadata"].get("annotations") or {}
