"""init, git-setup, schema export: before anything is applied."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reconciler.cli import output
from reconciler.cli.sample import read_sample
from reconciler.cli.setup import AsJson, setup_of
from reconciler.cli.work_tree import has_remote, new_repository
from reconciler.config_repo.person import person
from reconciler.config_repo.setup import git_setup
from schemas import export
from schemas.errors import InvalidInput


def add_to(app: typer.Typer) -> None:
    app.command("init")(init)
    app.command("git-setup")(setup_git)
    schema = typer.Typer(no_args_is_help=True, help="Schemas of the documents.")
    schema.command("export")(schema_export)
    app.add_typer(schema, name="schema")


def init(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A new or empty folder.")],
    bare: Annotated[bool, typer.Option(help="Without a checkout, as a server keeps it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a config repository with a sample cluster in it."""
    setup = setup_of(context)
    branch = setup.settings().branch
    author = _author(str(path))
    revision = new_repository(path, read_sample(), branch=branch, author=author, bare=bare)
    if as_json:
        output.document({"path": str(path.absolute()), "branch": branch, "revision": revision, "bare": bare})
        return
    output.lines(
        [
            f"Made {path} with a sample cluster in clusters/demo ({branch} {output.short(revision)}).",
            "Next: put your account and region into clusters/demo/cluster.yaml, commit, then",
            f"  instantstart validate -r {path}",
            f"  instantstart plan -r {path}",
        ]
    )


def setup_git(
    context: typer.Context,
    remote: Annotated[str, typer.Option(help="The remote whose journal `git fetch` should bring.")] = "origin",
    as_json: AsJson = False,
) -> None:
    """Make git show the journal. `git fetch` then brings it, and `git log` prints it."""
    where = setup_of(context).settings().repository
    if "://" in where:
        text = f"{where} is not a folder; clone it and name the clone with --repository"
        raise InvalidInput(text, reason="NotARepository")
    git_setup(Path(where), remote)
    if as_json:
        output.document({"path": str(Path(where).absolute()), "remote": remote})
        return
    brings = f", git fetch {remote} brings it" if has_remote(Path(where), remote) else ""
    output.lines([f"Done: git log in {Path(where).absolute()} shows the journal{brings}."])


def schema_export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Made if it is not there.")], as_json: AsJson = False
) -> None:
    """Write the JSON Schemas of all kinds of documents, for editors."""
    written = export.write(directory)
    if as_json:
        output.document({"files": [str(path) for path in written]})
        return
    output.lines(str(path) for path in written)


def _author(path: str) -> tuple[str, str] | None:
    try:
        return person(path)
    except InvalidInput:
        return None  # a first commit may be ours
