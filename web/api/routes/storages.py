"""/clusters/{cluster}/storages/{storage}/objects: folders and files of a Storage's bucket, read only."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from reconciler.reads import storages
from reconciler.reads.asking import asking
from reconciler.reads.parts import seen
from reconciler.reads.storages import StoredView
from schemas.errors import NotFound
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.pages import PageAsked, decoded, encoded
from web.api.parts import ClusterName, LivePage
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/storages", tags=["live"])
StorageName = Annotated[str, Path(pattern="^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$", description="The Storage's name")]


class StoredList(LivePage[StoredView]):
    """`prefix`: where in the bucket this folder is."""

    bucket: str
    prefix: str


@router.get("/{storage}/objects", operation_id="list_stored", responses=responses(404))
def list_stored(
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    storage: StorageName,
    asked: PageAsked,
    path: Annotated[str, Query(max_length=900, description="A folder, as pods see it below the mount")] = "",
) -> StoredList:
    """One folder, in S3's order; pages are S3's own."""
    house.reads.sight(cluster)
    wish = next((one for one in house.reads.desired(cluster).storages if one.name == storage), None)
    if wish is None:
        raise NotFound(f"{cluster} has no Storage {storage!r}", reason="UnknownStorage")
    following = decoded(asked.cursor) if asked.cursor is not None else None
    with asking():
        aws, at = house.reads.aws(cluster, wish.region), house.clock.iso()
        found = storages.listing(aws, wish, path, limit=asked.limit, following=following)
    return StoredList(
        items=list(found.items),
        next=encoded(found.next) if found.next is not None else None,
        observed_at=at,
        parts=(seen("s3", at),),
        bucket=found.bucket,
        prefix=found.prefix,
    )
