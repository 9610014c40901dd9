"""suspend and resume: a commit that sets spec.suspend, and nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from reconciler.cli import output
from reconciler.cli.setup import AsJson, ClusterArgument, Setup, head_of, setup_of
from reconciler.cli.suspension import set_suspend
from reconciler.config_repo.person import person
from reconciler.config_repo.repo import ConfigRepo
from schemas.errors import InvalidInput

Reason = Annotated[str | None, typer.Option("--why", help="The reason, for the commit message.")]


def add_to(app: typer.Typer) -> None:
    app.command("suspend")(suspend)
    app.command("resume")(resume)


def suspend(context: typer.Context, cluster: ClusterArgument, why: Reason = None, as_json: AsJson = False) -> None:
    """Stop changing a cluster. What was sent is followed to its end."""
    _commit(setup_of(context), cluster, True, why, as_json)


def resume(context: typer.Context, cluster: ClusterArgument, why: Reason = None, as_json: AsJson = False) -> None:
    """Go on with a suspended cluster."""
    _commit(setup_of(context), cluster, False, why, as_json)


def _commit(setup: Setup, cluster: str, wanted: bool, why: str | None, as_json: bool) -> None:
    author = person(setup.settings().repository)
    with setup.repo() as repo:
        head = head_of(repo)
        path, data = _document(repo, head, cluster)
        edited = set_suspend(path, data, cluster, wanted)
        revision = head
        if edited is not None:
            message = f"{'Suspend' if wanted else 'Resume'} {cluster}" + (f"\n\n{why}" if why else "")
            revision = repo.commit(onto=head, changes={path: edited}, message=message, author=author)
    word = "suspended" if wanted else "resumed"
    if as_json:
        output.document({"cluster": cluster, "suspend": wanted, "changed": edited is not None, "revision": revision})
    elif edited is None:
        output.lines([f"{cluster} {'is suspended already' if wanted else 'is not suspended'}: nothing to do."])
    else:
        output.lines([f"{cluster} is {word} with {output.short(revision)} ({path})."])


def _document(repo: ConfigRepo, head: str, cluster: str) -> tuple[str, bytes]:
    from reconciler.engine.library import Library

    loaded = Library(repo).loaded(head, cluster)
    if loaded is None:
        there = ", ".join(sorted(repo.clusters(head))) or "none yet"
        raise InvalidInput(f"there is no folder clusters/{cluster}; there is: {there}", reason="UnknownCluster")
    document = loaded.document("Cluster", cluster)
    if document is None:
        raise InvalidInput(f"clusters/{cluster} has no valid Cluster document; instantstart validate", reason="Invalid")
    found = repo.file(head, document.path)
    assert found is not None  # it was just read from there
    return document.path, repo.blobs([found.blob])[found.blob]
