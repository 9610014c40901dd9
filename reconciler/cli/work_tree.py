"""A new repository that a person can work in: with a checkout, or bare."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reconciler.config_repo.notes import US
from reconciler.config_repo.objects import EMPTY_TREE
from reconciler.config_repo.process import Git
from reconciler.config_repo.setup import git_setup, init_repository
from schemas.errors import InvalidInput


def new_repository(
    path: Path, files: Mapping[str, bytes], *, branch: str, author: tuple[str, str] | None = None, bare: bool = False
) -> str:
    """Make it with one commit; returns the commit. Raises InvalidInput if the folder holds anything."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InvalidInput(f"{path} is not empty; name a new or empty folder", reason="NotEmpty")
    if bare:
        commit = init_repository(path, files, branch=branch, author=author or US)
        git_setup(path)
        return commit
    git_dir = path / ".git"
    commit = init_repository(git_dir, files, branch=branch, author=author or US)
    Git(git_dir).must("config", "--local", "core.bare", "false")
    Git(path).must("read-tree", "-m", "-u", EMPTY_TREE, commit)
    git_setup(path)
    return commit
