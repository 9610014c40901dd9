"""Storage: a bucket that pods mount by a claim of the same name."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field

from schemas.documents import words
from schemas.documents.fields import documented, listed
from schemas.documents.shapes import Broken, Metadata, Ruled, Shape
from schemas.plan import Cost

_NEW_STORAGE: Final = "add a Storage under a new name, move the work, then delete this one"

# What Mountpoint for Amazon S3 takes and what is harmless for the node it runs on.
_FLAGS: Final = ("allow-delete", "allow-overwrite", "allow-other", "incremental-upload", "requester-pays")
_NUMBERS: Final = ("uid", "gid", "max-threads", "read-part-size", "write-part-size", "maximum-throughput-gbps")
_OCTAL: Final = ("dir-mode", "file-mode")
_OWN_FIELD: Final = {"read-only": "readOnly", "prefix": "s3.prefix", "region": "s3.region"}
_OPTION = re.compile(
    rf"(?:{'|'.join(_FLAGS)}|(?:{'|'.join(_NUMBERS)})[= ][0-9]{{1,10}}|(?:{'|'.join(_OCTAL)})[= ]0?[0-7]{{3}}"
    r"|metadata-ttl[= ](?:[0-9]{1,9}|indefinite|minimal))"
)


def _mount_option(value: str) -> str:
    if _OPTION.fullmatch(value):
        return value
    name = re.split(r"[= ]", value.removeprefix("--"), maxsplit=1)[0]
    if name in _OWN_FIELD:
        raise words.refused("an option that has no field of its own", f"use {_OWN_FIELD[name]}")
    if value.startswith("--"):
        raise words.refused("an option without leading dashes", f"write {value[2:]}")
    raise words.refused(
        "a known mount option with its value",
        "one of " + ", ".join((*_FLAGS, *(f"{name}=…" for name in (*_NUMBERS, *_OCTAL, "metadata-ttl")))),
    )


MountOption: TypeAlias = Annotated[str, AfterValidator(_mount_option), Field(max_length=64)]


class S3(Ruled):
    """A bucket, or part of one."""

    also_known: ClassVar[dict[str, str]] = {"bucketName": "bucket", "path": "prefix"}

    bucket: words.BucketName | None = documented(
        "An existing bucket; it is used, never owned. Absent: one is made for this cluster, and kept when the Storage"
        " goes.",
        cost=Cost.REFUSED,
        way_out=_NEW_STORAGE,
        default=None,
    )
    prefix: words.KeyPrefix | None = documented(
        "Mount only keys under this prefix.", cost=Cost.REFUSED, way_out=_NEW_STORAGE, default=None
    )
    region: words.Region | None = documented(
        "The bucket's Region, where it is not the cluster's.", cost=Cost.REFUSED, way_out=_NEW_STORAGE, default=None
    )

    def rules(self) -> Iterator[Broken]:
        if self.bucket and (".." in self.bucket or _is_address(self.bucket)):
            yield Broken(
                fields=(("bucket",),),
                expected="an S3 bucket name",
                found=self.bucket,
                hint="no two dots in a row, and no IP address",
            )
        if self.region and not self.bucket:
            yield Broken(
                fields=(("region",),),
                expected="a bucket beside a region",
                found="none",
                hint="a bucket of our own is in the cluster's Region; remove region",
            )


class StorageSpec(Shape):
    """Where the data is, and how pods see it: a claim with this document's name."""

    also_known: ClassVar[dict[str, str]] = {"bucket": "s3", "size": "capacity", "options": "mountOptions"}

    s3: S3 = documented("Mountpoint for Amazon S3. `s3: {}` makes a bucket.", cost=Cost.REFUSED, way_out=_NEW_STORAGE)
    namespace: words.ObjectName = documented(
        "The namespace of the claim; pods can use it only from there.",
        cost=Cost.REFUSED,
        way_out=_NEW_STORAGE,
        default="default",
    )
    read_only: bool = documented(
        "Mount without the right to write.", cost=Cost.REFUSED, way_out=_NEW_STORAGE, default=False
    )
    capacity: words.Bytes = documented(
        "The size that the claim states. Kubernetes wants one; S3 has no limit and nothing enforces it.",
        cost=Cost.REFUSED,
        way_out=_NEW_STORAGE,
        default="1200Gi",
    )
    mount_options: Annotated[tuple[MountOption, ...], Field(max_length=20)] = listed(
        "Options of Mountpoint, such as allow-delete or uid=1000.",
        cost=Cost.REFUSED,
        way_out=_NEW_STORAGE,
        default=(),
        unique_by=(),
    )


class StorageMetadata(Metadata):
    """The name of the claim that pods mount."""

    name: words.ObjectName = Field(description="The Storage's name, and the name of its claim.")


class Storage(Shape):
    """One Storage of the folder's cluster."""

    api_version: Literal["instantstart/v1"]
    kind: Literal["Storage"]
    metadata: StorageMetadata
    spec: StorageSpec


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True
