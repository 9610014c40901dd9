"""A box of real repositories for the tests, made and inspected by the git command line, independent of our code."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository

ALICE = ("Alice Example", "alice@example.com")
NOW = 1_790_000_000.0
FILES = {
    "README.md": b"# config\n",
    "clusters/prod/cluster.yaml": b"kind: Cluster\n",
    "clusters/prod/groups/a.yaml": b"kind: InstanceGroup\n",
    "clusters/dev/cluster.yaml": b"kind: Cluster\n",
}


def run(path: Path, *args: str, stdin: bytes = b"", ok: bool = True) -> bytes:
    """Plain git in a clean environment."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Alice Example",
        "GIT_AUTHOR_EMAIL": "alice@example.com",
        "GIT_COMMITTER_NAME": "Alice Example",
        "GIT_COMMITTER_EMAIL": "alice@example.com",
    }
    done = subprocess.run(["git", "-C", str(path), *args], input=stdin, capture_output=True, env=env, timeout=120)
    if ok and done.returncode != 0:
        raise AssertionError(f"git {args}: {done.stderr.decode()}")
    return done.stdout


class GitBox:
    """One bare repository `path` with a first commit, and ways to look at and spoil it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "config.git"
        self.first = init_repository(self.path, FILES, author=ALICE, at=NOW)
        self._opened: list[ConfigRepo] = []

    def open(
        self, *, remote: bool = False, writer: str = "one", location: str | None = None, mirror: str = ""
    ) -> ConfigRepo:
        """A ConfigRepo on it, closed at the end of the test. Remote writers have a mirror each."""
        where = location or (f"file://{self.path}" if remote else str(self.path))
        repo = ConfigRepo.open(
            where, state_dir=self.root / f"state-{mirror or writer}", writer=writer, clock=lambda: NOW
        )
        self._opened.append(repo)
        return repo

    def close(self) -> None:
        for repo in self._opened:
            repo.close()

    def git(self, *args: str, stdin: bytes = b"", ok: bool = True) -> str:
        return run(self.path, *args, stdin=stdin, ok=ok).decode("utf-8", "backslashreplace").strip()

    def blob(self, data: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", stdin=data)

    def tree(self, entries: Mapping[bytes, tuple[str, str]]) -> str:
        """A tree by its raw bytes, so that it may hold what git itself would refuse. Name → (mode, id)."""
        raw = b"".join(
            b"%s %s\0%s" % (mode.encode(), name, bytes.fromhex(sha)) for name, (mode, sha) in sorted(entries.items())
        )
        return self.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)

    def commit_tree(self, tree: str, *parents: str, message: str = "spoiled", move: str = "main") -> str:
        args = [flag for parent in parents for flag in ("-p", parent)]
        sha = self.git("commit-tree", tree, *args, "-m", message)
        self.git("update-ref", f"refs/heads/{move}", sha)
        return sha

    def cluster_tree(self, tree: str) -> str:
        """The tree of a whole repository in which clusters/prod is `tree`."""
        return self.tree({b"clusters": ("40000", self.tree({b"prod": ("40000", tree)}))})

    def hook(self, name: str, script: str) -> None:
        path = self.path / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
