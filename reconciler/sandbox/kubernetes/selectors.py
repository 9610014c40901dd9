"""Label and field selectors: text to predicate."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from reconciler.sandbox.kubernetes.errors import bad_request
from reconciler.sandbox.kubernetes.objects import Object, dig, items, mapping

Predicate = Callable[[Object], bool]
LabelTest = Callable[[Mapping[str, str]], bool]

_SET = re.compile(r"^([^\s!=<>,()]+)\s+(in|notin)\s*\(([^()]*)\)$")
_EQUAL = re.compile(r"^([^\s!=<>,()]+)\s*(!=|==|=)\s*([^\s!=<>,()]*)$")
_EXISTS = re.compile(r"^(!?)\s*([A-Za-z0-9][\w./-]*)$")

_FIELDS = {
    "pods": {
        "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
        "status.phase", "status.podIP", "status.nominatedNodeName",
    },
    "events": {
        "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
        "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
        "reportingComponent", "source", "type",
    },
    "nodes": {"spec.unschedulable"},
    "namespaces": {"status.phase"},
    "secrets": {"type"},
    "jobs": {"status.successful"},
    "replicasets": {"status.replicas"},
}  # fmt: skip


def matcher(plural: str, labels: str, fields: str) -> Predicate | None:
    """Both selectors at once; None if they let everything pass. ApiError 400 if one cannot be read."""
    label_tests = label_selector(labels) if labels else ()
    field_tests = _field_selector(plural, fields) if fields else ()
    if not label_tests and not field_tests:
        return None

    def matches(obj: Object) -> bool:
        if label_tests:
            has: Mapping[str, str] = mapping(obj["metadata"], "labels")
            if not all(test(has) for test in label_tests):
                return False
        return all((_text(dig(obj, *path)) == wanted) is equal for path, equal, wanted in field_tests)

    return matches


@lru_cache(maxsize=1024)
def label_selector(text: str) -> tuple[LabelTest, ...]:
    """`a=b, c in (d, e), !f` as tests on a map of labels."""
    return tuple(_label_test(part.strip()) for part in re.split(r",(?![^(]*\))", text) if part.strip())


def matches_selector(selector: Object | None, labels: Mapping[str, str]) -> bool:
    """A metav1.LabelSelector: none matches nothing, an empty one everything."""
    if selector is None:
        return False
    wanted: Mapping[str, str] = mapping(selector, "matchLabels")
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(
        requirement_holds(each["operator"], labels.get(each["key"]), items(each, "values"))
        for each in items(selector, "matchExpressions")
    )


def requirement_holds(operator: str, has: str | None, values: list[str]) -> bool:
    """One match expression of a label selector or of a node affinity term."""
    match operator:
        case "In":
            return has is not None and has in values
        case "NotIn":
            return has is None or has not in values
        case "Exists":
            return has is not None
        case "DoesNotExist":
            return has is None
        case "Gt" | "Lt":
            if has is None or not has.lstrip("-").isdigit() or len(values) != 1:
                return False
            return int(has) > int(values[0]) if operator == "Gt" else int(has) < int(values[0])
        case _:
            return False


def _label_test(part: str) -> LabelTest:
    if found := _SET.match(part):
        key, positive = found[1], found[2] == "in"
        values = frozenset(value.strip() for value in found[3].split(","))
        if positive:
            return lambda has: has.get(key) in values
        return lambda has: has.get(key) not in values
    if found := _EQUAL.match(part):
        key, value = found[1], found[3]
        if found[2] == "!=":
            return lambda has: has.get(key) != value
        return lambda has: has.get(key) == value
    if found := _EXISTS.match(part):
        key = found[2]
        if found[1]:
            return lambda has: key not in has
        return lambda has: key in has
    raise bad_request(f"unable to parse requirement: {part!r}")


def _field_selector(plural: str, text: str) -> list[tuple[tuple[str, ...], bool, str]]:
    supported = {"metadata.name", "metadata.namespace"} | _FIELDS.get(plural, set())
    tests: list[tuple[tuple[str, ...], bool, str]] = []
    for part in filter(None, text.split(",")):
        found = re.match(r"^([\w.]+)(!=|==|=)(.*)$", part)
        if found is None:
            raise bad_request(f"invalid field selector {part!r}")
        if found[1] not in supported:
            raise bad_request(f"field label not supported: {found[1]}")
        tests.append((tuple(found[1].split(".")), found[2] != "!=", found[3]))
    return tests


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
