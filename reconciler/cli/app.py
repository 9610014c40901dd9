"""The command line: `instantstart`. Commands are in `commands/`; here is what they share: options, errors, exit codes.

Exit codes: 0 done or nothing to do, 1 error, 2 `plan` found changes, 64 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from reconciler.cli import output
from reconciler.cli.commands import (
    beginning,
    kubeconfig,
    orders,
    planning,
    reconciling,
    rights,
    status,
    suspending,
    validating,
)
from reconciler.cli.setup import Setup
from schemas.errors import InstantStartError

ERROR, USAGE, INTERRUPTED = 1, 64, 130
_GLOBAL = ("-r", "--repository", "--branch", "--state-dir")


class Commands(TyperGroup):
    """Ends every command with one of our exit codes, and every error with one line instead of a trace."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        words = global_first(list(sys.argv[1:] if args is None else args))
        parse: Callable[..., Any] = super().main
        if options.pop("standalone_mode", True):
            sys.exit(guarded(lambda: parse(words, *rest, standalone_mode=False, **options), words))
        return parse(words, *rest, standalone_mode=False, **options)


def guarded(work: Callable[[], Any], words: Sequence[str]) -> int:
    """Run a command; returns its exit code."""
    as_json = "--json" in words
    try:
        code = work()
        return code if isinstance(code, int) else 0
    except InstantStartError as error:
        output.failure(error.reason, error.message, as_json=as_json)
        return ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:
        return _other(error, as_json)


def _other(error: Exception, as_json: bool) -> int:
    told: Callable[[], str] | None = getattr(error, "format_message", None)
    if told is not None:  # the parser's own errors: wrong usage
        text = told()
        if "\n" in text:  # the help of a group that was called without a command
            sys.stderr.write(text + "\n")
        else:
            context: Any = getattr(error, "ctx", None)
            path = context.command_path if context is not None else "instantstart"
            output.failure("WrongUsage", f"{text.rstrip('.')}. See: {path} --help", as_json=as_json)
        return USAGE
    if os.environ.get("INSTANTSTART_DEBUG"):
        traceback.print_exc()
    if isinstance(error, OSError) and error.filename is not None:  # a folder or file of the person at the keyboard
        output.failure("File", f"{error.filename}: {error.strerror}", as_json=as_json)
        return ERROR
    what = f"{type(error).__name__}: {error}".splitlines()[0][:300]
    hint = "this is our mistake; INSTANTSTART_DEBUG=1 shows where it happened"
    output.failure("Unexpected", f"{what} ({hint})", as_json=as_json)
    return ERROR


def global_first(words: list[str]) -> list[str]:
    """Global options may stand anywhere: they are moved to the front, where the parser wants them."""
    front: list[str] = []
    others: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            others += words[at:]
            break
        if word in _GLOBAL and at + 1 < len(words):
            front += words[at : at + 2]
            at += 2
            continue
        if word.startswith(tuple(f"{name}=" for name in _GLOBAL[1:])):
            front.append(word)
        else:
            others.append(word)
        at += 1
    return front + others


def version() -> str:
    try:
        return importlib.metadata.version("instantstart")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"instantstart {version()}\n")
        raise typer.Exit(0)


def make_app() -> typer.Typer:
    """All commands of this floor. `web` adds its own to it."""
    app = typer.Typer(
        name="instantstart",
        cls=Commands,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help="A GitOps control plane for Amazon SageMaker HyperPod on EKS.",
    )
    app.callback()(_begin)
    for part in (beginning, validating, planning, reconciling, status, orders, suspending, kubeconfig, rights):
        part.add_to(app)
    return app


def _begin(
    context: typer.Context,
    repository: Annotated[
        str | None,
        typer.Option(
            "--repository",
            "-r",
            envvar="INSTANTSTART_REPOSITORY",
            help="The config repository: a folder or a URL. Default: this folder.",
        ),
    ] = None,
    branch: Annotated[
        str | None, typer.Option(envvar="INSTANTSTART_BRANCH", help="The branch that is truth. Default: main.")
    ] = None,
    state_dir: Annotated[
        Path | None, typer.Option(envvar="INSTANTSTART_STATE_DIR", help="For mirrors and caches; may be lost.")
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    context.obj = Setup(repository=repository, branch=branch, state_dir=state_dir)
