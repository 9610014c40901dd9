"""Updates of resources: a client that asked for them is told when one reads differently than before.

The newer protocol asks by `subscriptions/listen`, whose answer is a stream, over HTTP and stdio. The older one asks by
`resources/subscribe`, which needs a connection that lasts: here that is stdio. What is looked at is what the client's
own token may read. No list of ours changes while the server runs, so of lists nothing is promised.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import UriTemplate
from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    InputRequiredResult,
    ResourceUpdatedNotification,
    ResourceUpdatedNotificationParams,
    SubscriptionsListenResult,
)

from instantstart_mcp.api import ApiProblem
from instantstart_mcp.calling import Door

EVERY: Final = 3.0  # seconds between two looks at a resource
MOST: Final = 20  # resources that one client is told about at once
_LOOKS: Final = frozenset({"observed_at", "looked_at"})  # when somebody looked is no news
Ctx = ServerRequestContext[Any, Any]
Tell = Callable[[str], Awaitable[None]]
_UNSEEN: Final = "unseen"  # it could not be read now; it may not be different
_REFUSED: Final = "refused"


@dataclass(kw_only=True)
class Watching:
    """`lasting`: the server serves one connection, to its end."""

    lasting: bool
    _ends: anyio.Event = field(default_factory=anyio.Event)
    _tasks: TaskGroup | None = None
    _scopes: dict[str, anyio.CancelScope] = field(default_factory=dict[str, anyio.CancelScope])

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """As long as the server runs."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    def end(self) -> None:
        """The server stops: every stream ends in good order. In its event loop."""
        self._ends.set()

    def add_to(self, server: MCPServer[Door]) -> None:
        async def watched(ctx: Ctx, call_next: CallNext) -> HandlerResult:
            match ctx.method:
                case "initialize" | "server/discover":
                    return self._promised(ctx.method, await call_next(ctx))
                case "subscriptions/listen":
                    return await self._listened(server, ctx, call_next)
                case "resources/subscribe" if self.lasting:
                    return await self._subscribed(server, ctx)
                case "resources/unsubscribe" if self.lasting:
                    if (scope := self._scopes.pop(_uri(ctx), None)) is not None:
                        scope.cancel()
                    return {}
                case _:
                    return await call_next(ctx)

        server.middleware.append(watched)

    def _promised(self, method: str, result: HandlerResult) -> HandlerResult:
        """The SDK promises what it could do; here stands what is done."""
        assert isinstance(result, dict)
        told = {name: dict(value) for name, value in result["capabilities"].items()}
        for name in ("tools", "prompts", "resources"):
            told[name]["listChanged"] = False
        if method == "initialize":
            told["resources"]["subscribe"] = self.lasting
        return {**result, "capabilities": told}

    async def _subscribed(self, server: MCPServer[Door], ctx: Ctx) -> HandlerResult:
        uri = _uri(ctx)
        if not (await _changing(server))(uri):
            raise MCPError(
                INVALID_PARAMS, "uri: nothing is known that changes there; resources/templates/list says what is"
            )
        if uri in self._scopes:
            return {}
        if len(self._scopes) >= MOST or self._tasks is None:
            raise MCPError(INVALID_REQUEST, f"at most {MOST} resources are watched at once; unsubscribe one first")
        self._scopes[uri] = scope = anyio.CancelScope()

        async def watch(*, task_status: TaskStatus[None]) -> None:
            with scope:
                await _watch(server, ctx, uri, ctx.session.send_resource_updated, task_status)
            if self._scopes.get(uri) is scope:
                del self._scopes[uri]

        await self._tasks.start(watch)
        return {}

    async def _listened(self, server: MCPServer[Door], ctx: Ctx, call_next: CallNext) -> HandlerResult:
        """The SDK says which of the wishes are granted and holds the stream open; what happens is written beside it."""
        params, uris = _granted(dict(ctx.params or {}), await _changing(server))
        stamp: Any = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}

        async def tell(uri: str) -> None:
            told = ResourceUpdatedNotification(params=ResourceUpdatedNotificationParams(uri=uri, _meta=stamp))
            await ctx.session.send_notification(told, related_request_id=ctx.request_id)

        failed: Exception | None = None
        async with anyio.create_task_group() as tasks:

            async def watch(uri: str, *, task_status: TaskStatus[None]) -> None:
                await _watch(server, ctx, uri, tell, task_status)
                tasks.cancel_scope.cancel()

            async def ended() -> None:
                await self._ends.wait()
                tasks.cancel_scope.cancel()

            for uri in uris:
                await tasks.start(watch, uri)
            tasks.start_soon(ended)
            try:
                return await call_next(replace(ctx, params=params))
            except Exception as error:  # out of the group as it is
                failed = error
            finally:
                tasks.cancel_scope.cancel()
        if failed is None and self._ends.is_set():
            return SubscriptionsListenResult(_meta=stamp)
        raise failed or MCPError(INVALID_REQUEST, "the token may not read here any more: no updates will come")


def _granted(params: dict[str, Any], changing: Callable[[str], bool]) -> tuple[dict[str, Any], list[str]]:
    """The wishes that are granted, and the resources among them. What is no wish is left for the SDK to refuse."""
    wishes = _mapping(params.get("notifications"))
    asked: Any = wishes.get("resourceSubscriptions", [])
    if (
        not wishes
        or not isinstance(asked, list)
        or any(not isinstance(one, str) for one in cast("list[object]", asked))
    ):
        return params, []
    uris = [uri for uri in dict.fromkeys(cast("list[str]", asked)) if changing(uri)][:MOST]
    others = {name: wish for name, wish in wishes.items() if not isinstance(wish, bool)}  # of lists none is granted
    return {**params, "notifications": {**others, "resourceSubscriptions": uris}}, uris


async def _watch(server: MCPServer[Door], ctx: Ctx, uri: str, tell: Tell, started: TaskStatus[None]) -> None:
    """Until the token may not read any more, or nobody hears it."""
    before = await _digest(server, ctx, uri)
    started.started()
    while before != _REFUSED:
        await anyio.sleep(EVERY)
        now = await _digest(server, ctx, uri)
        if now not in (before, _UNSEEN, _REFUSED) and before != _UNSEEN:
            try:
                await tell(uri)
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                return
        if now != _UNSEEN:
            before = now


async def _digest(server: MCPServer[Door], ctx: Ctx, uri: str) -> str:
    """Of what a reader would read. What is not there reads as nothing, which is a state like others."""
    try:
        contents = await server.read_resource(uri, Context(request_context=ctx, mcp_server=server))
    except ResourceNotFoundError:
        return "nothing"
    except ResourceError:
        return await _why_unseen(ctx)
    assert not isinstance(contents, InputRequiredResult)
    told = [_without_looks(one.content) for one in contents]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


async def _why_unseen(ctx: Ctx) -> str:
    door: Door = ctx.lifespan_context
    try:
        await door.api(ctx.request).get("session")
    except ApiProblem as problem:
        return _REFUSED if problem.status in (401, 403) else _UNSEEN
    return _UNSEEN


async def _changing(server: MCPServer[Door]) -> Callable[[str], bool]:
    """Whether there may be something at an address that changes: what is made when it is read."""
    templates = [UriTemplate.parse(one.uri_template) for one in await server.list_resource_templates()]
    return lambda uri: any(template.match(uri) is not None for template in templates)


def _without_looks(content: str | bytes) -> object:
    told: object = json.loads(content)
    return {name: value for name, value in _mapping(told).items() if name not in _LOOKS}


def _uri(ctx: Ctx) -> str:
    uri = (ctx.params or {}).get("uri")
    if not isinstance(uri, str):
        raise MCPError(INVALID_PARAMS, "uri: expected the address of a resource")
    return uri


def _mapping(value: object) -> dict[str, Any]:
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}
