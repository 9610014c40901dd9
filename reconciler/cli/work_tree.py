"""Repositories that a person works in: a new one, and what a checkout holds that no commit does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reconciler.config_repo import names
from reconciler.config_repo.locations import locate
from reconciler.config_repo.notes import US
from reconciler.config_repo.objects import EMPTY_TREE
from reconciler.config_repo.process import Git
from reconciler.config_repo.setup import git_setup, init_repository
from schemas.errors import InvalidInput


def new_repository(
    path: Path, files: Mapping[str, bytes], *, branch: str, author: tuple[str, str] | None = None, bare: bool = False
) -> str:
    """Make it with one commit; returns the commit. Raises InvalidInput if the folder holds anything."""
    _must_be_new(path)
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


def checkout_of(repository: str) -> Path | None:
    """The folder with a person's files, for a repository that is a checkout on this machine."""
    path = locate(repository, Path()).path if "://" not in repository else None
    return path if path is not None and (path / ".git").exists() and (path / names.CLUSTERS).is_dir() else None


def not_committed(checkout: Path) -> list[str]:
    """Files below clusters/ that differ from the checked out commit, new ones too. What git cannot tell is no file."""
    done = Git(checkout).run("status", "--porcelain", "-z", "--untracked-files=all", "--", names.CLUSTERS)
    if not done.ok:
        return []
    entries = done.out.decode("utf-8", "replace").split("\0")
    return [entry[3:] for entry in entries if len(entry) > 3 and entry[2] == " "]


def has_remote(path: Path, remote: str) -> bool:
    return remote in Git(path).must("remote").decode().split()


def fetches_no_journal(repository: str) -> bool:
    """A clone that nobody has set up: what its remote knows of the journal is not here."""
    git = Git(locate(repository, Path()).path)
    fetched = git.run("config", "--local", "--get-regexp", r"^remote\..*\.fetch$").out.decode("utf-8", "replace")
    return bool(fetched) and "refs/notes/" not in fetched


def _must_be_new(path: Path) -> None:
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InvalidInput(f"{path} is not empty; name a new or empty folder", reason="NotEmpty")
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be made: {error.strerror}", reason="NotMade") from error
