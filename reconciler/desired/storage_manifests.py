"""The PersistentVolume and PersistentVolumeClaim of a Storage on S3 (Mountpoint CSI driver). Pure.

A claim has the Storage's name in the Storage's namespace. Volumes have no namespace, so a volume's name says the
cluster, the namespace and the claim with dots between: names of the parts hold none, so two never clash.
Everything about a mount is fixed once it is bound; the two point at each other, so no other claim gets the volume.
"""

from __future__ import annotations

from collections.abc import Iterable

from schemas.values import JsonObject, JsonValue

DRIVER = "s3.csi.aws.com"
CAPACITY = "1200Gi"  # S3 has no size; Kubernetes wants one
WRITING = ("allow-delete", "allow-overwrite", "incremental-upload")
LABEL_CLUSTER = "instantstart.dev/cluster"
ANNOTATION_KEY = "instantstart.dev/key"


def volume_name(cluster: str, namespace: str, name: str) -> str:
    return f"{cluster}.{namespace}.{name}"


def storage_manifests(
    *,
    cluster: str,
    name: str,
    bucket: JsonValue,
    region: str,
    key: str | None = None,
    namespace: str = "default",
    prefix: str = "",
    read_only: bool = False,
    capacity: str = CAPACITY,
    mount_options: Iterable[str] = (),
) -> dict[str, JsonObject]:
    """By kind. `bucket` is a name or a Ref to one; `key` the Storage's resource key; `prefix` with or without
    slashes at its ends; `mount_options` come on top of what region, prefix and access need."""
    volume = volume_name(cluster, namespace, name)
    modes = ["ReadOnlyMany" if read_only else "ReadWriteMany"]
    return {
        "PersistentVolume": {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": volume, **_marks(cluster, key or f"Storage/{cluster}/{name}")},
            "spec": {
                "capacity": {"storage": capacity},
                "accessModes": modes,
                "persistentVolumeReclaimPolicy": "Retain",
                # no storageClassName: a volume's empty one is not stored; a claim's is, and means no class
                "claimRef": {"namespace": namespace, "name": name},
                "mountOptions": options(region, prefix, mount_options, read_only=read_only),
                "csi": {"driver": DRIVER, "volumeHandle": volume, "volumeAttributes": {"bucketName": bucket}},
            },
        },
        "PersistentVolumeClaim": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": name,
                "namespace": namespace,
                **_marks(cluster, key or f"Storage/{cluster}/{name}"),
            },
            "spec": {
                "accessModes": modes,
                "storageClassName": "",
                "volumeName": volume,
                "resources": {"requests": {"storage": capacity}},
            },
        },
    }


def options(region: str, prefix: str, more: Iterable[str] = (), *, read_only: bool) -> list[str]:
    """For Mountpoint: pods of any user may read; a writable mount may also replace and remove objects."""
    found = ["allow-other", f"region {region}"]
    found += ["read-only"] if read_only else ["allow-delete", "allow-overwrite"]
    folder = prefix.strip("/")
    if folder:
        found.append(f"prefix {folder}/")
    found += [option for option in more if not (read_only and option in WRITING)]
    return sorted(dict.fromkeys(found))


def _marks(cluster: str, key: str) -> JsonObject:
    return {"labels": {LABEL_CLUSTER: cluster}, "annotations": {ANNOTATION_KEY: key}}
