"""What the reconciler may do in a cluster: every rule, and what for. Pure.

Three roles. `instantstart:reconciler` is all that the reconciler itself asks, `instantstart:reader` what is shown to
people beside: a test takes each right away and sees who misses it. Any other kind that they look at is for the role
`view` that every cluster has, which holds no Secrets. `instantstart:installer` is what Helm needs to install the chart
of HyperPod's dependencies. That chart brings roles of its own, one of them gathers others, and the API server lets
nobody give what he does not have, unless he may `escalate` and `bind`: whoever may that can give himself everything. So
there is no small role for installing it. Who does not want that installs the chart himself and leaves the third out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reconciler.live.redaction import MESSAGE_LIMIT, presentable
from schemas.values import JsonObject

GROUP = "instantstart:reconciler"
"""The Kubernetes group of the reconciler's access entry (kubernetesGroups); EKS wants no prefix of its own in it."""
RECONCILER, READER, INSTALLER = "instantstart:reconciler", "instantstart:reader", "instantstart:installer"
VIEW = "view"
RELEASES = "kube-system"
"""The namespace in which Helm keeps our release."""
WAY_OUT = "a cluster administrator gives it: instantstart rbac | kubectl apply -f -"

_RBAC = "rbac.authorization.k8s.io"
_INSTALL = ("get", "create", "patch", "delete")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """`namespace` "": everywhere, and things that have none."""

    group: str = ""
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    why: str
    namespace: str = ""

    def body(self) -> JsonObject:
        return {"apiGroups": [self.group], "resources": list(self.resources), "verbs": list(self.verbs)}


OURS: tuple[Rule, ...] = (
    Rule(resources=("nodes",), verbs=("get", "list"), why="boot ids of nodes, and which node is in which group"),
    Rule(resources=("pods",), verbs=("list",), why="who works on nodes that go, and who holds a volume that goes"),
    Rule(
        group="apps",
        resources=("daemonsets", "deployments"),
        verbs=("get",),
        why="whether somebody installed by hand what an add-on would install",
    ),
    # Apply is a patch that creates what is not there.
    Rule(resources=("persistentvolumes",), verbs=("get", "create", "patch", "delete"), why="volumes of Storages"),
    Rule(resources=("persistentvolumeclaims",), verbs=("get", "create", "patch", "delete"), why="claims of Storages"),
    Rule(
        resources=("secrets",),
        verbs=("list", "patch", "delete"),
        why="what Helm knows of our release; our mark on it; the lock of a helm that was killed",
        namespace=RELEASES,
    ),
)

READS: tuple[Rule, ...] = (
    Rule(resources=("nodes", "pods"), verbs=("list", "watch"), why="nodes and pods followed while somebody looks"),
    Rule(resources=("pods",), verbs=("get",), why="whose log it is"),
    Rule(resources=("pods/log",), verbs=("get",), why="logs"),
    Rule(resources=("events",), verbs=("list",), why="what happened lately"),
)

HELM: tuple[Rule, ...] = (
    Rule(
        resources=("secrets",),
        verbs=("get", "list", "create", "update", "delete"),
        why="Helm keeps a release in Secrets",
        namespace=RELEASES,
    ),
    Rule(
        resources=("namespaces", "serviceaccounts", "configmaps", "services"),
        verbs=_INSTALL,
        why="objects of the chart",
    ),
    Rule(group="apps", resources=("daemonsets", "deployments"), verbs=_INSTALL, why="agents and operators"),
    Rule(
        group="apiextensions.k8s.io",
        resources=("customresourcedefinitions",),
        verbs=_INSTALL,
        why="kinds of the operators",
    ),
    Rule(
        group=_RBAC,
        resources=("clusterroles", "clusterrolebindings", "roles", "rolebindings"),
        verbs=_INSTALL,
        why="rights of agents and operators",
    ),
    Rule(
        group=_RBAC,
        resources=("clusterroles", "roles"),
        verbs=("escalate", "bind"),
        why="those rights are more than ours; this is as much as an administrator may",
    ),
)


def manifests(*, chart: bool = True) -> list[JsonObject]:
    """The roles and who has them, for `kubectl apply`. `chart` False: without what installing the chart needs."""
    parts = [(RECONCILER, OURS), (READER, READS), *([(INSTALLER, HELM)] if chart else [])]
    view = _binding("ClusterRole", VIEW, {"name": f"{READER}:{VIEW}"}, GROUP)
    return [*(body for name, rules in parts for body in role(name, rules)), view]


def role(name: str, rules: Iterable[Rule], group: str = GROUP) -> list[JsonObject]:
    """A ClusterRole and a Role for each namespace that is named, with their bindings."""
    by_namespace: dict[str, list[Rule]] = {}
    for rule in rules:
        by_namespace.setdefault(rule.namespace, []).append(rule)
    found: list[JsonObject] = []
    for namespace, some in by_namespace.items():
        kind = "Role" if namespace else "ClusterRole"
        head = {"name": name, **({"namespace": namespace} if namespace else {})}
        found += [
            {
                "apiVersion": f"{_RBAC}/v1",
                "kind": kind,
                "metadata": head,
                "rules": [rule.body() for rule in some],
            },
            _binding(kind, name, head, group),
        ]
    return found


def _binding(kind: str, name: str, head: Mapping[str, Any], group: str) -> JsonObject:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": dict(head),
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": name},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": group}],
    }


def is_missing_right(text: str) -> bool:
    """Whether the API server says that a right is missing, and not, say, that a quota is used up."""
    return " cannot " in text or "not currently held" in text or "to use the aggregationRule" in text


def with_way_out(said: str) -> str:
    """The message and who can help; a long one is cut before that."""
    return presentable(said, MESSAGE_LIMIT - len(WAY_OUT) - 2) + "; " + WAY_OUT
