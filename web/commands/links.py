"""login-link: a way into the UI for a person, once."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from reconciler.cli import output
from reconciler.cli.setup import AsJson, setup_of
from reconciler.config_repo.person import person
from schemas.principals import ALL_SCOPES, in_order
from web.access.access import Access
from web.access.links import LIFE, link
from web.commands.tokens import ScopeOption, scopes_of
from web.settings import from_env


def add_to(app: typer.Typer) -> None:
    app.command("login-link")(login_link)


def login_link(
    context: typer.Context,
    for_: Annotated[str | None, typer.Option("--for", help="Who logs in. Default: whom git knows here.")] = None,
    scope: ScopeOption = None,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help="The port that the browser uses. INSTANTSTART_PORT.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print a link that logs a browser in, once, within ten minutes."""
    settings = setup_of(context).settings()
    web = from_env()
    web = dataclasses.replace(web, port=port or web.port)
    name = for_ or person(settings.repository)[1]
    scopes = scopes_of(scope) or ALL_SCOPES
    code = Access(settings.state_dir).links.make(name=name, scopes=scopes)
    made = link(f"http://localhost:{web.port}" if web.bind == "::1" else f"http://127.0.0.1:{web.port}", code)
    if as_json:
        seconds = int(LIFE.total_seconds())
        output.document({"link": made, "name": name, "scopes": in_order(scopes), "seconds": seconds})
        return
    output.lines([made])
    output.note(f"Logs {name} in, once, within {LIFE.seconds // 60} minutes.")
