"""openapi: the API's contract as a file, for clients that are made from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from reconciler.cli import output
from reconciler.cli.setup import AsJson


def add_to(app: typer.Typer) -> None:
    app.command("openapi")(openapi)


def openapi(
    write: Annotated[Path | None, typer.Option("--write", help="Write it to this file instead.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the OpenAPI document. It is JSON with and without --json."""
    from web.api.app import make_api

    document = make_api(None).openapi()
    if write is None:
        output.document(document)
        return
    write.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if as_json:
        output.document({"path": str(write)})
    else:
        output.lines([f"Wrote {write}."])
