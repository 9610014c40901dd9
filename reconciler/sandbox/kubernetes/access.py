"""Who asks and whether they may: users, RBAC over the stored roles, and the review kinds that answer from it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from reconciler.sandbox.kubernetes.objects import Object, dig, items, mapping
from reconciler.sandbox.kubernetes.store import Store

RBAC = "rbac.authorization.k8s.io"
AUTHENTICATED = "system:authenticated"
MASTERS = "system:masters"


@dataclass(frozen=True, kw_only=True)
class UserInfo:
    """Who a bearer token stands for."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def all_groups(self) -> tuple[str, ...]:
        return self.groups if AUTHENTICATED in self.groups else (*self.groups, AUTHENTICATED)


@dataclass(frozen=True, kw_only=True)
class Attributes:
    """What a request wants. `path` is set for requests that name no resource."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


Authenticate: TypeAlias = Callable[[str], UserInfo | None]
Authorize: TypeAlias = Callable[[UserInfo, Attributes, Store], bool]

_DISCOVERY = ("/api", "/apis", "/openapi", "/version", "/healthz", "/livez", "/readyz")


def rbac_allows(user: UserInfo, wanted: Attributes, store: Store) -> bool:
    """Everything for system:masters; for the others what the bindings give."""
    groups = user.all_groups()
    if MASTERS in groups:
        return True
    if wanted.path:
        root = "/" + wanted.path.split("/")[1]
        if wanted.verb == "get" and root in _DISCOVERY:
            return True
    elif wanted.verb == "create" and wanted.resource in (
        "selfsubjectaccessreviews",
        "selfsubjectrulesreviews",
        "selfsubjectreviews",
    ):
        return True
    return any(rule_allows(rule, wanted) for rule in rules_of(user, wanted.namespace, store))


def forbidden_text(user: UserInfo, wanted: Attributes) -> str:
    if wanted.path:
        return f'forbidden: User "{user.name}" cannot {wanted.verb} path "{wanted.path}"'
    resource = f"{wanted.resource}.{wanted.group}" if wanted.group else wanted.resource
    target = f"{wanted.resource}/{wanted.subresource}" if wanted.subresource else wanted.resource
    named = f' "{wanted.name}"' if wanted.name else ""
    where = f'in the namespace "{wanted.namespace}"' if wanted.namespace else "at the cluster scope"
    text = f'{resource}{named} is forbidden: User "{user.name}" cannot {wanted.verb} resource "{target}"'
    return f'{text} in API group "{wanted.group}" {where}'


def review(
    kind: str, body: Object, user: UserInfo, allows: Callable[[UserInfo, Attributes], bool], store: Store
) -> Object:
    """The answer to a SelfSubjectAccessReview, SubjectAccessReview, SelfSubjectReview …"""
    spec: Object = mapping(body, "spec")
    answer: Object = {**body, "metadata": mapping(body, "metadata")}
    match kind:
        case "SelfSubjectReview":
            answer["status"] = {"userInfo": _info(user)}
        case "SelfSubjectAccessReview" | "SubjectAccessReview":
            subject = user
            if kind == "SubjectAccessReview":
                subject = UserInfo(name=spec.get("user") or "", groups=tuple(spec.get("groups") or ()))
            wanted = _attributes(spec)
            answer["status"] = _verdict(subject, wanted, store) if allows(subject, wanted) else {"allowed": False}
        case "SelfSubjectRulesReview":
            answer["status"] = _everything_of(user, str(spec.get("namespace") or ""), store)
        case _:
            answer["status"] = {"authenticated": False}
    return answer


def _verdict(user: UserInfo, wanted: Attributes, store: Store) -> Object:
    """Allowed, and by which binding, if it is one."""
    for binding, rules in _bindings_of(user, wanted.namespace, store):
        if any(rule_allows(rule, wanted) for rule in rules):
            return {"allowed": True, "reason": f"RBAC: allowed by {_described(binding, user)}"}
    return {"allowed": True}


def _described(binding: Object, user: UserInfo) -> str:
    subject = next(each for each in items(binding, "subjects") if _is_subject(each, user, user.all_groups()))
    role, metadata = mapping(binding, "roleRef"), mapping(binding, "metadata")
    namespace = metadata.get("namespace")
    name = f"{namespace}/{subject['name']}" if subject["kind"] == "ServiceAccount" else subject["name"]
    where = f"{metadata['name']}/{namespace}" if namespace else metadata["name"]
    what = "RoleBinding" if namespace else "ClusterRoleBinding"
    return f'{what} "{where}" of {role.get("kind")} "{role.get("name")}" to {subject["kind"]} "{name}"'


def _everything_of(user: UserInfo, namespace: str, store: Store) -> Object:
    if MASTERS in user.all_groups():
        rule: Object = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        return {"resourceRules": [rule], "nonResourceRules": [], "incomplete": False}
    rules = list(rules_of(user, namespace, store))
    names = ("verbs", "apiGroups", "resources", "resourceNames")
    resources = [{name: rule[name] for name in names if name in rule} for rule in rules if rule.get("resources")]
    paths = [
        {"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]}
        for rule in rules
        if rule.get("nonResourceURLs")
    ]
    return {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}


def _info(user: UserInfo) -> Object:
    info: Object = {"username": user.name, "groups": list(user.all_groups())}
    if user.uid:
        info["uid"] = user.uid
    if user.extra:
        info["extra"] = user.extra
    return info


def _attributes(spec: Object) -> Attributes:
    if (path := spec.get("nonResourceAttributes")) is not None:
        return Attributes(verb=path.get("verb") or "", path=path.get("path") or "/")
    wanted: Object = mapping(spec, "resourceAttributes")
    return Attributes(
        verb=wanted.get("verb") or "",
        group=wanted.get("group") or "",
        resource=wanted.get("resource") or "",
        subresource=wanted.get("subresource") or "",
        namespace=wanted.get("namespace") or "",
        name=wanted.get("name") or "",
    )


def rules_of(user: UserInfo, namespace: str, store: Store) -> Iterator[Object]:
    """What somebody may there; without a namespace, what he may everywhere."""
    for _, rules in _bindings_of(user, namespace, store):
        yield from rules


def _bindings_of(user: UserInfo, namespace: str, store: Store) -> Iterator[tuple[Object, list[Object]]]:
    groups = user.all_groups()
    for binding in store.all((RBAC, "clusterrolebindings")):
        if _binds(binding.obj, user, groups):
            yield binding.obj, role_rules(binding.obj, "", store)
    if not namespace:
        return
    for binding in store.all((RBAC, "rolebindings")):
        if binding.obj["metadata"]["namespace"] == namespace and _binds(binding.obj, user, groups):
            yield binding.obj, role_rules(binding.obj, namespace, store)


def _binds(binding: Object, user: UserInfo, groups: tuple[str, ...]) -> bool:
    return any(_is_subject(subject, user, groups) for subject in items(binding, "subjects"))


def _is_subject(subject: Object, user: UserInfo, groups: tuple[str, ...]) -> bool:
    match subject.get("kind"):
        case "User":
            return subject.get("name") == user.name
        case "Group":
            return subject.get("name") in groups
        case "ServiceAccount":
            return user.name == f"system:serviceaccount:{subject.get('namespace')}:{subject.get('name')}"
        case _:
            return False


def role_rules(binding: Object, namespace: str, store: Store) -> list[Object]:
    """Of the role that a binding names; none if there is no such role."""
    name: str = dig(binding, "roleRef", "name")
    role = (
        store.get((RBAC, "roles"), (namespace, name))
        if dig(binding, "roleRef", "kind") == "Role"
        else store.get((RBAC, "clusterroles"), ("", name))
    )
    return items(role.obj, "rules") if role else []


def rule_allows(rule: Object, wanted: Attributes) -> bool:
    if not _listed(wanted.verb, rule.get("verbs")):
        return False
    if wanted.path:
        return any(_path_matches(pattern, wanted.path) for pattern in items(rule, "nonResourceURLs"))
    target = f"{wanted.resource}/{wanted.subresource}" if wanted.subresource else wanted.resource
    resources: list[str] = items(rule, "resources")
    if not _listed(wanted.group, rule.get("apiGroups")):
        return False
    if not _listed(target, resources) and not (wanted.subresource and f"*/{wanted.subresource}" in resources):
        return False
    names: list[str] = items(rule, "resourceNames")
    return not names or wanted.name in names


def _listed(value: str, allowed: list[str] | None) -> bool:
    return allowed is not None and ("*" in allowed or value in allowed)


def _path_matches(pattern: str, path: str) -> bool:
    return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern
