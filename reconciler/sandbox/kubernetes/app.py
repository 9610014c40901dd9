"""The ASGI application of one cluster: authenticate, authorize, answer, record."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from email.utils import format_datetime
from typing import Any, TypeAlias

from reconciler.sandbox.kubernetes.access import (
    RBAC,
    Attributes,
    Authenticate,
    Authorize,
    UserInfo,
    forbidden_text,
    rbac_allows,
    review,
)
from reconciler.sandbox.kubernetes.apiserver import ApiServer
from reconciler.sandbox.kubernetes.discovery import discover
from reconciler.sandbox.kubernetes.errors import ApiError, bad_request, forbidden, no_such_path
from reconciler.sandbox.kubernetes.escalation import guard
from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.objects import encode
from reconciler.sandbox.kubernetes.records import (
    AFTER,
    BEFORE,
    MIDDLE,
    BeforeRequest,
    Fault,
    OnRequest,
    RequestRecord,
)
from reconciler.sandbox.kubernetes.requests import MAX_BODY, Request, read_request
from reconciler.sandbox.kubernetes.streams import Wake, log_source, logs, refuse_watch, watch
from reconciler.sandbox.kubernetes.verbs import APPLY, Reply, answer, renderer

Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]

# how long after a reply the cluster does its background work (real seconds)
SETTLE_DELAY = 0.005


class App:
    """One cluster over HTTP. All calls happen on one event loop."""

    def __init__(
        self,
        api: ApiServer,
        *,
        authenticate: Authenticate,
        authorize: Authorize = rbac_allows,
        on_request: OnRequest | None = None,
        before_request: BeforeRequest | None = None,
        latency: float = 0.0,
        page: Callable[[int], int] = int,
    ) -> None:
        self.api = api
        self.latency = latency
        self._page = page
        self._authenticate = authenticate
        self._authorize = authorize
        self._on_request = on_request
        self._before_request = before_request
        self._number = 0
        self._settling = False
        self._streams: set[Wake] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        started = time.perf_counter()
        if self.latency:
            await asyncio.sleep(self.latency)
        try:
            request = read_request(scope, await _body(receive))
        except ApiError as error:
            await _send(send, _refusal(error))
            return
        user = self._authenticate(request.token) if request.token else None
        record = self._record(request, user)
        fault = self._before_request(record) if record and self._before_request else None
        if fault is not None:
            if fault.delay:
                await asyncio.sleep(fault.delay)
            if fault.drop == BEFORE or fault.status:
                self._finish(record, fault.status, started, fault)
                await (_drop(scope, fault) if fault.drop == BEFORE else _send(send, _faulty(fault)))
                return
        if user is not None and await self._stream(scope, request, user, receive, send, record, started, fault):
            return
        reply = self._reply(request, user)
        self._finish(record, reply.status, started, fault)
        if fault is not None and fault.drop == AFTER:
            await _drop(scope, fault)
        elif fault is not None and fault.drop == MIDDLE:
            await _send_half(scope, send, reply)
        else:
            await _send(send, reply)

    def close(self) -> None:
        """End every stream, so that the server can stop."""
        for wake in self._streams:
            wake.end()

    def settle_soon(self) -> None:
        """Have the background work done in a moment. To be called on the loop after changes that came past the app."""
        if self.api.deferred and not self._settling:
            self._settling = True
            asyncio.get_running_loop().call_later(SETTLE_DELAY, self._settle)

    # ---- one request -------------------------------------------------------------

    def _reply(self, request: Request, user: UserInfo | None) -> Reply:
        try:
            return self._answer(request, user)
        except ApiError as error:
            return _refusal(error)

    def _answer(self, request: Request, user: UserInfo | None) -> Reply:
        if not request.resource:
            return self._path(request, user)
        self._admit(request, user)
        kind = self.api.kinds.at(request.group, request.version, request.resource)
        if kind is None:
            raise no_such_path()
        if kind.verbs == ("create",):
            if request.method != "POST" or user is None:
                raise ApiError(
                    405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
                )
            body = {"apiVersion": kind.api_version, "kind": kind.kind, **request.json()}
            return Reply(status=201, body=encode(review(kind.kind, body, user, self._allows, self.api.store)))
        if user is not None:
            self._admit_writing(request, kind, user)
        if request.verb == "list" and request.query.get("limit", "0") not in ("", "0"):
            request.query["limit"] = str(self._page(int(request.query["limit"])))
        return answer(self.api, kind, request)

    def _path(self, request: Request, user: UserInfo | None) -> Reply:
        """Discovery and health; health and version may be read by anybody."""
        root = request.parts[0] if request.parts else ""
        if request.verb == "get" and root in ("healthz", "livez", "readyz"):
            return Reply(body=b"ok", content_type="text/plain")
        if not (root == "version" and request.verb == "get"):
            self._admit(request, user)
        found = discover(request.parts, self.api.kinds) if request.verb == "get" else None
        if found is None:
            raise no_such_path()
        return Reply(body=encode(found))

    def _admit(self, request: Request, user: UserInfo | None) -> None:
        if user is None:
            raise ApiError(401, "Unauthorized", "Unauthorized")
        wanted = _attributes(request)
        if not self._allows(user, wanted):
            error = forbidden(
                forbidden_text(user, wanted), name=request.name, group=request.group, kind=request.resource
            )
            error.about_a_path = bool(wanted.path)
            raise error

    def _admit_writing(self, request: Request, kind: Kind, user: UserInfo) -> None:
        """An apply of what is not there is a create, too; rights are given by those who have them."""
        store = self.api.store
        if request.verb == "patch" and request.content_type in APPLY and not request.subresource:
            key = (request.namespace if kind.namespaced else "", request.name)
            if store.get(kind.stored, key) is None:
                self._admit(replace(request, verb="create"), user)
        if kind.group == RBAC:
            request.admit = guard(user, lambda wanted: self._allows(user, wanted), store, request.name)

    def _allows(self, user: UserInfo, wanted: Attributes) -> bool:
        return self._authorize(user, wanted, self.api.store)

    # ---- streams -----------------------------------------------------------------

    async def _stream(
        self,
        scope: Scope,
        request: Request,
        user: UserInfo,
        receive: Receive,
        send: Send,
        record: RequestRecord | None,
        started: float,
        fault: Fault | None,
    ) -> bool:
        """Serve a watch or a log; False if the request is neither or must be refused."""
        is_log = request.subresource == "log" and request.resource == "pods" and request.verb == "get"
        if request.verb != "watch" and not is_log:
            return False
        kind = self.api.kinds.at(request.group, request.version, request.resource)
        if kind is None or not self._allows(user, _attributes(request)):
            return False
        wake = Wake()
        try:
            if is_log:
                log_source(self.api, request)
                chunks, content_type = logs(self.api, request, wake), "text/plain"
            else:
                refuse_watch(request.query)
                render = renderer(self.api, kind, request)
                chunks, content_type = watch(self.api, kind, request, render, wake), "application/json"
        except ApiError as error:
            self._finish(record, error.code, started, fault)
            await _send(send, _refusal(error))
            return True
        self._finish(record, 200, started, fault)
        if fault is not None and fault.drop == AFTER:
            await _drop(scope, fault)
            return True
        self._streams.add(wake)
        listening = asyncio.ensure_future(_gone(receive, wake))
        try:
            await _send_chunks(send, chunks, content_type)
        finally:
            self._streams.discard(wake)
            listening.cancel()
        return True

    # ---- the seams ---------------------------------------------------------------

    def _record(self, request: Request, user: UserInfo | None) -> RequestRecord | None:
        if self._on_request is None and self._before_request is None:
            return None
        self._number += 1
        return RequestRecord(
            cluster=self.api.name,
            number=self._number,
            verb=request.verb,
            method=request.method,
            path=request.path,
            query=request.query_string,
            content_type=request.content_type,
            user_agent=request.user_agent,
            user=user.name if user else "",
            group=request.group,
            resource=request.resource,
            subresource=request.subresource,
            namespace=request.namespace,
            name=request.name,
            dry_run=request.dry_run,
            body_sha256=hashlib.sha256(request.body).hexdigest() if request.body else "",
        )

    def _finish(self, record: RequestRecord | None, status: int, started: float, fault: Fault | None) -> None:
        effects = tuple(self.api.take_effects())
        self.settle_soon()
        if record is None or self._on_request is None:
            return
        name = (
            ""
            if fault is None
            else f"drop {fault.drop}"
            if fault.drop
            else f"status {fault.status}"
            if fault.status
            else "delay"
        )
        done = replace(record, status=status, effects=effects, seconds=time.perf_counter() - started, fault=name)
        self._on_request(done)

    def _settle(self) -> None:
        self._settling = False
        self.api.settle()
        # what the cluster does by itself is no request's effect
        self.api.take_effects()


def _attributes(request: Request) -> Attributes:
    if not request.resource:
        return Attributes(verb=request.verb, path=request.path)
    return Attributes(
        verb=request.verb,
        group=request.group,
        resource=request.resource,
        subresource=request.subresource,
        namespace=request.namespace,
        name=request.name,
    )


def _refusal(error: ApiError) -> Reply:
    retry_after = 1 if error.code in (429, 504) else None
    return Reply(status=error.code, body=encode(error.status()), retry_after=retry_after)


def _faulty(fault: Fault) -> Reply:
    error = ApiError(fault.status, fault.reason, fault.message)
    return Reply(status=fault.status, body=encode(error.status()), retry_after=fault.retry_after, date=fault.date)


async def _body(receive: Receive) -> bytes:
    message = await receive()
    body: bytes = message.get("body", b"")
    while message.get("more_body"):
        message = await receive()
        if message["type"] == "http.disconnect":
            raise bad_request("the connection closed before the body was complete")
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            raise ApiError(413, "RequestEntityTooLarge", f"the request body is too large; the limit is {MAX_BODY}")
    return body


async def _send(send: Send, reply: Reply) -> None:
    await send({"type": "http.response.start", "status": reply.status, "headers": _headers(reply)})
    await send({"type": "http.response.body", "body": reply.body})


async def _send_half(scope: Scope, send: Send, reply: Reply) -> None:
    """The connection ends in the middle of the body that was promised."""
    await send({"type": "http.response.start", "status": reply.status, "headers": _headers(reply)})
    await send({"type": "http.response.body", "body": reply.body[: len(reply.body) // 2], "more_body": True})
    scope["state"]["transport"].close()


def _headers(reply: Reply) -> list[tuple[bytes, bytes]]:
    headers = [
        (b"content-type", reply.content_type.encode()),
        (b"content-length", str(len(reply.body)).encode()),
    ]
    headers += [(b"warning", _warning(text)) for text in reply.warnings]
    if reply.retry_after is not None:
        headers.append((b"retry-after", str(reply.retry_after).encode()))
    if reply.date is not None:
        headers.append((b"date", format_datetime(reply.date, usegmt=True).encode()))
    return headers


async def _send_chunks(send: Send, chunks: AsyncIterator[bytes], content_type: str) -> None:
    headers = [(b"content-type", content_type.encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    # an empty chunk makes the server send the headers now
    await send({"type": "http.response.body", "body": b"", "more_body": True})
    async for chunk in chunks:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive, wake: Wake) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    wake.end()


async def _drop(scope: Scope, fault: Fault) -> None:
    """Cut the connection without a word. The server puts its transport into the scope's state."""
    if fault.then is not None:
        fault.then()
    transport = scope.get("state", {}).get("transport")
    if transport is None:
        raise ConnectionAbortedError("dropped by a fault")
    transport.abort()
    await asyncio.sleep(0)


def _warning(text: str) -> bytes:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{quoted}"'.encode("latin-1", "replace")
