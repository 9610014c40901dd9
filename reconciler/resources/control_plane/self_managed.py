"""What stands in the Kubernetes cluster before an add-on is installed."""

from __future__ import annotations

from reconciler.resources.handler import World
from schemas.errors import InstantStartError

# The object by which a hand-made installation of an add-on is known: API version, kind, namespace, name.
_WORKLOADS: dict[str, tuple[str, str, str, str]] = {
    "vpc-cni": ("apps/v1", "DaemonSet", "kube-system", "aws-node"),
    "kube-proxy": ("apps/v1", "DaemonSet", "kube-system", "kube-proxy"),
    "coredns": ("apps/v1", "Deployment", "kube-system", "coredns"),
    "eks-pod-identity-agent": ("apps/v1", "DaemonSet", "kube-system", "eks-pod-identity-agent"),
    "metrics-server": ("apps/v1", "Deployment", "kube-system", "metrics-server"),
    "cert-manager": ("apps/v1", "Deployment", "cert-manager", "cert-manager"),
    "aws-ebs-csi-driver": ("apps/v1", "Deployment", "kube-system", "ebs-csi-controller"),
    "aws-fsx-csi-driver": ("apps/v1", "Deployment", "kube-system", "fsx-csi-controller"),
    "aws-mountpoint-s3-csi-driver": ("apps/v1", "DaemonSet", "kube-system", "s3-csi-node"),
}


def stands_already(world: World, addon: str) -> bool:
    """True if the add-on's workload is there without the add-on, or if nobody can tell."""
    if addon not in _WORKLOADS:
        return False
    api_version, kind, namespace, name = _WORKLOADS[addon]
    try:
        return world.kube().get(api_version, kind, name, namespace=namespace) is not None
    except InstantStartError:
        return True


def has_nodes(world: World) -> bool:
    """False only if the cluster certainly has no node."""
    try:
        return bool(world.kube().list("v1", "Node"))
    except InstantStartError:
        return True
