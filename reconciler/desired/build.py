"""All documents of one cluster to all its resources. Pure, and the same input gives the same resources."""

from __future__ import annotations

from dataclasses import dataclass, field

from reconciler.desired.compute import compute
from reconciler.desired.control_plane import control_plane
from reconciler.desired.dependencies import dependencies
from reconciler.desired.names import Names
from reconciler.desired.network import network
from reconciler.desired.operations import identity, once, operations
from reconciler.desired.storage import buckets, storage
from schemas.documents.cluster import Cluster
from schemas.documents.instance_group import InstanceGroup
from schemas.documents.records import Document, LoadedCluster
from schemas.once import Operation
from schemas.resource import Resource


@dataclass(frozen=True, kw_only=True)
class Desired:
    """What one revision wants of one cluster."""

    cluster: str
    account: str
    region: str
    suspend: bool
    protected: bool
    resources: dict[str, Resource]
    operations: tuple[Operation, ...] = ()
    identities: frozenset[str] = frozenset()
    adopts: bool = False
    names: Names = field(default=Names(cluster="", account="", region=""))


def build(loaded: LoadedCluster, packaged_script: bytes) -> Desired:
    """Resources of a folder without problems. Raises ValueError if it has some: nothing of it may be planned."""
    cluster_doc = next((doc for doc in loaded.documents if isinstance(doc.model, Cluster)), None)
    if loaded.problems or cluster_doc is None:
        raise ValueError(f"{loaded.name} has problems")
    cluster = cluster_doc.model
    assert isinstance(cluster, Cluster)
    spec, source, written = cluster.spec, cluster_doc.source, cluster_doc.authored
    names = Names(cluster=loaded.name, account=spec.account, region=spec.region)
    groups = _of(loaded, "InstanceGroup")
    storages = _of(loaded, "Storage")
    acts = _of(loaded, "Operation")
    zones = [doc.model.spec.zone for doc in groups if isinstance(doc.model, InstanceGroup)]
    found = [
        *network(cluster, names, zones, source),
        *control_plane(cluster, names, written, source),
        *dependencies(cluster, names, buckets(storages), written, source),
        *compute(cluster, names, groups, loaded.others, packaged_script, written, source),
        *storage(cluster, names, storages, source),
        *operations(names, acts),
    ]
    adopt = spec.adopt
    return Desired(
        cluster=loaded.name,
        account=spec.account,
        region=spec.region,
        suspend=spec.suspend,
        protected=spec.deletion_protection,
        resources={resource.key: resource for resource in found},
        operations=tuple(once(names, acts)),
        identities=frozenset(identity(doc) for doc in acts),
        adopts=any(value is not None for value in (adopt.vpc, adopt.eks, adopt.hyperpod)),
        names=names,
    )


def _of(loaded: LoadedCluster, kind: str) -> list[Document]:
    """Documents of one kind, by name: their order in the files says nothing."""
    return sorted((doc for doc in loaded.documents if doc.kind == kind), key=lambda doc: doc.name)
