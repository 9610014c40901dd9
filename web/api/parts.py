"""Lists of what is live: pages that say of each source how sure it is. A list that nobody could read is an error, never
an empty list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Generic

from fastapi import Path, Request, Response

from reconciler.config_repo.names import CLUSTER
from reconciler.reads.parts import PartView
from schemas.errors import Unavailable
from web.api import etags
from web.api.pages import Asked, Item, Page, page

JSON: Final = "application/json"
ClusterName = Annotated[str, Path(pattern=CLUSTER.pattern, max_length=40, description="The cluster's name")]


class LivePage(Page[Item], Generic[Item]):
    """`observed_at`: when the oldest source was last seen; null: one of them never was. `parts`: each source."""

    observed_at: str | None = None
    parts: tuple[PartView, ...] = ()


def oldest(parts: Iterable[PartView]) -> str | None:
    times = [part.observed_at for part in parts]
    return None if not times or None in times else min(time for time in times if time is not None)


def must_know_one(parts: Sequence[PartView]) -> None:
    """Raises Unavailable if none of these sources was ever seen: nobody could tell what is there."""
    if parts and all(part.observed_at is None for part in parts):
        told = parts[0]
        raise Unavailable(told.message or "it cannot be seen now", reason=told.reason or "NotSeen")


def rendered(request: Request, data: bytes) -> Response:
    """An answer that is JSON already, with its ETag."""
    etag = etags.of(data)
    answer = Response(content=data, media_type=JSON)
    etags.check(request, answer, etag)
    return answer


def listed(request: Request, rows: Iterable[tuple[str, bytes]], asked: Asked, parts: Sequence[PartView]) -> Response:
    """A page of rows that are JSON already, each with the key that orders them."""
    found, following = page(rows, asked, key=lambda row: row[0])
    return written(request, [text for _, text in found], following, parts)


def written(request: Request, texts: Iterable[bytes], following: str | None, parts: Sequence[PartView]) -> Response:
    """A page whose items are JSON already."""
    head = LivePage[str](items=[], next=following, observed_at=oldest(parts), parts=tuple(parts))
    rest = head.model_dump_json().removeprefix('{"items":[]')
    return rendered(request, b'{"items":[' + b",".join(texts) + b"]" + rest.encode())
