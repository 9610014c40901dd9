"""Resources: documents, plans, status, timeline and changes as JSON, skills as Markdown. Read with the caller's token,
cleaned and marked like the answers of tools."""

# No `from __future__ import annotations` here: the SDK reads the types of these closures.
from typing import Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from instantstart_mcp import playbooks, safety
from instantstart_mcp.api import ApiProblem
from instantstart_mcp.calling import Call, Door
from instantstart_mcp.tools import changes, clusters, documents, history, plans
from instantstart_mcp.words import Answer

SCHEME: Final = "instantstart:/"
_JSON: Final = "application/json"


def add_to(server: MCPServer[Door]) -> None:
    @server.resource(
        f"{SCHEME}/clusters/{{cluster}}/status", name="status", description="A cluster's status", mime_type=_JSON
    )
    async def status(ctx: Context[Any, Any], cluster: str) -> str:
        return await _read(ctx, clusters.cluster_get, cluster=cluster)

    @server.resource(
        f"{SCHEME}/clusters/{{cluster}}/plan", name="plan", description="What the engine would do", mime_type=_JSON
    )
    async def plan(ctx: Context[Any, Any], cluster: str) -> str:
        return await _read(ctx, plans.cluster_plan, cluster=cluster)

    @server.resource(
        f"{SCHEME}/clusters/{{cluster}}/timeline", name="timeline", description="What happened", mime_type=_JSON
    )
    async def timeline(ctx: Context[Any, Any], cluster: str) -> str:
        return await _read(ctx, history.cluster_timeline, cluster=cluster)

    @server.resource(
        f"{SCHEME}/clusters/{{cluster}}/documents", name="documents", description="Its documents", mime_type=_JSON
    )
    async def all_documents(ctx: Context[Any, Any], cluster: str) -> str:
        return await _read(ctx, documents.document_list, cluster=cluster)

    @server.resource(
        f"{SCHEME}/clusters/{{cluster}}/documents/{{kind}}/{{name}}",
        name="document",
        description="One document",
        mime_type=_JSON,
    )
    async def document(ctx: Context[Any, Any], cluster: str, kind: str, name: str) -> str:
        return await _read(ctx, documents.document_get, cluster=cluster, kind=kind, name=name)

    @server.resource(f"{SCHEME}/changes/{{change}}", name="change", description="A change", mime_type=_JSON)
    async def change(ctx: Context[Any, Any], change: str) -> str:
        return await _read(ctx, changes.change_get, change=change)

    @server.resource(
        f"{SCHEME}/changes/{{change}}/plan", name="change-plan", description="What merging it would do", mime_type=_JSON
    )
    async def change_plan(ctx: Context[Any, Any], change: str) -> str:
        return await _read(ctx, changes.change_plan, change=change)

    for skill in playbooks.skills():
        _add_skill(server, skill)


def _add_skill(server: MCPServer[Door], skill: playbooks.Skill) -> None:
    @server.resource(
        f"{SCHEME}/skills/{skill.name}", name=skill.name, description=skill.description, mime_type="text/markdown"
    )
    def text() -> str:
        return skill.text


async def _read(ctx: Context[Any, Any], look: Any, **arguments: str) -> str:
    request = ctx.request_context
    door: Door = request.lifespan_context
    call: Call = door.call(request.request, ctx.report_progress)
    try:
        answer: Answer = await look(call, **arguments)
    except ApiProblem as problem:
        told = safety.clean_text(f"{problem.reason}: {problem.detail}")
        raise (ResourceNotFoundError(told) if problem.status in (404, 422) else ResourceError(told)) from None
    return safety.as_json(safety.clean(answer.model_dump(mode="json", exclude_none=True, exclude_defaults=True)))
