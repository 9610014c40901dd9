"""validate: everything that is wrong in the documents, with places."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from reconciler.cli import output
from reconciler.cli.setup import AsJson, head_of, setup_of
from reconciler.cli.work_tree import checkout_of
from reconciler.reads import validations
from reconciler.reads.validations import ValidationView


def add_to(app: typer.Typer) -> None:
    app.command("validate")(validate)


def validate(
    context: typer.Context,
    path: Annotated[
        Path | None, typer.Argument(metavar="[PATH]", help="A folder with clusters/ in it. Default: the checkout.")
    ] = None,
    revision: Annotated[str | None, typer.Option(help="A commit instead of files.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check all documents and the policy. As they are in the files, committed or not, or in a commit."""
    if path is not None and revision is not None:
        raise typer.BadParameter("give a PATH or a --revision, not both")
    if path is None and revision is None:  # a repository without a checkout has nothing but commits
        path = checkout_of(setup_of(context).settings().repository)
    view = validations.of_folder(path) if path is not None else _of_revision(context, revision)
    if as_json:
        output.document(view)
    else:
        output.lines(_words(view, f"in {path}" if path is not None else f"in commit {output.short(view.what)}"))
    raise typer.Exit(1 if view.problems else 0)


def _of_revision(context: typer.Context, revision: str | None) -> ValidationView:
    with setup_of(context).repo() as repo:
        return validations.of_revision(repo, repo.resolve(revision) if revision else head_of(repo))


def _words(view: ValidationView, where: str) -> list[Text]:
    found: list[Text] = []
    for problem in view.problems:
        found.append(Text(f"{problem.file}:{problem.line}:{problem.column}", style="bold"))
        field = f"{problem.field}: " if problem.field else ""
        found.append(Text(output.clean(f"  {field}expected {problem.expected}, got {problem.found}")))
        if problem.hint:
            found.append(Text(output.clean(f"  {problem.hint}"), style="dim"))
    total = sum(view.documents.values())
    read = f"{total} document{'' if total == 1 else 's'} in {len(view.documents)} cluster"
    read += "" if len(view.documents) == 1 else "s"
    if view.problems:
        many = len(view.problems)
        found.append(Text(f"{many} problem{'' if many == 1 else 's'}; {read} could be read.", style="bold red"))
    else:
        found.append(Text(output.clean(f"Nothing wrong {where}: {read}."), style="green"))
    return found
