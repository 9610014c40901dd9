"""Small controllers: the default service account of every namespace, and what disruption budgets still allow."""

from collections.abc import Sequence

from reconciler.sandbox.kubernetes.objects import Object, mapping, name_of, namespace_of
from reconciler.sandbox.kubernetes.selectors import matches_selector
from reconciler.sandbox.kubernetes.simulators import pods
from reconciler.sandbox.kubernetes.simulators.cache import BUDGETS, NAMESPACES, PODS, SERVICE_ACCOUNTS, Key, Resource
from reconciler.sandbox.kubernetes.simulators.client import Refused
from reconciler.sandbox.kubernetes.simulators.world import World


class ServiceAccounts:
    name = "serviceaccounts"

    def __init__(self, world: World) -> None:
        self._world = world

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]:
        if resource == NAMESPACES and now is not None:
            return [key]
        if resource == SERVICE_ACCOUNTS and now is None and key[1] == "default":
            return [("", key[0])]
        return ()

    def sync(self, key: Key) -> None:
        namespace = self._world.get(NAMESPACES, key)
        if namespace is None or pods.is_going(namespace) or self._world.get(SERVICE_ACCOUNTS, (key[1], "default")):
            return
        body: Object = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        try:
            self._world.write(SERVICE_ACCOUNTS, self._world.client.create(SERVICE_ACCOUNTS.collection(key[1]), body))
        except Refused as refused:
            if refused.code not in (403, 404, 409):
                raise


class Budgets:
    name = "budgets"

    def __init__(self, world: World) -> None:
        self._world = world

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]:
        if resource == BUDGETS:
            return [key] if now else ()
        if resource == PODS:
            return [
                (namespace_of(each), name_of(each)) for each in self._world.all(BUDGETS) if namespace_of(each) == key[0]
            ]
        return ()

    def sync(self, key: Key) -> None:
        budget = self._world.get(BUDGETS, key)
        if budget is None or pods.is_going(budget):
            return
        spec: Object = budget["spec"]
        mine = [
            pod
            for pod in self._world.all(PODS)
            if namespace_of(pod) == key[0]
            and matches_selector(spec.get("selector"), mapping(pod["metadata"], "labels"))
        ]
        healthy = sum(pods.is_ready(pod) and not pods.is_going(pod) for pod in mine)
        if "maxUnavailable" in spec:
            wanted = len(mine) - _amount(spec["maxUnavailable"], len(mine))
        else:
            wanted = _amount(spec.get("minAvailable", 1), len(mine))
        status: Object = {
            "observedGeneration": budget["metadata"]["generation"],
            "currentHealthy": healthy,
            "desiredHealthy": wanted,
            "expectedPods": len(mine),
            "disruptionsAllowed": max(healthy - wanted, 0),
        }
        pods.write_status(self._world, BUDGETS, budget, status)


def _amount(text: int | str, total: int) -> int:
    """A count, or a percentage rounded up."""
    if isinstance(text, int):
        return text
    return -(-int(text.rstrip("%")) * total // 100)
