"""A repository's first day: making one, and teaching a clone to show the journal."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from reconciler.config_repo import names
from reconciler.config_repo.errors import GitFailed, RefMoved
from reconciler.config_repo.notes import US
from reconciler.config_repo.objects import new_commit
from reconciler.config_repo.process import Git, initialise
from reconciler.config_repo.reader import Reader
from reconciler.config_repo.records import RefUpdate
from reconciler.config_repo.refs import Refs
from reconciler.config_repo.trees import edit_tree

_FETCH = "+refs/notes/instantstart/*:refs/notes/instantstart/*"
_DISPLAY = "refs/notes/instantstart/status/*"


def init_repository(
    path: Path,
    files: Mapping[str, bytes],
    *,
    branch: str = "main",
    author: tuple[str, str] = US,
    at: float | None = None,
) -> str:
    """A bare repository with one commit; returns it. Raises RefMoved if the branch has commits already."""
    ref = f"refs/heads/{names.branch(branch)}"
    changes: dict[tuple[str, ...], bytes | None] = {names.path(name): data for name, data in files.items()}
    initialise(path, branch)
    git = Git(path)
    reader = Reader(git)
    refs = Refs(git, url=None, credential=None)
    try:
        tree, objects = edit_tree(reader, None, changes)
        if tree is None:
            raise GitFailed("a repository needs at least one file")
        commit = new_commit(
            tree=tree,
            parents=(),
            author=author,
            committer=US,
            at=time.time() if at is None else at,
            message="Start the config repository",
        )
        refs.store([*objects, commit])
        rejected = refs.publish([RefUpdate(ref=ref, old=None, new=commit.id)])[ref]
        if rejected is not None:
            raise RefMoved(f"{path} has commits already: {rejected}", ref=ref, tip=None)
        return commit.id
    finally:
        reader.close()
        refs.close()


def git_setup(path: Path, remote: str = "origin") -> None:
    """Make `git fetch` bring the journal and `git log` show it. Adds what is missing, removes nothing."""
    names.branch(remote)
    git = Git(path)
    wanted = [("notes.displayRef", _DISPLAY)]
    if remote in git.must("remote").decode().split():
        wanted.append((f"remote.{remote}.fetch", _FETCH))
    for key, value in wanted:
        present = git.run("config", "--local", "--get-all", key).out.decode().splitlines()
        if value not in present:
            git.must("config", "--local", "--add", key, value)
