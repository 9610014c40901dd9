"""mcp: the agents' face on stdin and stdout, for a service here or behind a port forward."""

from __future__ import annotations

import typer


def add_to(app: typer.Typer) -> None:
    app.command("mcp")(mcp)


def mcp() -> None:
    """Serve MCP on stdin and stdout, for an agent. Needs INSTANTSTART_TOKEN; INSTANTSTART_URL names the service."""
    from instantstart_mcp.stdio import main

    main()
