"""What a new cluster comes with: the four namespaces, the system priorities, the administrator's role."""

from collections.abc import Callable

from reconciler.sandbox.kubernetes.access import MASTERS, RBAC
from reconciler.sandbox.kubernetes.objects import Object

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


Create = Callable[[str, str, Object], None]  # group, plural, body


def seed(create: Create) -> None:
    """Create them in an empty server."""
    for name in NAMESPACES:
        create("", "namespaces", {"metadata": {"name": name}})
    for name, value in PRIORITIES.items():
        create("scheduling.k8s.io", "priorityclasses", {"metadata": {"name": name}, "value": value})
    everything = [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
        {"nonResourceURLs": ["*"], "verbs": ["*"]},
    ]
    create(RBAC, "clusterroles", {"metadata": {"name": "cluster-admin"}, "rules": everything})
    binding: Object = {
        "metadata": {"name": "cluster-admin"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "Group", "apiGroup": RBAC, "name": MASTERS}],
    }
    create(RBAC, "clusterrolebindings", binding)
