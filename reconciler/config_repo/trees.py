"""Folders of a revision: listing them without following anything, and building the tree of the next revision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reconciler.config_repo import names
from reconciler.config_repo.errors import PathRefused
from reconciler.config_repo.objects import (
    EXECUTABLE,
    FILE,
    LINK,
    SUBMODULE,
    TREE,
    NewObject,
    TreeEntry,
    new_object,
    new_tree,
)
from reconciler.config_repo.reader import Found, Reader
from reconciler.config_repo.records import RepoFile

MAX_FILE = 1 << 20
MAX_FILES = 20_000
MAX_DEPTH = 16

_LINK_PROBLEM = "a symbolic link is never followed; put the file itself here"
_SUBMODULE_PROBLEM = "a submodule is not read; put the files themselves here"


def find_entry(reader: Reader, tree: str, parts: Sequence[str]) -> TreeEntry | None:
    """The entry at a path; None if there is none. Links on the way lead nowhere."""
    entry = TreeEntry(TREE, b"", tree)
    for part in parts:
        if entry.mode != TREE:
            return None
        wanted = part.encode()
        entry_or_none = next((e for e in reader.trees([entry.id])[entry.id] if e.name == wanted), None)
        if entry_or_none is None:
            return None
        entry = entry_or_none
    return entry


def list_files(reader: Reader, tree: str, prefix: str) -> list[RepoFile]:
    """Everything below a tree, sorted by path; level by level, so that each level is one request."""
    files: list[RepoFile] = []
    level = [(prefix, tree)]
    for depth in range(MAX_DEPTH + 1):
        if not level:
            break
        contents = reader.trees(tree_id for _, tree_id in level)
        below: list[tuple[str, str]] = []
        for folder, tree_id in level:
            for entry in contents[tree_id]:
                file = describe(folder, entry)
                if entry.mode == TREE and file.problem is None:
                    below.append((file.path, entry.id))
                else:
                    files.append(file)
            if len(files) + len(below) > MAX_FILES:
                problem = f"more than {MAX_FILES} files"
                return [RepoFile(path=prefix, mode=TREE, blob=tree, size=0, problem=problem)]
        level = below
        if depth == MAX_DEPTH:
            files += [RepoFile(path=p, mode=TREE, blob=t, size=0, problem="folders too deep") for p, t in below]
    return sorted(with_sizes(reader, files), key=lambda f: f.path)


def describe(folder: str, entry: TreeEntry) -> RepoFile:
    """An entry before its size is known; `problem` if its name or kind alone forbids reading it."""
    name, problem = entry.name.decode("utf-8", "backslashreplace"), None
    try:
        entry.name.decode("utf-8")
    except UnicodeDecodeError:
        problem = "the name is no UTF-8"
    problem = problem or names.bad_tree_name(name) or _kind_problem(entry.mode)
    return RepoFile(
        path=f"{folder}/{name}" if folder else name, mode=entry.mode, blob=entry.id, size=0, problem=problem
    )


def with_sizes(reader: Reader, files: Sequence[RepoFile]) -> list[RepoFile]:
    """The same files with their sizes; what is too large or missing becomes a problem."""
    readable = [file for file in files if file.problem is None]
    sizes = dict(zip((f.blob for f in readable), reader.lookup([f.blob for f in readable]), strict=True))
    return [_sized(file, sizes[file.blob]) if file.problem is None else file for file in files]


def edit_tree(
    reader: Reader, tree: str | None, changes: Mapping[tuple[str, ...], bytes | None]
) -> tuple[str | None, list[NewObject]]:
    """The tree with files written (bytes) or removed (None), and the objects to store for it; None: nothing is left."""
    entries = {} if tree is None else {e.name: e for e in reader.trees([tree])[tree]}
    made: list[NewObject] = []
    below: dict[str, dict[tuple[str, ...], bytes | None]] = {}
    for parts, data in changes.items():
        first, *rest = parts
        if rest:
            below.setdefault(first, {})[tuple(rest)] = data
            continue
        name = first.encode()
        old = entries.get(name)
        if data is None:
            entries.pop(name, None)
            continue
        if old is not None and old.mode not in (FILE, EXECUTABLE):
            raise PathRefused(f"{first!r} is not a regular file there; remove it first")
        blob = new_object("blob", data)
        made.append(blob)
        entries[name] = TreeEntry(old.mode if old else FILE, name, blob.id)
    for part, inner in below.items():
        name = part.encode()
        old = entries.get(name)
        if old is not None and old.mode != TREE:
            if all(data is None for data in inner.values()):
                continue
            raise PathRefused(f"{part!r} is not a folder there; nothing can be written below it")
        child, objects = edit_tree(reader, old.id if old else None, inner)
        made += objects
        if child is None:
            entries.pop(name, None)
        else:
            entries[name] = TreeEntry(TREE, name, child)
    if not entries:
        return None, made
    result = new_tree(entries.values())
    return result.id, [*made, result]


def _kind_problem(mode: str) -> str | None:
    if mode == LINK:
        return _LINK_PROBLEM
    if mode == SUBMODULE:
        return _SUBMODULE_PROBLEM
    # 100664 and the like were written by very old tools and mean a plain file.
    return None if mode == TREE or mode.startswith("100") else f"an unknown kind of entry (mode {mode})"


def _sized(file: RepoFile, found: Found | None) -> RepoFile:
    if found is None:
        return replace(file, problem="the content is missing in the repository")
    problem = f"larger than 1 MiB ({found.size} bytes)" if found.size > MAX_FILE else None
    return replace(file, size=found.size, problem=problem)


def invalid_cluster(file: RepoFile) -> RepoFile:
    """A folder whose name cannot be a cluster's."""
    return replace(file, problem="not a cluster name: use up to 40 of a-z, 0-9 and -, not at the ends")
