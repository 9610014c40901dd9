"""status and log: what the journal says. Neither needs AWS, unless --live is asked for."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.console import Group

from reconciler.cli import output
from reconciler.cli.render import logs
from reconciler.cli.render import statuses as words
from reconciler.cli.setup import AsJson, Setup, head_of, must_know, setup_of
from reconciler.cli.work_tree import fetches_no_journal
from reconciler.config_repo.repo import ConfigRepo
from reconciler.reads import journals, statuses
from reconciler.reads.statuses import FleetView, StatusView

_LOCAL_PAUSE, _REMOTE_PAUSE = 0.5, 3.0

Optional = Annotated[str | None, typer.Argument(metavar="[CLUSTER]", help="The cluster's name. Default: all.")]


def add_to(app: typer.Typer) -> None:
    app.command("status")(status)
    app.command("log")(log)


def status(
    context: typer.Context,
    cluster: Optional = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show it anew whenever the journal moves.")] = False,
    live: Annotated[bool, typer.Option("--live", help="Also look at AWS and Kubernetes now.")] = False,
    show_gone: Annotated[bool, typer.Option("--all", help="Also clusters that are gone.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say how clusters are. Stages, what they wait for, what is held, what is under way."""
    if watch and (as_json or live):
        raise typer.BadParameter("--watch goes with neither --json nor --live")
    setup = setup_of(context)
    if live:
        if cluster is None:
            raise typer.BadParameter("--live needs a CLUSTER")
        _show(_live(setup, cluster), as_json)
        return
    with setup.repo() as repo:
        if cluster is not None:
            must_know(repo, cluster, head_of(repo))
        if watch:
            _watch(repo, cluster, show_gone)
            return
        view = _read(repo, cluster, show_gone)
        _show(view, as_json)
        _doubts(setup, repo, view)


def log(
    context: typer.Context,
    cluster: Optional = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="So many revisions, the newest.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Tell what was done. Revision by revision, the newest last."""
    with setup_of(context).repo() as repo:
        if cluster is not None:
            must_know(repo, cluster, head_of(repo))
        names = [cluster] if cluster is not None else repo.journal_clusters()
        views = [view for name in names for view in journals.history(repo, name, limit=limit)]
    if as_json:
        output.document({"revisions": views})
        return
    output.lines(logs.history(views))
    if not views:
        output.lines(["Nothing was ever applied here."])


def _doubts(setup: Setup, repo: ConfigRepo, view: StatusView | FleetView) -> None:
    """What may make a status say less than there is."""
    if repo.head() is None:
        output.note(f"There are no commits on branch {repo.branch}.")
    unknown = [one for one in (view.clusters if isinstance(view, FleetView) else (view,)) if one.condition == "Unknown"]
    if unknown and not repo.is_remote and fetches_no_journal(setup.settings().repository):
        output.note("This clone does not fetch the journal: instantstart git-setup, then git fetch.")


def _read(repo: ConfigRepo, cluster: str | None, gone: bool) -> StatusView | FleetView:
    return statuses.status(repo, cluster) if cluster is not None else statuses.fleet(repo, gone=gone)


def _live(setup: Setup, cluster: str) -> StatusView:
    with setup.engine() as engine:
        must_know(engine.repo, cluster, head_of(engine.repo))
        scope = engine.observe(cluster)
        return statuses.with_look(statuses.status(engine.repo, cluster), scope)


def _show(view: StatusView | FleetView, as_json: bool) -> None:
    if as_json:
        output.document(view)
    else:
        output.lines(words.any_status(view))


def _watch(repo: ConfigRepo, cluster: str | None, gone: bool) -> None:
    """Until Ctrl-C. On a terminal one picture that moves, elsewhere the status anew whenever it changes."""
    from rich.live import Live

    console = output.console()
    pause = _REMOTE_PAUSE if repo.is_remote else _LOCAL_PAUSE
    view = _read(repo, cluster, gone)
    if not console.is_terminal:
        _show(view, as_json=False)
        while True:
            time.sleep(pause)
            repo.fetch()
            before, view = view, _read(repo, cluster, gone)
            if view != before:
                output.lines(["", *words.any_status(view)])
    with Live(Group(*words.any_status(view)), console=console, refresh_per_second=4) as picture:
        while True:
            time.sleep(pause)
            repo.fetch()
            picture.update(Group(*words.any_status(_read(repo, cluster, gone))))
