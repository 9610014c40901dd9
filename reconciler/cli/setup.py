"""What the global options say, and the doors they open: the repository, and the engine where a command needs one."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.repository import open_repo
from reconciler.engine.settings import Settings, from_env
from schemas.errors import InvalidInput

if TYPE_CHECKING:  # it brings boto3 and the kubernetes client along, which most commands never need
    from reconciler.engine.tick import Engine

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
ClusterArgument = Annotated[str, typer.Argument(metavar="CLUSTER", help="The cluster's name.")]
ClusterOption = Annotated[str | None, typer.Option("--cluster", help="Only this cluster.")]
Why = Annotated[str, typer.Option("--why", help="The reason, for the journal.")]


@dataclass(frozen=True, kw_only=True)
class Setup:
    repository: str | None = None
    branch: str | None = None
    state_dir: Path | None = None

    def settings(self) -> Settings:
        settings = from_env(repository=self.repository)
        if self.branch:
            settings = dataclasses.replace(settings, branch=self.branch)
        if self.state_dir:
            settings = dataclasses.replace(settings, state_dir=self.state_dir)
        return settings

    @contextmanager
    def repo(self) -> Generator[ConfigRepo]:
        """The repository, fetched."""
        with open_repo(self.settings()) as repo:
            repo.fetch()
            yield repo

    @contextmanager
    def engine(self) -> Generator[Engine]:
        """An engine over it, fetched. It does nothing until it is told to."""
        from reconciler.engine.start import open_engine

        engine = open_engine(self.settings())
        try:
            engine.repo.fetch()
            yield engine
        finally:
            engine.close()
            engine.pool.shutdown(wait=True, cancel_futures=True)


def setup_of(context: typer.Context) -> Setup:
    return cast("Setup", context.obj)


def head_of(repo: ConfigRepo) -> str:
    """The branch's head. Raises InvalidInput where there is none."""
    head = repo.head()
    if head is None:
        text = f"there are no commits on branch {repo.branch} yet; make one, or name another with --branch"
        raise InvalidInput(text, reason="NoCommits")
    return head


def must_know(repo: ConfigRepo, cluster: str, revision: str) -> None:
    """Raises InvalidInput, naming those there are, for a cluster with neither folder nor journal."""
    known = {*repo.clusters(revision), *repo.journal_clusters()}
    if cluster not in known | repo.clusters_ever(revision):
        there = ", ".join(sorted(known)) or "none yet"
        raise InvalidInput(f"there is no cluster {cluster!r} here; there is: {there}", reason="UnknownCluster")
