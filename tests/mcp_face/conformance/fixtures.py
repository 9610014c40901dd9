"""What the conformance suite wants a server to have: tools, resources and prompts of fixed names and answers. They are
added to our own server, so that all around them (door, transport, both eras, middleware) is what agents meet.

Nothing here asks the client in the middle of a call, as the older protocol does: see expected.yaml."""

from typing import Annotated, Any, Final

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import Field

Told = CallToolResult | InputRequiredResult
Ctx = Context[Any, Any]
PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="


def add_to(server: MCPServer[Any]) -> None:
    for tool in TOOLS:
        server.add_tool(tool, structured_output=False)
    server.resource("test://static-text", mime_type="text/plain")(static_text)
    server.resource("test://static-binary", mime_type="image/png")(static_binary)
    server.resource("test://template/{id}/data", mime_type="application/json")(template_data)
    for prompt in PROMPTS:
        server.prompt()(prompt)


# Contents


def test_simple_text() -> str:
    """Text."""
    return "This is a simple text response for testing."


def test_image_content() -> CallToolResult:
    """An image."""
    return CallToolResult(content=[_image()])


def test_audio_content() -> CallToolResult:
    """A sound."""
    return CallToolResult(content=[AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")])


def test_embedded_resource() -> CallToolResult:
    """A resource inside of an answer."""
    return CallToolResult(content=[_embedded("test://embedded-resource", "text/plain", "This is embedded.")])


def test_multiple_content_types() -> CallToolResult:
    """Three of them."""
    last = _embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return CallToolResult(content=[_text("Multiple content types test:"), _image(), last])


def test_error_handling() -> str:
    """Always an error."""
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx: Ctx) -> str:
    """Progress in three steps."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"{done} of 100")
        await anyio.sleep(0.05)
    return "done"


def test_custom_header(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """An argument that a header repeats."""
    return region


# Answers that ask for more, of the newer protocol


def test_missing_capability(ctx: Ctx) -> str:
    """Needs a client that lets its model be asked."""
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        data: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", data)
    return "there"


def test_logging_tool() -> str:
    """Logs nothing: our server has no logging."""
    return "done"


def test_streaming_elicitation(ctx: Ctx) -> Told:
    """Asks for a name."""
    return test_input_required_result_elicitation(ctx)


def test_input_required_result_elicitation(ctx: Ctx) -> Told:
    """Asks for a name."""
    name = _elicited(ctx, "user_name").get("name")
    if not isinstance(name, str):
        return _ask(user_name=_elicit("What is your name?", name="string"))
    return _told(f"Hello, {name}!")


def test_input_required_result_sampling(ctx: Ctx) -> Told:
    """Asks the client's model."""
    match _answer(ctx, "capital_question"):
        case CreateMessageResult() as said:
            return _told(f"The model said: {said.content}")
        case _:
            return _ask(capital_question=_sample("What is the capital of France?", 100))


def test_input_required_result_list_roots(ctx: Ctx) -> Told:
    """Asks for the client's roots."""
    match _answer(ctx, "client_roots"):
        case ListRootsResult() as found:
            return _told(" ".join(str(root.uri) for root in found.roots))
        case _:
            return _ask(client_roots=ListRootsRequest())


def test_input_required_result_request_state(ctx: Ctx) -> Told:
    """Asks for a yes, and knows what it asked."""
    if "ok" not in _elicited(ctx, "confirm") or ctx.request_state != "asked":
        return _ask("asked", confirm=_elicit("Please confirm", ok="boolean"))
    return _told("state-ok")


def test_input_required_result_tampered_state(ctx: Ctx) -> Told:
    """The same; what comes back changed is refused before it comes here."""
    return test_input_required_result_request_state(ctx)


def test_input_required_result_multiple_inputs(ctx: Ctx) -> Told:
    """Asks for three things at once."""
    asked: dict[str, InputRequest] = {
        "user_name": _elicit("What is your name?", name="string"),
        "greeting": _sample("Generate a greeting", 50),
        "client_roots": ListRootsRequest(),
    }
    if any(_answer(ctx, name) is None for name in asked):
        return _ask("asked", **asked)
    return _told("all three are there")


def test_input_required_result_multi_round(ctx: Ctx) -> Told:
    """Asks twice."""
    if ctx.request_state == "second" and "color" in _elicited(ctx, "step2"):
        return _told("both are there")
    if ctx.request_state == "first" and "name" in _elicited(ctx, "step1"):
        return _ask("second", step2=_elicit("Step 2: What is your favorite color?", color="string"))
    return _ask("first", step1=_elicit("Step 1: What is your name?", name="string"))


def test_input_required_result_capabilities(ctx: Ctx) -> Told:
    """Asks for what the client can do, and for nothing else."""
    can = ctx.client_capabilities
    asked: dict[str, InputRequest] = {}
    if can is not None and can.sampling is not None:
        asked["greeting"] = _sample("Generate a greeting", 50)
    if can is not None and can.elicitation is not None:
        asked["user_name"] = _elicit("What is your name?", name="string")
    return _ask(**asked) if asked else _told("nothing can be asked")


# Resources


def static_text() -> str:
    """Text."""
    return "This is the content of the static text resource."


def static_binary() -> bytes:
    """Bytes."""
    return b"\x89PNG\r\n\x1a\n"


def template_data(id: str) -> dict[str, Any]:
    """What the address says."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


# Prompts


def test_simple_prompt() -> str:
    """No arguments."""
    return "This is a simple prompt for testing."


def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:
    """A resource inside of a prompt."""
    found = _embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [UserMessage(found), UserMessage("Please process the embedded resource above.")]


def test_prompt_with_image() -> list[Message]:
    """An image inside of a prompt."""
    return [UserMessage(_image()), UserMessage("Please analyze the image above.")]


def test_input_required_result_prompt(ctx: Ctx) -> list[Message] | InputRequiredResult:
    """Asks for a context."""
    context = _elicited(ctx, "user_context").get("context")
    if context is None:
        return _ask(user_context=_elicit("What context should the prompt use?", context="string"))
    return [UserMessage(f"In the context of {context}")]


TOOLS: Final = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    test_custom_header,
    test_missing_capability,
    test_logging_tool,
    test_streaming_elicitation,
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_capabilities,
)
PROMPTS: Final = (
    test_simple_prompt,
    test_prompt_with_arguments,
    test_prompt_with_embedded_resource,
    test_prompt_with_image,
    test_input_required_result_prompt,
)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _told(text: str) -> CallToolResult:
    return CallToolResult(content=[_text(text)])


def _image() -> ImageContent:
    return ImageContent(type="image", data=PIXEL, mime_type="image/png")


def _embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


def _ask(state: str | None = None, /, **requests: InputRequest) -> InputRequiredResult:
    return InputRequiredResult(input_requests=requests, request_state=state)


def _elicit(message: str, **fields: str) -> ElicitRequest:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in fields.items()},
        "required": list(fields),
    }
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str, tokens: int) -> CreateMessageRequest:
    said = SamplingMessage(role="user", content=_text(text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[said], max_tokens=tokens))


def _answer(ctx: Ctx, name: str) -> Any:
    return (ctx.input_responses or {}).get(name)


def _elicited(ctx: Ctx, name: str) -> dict[str, Any]:
    match _answer(ctx, name):
        case ElicitResult(content=dict() as given):
            return {**given}
        case _:
            return {}
