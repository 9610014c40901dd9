"""What lies in a Storage: folders and files below a prefix of its bucket, read-only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from reconciler.live.aws.sessions import AwsSession
from reconciler.reads.parts import View
from reconciler.reads.wishes import StorageWish
from schemas.errors import InvalidInput

LONGEST: Final = 900  # of a key; S3 takes 1,024 bytes
_SLASH: Final = "/"


class StoredView(View):
    """`path`: below the Storage, as pods see it below the mount. `bytes`, `modified`: of files."""

    kind: Literal["folder", "file"]
    name: str
    path: str
    bytes: int | None = None
    modified: str | None = None
    storage_class: str | None = None


class StoredPage(View):
    """`next`: where the next page begins; null: there is none."""

    items: tuple[StoredView, ...]
    next: str | None
    bucket: str
    prefix: str


def listing(aws: AwsSession, wish: StorageWish, path: str, *, limit: int, following: str | None) -> StoredPage:
    """One page of a folder; `path` "" is the Storage's own. Raises the errors of `live.errors`, InvalidInput."""
    if path.startswith(_SLASH) or len(path.encode()) > LONGEST:
        raise InvalidInput("path: expected one below the Storage, without a slash in front", reason="BadPath")
    folder = path if not path or path.endswith(_SLASH) else f"{path}{_SLASH}"
    query: dict[str, Any] = {
        "Bucket": wish.bucket,
        "Prefix": f"{wish.prefix}{folder}",
        "Delimiter": _SLASH,
        "MaxKeys": limit,
    }
    if following is not None:
        query["ContinuationToken"] = following
    answer = aws.read("s3", "ListObjectsV2", **query)
    found = [_folder(wish, item) for item in answer.get("CommonPrefixes") or ()]
    # The folder itself may have an empty object of its name; it is not in itself.
    found += [_file(wish, item) for item in answer.get("Contents") or () if item.get("Key") != query["Prefix"]]
    more = answer.get("NextContinuationToken")
    return StoredPage(
        items=tuple(sorted(found, key=lambda item: item.path)),
        next=str(more) if answer.get("IsTruncated") and more else None,
        bucket=wish.bucket,
        prefix=str(query["Prefix"]),
    )


def _folder(wish: StorageWish, item: Mapping[str, Any]) -> StoredView:
    path = str(item.get("Prefix") or "").removeprefix(wish.prefix)
    return StoredView(kind="folder", name=path.rstrip(_SLASH).rpartition(_SLASH)[2], path=path)


def _file(wish: StorageWish, item: Mapping[str, Any]) -> StoredView:
    path = str(item.get("Key") or "").removeprefix(wish.prefix)
    size = item.get("Size")
    return StoredView(
        kind="file",
        name=path.rpartition(_SLASH)[2],
        path=path,
        bytes=size if isinstance(size, int) else None,
        modified=str(item["LastModified"]) if item.get("LastModified") else None,
        storage_class=str(item["StorageClass"]) if item.get("StorageClass") else None,
    )
