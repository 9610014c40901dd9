"""The DaemonSet controller: one pod on every node that the template's affinity and tolerations allow."""

from collections.abc import Sequence

from reconciler.sandbox.kubernetes.objects import Object, clone, dig, items, mapping, name_of, namespace_of
from reconciler.sandbox.kubernetes.simulators import placement, pods
from reconciler.sandbox.kubernetes.simulators.cache import DAEMON_SETS, NODES, PODS, Key, Resource
from reconciler.sandbox.kubernetes.simulators.world import World

# what every daemon tolerates
_TOLERATIONS: list[Object] = [
    {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": effect}
    for what, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
]
_HASH = "controller-revision-hash"


class DaemonSets:
    name = "daemonsets"

    def __init__(self, world: World) -> None:
        self._world = world

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]:
        if resource == DAEMON_SETS:
            return [key] if now else ()
        if resource == PODS:
            return pods.owner_key(now or before, "DaemonSet")
        if resource == NODES and (
            before is None
            or now is None
            or before["spec"] != now["spec"]
            or before["metadata"].get("labels") != now["metadata"].get("labels")
        ):
            return [(namespace_of(each), name_of(each)) for each in self._world.all(DAEMON_SETS)]
        return ()

    def sync(self, key: Key) -> None:
        owner = self._world.get(DAEMON_SETS, key)
        if owner is None or pods.is_going(owner):
            return
        template: Object = clone(owner["spec"]["template"])
        digest = pods.template_hash(template)
        template["spec"]["tolerations"] = [*items(template["spec"], "tolerations"), *_TOLERATIONS]
        eligible = [name_of(node) for node in self._world.all(NODES) if self._runs_on(template["spec"], node)]
        by_node: dict[str, Object] = {}
        for pod in pods.pods_of(self._world, owner):
            node = _pinned_to(pod)
            stale = mapping(pod["metadata"], "labels").get(_HASH) != digest
            if node not in eligible or node in by_node or pods.is_over(pod) or stale:
                pods.delete_pod(self._world, pod)
                if stale and node in eligible and pods.is_going(pod):
                    by_node.setdefault(node, pod)
                continue
            by_node[node] = pod
        for node in eligible:
            if node not in by_node:
                spec = {**template["spec"], "affinity": _pin(template["spec"].get("affinity"), node)}
                pods.create_pod(self._world, owner, {**template, "spec": spec}, labels={_HASH: digest})
        self._report(owner, eligible, digest)

    def _runs_on(self, spec: Object, node: Object) -> bool:
        return placement.selects(spec, node) and placement.tolerates(spec, node)

    def _report(self, owner: Object, eligible: list[str], digest: str) -> None:
        alive = [
            pod for pod in pods.pods_of(self._world, owner) if not pods.is_going(pod) and _pinned_to(pod) in eligible
        ]
        ready = sum(pods.is_ready(pod) for pod in alive)
        pods.write_status(
            self._world,
            DAEMON_SETS,
            owner,
            {
                "observedGeneration": owner["metadata"]["generation"],
                "desiredNumberScheduled": len(eligible),
                "currentNumberScheduled": len(alive),
                "updatedNumberScheduled": sum(mapping(pod["metadata"], "labels").get(_HASH) == digest for pod in alive),
                "numberReady": ready,
                "numberAvailable": ready,
                "numberUnavailable": len(eligible) - ready,
                "numberMisscheduled": 0,
            },
        )


def _pin(affinity: Object | None, node: str) -> Object:
    """The template's affinity, with the node's name in place of its node affinity (which was checked already)."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {**(affinity or {}), "nodeAffinity": required}


def _pinned_to(pod: Object) -> str:
    required = dig(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = items(required, "nodeSelectorTerms")
    fields: list[Object] = items(terms[0], "matchFields") if terms else []
    return fields[0]["values"][0] if fields else pod["spec"].get("nodeName") or ""
