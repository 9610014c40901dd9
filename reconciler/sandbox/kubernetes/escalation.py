"""Nobody gives what he does not have: what the server asks of who writes a role or a binding."""

from collections.abc import Callable, Iterable, Iterator

from reconciler.sandbox.kubernetes.access import MASTERS, RBAC, Attributes, UserInfo, role_rules, rule_allows, rules_of
from reconciler.sandbox.kubernetes.errors import forbidden
from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.objects import Object, dig, items
from reconciler.sandbox.kubernetes.requests import Admit
from reconciler.sandbox.kubernetes.store import Store

Allows = Callable[[Attributes], bool]

_EVERYTHING: Object = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_EVERY_PATH: Object = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def guard(user: UserInfo, allows: Allows, store: Store, named: str) -> Admit:
    """What one request must pass. `named`: the name in its URL; a POST has none."""

    def admit(kind: Kind, before: Object | None, after: Object) -> None:
        if kind.group != RBAC or MASTERS in user.all_groups():
            return
        if kind.plural in ("roles", "clusterroles"):
            _role(kind, before, after)
        elif kind.plural in ("rolebindings", "clusterrolebindings"):
            _binding(kind, before, after)

    def _role(kind: Kind, before: Object | None, after: Object) -> None:
        namespace = str(after["metadata"].get("namespace") or "")
        if _only_collected(before, after):
            return
        if allows(Attributes(verb="escalate", group=RBAC, resource=kind.plural, namespace=namespace, name=named)):
            return
        held = list(rules_of(user, namespace, store))
        if after.get("aggregationRule") and list(_lacking(held, [_EVERYTHING, _EVERY_PATH])):
            raise _refusal(kind, after, "must have cluster-admin privileges to use the aggregationRule")
        _must_have(kind, after, held, items(after, "rules"))

    def _binding(kind: Kind, before: Object | None, after: Object) -> None:
        namespace = str(after["metadata"].get("namespace") or "")
        if _only_collected(before, after):
            return
        plural = "roles" if dig(after, "roleRef", "kind") == "Role" else "clusterroles"
        name = str(dig(after, "roleRef", "name"))
        if allows(Attributes(verb="bind", group=RBAC, resource=plural, namespace=namespace, name=name)):
            return
        _must_have(kind, after, list(rules_of(user, namespace, store)), role_rules(after, namespace, store))

    def _must_have(kind: Kind, after: Object, held: list[Object], wanted: Iterable[Object]) -> None:
        lacking = _compact(_lacking(held, wanted))
        if lacking:
            groups = " ".join(f'"{group}"' for group in user.all_groups())
            said = f'user "{user.name}" (groups=[{groups}]) is attempting to grant RBAC permissions not currently held:'
            raise _refusal(kind, after, said + "".join(f"\n{each}" for each in sorted(map(_shown, lacking))))

    return admit


def _refusal(kind: Kind, after: Object, why: str) -> Exception:
    name = str(after["metadata"]["name"])
    text = f'{kind.plural}.{kind.group} "{name}" is forbidden: {why}'
    return forbidden(text, name=name, group=kind.group, kind=kind.plural)


def _only_collected(before: Object | None, after: Object) -> bool:
    """Whether no more changed than what lets the collector of garbage take it away: owners and finalizers. Anything
    else, a label too, is asked about as if all of it were new."""
    if before is None:
        return False
    kept = ("ownerReferences", "finalizers", "managedFields", "resourceVersion", "generation")
    old, new = (
        {**each, "metadata": {key: value for key, value in each["metadata"].items() if key not in kept}}
        for each in (before, after)
    )
    return old == new


def _lacking(held: list[Object], wanted: Iterable[Object]) -> Iterator[Object]:
    """Of the wanted rules, cut into single rights, those that no held rule gives."""
    for rule in wanted:
        for single in _singles(rule):
            if not any(_gives(each, single) for each in held):
                yield single


def _singles(rule: Object) -> Iterator[Object]:
    for verb in items(rule, "verbs"):
        for path in items(rule, "nonResourceURLs"):
            yield {"nonResourceURLs": [path], "verbs": [verb]}
        for group in items(rule, "apiGroups"):
            for resource in items(rule, "resources"):
                for name in items(rule, "resourceNames") or [""]:
                    single: Object = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                    yield {**single, "resourceNames": [name]} if name else single


def _compact(singles: Iterable[Object]) -> list[Object]:
    """Verbs on one thing together."""
    found: dict[str, Object] = {}
    for single in singles:
        what = {name: value for name, value in single.items() if name != "verbs"}
        verbs: list[str] = found.setdefault(str(what), {**what, "verbs": []})["verbs"]
        verbs += [verb for verb in single["verbs"] if verb not in verbs]
    return list(found.values())


def _gives(held: Object, single: Object) -> bool:
    verb = single["verbs"][0]
    if "nonResourceURLs" in single:
        return rule_allows(held, Attributes(verb=verb, path=single["nonResourceURLs"][0]))
    resource, _, subresource = single["resources"][0].partition("/")
    name = (single.get("resourceNames") or [""])[0]
    return rule_allows(
        held,
        Attributes(verb=verb, group=single["apiGroups"][0], resource=resource, subresource=subresource, name=name),
    )


def _shown(rule: Object) -> str:
    """As Go prints it."""
    names = (
        ("apiGroups", "APIGroups"),
        ("resources", "Resources"),
        ("resourceNames", "ResourceNames"),
        ("nonResourceURLs", "NonResourceURLs"),
        ("verbs", "Verbs"),
    )
    parts = [
        f"{shown}:[{' '.join(f'{chr(34)}{value}{chr(34)}' for value in rule[name])}]"
        for name, shown in names
        if name in rule
    ]
    return "{" + ", ".join(parts) + "}"
