"""A tool as a value: a function with typed arguments and a typed answer, what it needs, and what it may do.

    TOOLS = (reads(cluster_list), proposes(cluster_delete, destructive=True))

The function's docstring is what a model reads. Its arguments are checked strictly, its answer passes `safety`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias, cast, get_args, get_origin, get_type_hints

from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ConfigDict, Field, ValidationError, create_model

from instantstart_mcp import portable, safety
from instantstart_mcp.api import ApiProblem, Json
from instantstart_mcp.calling import Call, Door
from instantstart_mcp.words import Answer

Right: TypeAlias = Literal["read", "propose", "approve", "operate", "decide"]
Function: TypeAlias = Callable[..., Awaitable[Answer]]
_CALL: Final = "call"
_MOST_ERRORS: Final = 20


@dataclass(frozen=True, kw_only=True)
class ToolValue:
    """`needs`: a scope of the token; `decide`: that of a person who decides over changes or orders."""

    function: Function
    needs: Right
    destructive: bool = False
    idempotent: bool = True
    outside: bool = False

    @property
    def name(self) -> str:
        return self.function.__name__


def reads(function: Function, *, outside: bool = False) -> ToolValue:
    """Looks, and changes nothing. `outside`: what it shows was written by others than us."""
    return ToolValue(function=function, needs="read", outside=outside)


def proposes(function: Function, *, destructive: bool = False, idempotent: bool = True) -> ToolValue:
    """Opens a change, or says something about one. `destructive`: what it proposes takes something away."""
    return ToolValue(function=function, needs="propose", destructive=destructive, idempotent=idempotent)


def decides(function: Function, needs: Right) -> ToolValue:
    """Lets something happen. Only shown to tokens of people that hold the right."""
    return ToolValue(function=function, needs=needs, destructive=True, idempotent=True)


class _Arguments(ArgModelBase):
    """What is not named is an error, not ignored."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class HouseTool(Tool):
    """A tool as the SDK wants it. What goes wrong on purpose is an answer that a model can read."""

    value: ToolValue = Field(exclude=True)

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        del convert_result
        try:
            given = self.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            return refused(_bad_arguments(error))
        request = context.request_context
        door = cast("Door", request.lifespan_context)
        call = door.call(request.request, context.report_progress)
        try:
            await self._must_be_allowed(call)
            answer = await self.value.function(call, **given)
        except ApiProblem as problem:
            return refused(problem)
        return shown(answer, self.name)

    async def _must_be_allowed(self, call: Call) -> None:
        """Before anything: a tool of several steps does not stop half-way. The API checks each of them anyway."""
        if self.value.needs != "read" and not may(self.value.needs, who := await call.api.get("session")):
            what = (
                "a person's token with scope approve" if self.value.needs == "decide" else f"scope {self.value.needs}"
            )
            text = f"{self.name} was not called: {who.get('name')} ({who.get('kind')}) does not hold {what}"
            way = "tell the person what you would do, and let them do it or give a token that may"
            raise ApiProblem("MissingScope", text, status=403, way_out=way)


def may(needs: Right, who: Json) -> bool:
    """Whether somebody (GET /session) may use what needs this."""
    scopes = who.get("scopes") or ()
    if needs in ("approve", "operate", "decide"):
        held = ("approve", "operate") if needs == "decide" else (needs,)
        return who.get("kind") == "person" and any(scope in scopes for scope in held)
    return needs in scopes


@functools.cache  # a tool keeps nothing of a server, and its schemas take a third of a second for all
def made(value: ToolValue) -> HouseTool:
    """The SDK's tool of a value."""
    arguments, answer = _signature(value.function)
    metadata = FuncMetadata(arg_model=arguments, output_schema=portable.of_output(answer))
    return HouseTool(
        value=value,
        fn=value.function,
        name=value.name,
        title=None,
        description=_description(value.function),
        parameters=portable.of_input(arguments),
        fn_metadata=metadata,
        is_async=True,
        context_kwarg=None,
        annotations=ToolAnnotations(
            read_only_hint=value.needs == "read",
            destructive_hint=value.destructive if value.needs != "read" else None,
            idempotent_hint=value.idempotent if value.needs != "read" else None,
            open_world_hint=value.outside or None,
        ),
    )


def shown(answer: Answer, tool: str) -> CallToolResult:
    """Structured, and the same as text for clients that read nothing else."""
    told = safety.clean(answer.model_dump(mode="json", exclude_none=True, exclude_defaults=True))
    text = safety.as_json(told)
    if len(text) > safety.MOST:
        way = "ask for fewer rows (limit), a part of it (filters, cursor), or one thing by name"
        problem = ApiProblem("AnswerTooLong", f"the answer of {tool} has {len(text)} characters", way_out=way)
        return refused(problem)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=told)


def refused(problem: ApiProblem) -> CallToolResult:
    told: Json = {"error": problem.reason, "detail_untrusted": problem.detail[:2000]}
    if problem.status:
        told["status"] = problem.status
    if problem.way_out:
        told["way_out"] = problem.way_out
    for name, rows in (("errors_untrusted", problem.errors), ("conflicts_untrusted", problem.conflicts)):
        if rows:
            told[name] = list(rows[:_MOST_ERRORS])
            if len(rows) > _MOST_ERRORS:
                told[f"{name}_left_out"] = len(rows) - _MOST_ERRORS
    text = safety.as_json(safety.clean(told))
    if len(text) > safety.MOST:
        text = safety.as_json({"error": problem.reason, "detail_untrusted": safety.clean_text(problem.detail[:2000])})
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def _bad_arguments(error: ValidationError) -> ApiProblem:
    """Where and what; never the value, which may be a secret put into the wrong place."""
    flaws = tuple(
        {"where": ".".join(str(step) for step in item["loc"]), "expected": item["msg"]}
        for item in error.errors(include_input=False, include_context=False, include_url=False)
    )
    return ApiProblem("BadArguments", "the arguments do not have the form that is expected", errors=flaws)


def _signature(function: Function) -> tuple[type[ArgModelBase], type[Answer]]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == _CALL:
            continue
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[name] = (hints[name], default)
    arguments = create_model(f"{function.__name__}_arguments", __base__=_Arguments, **fields)
    answer = hints["return"]
    if get_origin(answer) is Annotated:
        answer = get_args(answer)[0]
    assert isinstance(answer, type) and issubclass(answer, Answer), function.__name__
    return arguments, answer


def _description(function: Function) -> str:
    told = inspect.getdoc(function)
    assert told, f"{function.__name__} says nothing of itself"
    return " ".join(told.split())
