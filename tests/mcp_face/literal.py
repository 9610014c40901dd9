"""Whoever follows a skill literally: in a step nothing is called but what the step names, in that order, and all of it.
What is left out is named with the reason that the step's own words give for it. So a skill and its test cannot drift
apart."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from mcp.client import Client

from instantstart_mcp import catalogue, playbooks
from tests.mcp_face.facebox import Told

TOOLS = {value.name: value for value in catalogue.TOOLS}
_SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_STEP = re.compile(r"^(\d+)\. (.*?)(?=^\d+\. |\n\n(?! )|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Step:
    number: int
    text: str

    @property
    def tools(self) -> list[str]:
        """As it names them, each once."""
        return [word for word in dict.fromkeys(re.findall(r"`([a-z_]+)`", self.text)) if word in TOOLS]


class Do(Protocol):
    async def __call__(self, tool: str, /, *, refused: bool = False, **arguments: Any) -> Told: ...


def steps_of(skill: str) -> dict[str, list[Step]]:
    """Numbered steps by the heading that they stand under."""
    found = playbooks.skill(skill)
    assert found is not None
    told = {
        title: [Step(number=int(number), text=text) for number, text in _STEP.findall(body)]
        for title, body in _SECTION.findall(found.body)
    }
    sections = {title: steps for title, steps in told.items() if steps}
    for title, steps in sections.items():
        assert [step.number for step in steps] == list(range(1, len(steps) + 1)), (skill, title)
    return sections


@dataclass(kw_only=True)
class Follower:
    """`calls`: all that was called, in order. `left_out`: what a step names and this run had no reason to call."""

    tools: Client
    skill: str
    section: str = "Steps"
    calls: list[str] = field(default_factory=list[str])
    told: dict[str, Told] = field(default_factory=dict[str, Told])
    left_out: set[str] = field(default_factory=set[str])
    _at: int = 0

    @property
    def steps(self) -> list[Step]:
        return steps_of(self.skill)[self.section]

    @asynccontextmanager
    async def step(self, number: int, without: Mapping[str, str] | None = None) -> AsyncGenerator[Do]:
        """The next step; `without`: tools that it names for another case, each with the step's reason."""
        assert number == self._at + 1, f"step {number} of {self.skill} after {self._at}"
        step, called = self.steps[number - 1], list[str]()

        async def do(tool: str, /, *, refused: bool = False, **arguments: Any) -> Told:
            assert tool in step.tools, f"step {number} of {self.skill} ({self.section}) does not name {tool}"
            told = Told.of(await self.tools.call_tool(tool, arguments))
            assert told.error == refused, f"{tool}: {told.text}"
            called.append(tool)
            self.told[tool] = told
            return told

        yield do
        spared = without or {}
        assert set(spared) <= set(step.tools), f"step {number} of {self.skill} names none of these: {spared}"
        wanted = [tool for tool in step.tools if tool not in spared]
        assert list(dict.fromkeys(called)) == wanted, f"step {number} of {self.skill}: {step.text}"
        self.calls += called
        self.left_out |= set(spared)
        self._at = number

    async def think(self, number: int) -> None:
        """A step without a tool, which asks a person or orders what is known."""
        async with self.step(number):
            pass

    def end(self) -> None:
        """Every step was taken."""
        assert self._at == len(self.steps), f"{self.skill} ({self.section}) goes on after step {self._at}"
