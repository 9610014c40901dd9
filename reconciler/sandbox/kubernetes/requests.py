"""An ASGI scope as the request it is for Kubernetes: verb, kind, namespace, name, subresource, query."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote

import orjson
import yaml

from reconciler.sandbox.kubernetes import protobuf
from reconciler.sandbox.kubernetes.errors import ApiError, bad_request
from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.objects import Object, is_map

MAX_BODY = 3 * 1024 * 1024

Admit = Callable[[Kind, Object | None, Object], None]
"""Whether somebody may write that: the kind, the object before and after. ApiError 403."""


def anything(kind: Kind, before: Object | None, after: Object) -> None:
    """An `Admit` that refuses nothing."""


@dataclass(slots=True, kw_only=True)
class Request:
    """`group`, `version`, `resource` … are empty for a path that names no resource. `admit`: what its sender may
    write."""

    method: str
    path: str
    query_string: str
    query: dict[str, str]
    accept: str
    content_type: str
    user_agent: str
    token: str
    body: bytes
    parts: list[str]
    group: str = ""
    version: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    verb: str = ""
    admit: Admit = anything

    @property
    def dry_run(self) -> bool:
        return self.query.get("dryRun") == "All"

    def json(self) -> Object:
        """The body as one object; {} without a body. ApiError 400 if it is none."""
        value = self.value()
        if value is None:
            return {}
        if not is_map(value):
            raise bad_request("the body of the request must be an object")
        return value

    def value(self) -> Any:
        """The body: JSON, YAML, or protobuf of the few kinds that we read."""
        raw = self.body
        if not raw:
            return None
        if raw[:4] == protobuf.MAGIC:
            return protobuf.decode(raw)
        try:
            if raw.lstrip()[:1] in (b"{", b"["):
                return orjson.loads(raw)
            return yaml.load(raw, Loader=_Loader)
        except (orjson.JSONDecodeError, yaml.YAMLError) as error:
            raise bad_request(f"error decoding the body: {error}") from error


def read_request(scope: Any, body: bytes) -> Request:
    """The request of a scope whose body has been received."""
    headers = _headers(scope["headers"])
    path: str = scope["path"]
    query_string = scope["query_string"].decode("latin-1")
    query = dict(parse_qsl(query_string, keep_blank_values=True)) if query_string else {}
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    request = Request(
        method=scope["method"],
        path=path,
        query_string=query_string,
        query=query,
        accept=headers.get(b"accept", b"").decode("latin-1"),
        content_type=headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip(),
        user_agent=headers.get(b"user-agent", b"").decode("latin-1"),
        token=token.strip() if scheme.lower() == "bearer" else "",
        body=_inflated(body, headers.get(b"content-encoding", b"")),
        parts=[unquote(part) if "%" in part else part for part in path.split("/") if part],
    )
    _route(request)
    return request


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WANTED = {b"authorization", b"accept", b"content-type", b"user-agent", b"content-encoding"}


def _headers(headers: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    return {name: value for name, value in headers if name in _WANTED}


def _inflated(body: bytes, encoding: bytes) -> bytes:
    if not body or encoding != b"gzip":
        return body
    inflater = zlib.decompressobj(wbits=31)
    plain = inflater.decompress(body, MAX_BODY + 1)
    if len(plain) > MAX_BODY:
        raise ApiError(413, "RequestEntityTooLarge", f"limit is {MAX_BODY}")
    return plain


def _route(request: Request) -> None:
    parts = request.parts
    if len(parts) >= 3 and parts[0] == "api":
        request.version, rest = parts[1], parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        request.group, request.version, rest = parts[1], parts[2], parts[3:]
    else:
        request.verb = "get" if request.method in ("GET", "HEAD") else request.method.lower()
        return
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        request.namespace, rest = rest[1], rest[2:]
    request.resource = rest[0]
    request.name = rest[1] if len(rest) > 1 else ""
    request.subresource = "/".join(rest[2:])
    request.verb = _verb(request)
    if request.resource == "namespaces" and not request.group:
        request.namespace = request.name


def _verb(request: Request) -> str:
    match request.method:
        case "GET" | "HEAD":
            if request.name:
                return "get"
            return "watch" if request.query.get("watch") in ("true", "1") else "list"
        case "POST":
            return "create"
        case "PUT":
            return "update"
        case "PATCH":
            return "patch"
        case "DELETE":
            return "delete" if request.name else "deletecollection"
        case other:
            return other.lower()
