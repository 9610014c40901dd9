"""plan and diff: what would be done, and what differs. Both only read."""

from __future__ import annotations

from typing import Annotated

import typer

from reconciler.cli import output
from reconciler.cli.render import plans as words
from reconciler.cli.setup import AsJson, ClusterOption, head_of, must_know, setup_of
from reconciler.cli.work_tree import checkout_of, not_committed
from reconciler.reads import differences
from reconciler.reads.plans import PlanView, of_scope

CHANGES = 2


def add_to(app: typer.Typer) -> None:
    app.command("plan")(plan)
    app.command("diff")(diff)


def plan(
    context: typer.Context,
    revision: Annotated[str | None, typer.Option(help="Plan this revision. Default: the branch's head.")] = None,
    cluster: ClusterOption = None,
    details: Annotated[bool, typer.Option("--details", "-d", help="Show every field of what is made.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what would be done. Looks at AWS and Kubernetes, never writes. Exit code 2: there is something to do."""
    if revision is None:
        _warn_of_edits(setup_of(context).settings().repository)
    with setup_of(context).engine() as engine:
        from reconciler.engine.open import clusters

        head = head_of(engine.repo)
        wanted = engine.repo.resolve(revision) if revision else head
        if cluster is not None:
            must_know(engine.repo, cluster, wanted)
        names = [cluster] if cluster is not None else clusters(engine.repo, wanted, engine.memories)
        scopes = [engine.observe_at(name, wanted) for name in names]
        views = [of_scope(scope) for scope in scopes if cluster is not None or not scope.nothing_here]
    code = exit_code(views)
    if as_json:
        output.document({"revision": wanted, "changes": code == CHANGES, "clusters": views})
    else:
        output.lines(line for view in views for line in words.plan(view, details=details))
        output.lines([words.summary(views)])
    raise typer.Exit(code)


def _warn_of_edits(repository: str) -> None:
    """A plan is of a commit; who forgot to make one would read "nothing to do" as an answer about the edit."""
    checkout = checkout_of(repository)
    edited = not_committed(checkout) if checkout is not None else []
    if edited:
        more = f" and {len(edited) - 1} more" if len(edited) > 1 else ""
        output.note(f"Not in this plan, because not committed: {edited[0]}{more}.")


def diff(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="REV1", help="The older revision.")],
    new: Annotated[
        str | None, typer.Argument(metavar="[REV2]", help="The newer one. Default: the branch's head.")
    ] = None,
    cluster: ClusterOption = None,
    details: Annotated[bool, typer.Option("--details", "-d", help="Show every field of what is made.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say how two revisions differ. As a plan, without looking at any cloud."""
    with setup_of(context).repo() as repo:
        from reconciler.engine.library import Library

        before, after = repo.resolve(old), repo.resolve(new) if new is not None else head_of(repo)
        trees = repo.clusters(before), repo.clusters(after)
        names = [name for name in sorted({*trees[0], *trees[1]}) if trees[0].get(name) != trees[1].get(name)]
        if cluster is not None:
            must_know(repo, cluster, after if cluster in trees[1] else before)
            names = [name for name in names if name == cluster]
        library = Library(repo)
        views = [differences.difference(library, name, before, after) for name in names]
    if as_json:
        output.document({"old": before, "new": after, "clusters": views})
        return
    output.lines(line for view in views for line in words.difference(view, details=details))
    if not views:
        output.lines([f"No cluster differs between {output.short(before)} and {output.short(after)}."])


def exit_code(views: list[PlanView]) -> int:
    """An error beats changes: what cannot be planned or seen must not look like a plan."""
    if any(view.unplanned is not None for view in views):
        return 1
    if any(view.actions for view in views):
        return CHANGES
    return 1 if any(view.refusals or view.unknown for view in views) else 0
