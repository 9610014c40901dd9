"""Whether a pod may run on a node: selectors, affinity, taints, resources. Pure."""

from decimal import Decimal

from reconciler.sandbox.kubernetes.objects import Object, dig, items, mapping
from reconciler.sandbox.kubernetes.quantities import value
from reconciler.sandbox.kubernetes.selectors import requirement_holds

Amounts = dict[str, Decimal]


def requested(pod: Object) -> Amounts:
    """What a pod takes of a node: the sum of its containers or its largest init container, plus one of `pods`."""
    total: Amounts = {"pods": Decimal(1)}
    for container in items(pod["spec"], "containers"):
        for name, amount in mapping(container, "resources", "requests").items():
            total[name] = total.get(name, Decimal(0)) + value(amount)
    for container in items(pod["spec"], "initContainers"):
        for name, amount in mapping(container, "resources", "requests").items():
            total[name] = max(total.get(name, Decimal(0)), value(amount))
    return total


def allocatable(node: Object) -> Amounts:
    return {name: value(amount) for name, amount in mapping(node, "status", "allocatable").items()}


def selects(pod_spec: Object, node: Object) -> bool:
    """nodeSelector and required node affinity."""
    labels: dict[str, str] = mapping(node["metadata"], "labels")
    wanted: dict[str, str] = mapping(pod_spec, "nodeSelector")
    if any(labels.get(key) != text for key, text in wanted.items()):
        return False
    required = dig(pod_spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(_term_holds(term, labels, node["metadata"]["name"]) for term in items(required, "nodeSelectorTerms"))


def tolerates(pod_spec: Object, node: Object, effects: tuple[str, ...] = ("NoSchedule", "NoExecute")) -> bool:
    taints: list[Object] = items(node["spec"], "taints")
    tolerations: list[Object] = items(pod_spec, "tolerations")
    return all(
        any(_tolerates(toleration, taint) for toleration in tolerations)
        for taint in taints
        if taint.get("effect") in effects
    )


def is_ready(node: Object) -> bool:
    conditions: list[Object] = items(node, "status", "conditions")
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
    expressions: list[Object] = items(term, "matchExpressions")
    fields: list[Object] = items(term, "matchFields")
    if not expressions and not fields:
        return False
    return all(
        requirement_holds(each["operator"], labels.get(each["key"]), items(each, "values")) for each in expressions
    ) and all(
        each["key"] == "metadata.name" and requirement_holds(each["operator"], name, items(each, "values"))
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
