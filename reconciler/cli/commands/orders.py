"""retry, resolve, approve, release: a person's word to the engine. They write an order; the engine takes it up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import typer
from ulid import ULID

from reconciler.cli import output
from reconciler.cli.setup import AsJson, ClusterArgument, Setup, Why, head_of, must_know, setup_of
from reconciler.config_repo.person import person
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine import journal
from reconciler.engine.signing import Signing
from reconciler.journal import subjects
from schemas.errors import InvalidInput
from schemas.journal import ClusterStatus

Subjects = Annotated[list[str], typer.Argument(metavar="SUBJECT...", help="What the order is about; see status.")]


def add_to(app: typer.Typer) -> None:
    for command in (retry, resolve, approve, release):
        app.command(command.__name__)(command)


def retry(
    context: typer.Context, cluster: ClusterArgument, subject: Subjects, why: Why, as_json: AsJson = False
) -> None:
    """Try again what failed. An op, a resource, or a stage."""
    _give(setup_of(context), cluster, "retry", subject, why, as_json, subjects.to_retry)


def resolve(
    context: typer.Context,
    cluster: ClusterArgument,
    subject: Subjects,
    why: Why,
    outcome: Annotated[Literal["happened", "not-happened"], typer.Option("--as", help="What you found out about it.")],
    as_json: AsJson = False,
) -> None:
    """Say what became of an unknown op."""
    _give(setup_of(context), cluster, "resolve", subject, why, as_json, subjects.to_resolve, outcome=outcome)


def approve(
    context: typer.Context,
    cluster: ClusterArgument,
    subject: Annotated[
        list[str] | None, typer.Argument(metavar="[SUBJECT...]", help="Keys or action digests, shortened if you like.")
    ] = None,
    why: Annotated[str | None, typer.Option("--why", help="The reason, for the journal.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that is held now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let held actions pass. Without a subject: show them."""
    if not subject and not everything:
        _show_held(setup_of(context), cluster, as_json)
        return
    if why is None:
        raise typer.BadParameter("--why is missing: say why it may pass")
    choose = subjects.all_held if everything else subjects.to_approve
    _give(setup_of(context), cluster, "approve", subject or ["*"], why, as_json, choose)


def release(
    context: typer.Context, cluster: ClusterArgument, subject: Subjects, why: Why, as_json: AsJson = False
) -> None:
    """Let go of what a guard holds. A vanished folder, a guard's number, or `journal`."""
    _give(setup_of(context), cluster, "release", subject, why, as_json, subjects.to_release)


def _give(
    setup: Setup,
    cluster: str,
    do: str,
    asked: Sequence[str],
    why: str,
    as_json: bool,
    choose: Callable[[ClusterStatus, Sequence[str]], list[str]],
    **more: str,
) -> None:
    if not why.strip():
        raise typer.BadParameter("--why is empty: say why")
    author = person(setup.settings().repository)
    signing = Signing(setup.settings().state_dir)
    with setup.repo() as repo:
        status = _status(repo, cluster)
        orders: list[dict[str, str]] = []
        for subject in choose(status, asked):
            body = {"cluster": cluster, "do": do, "subject": subject, "principal": author[1], "why": why}
            body |= {"as": more["outcome"]} if "outcome" in more else {}
            order = str(ULID())
            repo.put_order(order, signing.sign_order(order, {**body}), author=author)
            orders.append({"id": order, **body})
    if as_json:
        output.document({"orders": orders})
        return
    keys = {hold.action: hold.key for hold in status.holds.values() if hold.action}
    for given in orders:
        subject = given["subject"]
        about = f"{keys[subject]} ({subject[:12]})" if subject in keys else subject
        output.lines([f"Ordered: {do} {about}, order {given['id']}."])
    output.lines(["The engine takes it up at its next tick; instantstart status shows it."])


def _show_held(setup: Setup, cluster: str, as_json: bool) -> None:
    with setup.repo() as repo:
        status = _status(repo, cluster)
    held = [hold for hold in status.holds.values() if hold.state == "held" and hold.action]
    if as_json:
        output.document({"cluster": cluster, "held": held})
        return
    if "*" in status.holds and status.holds["*"].state == "held":
        output.note(f"{cluster} is suspended as a whole; instantstart resume {cluster} ends that.")
    elif not held:
        output.lines([f"Nothing is held in {cluster}."])
    output.lines(output.columns([[hold.action[:12], hold.key, hold.reason] for hold in held]))
    if held:
        output.lines(["", *dict.fromkeys(hold.msg for hold in held if hold.msg)])
        output.note(f"To let one pass: instantstart approve {cluster} KEY --why …, or all of it with --all.")


def _status(repo: ConfigRepo, cluster: str) -> ClusterStatus:
    must_know(repo, cluster, head_of(repo))
    status = journal.read(repo, cluster, repo.notes(cluster)).status()
    if status.rev is None:
        text = f"nothing was ever applied to {cluster}: there is nothing an order could be about"
        raise InvalidInput(text, reason="NoJournal")
    return status
