"""The add-ons there are, their versions, and what each puts into the cluster."""

from __future__ import annotations

from dataclasses import dataclass, field

from reconciler.sandbox.aws.calls import Json


@dataclass(frozen=True, kw_only=True)
class AddonKind:
    namespace: str
    versions: tuple[str, ...]  # newest first; the second is the default where there are three
    workload: str  # DaemonSet or Deployment
    needs_permissions: bool = False
    needs_configuration: bool = False
    extra: tuple[str, ...] = ()  # more Deployments beside the main one
    schema: Json = field(default_factory=lambda: {"type": "object", "additionalProperties": True})

    @property
    def default(self) -> str:
        return self.versions[1 if len(self.versions) > 2 else 0]

    @property
    def needs_nodes(self) -> bool:
        """A Deployment without a node has no replica; a DaemonSet wants none."""
        return self.workload == "Deployment"


_NETWORKING = ("vpc-cni", "coredns", "kube-proxy")

CATALOG: dict[str, AddonKind] = {
    "vpc-cni": AddonKind(
        namespace="kube-system",
        workload="DaemonSet",
        versions=("v1.20.4-eksbuild.1", "v1.20.1-eksbuild.3", "v1.18.3-eksbuild.3"),
        needs_permissions=True,
    ),
    "coredns": AddonKind(
        namespace="kube-system",
        workload="Deployment",
        versions=("v1.12.4-eksbuild.1", "v1.12.2-eksbuild.4", "v1.11.4-eksbuild.2"),
    ),
    "kube-proxy": AddonKind(
        namespace="kube-system",
        workload="DaemonSet",
        versions=("v1.34.1-eksbuild.2", "v1.34.0-eksbuild.2", "v1.33.3-eksbuild.4"),
    ),
    "eks-pod-identity-agent": AddonKind(
        namespace="kube-system",
        workload="DaemonSet",
        versions=("v1.3.9-eksbuild.3", "v1.3.8-eksbuild.2"),
    ),
    "cert-manager": AddonKind(
        namespace="cert-manager",
        workload="Deployment",
        versions=("v1.19.1-eksbuild.1", "v1.18.2-eksbuild.2"),
        extra=("cert-manager-cainjector", "cert-manager-webhook"),
    ),
    "aws-mountpoint-s3-csi-driver": AddonKind(
        namespace="kube-system",
        workload="DaemonSet",
        versions=("v2.1.0-eksbuild.1", "v2.0.0-eksbuild.1", "v1.14.1-eksbuild.1"),
        needs_permissions=True,
    ),
    "aws-fsx-csi-driver": AddonKind(
        namespace="kube-system",
        workload="Deployment",
        versions=("v1.7.0-eksbuild.1", "v1.6.0-eksbuild.1"),
        needs_permissions=True,
    ),
    "aws-ebs-csi-driver": AddonKind(
        namespace="kube-system",
        workload="Deployment",
        versions=("v1.50.1-eksbuild.1", "v1.48.0-eksbuild.2"),
        needs_permissions=True,
    ),
    "metrics-server": AddonKind(
        namespace="kube-system", workload="Deployment", versions=("v0.8.0-eksbuild.2", "v0.7.2-eksbuild.4")
    ),
    "amazon-sagemaker-hyperpod-training-operator": AddonKind(
        namespace="aws-hyperpod",
        workload="Deployment",
        versions=("v1.2.1-eksbuild.1", "v1.2.0-eksbuild.1"),
    ),
    "amazon-sagemaker-hyperpod-taskgovernance": AddonKind(
        namespace="kueue-system", workload="Deployment", versions=("v1.6.0-eksbuild.1", "v1.4.0-eksbuild.1")
    ),
    "amazon-sagemaker-hyperpod-inference": AddonKind(
        namespace="hyperpod-inference-system",
        workload="Deployment",
        versions=("v1.2.0-eksbuild.1", "v1.1.0-eksbuild.1"),
        needs_configuration=True,
    ),
    "amazon-sagemaker-hyperpod-observability": AddonKind(
        namespace="hyperpod-observability",
        workload="Deployment",
        versions=("v1.0.5-eksbuild.1", "v1.0.4-eksbuild.1"),
        needs_permissions=True,
    ),
}


def described(name: str, cluster_versions: list[str]) -> Json:
    kind = CATALOG[name]
    return {
        "addonName": name,
        "type": "networking"
        if name in ("vpc-cni", "coredns", "kube-proxy")
        else "storage"
        if "csi" in name
        else "other",
        "defaultNamespace": kind.namespace,
        "publisher": "eks",
        "owner": "aws",
        "addonVersions": [
            {
                "addonVersion": version,
                "architecture": ["amd64", "arm64"],
                "computeTypes": ["ec2", "auto", "hybrid", "hyperpod"],
                "compatibilities": [
                    {
                        "clusterVersion": cluster,
                        "platformVersions": ["*"],
                        "defaultVersion": version == kind.default,
                    }
                    for cluster in cluster_versions
                ],
                "requiresConfiguration": kind.needs_configuration,
                "requiresIamPermissions": kind.needs_permissions,
            }
            for version in kind.versions
        ],
    }


def manifests(name: str, version: str) -> list[Json]:
    """What the add-on installs: small stand-ins with the names people look for."""
    kind = CATALOG[name]
    main = {"vpc-cni": "aws-node"}.get(name, name)
    namespace: Json = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": kind.namespace}}
    return [namespace, _workload(main, kind, kind.workload, version)] + [
        _workload(extra, kind, "Deployment", version) for extra in kind.extra
    ]


def _workload(name: str, kind: AddonKind, workload: str, version: str) -> Json:
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "eks"}
    container = {"name": name, "image": f"sandbox/{name}:{version}"}
    tolerations = [{"operator": "Exists"}] if workload == "DaemonSet" else []
    spec: Json = {
        "selector": {"matchLabels": {"app.kubernetes.io/name": name}},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container], "tolerations": tolerations}},
    }
    if workload == "Deployment":
        spec["replicas"] = 2 if name == "coredns" else 1
    return {
        "apiVersion": "apps/v1",
        "kind": workload,
        "metadata": {"name": name, "namespace": kind.namespace, "labels": labels},
        "spec": spec,
    }
