"""Everything that is wrong in the documents of a folder or a revision."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from reconciler.config_repo import names
from reconciler.config_repo.errors import NameRefused
from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.trees import MAX_FILE
from reconciler.reads.plans import ProblemView, problem_views
from schemas.documents.load import load_cluster, load_policy
from schemas.documents.policy import POLICY_PATH
from schemas.documents.problems import Problem, problem
from schemas.documents.records import SourceFile
from schemas.errors import InvalidInput
from schemas.reading.records import Spot


class ValidationView(BaseModel):
    """`documents`: how many were read, per cluster."""

    model_config = ConfigDict(frozen=True)

    what: str
    documents: dict[str, int]
    problems: tuple[ProblemView, ...]


def of_revision(repo: ConfigRepo, revision: str) -> ValidationView:
    """`revision` is a full commit id."""
    from reconciler.engine.library import Library  # not needed for a folder, and slow to import

    library = Library(repo)
    entries = [entry for entry in repo.problems(revision) if entry.path != POLICY_PATH]
    problems = [_unclean(entry.path, entry.problem or "") for entry in entries]
    problems += library.policy(revision).problems
    documents: dict[str, int] = {}
    for name in sorted(repo.clusters(revision)):
        loaded = library.loaded(revision, name)
        if loaded is not None:
            documents[name] = len(loaded.documents)
            problems += loaded.problems
    return ValidationView(what=revision, documents=documents, problems=problem_views(problems))


def of_folder(root: Path) -> ValidationView:
    """A folder on this machine that holds `clusters/` (or is it). Nothing needs to be committed."""
    clusters = root if root.name == names.CLUSTERS and not (root / names.CLUSTERS).is_dir() else root / names.CLUSTERS
    if not clusters.is_dir():
        raise InvalidInput(f"{root} holds no folder {names.CLUSTERS}/; name the folder that does", reason="NoClusters")
    policy = clusters.parent / POLICY_PATH
    problems: list[Problem] = []
    if policy.is_file():
        problems += load_policy(SourceFile(path=POLICY_PATH, data=policy.read_bytes())).problems
    documents: dict[str, int] = {}
    for folder in sorted(path for path in clusters.iterdir() if path.is_dir() and not path.name.startswith(".")):
        try:
            names.cluster(folder.name)
        except NameRefused as error:
            problems.append(_unclean(f"{names.CLUSTERS}/{folder.name}", error.message))
            continue
        problems += [
            _file_problem(_path(link, folder), "a regular file", "a symbolic link")
            for link in sorted(folder.rglob("*"))
            if link.is_symlink()
        ]
        files, unread = _files(folder)
        problems += unread
        loaded = load_cluster(folder.name, files)
        documents[folder.name] = len(loaded.documents)
        problems += loaded.problems
    return ValidationView(what=str(root), documents=documents, problems=problem_views(problems))


def _files(folder: Path) -> tuple[list[SourceFile], list[Problem]]:
    """The same files as a commit of the folder would give, and what is wrong with the others."""
    files: list[SourceFile] = []
    problems: list[Problem] = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        name = _path(path, folder)
        try:
            size = path.stat().st_size
            if size > MAX_FILE:
                problems.append(_file_problem(name, f"a file of at most {MAX_FILE >> 20} MiB", f"{size} bytes"))
                continue
            files.append(SourceFile(path=name, data=path.read_bytes()))
        except OSError as error:
            problems.append(_file_problem(name, "a file that can be read", error.strerror or type(error).__name__))
    return files, problems


def _file_problem(path: str, expected: str, found: str) -> Problem:
    return problem(path, Spot(1, 1), (), expected=expected, found=found)


def _path(path: Path, folder: Path) -> str:
    return f"{names.CLUSTERS}/{path.relative_to(folder.parent).as_posix()}"


def _unclean(path: str, what: str) -> Problem:
    return _file_problem(path, "a cluster's folder", what)
