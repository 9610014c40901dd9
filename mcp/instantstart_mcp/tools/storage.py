"""Storages: what lies in them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import reads
from instantstart_mcp.words import Answer, ClusterName, Cursor, Limit, ObjectName


class Stored(Answer):
    kind: str
    path_untrusted: str = ""
    bytes: int | None = None
    modified: str | None = None


class StoredList(Answer):
    items: tuple[Stored, ...]
    next_cursor: str | None = Field(None, validation_alias="next")
    bucket: str = ""
    prefix_untrusted: str = ""


async def storage_contents(
    call: Call,
    cluster: ClusterName,
    storage: Annotated[ObjectName, Field(description="The Storage")],
    path: Annotated[str, Field(max_length=900, description="A folder below the mount")] = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> StoredList:
    """Files and folders in a Storage's bucket, one folder at a time."""
    told = await call.api.get(
        "clusters", cluster, "storages", storage, "objects", path=path, limit=limit, cursor=cursor
    )
    return StoredList.model_validate(told)


TOOLS = (reads(storage_contents, outside=True),)
