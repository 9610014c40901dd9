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
    return any(_rule_allows(rule, wanted) for rule in _rules_of(user, groups, wanted.namespace, store))


def forbidden_text(user: UserInfo, wanted: Attributes) -> str:
    if wanted.path:
        return f'forbidden: User "{user.name}" cannot {wanted.verb} path "{wanted.path}"'
    resource = f"{wanted.resource}.{wanted.group}" if wanted.group else wanted.resource
    target = f"{wanted.resource}/{wanted.subresource}" if wanted.subresource else wanted.resource
    named = f' "{wanted.name}"' if wanted.name else ""
    where = f'in the namespace "{wanted.namespace}"' if wanted.namespace else "at the cluster scope"
    text = f'{resource}{named} is forbidden: User "{user.name}" cannot {wanted.verb} resource "{target}"'
    return f'{text} in API group "{wanted.group}" {where}'


def review(kind: str, body: Object, user: UserInfo, allows: Callable[[UserInfo, Attributes], bool]) -> Object:
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
            answer["status"] = {"allowed": allows(subject, _attributes(spec))}
        case "SelfSubjectRulesReview":
            everything = MASTERS in user.all_groups()
            rule = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}] if everything else []
            answer["status"] = {"resourceRules": rule, "nonResourceRules": [], "incomplete": not everything}
        case _:
            answer["status"] = {"authenticated": False}
    return answer


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


def _rules_of(user: UserInfo, groups: tuple[str, ...], namespace: str, store: Store) -> Iterator[Object]:
    for binding in store.all((RBAC, "clusterrolebindings")):
        if _binds(binding.obj, user, groups):
            yield from _role_rules(binding.obj, "", store)
    if not namespace:
        return
    for binding in store.all((RBAC, "rolebindings")):
        if binding.obj["metadata"]["namespace"] == namespace and _binds(binding.obj, user, groups):
            yield from _role_rules(binding.obj, namespace, store)


def _binds(binding: Object, user: UserInfo, groups: tuple[str, ...]) -> bool:
    for subject in items(binding, "subjects"):
        match subject.get("kind"):
            case "User" if subject.get("name") == user.name:
                return True
            case "Group" if subject.get("name") in groups:
                return True
            case "ServiceAccount" if (
                user.name == f"system:serviceaccount:{subject.get('namespace')}:{subject.get('name')}"
            ):
                return True
            case _:
                continue
    return False


def _role_rules(binding: Object, namespace: str, store: Store) -> list[Object]:
    name: str = dig(binding, "roleRef", "name")
    role = (
        store.get((RBAC, "roles"), (namespace, name))
        if dig(binding, "roleRef", "kind") == "Role"
        else store.get((RBAC, "clusterroles"), ("", name))
    )
    return items(role.obj, "rules") if role else []


def _rule_allows(rule: Object, wanted: Attributes) -> bool:
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
