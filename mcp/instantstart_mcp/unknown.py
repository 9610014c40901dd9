"""What has a name that nothing here has is answered -32602, as the protocol says. The SDK takes an unknown tool for one
that failed, an unknown prompt or argument of it for a mistake of ours, and hears no cursor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, Prompt

from instantstart_mcp import catalogue, safety
from instantstart_mcp.calling import Door

_TOOLS: Final = frozenset(value.name for value in catalogue.TOOLS)
_LONGEST: Final = 100  # characters of a name that are repeated


def add_to(server: MCPServer[Door]) -> None:
    async def known(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        given = ctx.params or {}
        match ctx.method, given.get("name"):
            case "tools/call", str(name) if name not in _TOOLS:
                if all(name != tool.name for tool in await server.list_tools()):
                    raise _refusal(f"Unknown tool: {_short(name)}; tools/list names those that there are")
            case "prompts/get", str(name):
                _check_prompt(await server.list_prompts(), name, given.get("arguments"))
            case method, _ if method.endswith("/list") and given.get("cursor") is not None:
                raise _refusal(f"cursor: {method} has one page, and gave no cursor; ask without one")
            case _:
                pass
        return await call_next(ctx)

    server.middleware.append(known)


def _check_prompt(prompts: list[Prompt], name: str, arguments: object) -> None:
    prompt = next((one for one in prompts if one.name == name), None)
    if prompt is None:
        raise _refusal(f"Unknown prompt: {_short(name)}; prompts/list names those that there are")
    given: Mapping[str, Any] = cast("Mapping[str, Any]", arguments) if isinstance(arguments, Mapping) else {}
    taken = {one.name: bool(one.required) for one in prompt.arguments or ()}
    for argument in given:
        if argument not in taken:
            those = ", ".join(taken) or "none"
            raise _refusal(f"Unknown argument: {_short(argument)}; the prompt {name} takes: {those}")
    for argument, required in taken.items():
        if required and argument not in given:
            raise _refusal(f"Missing argument: {argument}; the prompt {name} needs it")


def _short(name: str) -> str:
    return safety.clean_text(name[:_LONGEST])


def _refusal(text: str) -> MCPError:
    return MCPError(INVALID_PARAMS, text)
