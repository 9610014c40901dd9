"""Instance groups: as wanted and as they are."""

from __future__ import annotations

from pydantic import Field

from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import reads
from instantstart_mcp.tools.clusters import Counts, Gpus
from instantstart_mcp.words import Answer, ClusterName, Cursor, Limit, Part, Word, unseen


class Wish(Answer):
    count: int = 0
    capacity: str = ""
    interface: str | None = None
    where_untrusted: str = ""


class Group(Answer):
    name: str
    instance_type: str = ""
    zone: str = ""
    desired: Wish | None = None
    current: int | None = None
    target: int | None = None
    status: Word | None = None
    health: str = ""
    reason: Word = ""
    message_untrusted: str = ""
    nodes: Counts | None = None
    gpus: Gpus | None = None
    planned: tuple[str, ...] = ()
    held: bool = False


class GroupList(Answer):
    items: tuple[Group, ...]
    next_cursor: str | None = Field(None)
    unseen: tuple[Part, ...] = ()


async def group_list(call: Call, cluster: ClusterName, limit: Limit = 30, cursor: Cursor = "") -> GroupList:
    """Instance groups: count wanted, HyperPod's current and target count, nodes ready, GPUs used and idle."""
    told = await call.api.get("clusters", cluster, "groups", limit=limit, cursor=cursor)
    rows = tuple(Group.model_validate(item) for item in told["items"])
    return GroupList(items=rows, next_cursor=told.get("next"), unseen=unseen(told.get("parts")))


TOOLS = (reads(group_list),)
