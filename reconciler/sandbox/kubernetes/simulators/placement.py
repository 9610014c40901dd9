"""Whether a pod may run on a node: selectors, affinity, taints, resources. Pure."""

from collections.abc import Iterable
from decimal import Decimal

from reconciler.sandbox.kubernetes.objects import Object, dig
from reconciler.sandbox.kubernetes.quantities import value
from reconciler.sandbox.kubernetes.selectors import requirement_holds

Amounts = dict[str, Decimal]


def requested(pod: Object) -> Amounts:
    """What a pod takes of a node: the sum of its containers or its largest init container, plus one of `pods`."""
    total: Amounts = {"pods": Decimal(1)}
    for container in pod["spec"].get("containers") or []:
        for name, amount in (dig(container, "resources", "requests") or {}).items():
            total[name] = total.get(name, Decimal(0)) + value(amount)
    for container in pod["spec"].get("initContainers") or []:
        for name, amount in (dig(container, "resources", "requests") or {}).items():
            total[name] = max(total.get(name, Decimal(0)), value(amount))
    return total


def allocatable(node: Object) -> Amounts:
    return {name: value(amount) for name, amount in (dig(node, "status", "allocatable") or {}).items()}


def selects(pod_spec: Object, node: Object) -> bool:
    """nodeSelector and required node affinity."""
    labels: dict[str, str] = node["metadata"].get("labels") or {}
    wanted: dict[str, str] = pod_spec.get("nodeSelector") or {}
    if any(labels.get(key) != text for key, text in wanted.items()):
        return False
    required = dig(pod_spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(_term_holds(term, labels, node["metadata"]["name"]) for term in required.get("nodeSelectorTerms") or [])


def tolerates(pod_spec: Object, node: Object, effects: Iterable[str] = ("NoSchedule", "NoExecute")) -> bool:
    taints: list[Object] = node["spec"].get("taints") or []
    tolerations: list[Object] = pod_spec.get("tolerations") or []
    return all(
        any(_tolerates(toleration, taint) for toleration in tolerations)
        for taint in taints
        if taint.get("effect") in effects
    )


def is_ready(node: Object) -> bool:
    conditions: list[Object] = dig(node, "status", "conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def short_of(pod: Object, node: Object, taken: Amounts) -> list[str]:
    """The resources of which the node has too little left."""
    has = allocatable(node)
    short: list[str] = []
    for name, amount in requested(pod).items():
        if amount and taken.get(name, Decimal(0)) + amount > has.get(name, Decimal(0)):
            short.append(name)
    return short


def _term_holds(term: Object, labels: dict[str, str], name: str) -> bool:
    expressions: list[Object] = term.get("matchExpressions") or []
    fields: list[Object] = term.get("matchFields") or []
    if not expressions and not fields:
        return False
    return all(
        requirement_holds(each["operator"], labels.get(each["key"]), each.get("values") or []) for each in expressions
    ) and all(
        each["key"] == "metadata.name" and requirement_holds(each["operator"], name, each.get("values") or [])
        for each in fields
    )


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.get("value") or "")
