"""What happened: the timeline of commits and journal lines, and events of Kubernetes and HyperPod."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import reads
from instantstart_mcp.words import Answer, ClusterName, Cursor, Limit, Part, Word, unseen


class Entry(Answer):
    kind: str
    at: str = ""
    revision: str = ""
    say_untrusted: str = ""
    by_untrusted: str = ""
    change: str = ""
    approved_by_untrusted: tuple[str, ...] = ()


class Timeline(Answer):
    items: tuple[Entry, ...]
    next_cursor: str | None = None


class Event(Answer):
    at: str
    source: Word = ""
    level: Word = ""
    reason_untrusted: str = ""
    about_untrusted: str = ""
    namespace_untrusted: str = ""
    instance: Word = ""
    count: int = 1
    message_untrusted: str = ""


class Events(Answer):
    items: tuple[Event, ...]
    next_cursor: str | None = None
    unseen: tuple[Part, ...] = ()


async def cluster_timeline(
    call: Call,
    cluster: ClusterName,
    kind: Annotated[
        Literal["commit", "rollout", "op", "stage", "hold", "order", "run", "end"] | None,
        Field(description="Only this kind"),
    ] = None,
    limit: Limit = 30,
    cursor: Cursor = "",
) -> Timeline:
    """What was asked and what was done, newest first: commits, rollouts, operations, stages, holds, with who asked and
    who let it pass."""
    told = await call.api.get("clusters", cluster, "timeline", kind=kind, limit=limit, cursor=cursor)
    rows = tuple(
        Entry(
            kind=item["kind"],
            at=item["at"],
            revision=item["revision"][:12],
            say_untrusted=item["say"],
            by_untrusted=item["asked"].get("by") or item["asked"].get("email") or "",
            change=item["asked"].get("change") or "",
            approved_by_untrusted=tuple(item["approved"]),
        )
        for item in told["items"]
    )
    return Timeline(items=rows, next_cursor=told.get("next"))


async def cluster_events(
    call: Call,
    cluster: ClusterName,
    level: Annotated[Literal["info", "warning", "error"] | None, Field(description="Only this level")] = None,
    source: Annotated[Literal["kubernetes", "hyperpod"] | None, Field(description="Only of this source")] = None,
    about: Annotated[str, Field(max_length=300, description="Only about this, such as Pod/train-0")] = "",
    limit: Limit = 30,
    cursor: Cursor = "",
) -> Events:
    """Recent events of Kubernetes and HyperPod, newest first."""
    told = await call.api.get(
        "clusters", cluster, "events", level=level, source=source, about=about, limit=limit, cursor=cursor
    )
    rows = tuple(Event.model_validate(item) for item in told["items"])
    return Events(items=rows, next_cursor=told.get("next"), unseen=unseen(told.get("parts")))


TOOLS = (reads(cluster_timeline), reads(cluster_events, outside=True))
