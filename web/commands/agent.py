"""agent install: skills and configuration of an agent, into a project's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from reconciler.cli import output
from reconciler.cli.setup import AsJson

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
        list[Kind] | None,
        typer.Option("--for", help="Which agent; may be given again. Default: all of them."),
    ] = None,
    to: Annotated[Path, typer.Option("--to", help="The project's folder.")] = Path(),
    url: Annotated[str, typer.Option("--url", help="Default: INSTANTSTART_URL of whoever starts the agent.")] = "",
    stdio: Annotated[bool, typer.Option("--stdio", help="By `instantstart mcp` instead of HTTP.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write skills and the agent hypd-inst-agent. No token is written: INSTANTSTART_TOKEN holds it."""
    from instantstart_mcp.agents import Wish, install
    from instantstart_mcp.stdio import checked_url

    wanted = list(kind or KINDS)
    written = install(to, wanted, Wish(url=checked_url(url) if url else "", stdio=stdio))
    if as_json:
        output.document({"written": [str(path) for path in written]})
        return
    output.lines([str(path) for path in written])
    output.note("Then: export INSTANTSTART_TOKEN=$(instantstart token create --kind agent)")
