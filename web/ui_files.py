"""The built pages: files of web/ui/dist, and index.html for every address that a page may have.

Names of assets hold a hash of their content, so browsers keep them for ever; index.html is asked for each time. Each
file lies there compressed too, made by the build.
"""

from __future__ import annotations

import mimetypes
import os
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse
from starlette.types import Receive, Scope, Send

from web.api import etags
from web.api.problems import problem

BUILT: Final = Path(__file__).parent / "ui" / "dist"
INDEX: Final = "index.html"
_FOR_EVER: Final = "public, max-age=31536000, immutable"
_CODINGS: Final = (("br", ".br"), ("gzip", ".gz"))  # the smaller first
_ABSENT: Final = """<!doctype html><html lang="en"><title>InstantStart</title><h1>The pages are not built</h1>
<p>Run <code>make setup</code> in the repository. The API and the command line work without them.</p></html>"""


class UiFiles:
    """An ASGI application, behind all routes. `folder`: what the build wrote; it may come later, or never."""

    def __init__(self, folder: Path = BUILT) -> None:
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "there is nothing here"})
            return
        await self._answer(scope)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            return problem(405, "MethodNotAllowed", "pages are only read", headers={"Allow": "GET, HEAD"})
        path: str = scope["path"].lstrip("/")
        headers = Headers(scope=scope)
        found = self._file(path)
        if found is not None and path != INDEX:
            kept = _FOR_EVER if path.startswith("assets/") else "no-cache"
            return _served(found, headers, kept)
        if path.startswith("assets/") or "text/html" not in headers.get("accept", ""):
            return problem(404, "NotFound", "there is no such page or file")
        index = self._file(INDEX)
        if index is None:
            return Response(_ABSENT, status_code=503, media_type="text/html")
        return _served(index, headers, "no-cache")

    def _file(self, path: str) -> Path | None:
        """A file below the folder. What leads out of it, by `..` or a link, is none."""
        if not path or "\0" in path or path.endswith((".br", ".gz")):
            return None
        place = Path(os.path.realpath(self._folder / path))
        return place if place.is_relative_to(os.path.realpath(self._folder)) and place.is_file() else None


def _served(path: Path, asked: Headers, kept: str) -> Response:
    media, _ = mimetypes.guess_type(path.name)
    headers = {"Cache-Control": kept, "Vary": "Accept-Encoding"}
    taken = {part.split(";")[0].strip() for part in asked.get("accept-encoding", "").split(",")}
    sent = path
    for coding, ending in _CODINGS:
        smaller = path.with_name(path.name + ending)
        if coding in taken and smaller.is_file():
            sent, headers["Content-Encoding"] = smaller, coding
            break
    answer = FileResponse(sent, media_type=media, headers=headers, stat_result=sent.stat())
    is_known = etags.matches(asked.get("if-none-match", ""), answer.headers["etag"])
    return NotModifiedResponse(answer.headers) if is_known else answer


def add_to(app: FastAPI) -> None:
    """What no route answers, also of those that are added later, is a page, or is not there."""
    app.router.default = UiFiles()
