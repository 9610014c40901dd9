from __future__ import annotations

import json
import subprocess
from pathlib import Path

from reconciler.cli.sample import read_sample, sample_dir
from tests.cli.clibox import CliBox, call


def git(path: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(path), *words], capture_output=True, text=True, check=True).stdout.strip()


def test_init_makes_a_checkout_that_git_finds_clean(tmp_path: Path) -> None:
    said = call("init", str(tmp_path / "config"), "--json")
    assert said.code == 0
    path = tmp_path / "config"
    assert git(path, "status", "--porcelain") == ""
    assert git(path, "rev-parse", "HEAD") == said.json["revision"]
    assert git(path, "log", "-1", "--format=%an <%ae>") == "Alice Example <alice@example.com>"
    for name, data in read_sample().items():
        assert (path / name).read_bytes() == data
    assert call("validate", "-r", str(path)).code == 0


def test_init_bare_and_other_branch(tmp_path: Path) -> None:
    path = tmp_path / "config.git"
    assert call("init", str(path), "--bare", "--branch", "trunk").code == 0
    assert git(path, "symbolic-ref", "HEAD") == "refs/heads/trunk"
    assert call("status", "-r", str(path), "--branch", "trunk").code == 0


def test_init_refuses_a_folder_that_holds_something(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    said = call("init", str(tmp_path))
    assert said.code == 1 and "is not empty" in said.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt"]


def test_init_where_nothing_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = call("init", str(tmp_path / "file" / "config"))
    assert said.code == 1 and "cannot be made: Not a directory" in said.err and "mistake" not in said.err


def test_git_setup_lets_git_show_the_journal(box: CliBox) -> None:
    assert box.call("git-setup").code == 0
    assert box.git("config", "notes.displayRef") == "refs/notes/instantstart/status/*"
    assert call("git-setup", "-r", "https://example.com/config.git").code == 1


def test_schema_export(tmp_path: Path) -> None:
    said = call("schema", "export", str(tmp_path / "out"), "--json")
    assert said.code == 0
    for name in said.json["files"]:
        assert json.loads(Path(name).read_text())["$schema"]


def test_the_sample_is_found() -> None:
    assert (sample_dir() / "demo" / "cluster.yaml").is_file()
