"""The OpenAPI document: what FastAPI writes, with the errors that any route can give, in the form that they have."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from reconciler.reads.logs import Frame
from web.api.problems import FlawView, Problem, described

_METHODS = ("get", "post", "put", "patch", "delete", "head")


def add_to(app: FastAPI) -> None:
    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes, tags=None
            )
            app.openapi_schema = complete(made)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # the way FastAPI's documentation says


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """Add what every operation shares: the guard's answers, limits, and 422 as problem details."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for model in (FlawView, Problem, Frame):  # the last: messages of followed logs
        made = model.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
        made.pop("$defs", None)
        schemas[model.__name__] = made
    for path in document.get("paths", {}).values():
        for method in _METHODS:
            if method in path:
                _complete(path[method])
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    return document


def _complete(operation: dict[str, Any]) -> None:
    given = operation["responses"]
    wanted = {400, 403, 421, 429, 500, 503}
    if operation.get("security"):
        wanted.add(401)
    if "requestBody" in operation:
        wanted |= {413, 422}
    if "422" in given or operation.get("parameters"):
        wanted.add(422)
    for status in wanted:
        if str(status) not in given or status == 422:
            given[str(status)] = described(status)
    operation["responses"] = dict(sorted(given.items()))
