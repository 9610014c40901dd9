"""token create, list, revoke."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Literal

import typer
from pydantic import ValidationError

from reconciler.cli import output
from reconciler.cli.setup import AsJson, Setup, setup_of
from reconciler.config_repo.person import person
from schemas.documents.kinds import KINDS
from schemas.principals import AGENT_SCOPES, ALL_SCOPES, ORDER, Scope
from schemas.reach import Reach
from web.access.access import Access
from web.access.tokens import LONGEST, TokenRecord

ScopeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        metavar=f"[{'|'.join(ORDER)}]",
        help="May be given again. Default: all that the kind may hold.",
    ),
]


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Tokens for programs and agents.", rich_markup_mode=None)
    group.command("create")(create)
    group.command("list")(list_)
    group.command("revoke")(revoke)
    app.add_typer(group, name="token")


def create(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Option("--name", help="Stands in commits and in the journal. Default: whom git knows here.")
    ] = None,
    kind: Annotated[
        Literal["person", "agent"], typer.Option("--kind", help="An agent reads and proposes, never more.")
    ] = "agent",
    scope: ScopeOption = None,
    path: Annotated[
        list[str] | None,
        typer.Option("--path", help="Its changes touch these files alone: clusters/team-a/**. May be given again."),
    ] = None,
    document: Annotated[
        list[str] | None,
        typer.Option(
            "--document",
            metavar=f"[{'|'.join(KINDS)}]",
            help="Its changes touch documents of these kinds alone. May be given again.",
        ),
    ] = None,
    days: Annotated[int, typer.Option("--days", min=1, max=LONGEST.days, help="How long it lives.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Make a token. It is shown once, and only its hash is kept."""
    setup = setup_of(context)
    maker = person(setup.settings().repository)[1]
    scopes = scopes_of(scope) or (ALL_SCOPES if kind == "person" else AGENT_SCOPES)
    token, record = _access(setup).tokens.create(
        name=name or maker,
        kind=kind,
        scopes=scopes,
        created_by=maker,
        life=timedelta(days=days),
        reach=_reach(path, document),
    )
    if as_json:
        output.document({"token": token, **_shown(record)})
        return
    output.lines([token])
    until = f"until {record.expires:%Y-%m-%d}" if record.expires else "for ever"
    output.note(f"{record.id}: {record.name} ({record.kind}) may {', '.join(record.scopes)}, {until}.")
    if not record.reach.is_all:
        output.note(f"Its changes may touch {record.reach}, and nothing else.")
    output.note("It is shown this once. Send it as Authorization: Bearer, never in an address.")


def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """Show what is kept of each token."""
    records = _access(setup_of(context)).tokens.all()
    if as_json:
        output.document({"tokens": [_shown(record) for record in records]})
        return
    if not records:
        output.lines(["No tokens yet."])
        return
    rows = [["ID", "NAME", "KIND", "SCOPES", "REACHES", "EXPIRES", "LAST USED"]]
    for record in records:
        expires = f"{record.expires:%Y-%m-%d}" if record.expires else "never"
        used = f"{record.last_used:%Y-%m-%d %H:%M}" if record.last_used else "-"
        rows.append([record.id, record.name, record.kind, ",".join(record.scopes), str(record.reach), expires, used])
    output.lines(output.columns(rows))


def revoke(
    context: typer.Context,
    token: Annotated[str, typer.Argument(metavar="ID", help="As token list shows it.")],
    as_json: AsJson = False,
) -> None:
    """End a token, from the next request on."""
    record = _access(setup_of(context)).tokens.revoke(token)
    if as_json:
        output.document({"revoked": _shown(record)})
    else:
        output.lines([f"Revoked {record.id}, {record.name} ({record.kind})."])


def scopes_of(words: Sequence[str] | None) -> frozenset[Scope]:
    """What `--scope` says; wrong usage where it is no scope."""
    wrong = [word for word in words or () if word not in ALL_SCOPES]
    if wrong:
        raise typer.BadParameter(f"{wrong[0]!r} is no scope; there is {', '.join(ORDER)}")
    return frozenset(scope for scope in ORDER if scope in (words or ()))


def _reach(paths: Sequence[str] | None, kinds: Sequence[str] | None) -> Reach:
    """What `--path` and `--document` say; wrong usage where that is no pattern and no kind."""
    try:
        return Reach.model_validate({"paths": paths or (), "kinds": kinds or ()})
    except ValidationError as error:
        option = "--path" if error.errors()[0]["loc"][0] == "paths" else "--document"
        wrong = error.errors()[0]["input"]
        expected = f"a kind: {', '.join(KINDS)}" if option == "--document" else "a pattern such as clusters/team-a/**"
        raise typer.BadParameter(f"{option} {wrong!r}: expected {expected}") from None


def _access(setup: Setup) -> Access:
    return Access(setup.settings().state_dir)


def _shown(record: TokenRecord) -> dict[str, object]:
    return record.model_dump(mode="json", exclude={"digest"})
