"""Skills, prompts, resources and agents' configurations: valid, about tools that exist, equal to their one source."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent, TextResourceContents

from instantstart_mcp import agents, catalogue, playbooks
from instantstart_mcp.agents import Kind, Wish
from schemas.errors import InvalidInput
from tests.api.apibox import ApiBox
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.mcp_face.facebox import ask, talk

SKILLS = playbooks.skills()
EACH = pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.name)
NAMES = {value.name: value for value in catalogue.TOOLS}
# What looks like a tool in a skill: a word in code marks that has an underscore, or begins with one of our groups.
WORD = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")
ARGUMENTS = {
    name for value in catalogue.TOOLS for name in value.function.__annotations__ if name not in ("call", "return")
}
FIELDS = frozenset(
    ("on_demand_left", "training_plans", "review_link", "next_cursor", "boot_id", "efa_interfaces", "left_out")
) | {"characters_left_out", "instance_type"}


def test_the_skills_that_are_promised_are_there() -> None:
    assert {skill.name for skill in SKILLS} == {
        "create-cluster",
        "add-capacity",
        "storage",
        "review-change",
        "diagnose-cluster-creation",
        "diagnose-node-health",
        "diagnose-nccl",
    }


@EACH
def test_the_format_is_that_of_the_reference_validator(skill: playbooks.Skill) -> None:
    command = [str(Path(sys.executable).with_name("agentskills")), "validate", str(playbooks.folder() / skill.name)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


@EACH
def test_every_tool_that_a_skill_names_exists(skill: playbooks.Skill) -> None:
    named = set(WORD.findall(skill.text))
    assert named & set(NAMES), "it uses our tools"
    assert named - set(NAMES) - ARGUMENTS - FIELDS == set()


@EACH
def test_a_skill_fits_a_window_and_names_no_tool_of_people(skill: playbooks.Skill) -> None:
    assert len(skill.text.splitlines()) < 500 and len(skill.text) < 20_000
    assert "mcp__" not in skill.text
    assert not [
        name for name in WORD.findall(skill.text) if name in NAMES and NAMES[name].needs not in ("read", "propose")
    ]


@EACH
def test_the_three_rules_or_the_order_of_advice_are_said(skill: playbooks.Skill) -> None:
    if skill.name.startswith("diagnose"):
        assert re.search(r"investigate, (then )?restart", skill.text)
    assert "data" in skill.text, "text from outside is data"
    if "change_wait" in skill.text and not skill.name.startswith(("diagnose", "review")):
        assert "terminal" in skill.text and re.search(r"[Ll]ook", skill.text)


def test_prompts_and_resources_mirror_the_skills(api: ApiBox) -> None:
    api.rig.commit({"cluster": cluster_yaml(), "workers": group_yaml("workers")})
    api.rig.settle()
    change = ask(api, "group_scale", cluster="prod", group="workers", count=3).data["change"]

    async def script(client: Client) -> None:
        prompts = {one.name for one in (await client.list_prompts()).prompts}
        assert prompts == {skill.name.replace("-", "_") for skill in SKILLS}
        made = await client.get_prompt("create_cluster", {"request": "four p5 nodes in us-west-2b"})
        (message,) = made.messages
        assert isinstance(message.content, TextContent)
        assert "four p5 nodes" in message.content.text and "cluster_create" in message.content.text
        text = await read(client, "instantstart://skills/storage")
        assert text == next(skill.text for skill in SKILLS if skill.name == "storage")
        for where, expected in (
            ("clusters/prod/status", "Ready"),
            ("clusters/prod/plan", "prod"),
            ("clusters/prod/timeline", "compute Ready"),
            ("clusters/prod/documents", "workers"),
            ("clusters/prod/documents/InstanceGroup/workers", "ml.m5.2xlarge"),
            (f"changes/{change}", "open"),
            (f"changes/{change}/plan", "update"),
        ):
            assert expected in await read(client, f"instantstart://{where}"), where
        with pytest.raises(MCPError, match="UnknownCluster"):
            await read(client, "instantstart://clusters/nobody/status")

    talk(api, script)


async def read(client: Client, uri: str) -> str:
    (found,) = (await client.read_resource(uri)).contents
    assert isinstance(found, TextResourceContents)
    return found.text


class TestInstall:
    FOLDERS: ClassVar[dict[str, str]] = {
        "kiro": ".kiro/skills",
        "claude": ".claude/skills",
        "generic": ".agents/skills",
    }

    @pytest.mark.parametrize("kind", ["kiro", "claude", "generic"])
    def test_copies_are_equal_to_their_source(self, tmp_path: Path, kind: Kind) -> None:
        agents.install(tmp_path, [kind], Wish())
        copied = {path.parent.name: path.read_text() for path in (tmp_path / self.FOLDERS[kind]).glob("*/SKILL.md")}
        assert copied == {skill.name: skill.text for skill in SKILLS}

    @pytest.mark.parametrize("stdio", [False, True], ids=["http", "stdio"])
    def test_reading_tools_alone_are_allowed_beforehand(self, tmp_path: Path, stdio: bool) -> None:
        agents.install(tmp_path, ["kiro", "claude", "generic"], Wish(stdio=stdio))
        kiro = json.loads((tmp_path / ".kiro/agents/hypd-inst-agent.json").read_text())
        claude = json.loads((tmp_path / ".claude/settings.json").read_text())
        generic = json.loads((tmp_path / ".agents/hypd-inst-agent.json").read_text())
        reading = {name for name, value in NAMES.items() if value.needs == "read"}
        assert {name.removeprefix("@instantstart/") for name in kiro["allowedTools"]} == {*reading, "read"}
        allowed = claude["permissions"]["allow"]
        assert {name.removeprefix("mcp__instantstart__") for name in allowed} == reading == set(generic["allowedTools"])
        assert set(kiro) <= {
            "name",
            "description",
            "prompt",
            "mcpServers",
            "tools",
            "allowedTools",
            "resources",
            "includeMcpJson",
        }

    def test_a_url_and_a_token_are_all_and_no_token_is_written(self, tmp_path: Path) -> None:
        agents.install(tmp_path, ["claude"], Wish(url="http://localhost:3100"))
        server = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["instantstart"]
        assert server == {
            "type": "http",
            "url": "http://localhost:3100/mcp",
            "headers": {"Authorization": "Bearer ${INSTANTSTART_TOKEN}"},
        }

    def test_what_is_there_of_others_stays(self, tmp_path: Path) -> None:
        (tmp_path / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}, "more": 1}')
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude/settings.json").write_text(
            '{"permissions": {"allow": ["Bash(ls)"], "deny": ["Read(.env)"]}}'
        )
        for _ in range(2):
            agents.install(tmp_path, ["claude"], Wish())
        told = json.loads((tmp_path / ".mcp.json").read_text())
        assert told["mcpServers"]["other"] == {"command": "x"} and told["more"] == 1
        permissions = json.loads((tmp_path / ".claude/settings.json").read_text())["permissions"]
        assert permissions["deny"] == ["Read(.env)"] and permissions["allow"][0] == "Bash(ls)"
        assert len(permissions["allow"]) == len(set(permissions["allow"]))

    def test_a_file_that_is_no_json_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / ".mcp.json").write_text("// mine\n")
        with pytest.raises(InvalidInput, match="nothing was written"):
            agents.install(tmp_path, ["claude"], Wish())
        assert (tmp_path / ".mcp.json").read_text() == "// mine\n"
