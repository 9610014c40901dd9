"""kube-scheduler: gives a waiting pod a node, or says why no node fits."""

from collections import Counter
from collections.abc import Sequence

from reconciler.sandbox.kubernetes.objects import Object, dig, items, name_of, namespace_of, rfc3339
from reconciler.sandbox.kubernetes.simulators import placement
from reconciler.sandbox.kubernetes.simulators.cache import CLAIMS, NODES, PODS, Key, Resource
from reconciler.sandbox.kubernetes.simulators.client import Refused
from reconciler.sandbox.kubernetes.simulators.world import World


class Scheduler:
    name = "scheduler"

    def __init__(self, world: World) -> None:
        self._world = world

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]:
        if resource == PODS:
            if now is not None and _waits(now):
                return [key]
            # room that a pod gave back may be what another waits for
            freed = before is not None and (now is None or (_is_over(now) and not _is_over(before)))
            return self._waiting() if freed else ()
        if resource == CLAIMS or (resource == NODES and now is not None and _offer(before) != _offer(now)):
            return self._waiting()
        return ()

    def sync(self, key: Key) -> None:
        pod = self._world.get(PODS, key)
        if pod is None or not _waits(pod):
            return
        blocked = self._unbound_claim(pod)
        if blocked:
            self._unschedulable(pod, blocked)
            return
        reasons: Counter[str] = Counter()
        nodes = sorted(self._world.all(NODES), key=name_of)
        for node in nodes:
            reason = self._misfit(pod, node)
            if not reason:
                self._bind(pod, node)
                return
            reasons[reason] += 1
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        self._unschedulable(pod, f"0/{len(nodes)} nodes are available{': ' + listed if listed else ''}.")

    def _waiting(self) -> list[Key]:
        return [(namespace_of(pod), name_of(pod)) for pod in self._world.all(PODS) if _waits(pod)]

    def _misfit(self, pod: Object, node: Object) -> str:
        if node["spec"].get("unschedulable") and not _is_daemon(pod):
            return "node(s) were unschedulable"
        if not placement.is_ready(node):
            return "node(s) had untolerated taint {node.kubernetes.io/not-ready: }"
        if not placement.tolerates(pod["spec"], node):
            return "node(s) had untolerated taint(s)"
        if not placement.selects(pod["spec"], node):
            return "node(s) didn't match Pod's node affinity/selector"
        short = placement.short_of(pod, node, self._taken(node))
        if "pods" in short:
            return "Too many pods"
        return f"Insufficient {short[0]}" if short else ""

    def _taken(self, node: Object) -> placement.Amounts:
        taken: placement.Amounts = {}
        for pod in self._world.all(PODS):
            if pod["spec"].get("nodeName") != name_of(node) or _is_over(pod):
                continue
            for name, amount in placement.requested(pod).items():
                taken[name] = taken.get(name, amount - amount) + amount
        return taken

    def _unbound_claim(self, pod: Object) -> str:
        for volume in items(pod["spec"], "volumes"):
            claim = dig(volume, "persistentVolumeClaim", "claimName")
            if claim is None:
                continue
            found = self._world.get(CLAIMS, (namespace_of(pod), claim))
            if found is None:
                return (
                    f'0/{len(self._world.all(NODES))} nodes are available: persistentvolumeclaim "{claim}" not found.'
                )
            if dig(found, "status", "phase") != "Bound":
                count = len(self._world.all(NODES))
                return f"0/{count} nodes are available: pod has unbound immediate PersistentVolumeClaims."
        return ""

    def _bind(self, pod: Object, node: Object) -> None:
        path = PODS.path((namespace_of(pod), name_of(pod)))
        target = {"apiVersion": "v1", "kind": "Node", "name": name_of(node)}
        metadata = {"name": name_of(pod), "namespace": namespace_of(pod)}
        body: Object = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
        try:
            self._world.client.create(f"{path}/binding", body)
        except Refused as refused:
            if refused.code not in (404, 409):
                raise
            return
        # so that the next pod sees the room taken, before the watch says so
        self._world.write(PODS, self._world.client.get(path))

    def _unschedulable(self, pod: Object, message: str) -> None:
        for each in items(pod, "status", "conditions"):
            if each["type"] == "PodScheduled" and each["status"] == "False" and each.get("message") == message:
                return
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
            "lastTransitionTime": rfc3339(self._world.clock.now()),
        }
        path = PODS.path((namespace_of(pod), name_of(pod)))
        try:
            self._world.write(
                PODS, self._world.client.strategic(f"{path}/status", {"status": {"conditions": [condition]}})
            )
        except Refused as refused:
            if refused.code != 404:
                raise


def _waits(pod: Object) -> bool:
    return not pod["spec"].get("nodeName") and not pod["metadata"].get("deletionTimestamp") and not _is_over(pod)


def _is_over(pod: Object) -> bool:
    return dig(pod, "status", "phase") in ("Succeeded", "Failed")


def _is_daemon(pod: Object) -> bool:
    return any(owner.get("kind") == "DaemonSet" for owner in items(pod["metadata"], "ownerReferences"))


def _offer(node: Object | None) -> object:
    """What of a node decides who fits."""
    if node is None:
        return None
    return node["metadata"].get("labels"), node["spec"], dig(node, "status", "allocatable"), placement.is_ready(node)
