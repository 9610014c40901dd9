"""Helm releases in an EKS cluster. Looking reads Helm's own Secrets; only changes need the binary."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path

from reconciler.live.clock import real_now
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.rights import RELEASES
from reconciler.live.kube.tokens import eks_token
from reconciler.resources.base import BaseHandler
from reconciler.resources.control_plane.clusters import cluster_key
from reconciler.resources.drafts import OP, as_map, in_words_of, needs_stand
from reconciler.resources.handler import Call, Reply, Settlement, Verdict, World
from reconciler.resources.helm import charts, stored
from reconciler.resources.helm.binary import find_helm
from reconciler.resources.helm.cli import HELM_SECONDS, Access, Helm, HelmCli
from schemas.errors import InstantStartError, Refused
from schemas.journal import EffectClass, OpRecord
from schemas.plan import Action, Verb
from schemas.resource import Bar, Health, Mark, Observed, Presence, Resource, absent, unknown
from schemas.values import JsonObject, digest

TYPE = "helm.Release"
SECRET = Gvk("v1", "Secret")
STALE = timedelta(seconds=HELM_SECONDS + 60)  # real time: how long a helm process of ours can live
SETTLE = HELM_SECONDS + 60
DEADLINE = 1800


def _command_line(cache_dir: str) -> Helm:
    return HelmCli(find_helm(cache_dir), cache_dir)


class ReleaseHandler(BaseHandler):
    """`helm.Release`: one release by name and namespace. `helm` makes the implementation from a cache directory;
    `stale`: real time after which a helm process of ours is certainly gone."""

    types: tuple[str, ...] = (TYPE,)
    looks_after: tuple[str, ...] = ("eks.Cluster",)

    def __init__(self, helm: Callable[[str], Helm] = _command_line, stale: timedelta = STALE) -> None:
        self._helm = helm
        self._stale = stale

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        cluster = world.observed.get(cluster_key(world.cluster))
        if cluster is None or cluster.presence is Presence.UNKNOWN:
            return [unknown(resource, "ClusterUnknown", "the EKS cluster could not be seen") for resource in wanted]
        if not cluster.present or not cluster.attrs.get("endpoint"):
            return [absent(resource) for resource in wanted]
        # Revisions are large (each holds the whole chart), so none is read twice.
        if not wanted:
            return _forgotten(world, self._stale)
        return [_look(world, resource, self._stale) for resource in wanted]

    def calls(self, world: World, actions: Sequence[Action]) -> Sequence[Call]:
        drafted = [_draft(world, action) for action in actions]
        return [call for call in drafted if call is not None]

    def send(self, world: World, call: Call, op: str) -> Reply:
        name, namespace = str(call.params["name"]), str(call.params["namespace"])
        match call.verb:
            case "delete":
                self._helm(world.cache_dir).uninstall(_access(world), name, namespace)
            case "adopt" | "mark" | "release":
                patch = [{**line, "value": op} if line.get("value") == OP else line for line in call.params["patch"]]
                world.kube().patch_json(SECRET, namespace, str(call.params["secret"]), patch, op=op)
            case _:
                self._upgrade(world, call, op)
                return Reply(ref=_ids(world, name, namespace))
        return Reply()

    def settled(self, world: World, op: OpRecord) -> Settlement:
        seen = world.observed.get(op.key)
        changed = op.verb in (Verb.CREATE, Verb.UPDATE)
        if seen is None or seen.presence is not Presence.PRESENT or not changed:
            return super().settled(world, op)
        if seen.reason in ("HelmInterrupted", "HelmTriesAgain"):
            return Settlement(verdict=Verdict.ABSENT, reason=seen.reason)  # sent again, it takes up what is left
        if seen.op != op.op and op.verb == Verb.UPDATE:
            return Settlement(verdict=Verdict.ABSENT)
        if seen.health is Health.PROGRESSING:
            return Settlement(verdict=Verdict.PENDING, reason=seen.reason)
        return super().settled(world, op)

    def _upgrade(self, world: World, call: Call, op: str) -> None:
        name, namespace = str(call.params["name"]), str(call.params["namespace"])
        spec = as_map(call.params["spec"])
        chart, values = charts.chart_of(as_map(spec["chart"])), as_map(spec.get("values"))
        helm = self._helm(world.cache_dir)
        directory = charts.checked_out(chart, world.cache_dir)
        _clear_interrupted(world, name, namespace, op, self._stale)
        labels = {
            stored.LABEL_CLUSTER: world.cluster,
            stored.LABEL_OP: op,
            stored.LABEL_COMMIT: chart.commit,
            stored.LABEL_CHART: stored.chart_digest(as_map(spec["chart"])),
        }
        with tempfile.TemporaryDirectory() as work:
            whole = charts.complete(directory, values, Path(work), helm.pull)
            try:
                helm.upgrade(_access(world), name, namespace, whole, values, labels)
            except InstantStartError:
                with contextlib.suppress(InstantStartError):  # else it is seen as interrupted later
                    _unlock(world, name, namespace, op)
                raise


def _draft(world: World, action: Action) -> Call | None:
    seen = world.observed.get(action.key)
    cluster = world.observed.get(cluster_key(world.cluster))
    if cluster is None or not cluster.ready or (action.verb is Verb.CREATE and not needs_stand(world, action)):
        return None
    if seen is not None and seen.health is Health.DELETING:
        return None
    params: JsonObject = {"name": action.name, "namespace": action.want.get("namespace", "kube-system")}
    if seen is not None and seen.present:
        params |= {"name": seen.name, "namespace": seen.detail["namespace"], "secret": seen.detail["secret"]}
    call, cls = "helm:upgrade", EffectClass.NAME
    match action.verb:
        case Verb.CREATE | Verb.UPDATE:
            params["spec"] = action.want
            commit = str(as_map(action.want.get("chart")).get("commit", ""))[:12]
            say = f"{'Install' if action.verb is Verb.CREATE else 'Upgrade'} chart {params['name']} at {commit}"
        case Verb.DELETE | Verb.REPLACE:
            call, say = "helm:uninstall", f"Uninstall chart {params['name']}"
        case Verb.ADOPT | Verb.MARK:
            params["patch"] = [_add(stored.LABEL_CLUSTER, world.cluster)]
            if action.verb is Verb.ADOPT:
                params["patch"].append(_add(stored.LABEL_ADOPTED, "true"))
            params["patch"].append(_add(stored.LABEL_OP, OP))
            call, cls, say = "kubernetes:patch", EffectClass.CONVERGENT, f"Adopt release {params['name']}"
        case Verb.RELEASE:
            there = as_map(seen.detail["labels"]) if seen is not None else {}
            params["patch"] = [
                {"op": "remove", "path": _label_path(name)} for name in stored.OUR_LABELS if name in there
            ]
            call, cls, say = "kubernetes:patch", EffectClass.CONVERGENT, f"Let go of release {params['name']}"
        case _:
            return None
    return Call(
        key=action.key,
        lane=action.lane,
        verb="delete" if action.verb is Verb.REPLACE else action.verb.value,
        call=call,
        cls=cls,
        want=digest(action.want),
        say=say,
        actions=(action,),
        params=params,
        before={"identity": action.identity} if action.identity else {},
        settle=SETTLE,
        deadline=DEADLINE,
    )


def _look(world: World, resource: Resource, stale: timedelta) -> Observed:
    name = resource.adopt or resource.name
    namespace = str(resource.spec.get("namespace", "kube-system"))
    release = _newest(world, name, namespace)
    return absent(resource) if release is None else _observed(world, resource.key, release, resource, stale)


def _newest(world: World, name: str, namespace: str) -> stored.Release | None:
    return stored.newest(world.kube().list(SECRET, namespace, stored.selector(name)))


def _forgotten(world: World, stale: timedelta) -> Iterable[Observed]:
    """Releases with our label that git has forgotten; ours are all in one namespace, and Secrets of others are none
    of our business."""
    found: dict[str, list[JsonObject]] = {}
    mine = f"owner=helm,status!=superseded,{stored.LABEL_CLUSTER}={world.cluster}"
    for secret in world.kube().list(SECRET, RELEASES, mine):
        name = str(as_map(as_map(secret.get("metadata")).get("labels")).get("name", ""))
        found.setdefault(f"{TYPE}/{world.cluster}/{name}", []).append(secret)
    for key, secrets in found.items():
        release = stored.newest(secrets)
        if release is not None:
            yield _observed(world, key, release, None, stale)


def _observed(world: World, key: str, release: stored.Release, resource: Resource | None, stale: timedelta) -> Observed:
    left_alone = release.deployed is None or real_now() - release.deployed > stale
    health, ready, reason, message = stored.health(release, stale=left_alone)
    wanted = as_map(resource.spec) if resource else {}
    spec: JsonObject = {
        "chart": _chart(release, as_map(wanted.get("chart"))),
        "namespace": release.namespace,
        "values": in_words_of(wanted.get("values"), release.values),
    }
    return Observed(
        key=key,
        type=TYPE,
        name=release.name,
        presence=Presence.PRESENT,
        spec=spec,
        attrs={"id": _identity(release), "revision": release.revision, "version": release.chart_version},
        health=health,
        ready=ready,
        reason=reason,
        message=message,
        mark=_mark(world, key, release),
        bar=_bar(world, release),
        op=release.labels.get(stored.LABEL_OP),
        identity=_identity(release),
        detail={"namespace": release.namespace, "secret": release.secret, "labels": dict(release.labels)},
    )


def _ids(world: World, name: str, namespace: str) -> JsonObject:
    """Of what was just installed; helm itself does not tell. Without it a release whose label is taken off later is
    not known to be ours, and nothing worse."""
    with contextlib.suppress(InstantStartError):
        release = _newest(world, name, namespace)
        return {"id": _identity(release)} if release is not None else {}
    return {}


def _identity(release: stored.Release) -> str:
    """Another release of the same name was installed at another time."""
    return f"{release.namespace}/{release.name}@{release.first}"


def _chart(release: stored.Release, wanted: JsonObject) -> JsonObject:
    """The chart that is deployed. Of a revision that did not come to its end nothing is certain, so that the same
    chart again is a change to be made."""
    if release.status != "deployed":
        return {}
    if release.labels.get(stored.LABEL_CHART) == stored.chart_digest(wanted):
        return wanted
    return {"commit": release.labels.get(stored.LABEL_COMMIT), "version": release.chart_version}


def _mark(world: World, key: str, release: stored.Release) -> Mark:
    """The name of a release is in its key, so the cluster's label is enough."""
    labels = release.labels
    if labels.get(stored.LABEL_CLUSTER) != world.cluster or not key.startswith(f"{TYPE}/{world.cluster}/"):
        return Mark.FOREIGN
    return Mark.ADOPTED if labels.get(stored.LABEL_ADOPTED) == "true" else Mark.OURS


def _bar(world: World, release: stored.Release) -> Bar | None:
    owner = release.labels.get(stored.LABEL_CLUSTER, world.cluster)
    if owner == world.cluster:
        return None
    return Bar(
        "OthersMark",
        f"release {release.name} carries the mark of cluster {owner}, which manages it",
        f"let go of it there first, by taking {owner} down; only if {owner} is no more, remove the labels",
    )


def _clear_interrupted(world: World, name: str, namespace: str, op: str, stale: timedelta) -> None:
    """A helm process that was killed leaves a pending revision, which locks the release.

    Its Secret goes once that process is certainly gone; objects it made carry Helm's own marks of this release and
    are taken up by the next revision.
    """
    release = _newest(world, name, namespace)
    if release is None or not release.pending:
        return
    if release.deployed is not None and real_now() - release.deployed <= stale:
        raise Refused(f"helm is at work on {name} ({release.status})", reason="Conflict")
    world.kube().delete(SECRET, namespace, release.secret, op=op)


def _unlock(world: World, name: str, namespace: str, op: str) -> None:
    """This very process of helm is over; a pending revision that it left works on nothing and locks the release."""
    release = _newest(world, name, namespace)
    if release is not None and release.pending and release.labels.get(stored.LABEL_OP) == op:
        world.kube().delete(SECRET, namespace, release.secret, op=op)


def _access(world: World) -> Access:
    """A token of its own for each call: helm takes it from a file, and EKS takes it for fourteen minutes."""
    cluster = world.observed.get(cluster_key(world.cluster))
    if cluster is None or not cluster.attrs.get("endpoint"):
        raise Refused("the control plane is not there yet", reason="NotConnected")
    token = eks_token(world.aws, cluster.name)
    return Access(endpoint=str(cluster.attrs["endpoint"]), ca=str(cluster.attrs["ca"]), token=token.value)


def _add(label: str, value: str) -> JsonObject:
    return {"op": "add", "path": _label_path(label), "value": value}


def _label_path(label: str) -> str:
    return f"/metadata/labels/{label.replace('~', '~0').replace('/', '~1')}"
