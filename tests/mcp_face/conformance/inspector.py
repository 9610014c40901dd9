"""The MCP Inspector's command line on our server, as people debug with it: over HTTP and stdio, in both eras. Its
strict mode looks at the schema of every tool; a single finding, of whatever weight, is wrong."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from instantstart_mcp import catalogue, playbooks
from instantstart_mcp.stdio import TOKEN, URL
from tests.mcp_face.conformance import node_tools
from tests.mcp_face.conformance.service import Service

ROOT: Final = Path(__file__).parents[3]
Way = Literal["http", "stdio"]
Era = Literal["legacy", "modern"]
_SECONDS: Final = 180
_IS_ERROR: Final = 5  # its status for a tool that answered with an error
_OFFERED: Final = {value.name for value in catalogue.TOOLS if value.needs in ("read", "propose")}


@dataclass(frozen=True, kw_only=True)
class Look:
    """`seen`: what must be in the result, by a test of it."""

    method: tuple[str, ...]
    seen: Callable[[Any], bool]
    status: int = 0

    def __str__(self) -> str:
        return " ".join(self.method)


LOOKS: Final = (
    Look(
        method=("tools/list", "--strict"),
        seen=lambda result: {tool["name"] for tool in result["tools"]} == _OFFERED,
    ),
    Look(
        method=("resources/list",),
        seen=lambda result: len(result["resources"]) == len(playbooks.skills()),
    ),
    Look(
        method=("prompts/list",),
        seen=lambda result: len(result["prompts"]) == len(playbooks.skills()),
    ),
    Look(
        method=("tools/call", "--tool-name=cluster_get", '--tool-args-json={"cluster":"prod"}'),
        seen=lambda result: result["structuredContent"]["condition"] == "Ready",
    ),
)
# Beside those, where a call costs no process of ours.
MORE: Final = (
    Look(
        method=("resources/templates/list",),
        seen=lambda result: "instantstart://clusters/{cluster}/status" in str(result["resourceTemplates"]),
    ),
    Look(
        method=("resources/read", "--uri=instantstart://clusters/prod/status"),
        seen=lambda result: json.loads(result["contents"][0]["text"])["condition"] == "Ready",
    ),
    Look(
        method=("prompts/get", "--prompt-name=create_cluster"),
        seen=lambda result: bool(result["messages"]),
    ),
    Look(
        method=("tools/call", "--tool-name=cluster_get", '--tool-args-json={"cluster":"nobody"}'),
        seen=lambda result: result["isError"] is True,
        status=_IS_ERROR,
    ),
)


def plan() -> Iterator[tuple[Way, Era, Look]]:
    """Every look; over stdio, where each starts our process anew, the tools alone in the newer era."""
    for look in (*LOOKS, *MORE):
        yield "http", "legacy", look
        yield "http", "modern", look
    for look in LOOKS:
        yield "stdio", "legacy", look
    yield "stdio", "modern", LOOKS[0]


def wrong(served: Service, way: Way, era: Era, look: Look, *, home: Path) -> str:
    """What is wrong, in a sentence; "": nothing."""
    where, command = _where(served, way)
    asked = ("--method", *look.method)
    told = node_tools.run(
        node_tools.INSPECTOR,
        *("--cli", "--format=json", f"--protocol-era={era}", *where, *asked, *command),
        seconds=_SECONDS,
        home=home,
    )
    if told.status != look.status or (told.err.strip() and look.status == 0):
        return f"status {told.status} instead of {look.status}: {told.err.strip() or told.out[:500]}"
    try:
        good = look.seen(json.loads(told.out)["result"])
    except (ValueError, LookupError, TypeError) as error:
        return f"{type(error).__name__} {error} in {told.out[:500]}"
    return "" if good else f"not what is expected: {told.out[:500]}"


def _where(served: Service, way: Way) -> tuple[list[str], list[str]]:
    """Options, and what stands behind all of them."""
    if way == "http":
        header = f"Authorization: Bearer {served.token}"
        return ["--transport=http", f"--server-url={served.url}/mcp", "--header", header], []
    path = os.pathsep.join((str(ROOT), str(ROOT / "mcp")))
    variables = {URL: served.url, TOKEN: served.token, "PYTHONPATH": path}
    options = [part for name, value in variables.items() for part in ("-e", f"{name}={value}")]
    return ["--transport=stdio", f"--connect-timeout={_SECONDS * 1000}", *options], [sys.executable, "-m", "web", "mcp"]
