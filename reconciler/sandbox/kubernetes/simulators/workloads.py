"""The controllers of Deployments, ReplicaSets and StatefulSets. A roll-out is one step: new pods up, old ones down."""

from collections.abc import Sequence

from reconciler.sandbox.kubernetes.objects import Object, clone, items, mapping, name_of, namespace_of, rfc3339
from reconciler.sandbox.kubernetes.simulators import pods
from reconciler.sandbox.kubernetes.simulators.cache import (
    CLAIMS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
    Key,
    Resource,
)
from reconciler.sandbox.kubernetes.simulators.client import Refused
from reconciler.sandbox.kubernetes.simulators.world import World


class Deployments:
    name = "deployments"

    def __init__(self, world: World) -> None:
        self._world = world

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]:
        if resource == DEPLOYMENTS:
            return [key] if now else ()
        return pods.owner_key(now or before, "Deployment") if resource == REPLICA_SETS else ()

    def sync(self, key: Key) -> None:
        deployment = self._world.get(DEPLOYMENTS, key)
        if deployment is None or pods.is_going(deployment):
            return
        uid = deployment["metadata"]["uid"]
        sets = self._world.all(REPLICA_SETS, lambda each: (pods.controller_of(each) or {}).get("uid") == uid)
        name = f"{key[1]}-{pods.template_hash(deployment['spec']['template'])}"
        current = next((each for each in sets if name_of(each) == name), None)
        wanted = deployment["spec"]["replicas"]
        if current is None:
            current = self._create(deployment, name)
        elif current["spec"]["replicas"] != wanted:
            current = self._scale(current, wanted)
        ready = mapping(current, "status").get("readyReplicas", 0)
        for old in sets:
            # the old pods go when the new ones are ready
            if name_of(old) != name and old["spec"]["replicas"] and ready >= wanted:
                self._scale(old, 0)
        self._report(deployment, current, [each for each in sets if name_of(each) != name])

    def _create(self, deployment: Object, name: str) -> Object:
        digest = name.rpartition("-")[2]
        template: Object = clone(deployment["spec"]["template"])
        labels = {**mapping(template["metadata"], "labels"), "pod-template-hash": digest}
        template["metadata"]["labels"] = labels
        selector: Object = clone(deployment["spec"]["selector"])
        selector["matchLabels"] = {**mapping(selector, "matchLabels"), "pod-template-hash": digest}
        body: Object = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": name, "labels": labels, "ownerReferences": [pods.reference(deployment)]},
            "spec": {"replicas": deployment["spec"]["replicas"], "selector": selector, "template": template},
        }
        namespace = namespace_of(deployment)
        try:
            created = self._world.client.create(REPLICA_SETS.collection(namespace), body)
        except Refused as refused:
            if refused.reason != "AlreadyExists":
                raise
            created = self._world.client.get(REPLICA_SETS.path((namespace, name)))
        return self._world.write(REPLICA_SETS, created)

    def _scale(self, replica_set: Object, replicas: int) -> Object:
        path = REPLICA_SETS.path((namespace_of(replica_set), name_of(replica_set)))
        return self._world.write(REPLICA_SETS, self._world.client.merge(path, {"spec": {"replicas": replicas}}))

    def _report(self, deployment: Object, current: Object, old: list[Object]) -> None:
        wanted = deployment["spec"]["replicas"]
        status: Object = mapping(current, "status")
        updated = status.get("replicas", 0)
        ready = status.get("readyReplicas", 0) + sum(mapping(each, "status").get("readyReplicas", 0) for each in old)
        total = updated + sum(mapping(each, "status").get("replicas", 0) for each in old)
        now = rfc3339(self._world.clock.now())
        before: Object = mapping(deployment, "status")
        done = updated >= wanted and status.get("readyReplicas", 0) >= wanted and total == updated
        name = name_of(current)
        progress = (
            f'ReplicaSet "{name}" has successfully progressed.' if done else f'ReplicaSet "{name}" is progressing.'
        )
        available = (
            "Deployment has minimum availability."
            if ready >= wanted
            else "Deployment does not have minimum availability."
        )
        conditions = [
            pods.condition(
                "Available",
                ready >= wanted,
                "MinimumReplicasAvailable" if ready >= wanted else "MinimumReplicasUnavailable",
                available,
                before,
                now,
            ),
            pods.condition(
                "Progressing", True, "NewReplicaSetAvailable" if done else "ReplicaSetUpdated", progress, before, now
            ),
        ]
        for each in conditions:
            each["lastUpdateTime"] = each["lastTransitionTime"]
        pods.write_status(
            self._world,
            DEPLOYMENTS,
            deployment,
            {
                "observedGeneration": deployment["metadata"]["generation"],
                "replicas": total,
                "updatedReplicas": updated,
                "readyReplicas": ready,
                "availableReplicas": ready,
                "unavailableReplicas": max(wanted - ready, 0),
                "conditions": conditions,
            },
        )


class ReplicaSets:
    name = "replicasets"

    def __init__(self, world: World) -> None:
        self._world = world

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]:
        if resource == REPLICA_SETS:
            return [key] if now else ()
        return pods.owner_key(now or before, "ReplicaSet") if resource == PODS else ()

    def sync(self, key: Key) -> None:
        owner = self._world.get(REPLICA_SETS, key)
        if owner is None or pods.is_going(owner):
            return
        alive = [pod for pod in pods.pods_of(self._world, owner) if not pods.is_going(pod) and not pods.is_over(pod)]
        wanted = owner["spec"]["replicas"]
        for _ in range(wanted - len(alive)):
            pods.create_pod(self._world, owner, owner["spec"]["template"])
        # those that are not ready yet go first
        for pod in sorted(alive, key=pods.is_ready)[: max(len(alive) - wanted, 0)]:
            pods.delete_pod(self._world, pod)
        alive = [pod for pod in pods.pods_of(self._world, owner) if not pods.is_going(pod) and not pods.is_over(pod)]
        ready = sum(pods.is_ready(pod) for pod in alive)
        pods.write_status(
            self._world,
            REPLICA_SETS,
            owner,
            {
                "observedGeneration": owner["metadata"]["generation"],
                "replicas": len(alive),
                "fullyLabeledReplicas": len(alive),
                "readyReplicas": ready,
                "availableReplicas": ready,
            },
        )


class StatefulSets:
    """Ordered start, claims from templates. A changed template replaces pods from the highest number down."""

    name = "statefulsets"

    def __init__(self, world: World) -> None:
        self._world = world

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]:
        if resource == STATEFUL_SETS:
            return [key] if now else ()
        return pods.owner_key(now or before, "StatefulSet") if resource == PODS else ()

    def sync(self, key: Key) -> None:
        owner = self._world.get(STATEFUL_SETS, key)
        if owner is None or pods.is_going(owner):
            return
        wanted: int = owner["spec"]["replicas"]
        digest = f"{key[1]}-{pods.template_hash(owner['spec']['template'])}"
        by_name = {name_of(pod): pod for pod in pods.pods_of(self._world, owner)}
        ordered = owner["spec"].get("podManagementPolicy") != "Parallel"
        for number in range(wanted):
            pod = by_name.get(f"{key[1]}-{number}")
            if pod is None:
                self._create(owner, number, digest)
            if ordered and (pod is None or not pods.is_ready(pod)):
                break
        self._take_away(owner, by_name, digest)
        alive = [pod for pod in pods.pods_of(self._world, owner) if not pods.is_going(pod)]
        ready = sum(pods.is_ready(pod) for pod in alive)
        updated = sum(_revision(pod) == digest for pod in alive)
        pods.write_status(
            self._world,
            STATEFUL_SETS,
            owner,
            {
                "observedGeneration": owner["metadata"]["generation"],
                "replicas": len(alive),
                "readyReplicas": ready,
                "availableReplicas": ready,
                "currentReplicas": updated,
                "updatedReplicas": updated,
                "currentRevision": digest,
                "updateRevision": digest,
                "collisionCount": 0,
            },
        )

    def _create(self, owner: Object, number: int, digest: str) -> None:
        name, namespace = f"{name_of(owner)}-{number}", namespace_of(owner)
        template: Object = owner["spec"]["template"]
        volumes: list[Object] = list(items(template["spec"], "volumes"))
        for claim in items(owner["spec"], "volumeClaimTemplates"):
            claim_name = f"{claim['metadata']['name']}-{name}"
            self._claim(namespace, claim_name, claim)
            volumes.append({"name": claim["metadata"]["name"], "persistentVolumeClaim": {"claimName": claim_name}})
        labels = {
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": str(number),
            "controller-revision-hash": digest,
        }
        spec: Object = {"hostname": name, "volumes": volumes} if volumes else {"hostname": name}
        pods.create_pod(self._world, owner, template, name=name, labels=labels, spec=spec)

    def _claim(self, namespace: str, name: str, template: Object) -> None:
        metadata = {"name": name, "labels": mapping(template["metadata"], "labels")}
        body: Object = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": metadata,
            "spec": template["spec"],
        }
        try:
            self._world.client.create(CLAIMS.collection(namespace), body)
        except Refused as refused:
            if refused.reason != "AlreadyExists":
                raise

    def _take_away(self, owner: Object, by_name: dict[str, Object], digest: str) -> None:
        wanted: int = owner["spec"]["replicas"]
        numbered = sorted(
            ((int(name.rpartition("-")[2]), pod) for name, pod in by_name.items()), key=lambda each: -each[0]
        )
        for number, pod in numbered:
            if pods.is_going(pod):
                return  # one at a time
            if number >= wanted or _revision(pod) != digest:
                pods.delete_pod(self._world, pod)
                return


def _revision(pod: Object) -> str:
    labels: dict[str, str] = mapping(pod["metadata"], "labels")
    return labels.get("controller-revision-hash", "")
