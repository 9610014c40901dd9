"""Prompts: the main workflows, for clients without skills. Each is the skill's own text with what the person said."""

from __future__ import annotations

from mcp.server import MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import PromptArgument

from instantstart_mcp import playbooks
from instantstart_mcp.calling import Door
from instantstart_mcp.playbooks import Skill


def add_to(server: MCPServer[Door]) -> None:
    for skill in playbooks.skills():
        server.add_prompt(_prompt(skill))


def _prompt(skill: Skill) -> Prompt:
    def said(request: str = "") -> str:
        asked = f"\n\n## What the person asked\n\n{request}" if request else ""
        return f"Follow this playbook literally.\n\n{skill.body}{asked}"

    made = Prompt.from_function(said, name=skill.name.replace("-", "_"), description=skill.description)
    made.arguments = [
        PromptArgument(name="request", description="What the person asked, in their words", required=False)
    ]
    return made
