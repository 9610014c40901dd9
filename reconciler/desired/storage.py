"""Stage storage: the buckets that Storages mount, and their volumes and claims."""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.desired.names import Names
from reconciler.desired.storage_manifests import storage_manifests
from schemas.documents.cluster import Cluster
from schemas.documents.records import Document
from schemas.documents.storage import Storage
from schemas.resource import Ref, Resource, Source, Stage
from schemas.values import JsonObject

DATA_PREFIX = "data/"  # of a Storage that names no bucket, in the cluster's own one


def buckets(documents: Iterable[Document]) -> list[str]:
    """Buckets of others that the Storages use."""
    models = [doc.model for doc in documents]
    return sorted({m.spec.s3.bucket for m in models if isinstance(m, Storage) and m.spec.s3.bucket is not None})


def storage(cluster: Cluster, names: Names, documents: Iterable[Document], source: Source) -> list[Resource]:
    """Resources of the stage storage."""
    docs = list(documents)
    regions = {
        m.spec.s3.bucket: m.spec.s3.region or names.region
        for m in (doc.model for doc in docs)
        if isinstance(m, Storage) and m.spec.s3.bucket is not None
    }
    used = [_used_bucket(names, bucket, regions[bucket], source) for bucket in buckets(docs)]
    return [*used, *(_volume(cluster, names, doc) for doc in docs)]


def _used_bucket(names: Names, bucket: str, region: str, source: Source) -> Resource:
    return Resource(
        key=names.key("s3.Bucket", bucket),
        type="s3.Bucket",
        name=bucket,
        cluster=names.cluster,
        stage=Stage.STORAGE,
        lane=f"s3/{bucket}",
        initial={"region": region},
        source=source,
        reference=True,
    )


def _volume(cluster: Cluster, names: Names, doc: Document) -> Resource:
    model = doc.model
    assert isinstance(model, Storage)
    spec = model.spec
    key = names.key("Storage", doc.name)
    own = spec.s3.bucket is None
    bucket_name = names.bucket if spec.s3.bucket is None else spec.s3.bucket
    prefix = spec.s3.prefix or (f"{DATA_PREFIX}{doc.name}/" if own else "")
    bucket = Ref(names.key("s3.Bucket", "lifecycle" if own else bucket_name), "name")
    manifests = storage_manifests(
        cluster=names.cluster,
        key=key,
        name=doc.name,
        namespace=spec.namespace,
        bucket=bucket_name,
        prefix=prefix,
        region=spec.s3.region or names.region,
        read_only=spec.read_only,
        capacity=spec.capacity,
        mount_options=spec.mount_options,
    )
    wanted: JsonObject = {
        "bucket": bucket,
        "prefix": prefix,
        "readOnly": spec.read_only,
        "namespace": spec.namespace,
        "manifests": manifests,
    }
    return Resource(
        key=key,
        type="k8s.Storage",
        name=doc.name,
        cluster=names.cluster,
        stage=Stage.STORAGE,
        lane=f"k8s/{names.cluster}/{doc.name}",
        spec=wanted,
        after=_driver(cluster, names),
        source=doc.source,
    )


def _driver(cluster: Cluster, names: Names) -> tuple[str, ...]:
    driver = "aws-mountpoint-s3-csi-driver"
    wanted = [names.key("eks.Cluster")]
    if driver in cluster.spec.dependencies.installed:
        wanted.append(names.key("eks.Addon", driver))
    return tuple(wanted)
