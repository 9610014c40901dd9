"""The kinds there are."""

from __future__ import annotations

from typing import Final, TypeAlias

from schemas.documents.cluster import Cluster
from schemas.documents.instance_group import InstanceGroup
from schemas.documents.operation import Operation
from schemas.documents.policy import Policy
from schemas.documents.storage import Storage

AnyDocument: TypeAlias = Cluster | InstanceGroup | Storage | Operation | Policy

KINDS: Final[dict[str, type[AnyDocument]]] = {
    "Cluster": Cluster,
    "InstanceGroup": InstanceGroup,
    "Storage": Storage,
    "Operation": Operation,
    "Policy": Policy,
}

# What people coming from elsewhere write for a kind of ours.
ALSO_KNOWN: Final[dict[str, str]] = {
    "HyperPodCluster": "Cluster",
    "EKSCluster": "Cluster",
    "NodeGroup": "InstanceGroup",
    "NodePool": "InstanceGroup",
    "InstanceGroups": "InstanceGroup",
    "PersistentVolume": "Storage",
    "PersistentVolumeClaim": "Storage",
    "S3": "Storage",
    "Bucket": "Storage",
    "Reboot": "Operation",
}
