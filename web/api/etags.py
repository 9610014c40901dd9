"""ETags: a read says which state it shows, the next one need not send it again, and a write says what it was built on.

def get_thing(request: Request, response: Response, …) -> ThingView:
    etags.check(request, response, etags.of(tip, name))     # 304 ends here
    …
def change_thing(request: Request, …):
    etags.must_match(request, etags.of(blob))               # 412, or 428 where it is required and missing
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel

from schemas.errors import Stale

RESPONSES: Final[dict[int | str, dict[str, Any]]] = {304: {"description": "Not Modified"}}


class NotModified(Exception):
    """The reader has this state already."""

    def __init__(self, etag: str) -> None:
        super().__init__(etag)
        self.etag = etag


def add_to(app: FastAPI) -> None:
    app.add_exception_handler(NotModified, _not_modified)


def of(*parts: str | bytes | BaseModel | None) -> str:
    """A strong ETag, quotes and all, of what makes up a state: ids, tips, or the whole view."""
    found = hashlib.sha256()
    for part in parts:
        data = part.model_dump_json() if isinstance(part, BaseModel) else part
        raw = b"\0" if data is None else data if isinstance(data, bytes) else data.encode()
        found.update(len(raw).to_bytes(8, "big") + raw)
    return f'"{found.hexdigest()[:32]}"'


def check(request: Request, response: Response, etag: str) -> None:
    """Put the ETag on the answer; raises NotModified if the reader has it."""
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = "no-cache"
    told = request.headers.get("if-none-match")
    if told is not None and matches(told, etag):
        raise NotModified(etag)


def must_match(request: Request, etag: str) -> None:
    """Raises Stale if the writer built on another state. Without If-Match everything goes: the store's own
    compare-and-swap is what keeps updates from being lost."""
    told = request.headers.get("if-match")
    if told is not None and not matches(told, etag, weak=False):
        text = "it has changed since you read it (If-Match does not fit)"
        raise Stale(text, reason="Changed", way_out="read it again and repeat the change on what is there now")


def matches(told: str, etag: str, *, weak: bool = True) -> bool:
    """A header's list of ETags, or `*`. RFC 9110: If-None-Match compares weakly, If-Match does not."""
    if told.strip() == "*":
        return True
    names = [name.strip() for name in told.split(",")]
    return etag in ([name.removeprefix("W/") for name in names] if weak else names)


async def _not_modified(_request: Request, error: Exception) -> Response:
    assert isinstance(error, NotModified)
    return Response(status_code=304, headers={"ETag": error.etag, "Cache-Control": "no-cache"})
