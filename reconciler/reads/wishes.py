"""What the documents of a cluster ask for, in short: groups, storages, sums of instances and GPUs. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pydantic import Field

from reconciler.desired.names import Names
from reconciler.desired.storage import DATA_PREFIX
from reconciler.reads.parts import View
from reconciler.reads.plans import ProblemView, problem_views
from schemas import instance_types
from schemas.documents.instance_group import InstanceGroup
from schemas.documents.records import Document, LoadedCluster
from schemas.documents.storage import Storage


class GroupWish(View):
    """`gpus`: GPUs or Trainium chips of all its nodes, null: nobody has told how many this type has."""

    name: str
    instance_type: str
    count: int
    min_count: int | None = None
    zone: str | None = None
    capacity: str = "onDemand"
    training_plan: str | None = None
    interface: str | None = None
    gpus_per_node: int | None = None
    gpus: int | None = None
    efa_interfaces: int | None = None
    deep_health_checks: tuple[str, ...] = ()
    labels: dict[str, str] = Field(default_factory=dict)
    where: str = ""


class StorageWish(View):
    """`own`: the bucket is made for this cluster. `capacity`: what the claim states; S3 has no limit."""

    name: str
    bucket: str
    prefix: str
    region: str
    own: bool
    namespace: str
    read_only: bool
    capacity: str = ""
    mount_options: tuple[str, ...] = ()
    where: str = ""


class DesiredView(View):
    """The documents in short. `problems`: why nothing of them may be planned. `gpus` null: not known of some type."""

    account: str = ""
    region: str = ""
    kubernetes_version: str = ""
    suspend: bool = False
    deletion_protection: bool = True
    adopts: bool = False
    node_recovery: str = ""
    groups: tuple[GroupWish, ...] = ()
    storages: tuple[StorageWish, ...] = ()
    operations: int = 0
    instances: int = 0
    instance_types: dict[str, int] = Field(default_factory=dict)
    zones: tuple[str, ...] = ()
    gpus: int | None = 0
    documents: int = 0
    problems: tuple[ProblemView, ...] = ()


def of_loaded(loaded: LoadedCluster) -> DesiredView:
    cluster = loaded.cluster
    spec = cluster.spec if cluster is not None else None
    groups = tuple(_group(doc, doc.model) for doc in _sorted(loaded) if isinstance(doc.model, InstanceGroup))
    names = Names(
        cluster=loaded.name, account=spec.account if spec else "", region=spec.region if spec is not None else ""
    )
    counted: Counter[str] = Counter()
    for group in groups:
        counted[group.instance_type] += group.count
    gpus = [group.gpus for group in groups]
    return DesiredView(
        account=names.account,
        region=names.region,
        kubernetes_version=spec.kubernetes_version if spec is not None else "",
        suspend=spec.suspend if spec is not None else False,
        deletion_protection=spec.deletion_protection if spec is not None else True,
        adopts=spec is not None and any(spec.adopt.model_dump().values()),
        node_recovery=spec.hyperpod.node_recovery if spec is not None else "",
        groups=groups,
        storages=tuple(_storage(doc, doc.model, names) for doc in _sorted(loaded) if isinstance(doc.model, Storage)),
        operations=len(loaded.operations),
        instances=sum(counted.values()),
        instance_types=dict(sorted(counted.items())),
        zones=tuple(sorted({group.zone for group in groups if group.zone is not None})),
        gpus=None if any(number is None for number in gpus) else sum(number or 0 for number in gpus),
        documents=len(loaded.documents),
        problems=problem_views(loaded.problems),
    )


def storages(loaded: LoadedCluster) -> Mapping[str, StorageWish]:
    """By name."""
    return {wish.name: wish for wish in of_loaded(loaded).storages}


def _sorted(loaded: LoadedCluster) -> list[Document]:
    return sorted(loaded.documents, key=lambda doc: doc.name)


def _group(doc: Document, model: InstanceGroup) -> GroupWish:
    spec = model.spec
    each = instance_types.accelerators(spec.instance_type)
    plan = spec.capacity.training_plan
    return GroupWish(
        name=doc.name,
        instance_type=spec.instance_type,
        count=spec.count,
        min_count=spec.min_count,
        zone=spec.zone,
        capacity=spec.capacity.kind,
        training_plan=plan.arn if plan is not None else None,
        interface=spec.interface,
        gpus_per_node=each,
        gpus=None if each is None else each * spec.count,
        efa_interfaces=instance_types.efa_interfaces(spec.instance_type),
        deep_health_checks=spec.deep_health_checks or (),
        labels=dict(spec.labels),
        where=f"{doc.path}:{doc.line}",
    )


def _storage(doc: Document, model: Storage, names: Names) -> StorageWish:
    s3 = model.spec.s3
    own = s3.bucket is None
    return StorageWish(
        name=doc.name,
        bucket=s3.bucket or names.bucket,
        prefix=s3.prefix or (f"{DATA_PREFIX}{doc.name}/" if own else ""),
        region=s3.region or names.region,
        own=own,
        namespace=model.spec.namespace,
        read_only=model.spec.read_only,
        capacity=model.spec.capacity,
        mount_options=model.spec.mount_options,
        where=f"{doc.path}:{doc.line}",
    )
