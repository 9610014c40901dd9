"""What is below /api and no route: 404, or 405 with every method the path does have. Never a page.

Starlette would name the methods of one route only, and pages of the UI would answer the rest.
"""

from __future__ import annotations

import re
from functools import cached_property

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from web.api.problems import problem

_NAMED = 100  # characters of a path that are repeated


class NothingHere:
    """An ASGI application, behind all routes."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "there is nothing here"})
            return
        path: str = scope["path"]
        methods = {method for form, methods in self._known if form.fullmatch(path) for method in methods}
        if methods:
            allowed = {"Allow": ", ".join(sorted(methods))}
            answer = problem(405, "MethodNotAllowed", f"{scope['method']} is no method of this path", headers=allowed)
        else:
            answer = problem(404, "NotFound", f"there is nothing at {path[:_NAMED]}")
        await answer(scope, receive, send)

    @cached_property
    def _known(self) -> list[tuple[re.Pattern[str], set[str]]]:
        """Every path of the contract as a pattern, with its methods."""
        found: list[tuple[re.Pattern[str], set[str]]] = []
        for path, operations in self._app.openapi()["paths"].items():
            pieces = re.split(r"\{[^}]*\}", path)
            methods = {method.upper() for method in operations if method != "parameters"}
            form = re.compile("[^/]+".join(re.escape(piece) for piece in pieces))
            found.append((form, methods | ({"HEAD"} if "GET" in methods else set())))
        return found
