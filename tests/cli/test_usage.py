"""What every command shares: help, JSON, one line per error, exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from reconciler.cli.app import global_first
from tests.cli.clibox import CliBox, call
from web.app import app


def _commands(command: Any, *path: str) -> dict[tuple[str, ...], Any]:
    below = getattr(command, "commands", None)
    if below is None:
        return {path: command}
    return {words: found for name, inner in below.items() for words, found in _commands(inner, *path, name).items()}


COMMANDS = _commands(typer.main.get_command(app))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_help_and_json(words: tuple[str, ...]) -> None:
    said = call(*words, "--help")
    assert said.code == 0 and said.err == ""
    told = " ".join(said.out.split())
    assert COMMANDS[words].help, "a command says what it is for"
    if words == ("mcp",):
        return  # what it says on stdout is JSON-RPC in any case
    assert "Print one JSON document" in told
    assert any("--json" in option.opts for option in COMMANDS[words].params)


def test_the_commands_there_are() -> None:
    names = {" ".join(words) for words in COMMANDS}
    assert names >= {
        "init", "validate", "plan", "diff", "reconcile", "status", "log", "retry", "resolve", "approve", "release",
        "suspend", "resume", "kubeconfig", "eks-token", "git-setup", "schema export", "serve", "sandbox", "demo",
        "token create", "token list", "token revoke", "login-link", "openapi",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nonsense"], "no such command"),
        (["plan", "--nonsense"], "no such option"),
        (["retry", "demo", "compute"], "--why is missing"),
        (["log", "--limit", "none"], "not a number"),
        (["resolve", "demo", "x", "--why", "y", "--as", "perhaps"], "not one of the answers"),
        (["validate", ".", "--revision", "main"], "two that exclude each other"),
        (["status", "--watch", "--json"], "a picture that moves is no document"),
        (["approve", "demo", "--all"], "--why is missing"),
        (["schema"], "a group without a command"),
        ([], "nothing at all"),
    ],
)
def test_wrong_usage_is_64(box: CliBox, words: list[str], why: str) -> None:
    said = box.call(*words)
    assert said.code == 64, why
    assert "Traceback" not in said.err


@pytest.mark.parametrize("words", [["status"], ["plan"], ["log"], ["suspend", "demo"], ["approve", "demo"]])
def test_an_error_is_one_line_and_says_what_to_do(tmp_path: Path, words: list[str]) -> None:
    said = call("-r", str(tmp_path / "nowhere"), *words)
    assert said.code == 1 and said.out == ""
    assert said.err.count("\n") == 1
    assert "nowhere is not a git repository" in said.err and "instantstart init PATH" in said.err


def test_an_error_is_a_document_with_json(tmp_path: Path) -> None:
    said = call("-r", str(tmp_path / "nowhere"), "status", "--json")
    assert said.code == 1
    assert said.json["error"]["reason"] == "NotARepository"
    assert said.err.count("\n") == 1


def test_an_unknown_cluster_is_answered_with_those_there_are(box: CliBox) -> None:
    said = box.call("status", "prod")
    assert said.code == 1 and "there is: demo" in said.err


def test_global_options_may_stand_anywhere(box: CliBox) -> None:
    assert call("status", "-r", str(box.path)).code == 0
    assert call("status", f"--repository={box.path}", "--branch", "other").out.startswith("No clusters yet")
    assert call("status", env={"INSTANTSTART_REPOSITORY": str(box.path)}).code == 0
    assert global_first(["a", "--", "-r", "x"]) == ["a", "--", "-r", "x"]
    assert global_first(["a", "-r"]) == ["a", "-r"]


def test_version() -> None:
    said = call("--version")
    assert said.code == 0 and said.out.startswith("instantstart ")


def test_no_colours_outside_a_terminal(box: CliBox) -> None:
    for words in (["status"], ["validate"], ["log"]):
        assert "\x1b" not in box.call(*words).out
