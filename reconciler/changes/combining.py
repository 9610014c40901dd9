"""A change laid over where the branch stands now: fields that only one side changed go together, a field that both
changed is a conflict that says who, when, and both values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from reconciler.config_repo.errors import ObjectMissing, PathRefused
from reconciler.config_repo.records import CommitInfo
from reconciler.config_repo.repo import ConfigRepo
from reconciler.edits.differences import differences
from reconciler.edits.merge import merge
from reconciler.edits.problems import EditConflict, EditRefused
from schemas.errors import FieldConflict

Laid = Mapping[str, bytes | None]


def proposed(repo: ConfigRepo, base: str, head: str) -> dict[str, tuple[str | None, str | None]]:
    """The files of a change: path → blob before and after."""
    return repo.changes.changed_files(base, head) if base != head else {}


def laid_over(repo: ConfigRepo, base: str, head: str, main: str) -> Laid:
    """Files to write over `main`, None for those that go. Raises EditConflict with all fields in conflict, and
    EditRefused where a text cannot be merged."""
    files = proposed(repo, base, head)
    moved = {} if base == main else repo.changes.changed_files(base, main)
    both = [path for path in files if path in moved and moved[path][1] != files[path][1]]
    wanted = {blob for path in files for blob in (*files[path], *moved.get(path, ())) if blob is not None}
    data = repo.blobs(wanted)
    over: dict[str, bytes | None] = {}
    conflicts: list[FieldConflict] = []
    for path, (_, after) in files.items():
        ours = data[after] if after is not None else None
        if path not in moved:
            over[path] = ours
        elif path in both:
            before, theirs = (data[blob] if blob is not None else None for blob in moved[path])
            try:
                over[path] = merge(before, ours, theirs, path=path)
            except EditConflict as error:
                conflicts += _told(repo, path, base, main, error)
    if conflicts:
        raise EditConflict(conflicts)
    _no_folders_in_the_way(repo, main, over)
    return over


def _told(repo: ConfigRepo, path: str, base: str, main: str, error: EditConflict) -> list[FieldConflict]:
    """With who was faster, and when: the newest commit that made the field what it is there."""
    left = list(error.conflicts)
    told: list[FieldConflict] = []
    for sha in repo.changes.changes_of(path, base, main) if left else ():
        commit = repo.commit_info(sha)
        made = _made(repo, path, sha, commit.parents[0] if commit.parents else None)
        mine = [found for found in left if made is None or any(_is_about(step, found) for step in made)]
        if not mine:
            continue
        by = _proposer(repo, commit)
        told += [dataclasses.replace(found, by=by, at=commit.at, commit=sha) for found in mine]
        left = [found for found in left if found not in mine]
        if not left:
            break
    return [*told, *left]


def _made(repo: ConfigRepo, path: str, sha: str, parent: str | None) -> list[tuple[str, str]] | None:
    """Document and pointer of everything that a commit changed in a file; None: that cannot be told."""
    files = [repo.file(at, path) if at is not None else None for at in (parent, sha)]
    data = repo.blobs({file.blob for file in files if file is not None})
    try:
        found = differences(*(data[file.blob] if file is not None else None for file in files), path=path)
    except EditRefused:
        return None
    return [(f"{one.kind}/{one.name}", str(step["path"])) for one in found for step in one.patch]


def _is_about(step: tuple[str, str], found: FieldConflict) -> bool:
    document, pointer = step
    inside = f"{pointer}/".startswith(f"{found.field}/") or f"{found.field}/".startswith(f"{pointer}/")
    return not found.document or (document == found.document and inside)


def _proposer(repo: ConfigRepo, commit: CommitInfo) -> str:
    """Who made a commit; of a merge who made what it brought in."""
    if len(commit.parents) > 1:
        commit = repo.commit_info(commit.parents[1])
    return commit.author_email or commit.author_name


def _no_folders_in_the_way(repo: ConfigRepo, main: str, over: Laid) -> None:
    """A file where the branch has a folder by now, or below what is a file there."""
    for path, data in over.items():
        if data is None:
            continue
        try:
            found = repo.file(main, path)
        except ObjectMissing:
            found = None
        if found is not None and found.problem is not None:
            raise PathRefused(f"{path}: {found.problem}")
