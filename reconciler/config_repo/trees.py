"""Folders of a revision: listing them without following anything, and building the tree of the next revision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reconciler.config_repo import names
from reconciler.config_repo.errors import PathRefused
from reconciler.config_repo.objects import (
    EMPTY_TREE,
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
_NONE = "0" * 40


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
    """Everything below a tree, sorted by path."""
    return list_folders(reader, {prefix: tree})[prefix]


def list_folders(reader: Reader, folders: Mapping[str, str]) -> dict[str, list[RepoFile]]:
    """Everything below several trees, by the path of each; level by level, so that each level is one request."""
    leaves: dict[str, list[tuple[str, TreeEntry]]] = {top: [] for top in folders}
    refused: dict[str, RepoFile] = {}
    level = [(top, top, tree) for top, tree in folders.items()]
    for _ in range(MAX_DEPTH):
        contents = reader.trees(tree for _, _, tree in level)
        below: list[tuple[str, str, str]] = []
        waiting = dict.fromkeys(folders, 0)
        for top, folder, tree in level:
            for entry in contents[tree]:
                if entry.mode == TREE and (file := describe(folder, entry)).problem is None:
                    below.append((top, file.path, entry.id))
                    waiting[top] += 1
                else:
                    leaves[top].append((folder, entry))
            if len(leaves[top]) + waiting[top] > MAX_FILES and top not in refused:
                problem = f"more than {MAX_FILES} files"
                refused[top] = RepoFile(path=top, mode=TREE, blob=folders[top], size=0, problem=problem)
        level = [item for item in below if item[0] not in refused]
        if not level:
            break
    found = {top: [refused[top]] if top in refused else [] for top in folders}
    for top, path, tree in level:
        found[top].append(RepoFile(path=path, mode=TREE, blob=tree, size=0, problem="folders too deep"))
    wanted = [(top, leaf) for top, entries in leaves.items() if top not in refused for leaf in entries]
    for (top, _), file in zip(wanted, describe_all(reader, [leaf for _, leaf in wanted]), strict=True):
        found[top].append(file)
    return {top: sorted(files, key=lambda f: f.path) for top, files in found.items()}


def describe_all(reader: Reader, entries: Sequence[tuple[str, TreeEntry]]) -> list[RepoFile]:
    """Entries, each with its folder, as files with sizes; what is too large or missing has a problem."""
    blobs = [entry.id for _, entry in entries if entry.mode.startswith("100")]
    sizes = dict(zip(blobs, reader.lookup(blobs), strict=True))
    return [describe(folder, entry, sizes.get(entry.id)) for folder, entry in entries]


def describe(folder: str, entry: TreeEntry, found: Found | None = None) -> RepoFile:
    """An entry as a file; `problem` if its name, kind or size forbids reading it. Folders have no size."""
    problem = None
    try:
        name = entry.name.decode("utf-8")
    except UnicodeDecodeError:
        name, problem = entry.name.decode("utf-8", "backslashreplace"), "the name is no UTF-8"
    return RepoFile(
        path=f"{folder}/{name}" if folder else name,
        mode=entry.mode,
        blob=entry.id,
        size=found.size if found else 0,
        problem=problem or names.bad_tree_name(name) or _content_problem(entry.mode, found),
    )


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


def changed_files(reader: Reader, old: str, new: str) -> dict[str, tuple[str | None, str | None]]:
    """What differs between two trees: path → (blob before, blob after), None where there is none. Only folders that
    differ are read, level by level. Entries that are no files (links, submodules) count with their ids."""
    found: dict[str, tuple[str | None, str | None]] = {}
    level: list[tuple[str, str | None, str | None]] = [("", old, new)]
    for _ in range(MAX_DEPTH + 1):
        wanted = {tree for _, *pair in level for tree in pair if tree is not None and tree != EMPTY_TREE}
        trees = reader.trees(wanted)
        below: list[tuple[str, str | None, str | None]] = []
        for folder, before, after in level:
            olds = {e.name: e for e in trees.get(before or "", ())}
            news = {e.name: e for e in trees.get(after or "", ())}
            for name in olds.keys() | news.keys():
                a, b = olds.get(name), news.get(name)
                if a == b:
                    continue
                text = name.decode("utf-8", "backslashreplace")
                path = f"{folder}/{text}" if folder else text
                sub = [e.id if e is not None and e.mode == TREE else None for e in (a, b)]
                leaf = [e.id if e is not None and e.mode != TREE else None for e in (a, b)]
                if any(sub):
                    below.append((path, sub[0], sub[1]))
                if any(leaf):
                    found[path] = leaf[0], leaf[1]
        level = below
        if not level:
            break
    return found


def parse_diffs(out: bytes) -> dict[tuple[str, str], dict[str, tuple[str | None, str | None]]]:
    """What `git diff-tree --stdin -r -z` says of pairs of trees, as `changed_files` does."""
    found: dict[tuple[str, str], dict[str, tuple[str | None, str | None]]] = {}
    files: dict[str, tuple[str | None, str | None]] = {}
    tokens = iter(out.split(b"\0"))
    for token in tokens:
        while token and not token.startswith(b":"):  # "<tree> <tree>\n" stands before the first file of a pair
            head, _, token = token.partition(b"\n")
            old, new = head.decode().split()
            files = found.setdefault((old, new), {})
        if not token:
            continue
        _, _, before, after, _ = token.decode().split()
        path = next(tokens).decode("utf-8", "backslashreplace")
        files[path] = None if before == _NONE else before, None if after == _NONE else after
    return found


def invalid_cluster(file: RepoFile) -> RepoFile:
    """A folder whose name cannot be a cluster's."""
    return replace(file, problem="not a cluster name: use up to 40 of a-z, 0-9 and -, not at the ends")


def _content_problem(mode: str, found: Found | None) -> str | None:
    if mode == TREE:
        return None
    if mode == LINK:
        return "a symbolic link is never followed; put the file itself here"
    if mode == SUBMODULE:
        return "a submodule is not read; put the files themselves here"
    if not mode.startswith("100"):  # 100664 and the like were written by very old tools and mean a plain file
        return f"an unknown kind of entry (mode {mode})"
    if found is None:
        return "the content is missing in the repository"
    return f"larger than 1 MiB ({found.size} bytes)" if found.size > MAX_FILE else None
