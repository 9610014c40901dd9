"""Configurations of agents: skills copied from the one source, our server, and reading tools allowed beforehand.

No secret is written: the token comes from the environment of whoever starts the agent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast

from instantstart_mcp import catalogue, playbooks
from instantstart_mcp.server import INSTRUCTIONS
from instantstart_mcp.stdio import DEFAULT_URL, TOKEN, URL
from schemas.errors import InvalidInput

AGENT: Final = "hypd-inst-agent"
SERVER: Final = "instantstart"
_ABOUT: Final = "Runs SageMaker HyperPod clusters by proposing changes, and finds out what is wrong with them."
Kind = Literal["kiro", "claude", "generic"]
Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Wish:
    """`url`: written down only if it is not to come from the environment. `stdio`: our own process instead of HTTP."""

    url: str = ""
    stdio: bool = False

    @property
    def server(self) -> Json:
        if self.stdio:
            given = self.url or f"${{{URL}:-{DEFAULT_URL}}}"
            return {"command": "instantstart", "args": ["mcp"], "env": {URL: given, TOKEN: f"${{{TOKEN}}}"}}
        base = self.url or f"${{{URL}:-{DEFAULT_URL}}}"
        return {"url": f"{base}/mcp", "headers": {"Authorization": f"Bearer ${{{TOKEN}}}"}}


def reading() -> list[str]:
    """Names of tools that change nothing."""
    return [value.name for value in catalogue.TOOLS if value.needs == "read"]


def install(to: Path, kinds: list[Kind], wish: Wish) -> list[Path]:
    """Write everything below `to`; what was written. A JSON file that is there keeps what is not ours."""
    if not to.is_dir():
        raise InvalidInput(f"{to} is no folder")
    return [path for kind in kinds for path in _INSTALL[kind](to, wish)]


def _kiro(to: Path, wish: Wish) -> Iterator[Path]:
    yield from _skills(to / ".kiro" / "skills")
    yield _merged(
        to / ".kiro" / "agents" / f"{AGENT}.json",
        {
            "name": AGENT,
            "description": _ABOUT,
            "prompt": INSTRUCTIONS,
            "mcpServers": {SERVER: wish.server},
            "tools": ["read", f"@{SERVER}"],
            "allowedTools": ["read", *(f"@{SERVER}/{name}" for name in reading())],
            "resources": ["skill://.kiro/skills/**/SKILL.md"],
            "includeMcpJson": False,
        },
    )


def _claude(to: Path, wish: Wish) -> Iterator[Path]:
    yield from _skills(to / ".claude" / "skills")
    kind = {} if wish.stdio else {"type": "http"}
    yield _merged(to / ".mcp.json", {"mcpServers": {SERVER: {**kind, **wish.server}}})
    allowed = [f"mcp__{SERVER}__{name}" for name in reading()]
    yield _merged(to / ".claude" / "settings.json", {"permissions": {"allow": allowed}})
    front = f"---\nname: {AGENT}\ndescription: {_ABOUT}\n---\n\n"
    yield _written(to / ".claude" / "agents" / f"{AGENT}.md", front + INSTRUCTIONS + "\n")


def _generic(to: Path, wish: Wish) -> Iterator[Path]:
    yield from _skills(to / ".agents" / "skills")
    told = {"name": AGENT, "description": _ABOUT, "prompt": INSTRUCTIONS, "allowedTools": reading()}
    yield _merged(to / ".agents" / f"{AGENT}.json", {**told, "mcpServers": {SERVER: wish.server}})


_INSTALL: Final[dict[Kind, Callable[[Path, Wish], Iterator[Path]]]] = {
    "kiro": _kiro,
    "claude": _claude,
    "generic": _generic,
}


def _skills(to: Path) -> Iterator[Path]:
    for skill in playbooks.skills():
        yield _written(to / skill.name / "SKILL.md", skill.text)


def _merged(path: Path, ours: Json) -> Path:
    """Raises InvalidInput if what is there is no JSON object."""
    there: Json = {}
    if path.exists():
        try:
            told: Any = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise InvalidInput(f"{path} holds no JSON object: nothing was written there")
        there = cast("Json", told)
    return _written(path, json.dumps(_over(there, ours), indent=2, ensure_ascii=False) + "\n")


def _over(there: Json, ours: Json) -> Json:
    """Ours over what is there; lists of permissions are joined."""
    found = dict(there)
    for name, value in ours.items():
        old: Any = found.get(name)
        if isinstance(value, dict) and isinstance(old, dict) and name != SERVER:
            found[name] = _over(cast("Json", old), cast("Json", value))
        elif name == "allow" and isinstance(old, list):
            known = list(cast("Iterable[Any]", old))
            found[name] = list(dict.fromkeys([*known, *cast("Iterable[Any]", value)]))
        else:
            found[name] = value
    return found


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
