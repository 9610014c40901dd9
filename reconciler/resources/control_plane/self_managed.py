"""What stands in the Kubernetes cluster before an add-on is installed."""

from __future__ import annotations

from reconciler.live.errors import NotFound
from reconciler.live.kube.kinds import Gvk
from reconciler.resources.handler import World
from schemas.errors import InstantStartError, StopUntilChange

# The object by which a hand-made installation of an add-on is known: kind, namespace, name.
_WORKLOADS: dict[str, tuple[str, str, str]] = {
    "vpc-cni": ("DaemonSet", "kube-system", "aws-node"),
    "kube-proxy": ("DaemonSet", "kube-system", "kube-proxy"),
    "coredns": ("Deployment", "kube-system", "coredns"),
    "eks-pod-identity-agent": ("DaemonSet", "kube-system", "eks-pod-identity-agent"),
    "metrics-server": ("Deployment", "kube-system", "metrics-server"),
    "cert-manager": ("Deployment", "cert-manager", "cert-manager"),
    "aws-ebs-csi-driver": ("Deployment", "kube-system", "ebs-csi-controller"),
    "aws-fsx-csi-driver": ("Deployment", "kube-system", "fsx-csi-controller"),
    "aws-mountpoint-s3-csi-driver": ("DaemonSet", "kube-system", "s3-csi-node"),
}


def stands_already(world: World, addon: str) -> bool:
    """True if the add-on's workload is there without the add-on, or if nobody can tell just now."""
    if addon not in _WORKLOADS:
        return False
    kind, namespace, name = _WORKLOADS[addon]
    try:
        world.kube().get(Gvk("apps/v1", kind), namespace, name)
    except NotFound:
        return False
    except StopUntilChange:
        raise  # a right is missing: who can give it shall hear of it
    except InstantStartError:
        pass  # conflicts are reported then, which loses nothing
    return True


def has_nodes(world: World) -> bool:
    """False only if the cluster certainly has no node. Raises StopUntilChange if we may not know."""
    try:
        return bool(world.kube().list(Gvk("v1", "Node")))
    except StopUntilChange:
        raise
    except InstantStartError:
        return True
