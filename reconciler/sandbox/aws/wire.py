"""The two JSON protocols of our own services, read and written by botocore's service models.

json 1.1 (sagemaker, service-quotas): the operation stands in X-Amz-Target. rest-json (eks): in method and path.
Inputs are checked against the model (limits, enums, patterns, unions), which botocore's client does not do.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote

import botocore.session

from reconciler.sandbox.aws import constraints
from reconciler.sandbox.aws.errors import AwsError, Reply, not_supported


@dataclass(frozen=True, kw_only=True)
class Request:
    """One HTTP request; header names in lower case, path and query as on the wire."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Route:
    operation: str
    method: str
    pattern: re.Pattern[str]


class Wire:
    def __init__(self, service: str) -> None:
        self.service = service
        self.model = service_model(service)
        self.rest = self.model.metadata["protocol"] == "rest-json"
        self._routes = _routes(self.model) if self.rest else []

    def operation(self, request: Request) -> tuple[str, dict[str, str]]:
        """The operation's name and the labels in its path."""
        if not self.rest:
            name = request.headers.get("x-amz-target", "").rpartition(".")[2]
            if name in self.model.operation_names:
                return name, {}
            raise not_supported(f"{self.service}:{name or 'request without a target'}")
        for route in self._routes:
            if route.method == request.method and (found := route.pattern.fullmatch(request.path)):
                return route.operation, {label: unquote(value) for label, value in found.groupdict().items()}
        raise not_supported(f"{self.service} {request.method} {request.path}")

    def parameters(self, operation: str, labels: dict[str, str], request: Request) -> dict[str, Any]:
        """The input by member name, checked against the model; raises the service's validation error."""
        shape = self.model.operation_model(operation).input_shape
        params = _body(request.body)
        if shape is None:
            return params
        if self.rest:
            renamed = {m.serialization.get("name", n): n for n, m in shape.members.items()}
            params = {renamed.get(name, name): value for name, value in params.items()}
            params |= _from_uri(shape, labels, request.query)
        wrong = constraints.violations(shape, params)
        if wrong:
            noun = "error" if len(wrong) == 1 else "errors"
            text = f"{len(wrong)} validation {noun} detected: {'; '.join(wrong)}"
            raise AwsError("InvalidParameterException" if self.service == "eks" else "ValidationException", text)
        return params

    def page_limits(self, operation: str) -> list[str]:
        """Members of the input that say how long a page may be; none, where there are no pages."""
        shape = self.model.operation_model(operation).input_shape
        members: dict[str, Any] = {} if shape is None else shape.members
        return [name for name in ("MaxResults", "maxResults") if name in members]

    def reply(self, result: dict[str, Any], request_id: str) -> Reply:
        kind = "application/json" if self.rest else "application/x-amz-json-1.1"
        body = json.dumps(result, default=_plain, separators=(",", ":")).encode()
        return Reply(status=200, body=body, headers={"content-type": kind, "x-amzn-requestid": request_id})

    def error_status(self, code: str, default: int) -> int:
        for shape in self.model.error_shapes:
            if code in (shape.name, shape.metadata.get("error", {}).get("code")):
                return int(shape.metadata.get("error", {}).get("httpStatusCode", default))
        return default


@cache
def service_model(service: str) -> Any:
    session: Any = botocore.session.Session()
    return session.get_service_model(service)


def _routes(model: Any) -> list[Route]:
    found: list[Route] = []
    for name in model.operation_names:
        http = model.operation_model(name).http
        uri = str(http["requestUri"]).partition("?")[0]
        pattern = "".join(
            f"(?P<{piece[1:-1]}>[^/]+)" if piece.startswith("{") else re.escape(piece)
            for piece in re.split(r"(\{\w+\})", uri)
        )
        found.append(Route(name, str(http["method"]), re.compile(pattern + "/?")))
    return found


def _from_uri(shape: Any, labels: dict[str, str], query: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    pairs = parse_qsl(query, keep_blank_values=True)
    for name, member in shape.members.items():
        where, wire_name = member.serialization.get("location"), member.serialization.get("name", name)
        if where == "uri":
            values[name] = labels.get(wire_name, "")
        if where == "querystring":
            given = [value for key, value in pairs if key == wire_name]
            if given:
                values[name] = _typed(member.type_name, given)
    return values


def _typed(kind: str, given: list[str]) -> Any:
    if kind == "list":
        return given
    if kind == "boolean":
        return given[0] == "true"
    return int(given[0]) if kind in ("integer", "long") else given[0]


def _body(body: bytes) -> dict[str, Any]:
    if not body.strip():
        return {}
    try:
        parsed: Any = json.loads(body)
    except ValueError as error:
        raise AwsError("SerializationException", "The request body is not JSON.") from error
    if not isinstance(parsed, dict):
        raise AwsError("SerializationException", "The request body is not a JSON object.")
    # An explicit null is an absent member on these protocols.
    return {str(name): value for name, value in parsed.items() if value is not None}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.timestamp()
    raise TypeError(f"{type(value).__name__} has no JSON form")
