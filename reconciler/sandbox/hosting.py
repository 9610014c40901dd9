"""Where the two halves of the sandbox meet: a Kubernetes API of our own behind each EKS cluster."""

from __future__ import annotations

from reconciler.sandbox.aws.kubernetes_seam import KubernetesHost, StandInHost


def kubernetes_host() -> KubernetesHost:
    return StandInHost()
