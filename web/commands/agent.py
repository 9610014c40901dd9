"""agent install: skills and configuration of an agent, into a project's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from reconciler.cli import output
from reconciler.cli.setup import AsJson
from schemas.errors import InvalidInput

Kind = Literal["kiro", "claude", "generic"]
KINDS: tuple[Kind, ...] = ("kiro", "claude", "generic")


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Agents that work with this service.", rich_markup_mode=None)
    group.command("install")(install)
    group.callback()(_group)
    app.add_typer(group, name="agent")


def _group() -> None:
    """Keeps `install` a command of its own, though it is the only one."""


def install(
    kind: Annotated[
        list[str] | None,
        typer.Option("--for", metavar="[kiro|claude|generic]", help="May be given again. Default: all of them."),
    ] = None,
    to: Annotated[Path, typer.Option("--to", help="The project's folder.")] = Path(),
    url: Annotated[str, typer.Option("--url", help="Default: INSTANTSTART_URL of whoever starts the agent.")] = "",
    stdio: Annotated[bool, typer.Option("--stdio", help="By `instantstart mcp` instead of HTTP.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write skills and the agent hypd-inst-agent. No token is written: INSTANTSTART_TOKEN holds it."""
    from instantstart_mcp.agents import Wish, install
    from instantstart_mcp.stdio import checked_url

    written = install(to, kinds_of(kind), Wish(url=checked_url(url) if url else "", stdio=stdio))
    if as_json:
        output.document({"written": [str(path) for path in written]})
        return
    output.lines([str(path) for path in written])
    output.note("Then: export INSTANTSTART_TOKEN=$(instantstart token create --kind agent)")


def kinds_of(told: list[str] | None) -> list[Kind]:
    """Raises InvalidInput for one that nobody knows."""
    unknown = [name for name in told or () if name not in KINDS]
    if unknown:
        raise InvalidInput(f"--for: expected {', '.join(KINDS)}, got {unknown[0]!r}")
    return [kind for kind in KINDS if told is None or kind in told]
