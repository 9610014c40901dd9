"""Documents as they are written, on the branch or in a change."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import reads
from instantstart_mcp.tools.clusters import Problem
from instantstart_mcp.words import Answer, ClusterName, Cursor, Limit, Word

Kind = Annotated[
    str, Field(pattern="^[A-Z][A-Za-z0-9]{0,62}$", description="Cluster, InstanceGroup, Storage, Operation")
]
At = Annotated[str, Field(max_length=100, description="A revision or a change's id; the branch's head if not told")]


class DocumentRow(Answer):
    kind: Word
    name: Word
    where_untrusted: str = ""


class DocumentList(Answer):
    items: tuple[DocumentRow, ...]
    next_cursor: str | None = Field(None, validation_alias="next")
    revision: str = ""
    problems: tuple[Problem, ...] = ()


class DocumentAnswer(Answer):
    kind: Word
    name: Word
    where_untrusted: str = ""
    revision: str = ""
    text_untrusted: str = ""
    document_untrusted: dict[str, Any] = Field(default_factory=dict)


async def document_list(
    call: Call, cluster: ClusterName, at: At = "", limit: Limit = 50, cursor: Cursor = ""
) -> DocumentList:
    """A cluster's YAML documents, with file and line, and what is wrong in them."""
    told = await call.api.get("clusters", cluster, "documents", at=at, limit=limit, cursor=cursor)
    return DocumentList.model_validate(told)


async def document_get(
    call: Call,
    cluster: ClusterName,
    kind: Kind,
    name: Annotated[str, Field(min_length=1, max_length=253)],
    at: At = "",
) -> DocumentAnswer:
    """One document as it is written. Read it before document_patch."""
    told = await call.api.get("clusters", cluster, "documents", kind, name, at=at)
    return DocumentAnswer.model_validate(told)


TOOLS = (reads(document_list), reads(document_get))
