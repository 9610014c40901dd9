"""What was asked for, as files: edits laid over a commit, so that only what was meant changes.

An error says where in the request (`edits/3/patch`) or where in a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

from reconciler.config_repo import names
from reconciler.config_repo.errors import PathRefused, SecretRefused
from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.trees import MAX_FILE
from reconciler.edits import files as edited
from reconciler.edits.apply import apply as patched
from reconciler.edits.differences import patch as patch_between
from reconciler.edits.problems import EditRefused
from schemas.changes import Edit, PatchDocument, PutDocument, PutFile, RemoveCluster, RemoveDocument
from schemas.documents.policy import POLICY_PATH
from schemas.errors import Flaw, InvalidInput, NotFound, TooLarge
from schemas.reading.read import is_document_file, read
from schemas.secrets import find_secrets
from schemas.values import JsonObject

_MOST_FILES: Final = 1000


class Files:
    """The files of a commit with edits laid over them."""

    def __init__(self, repo: ConfigRepo, commit: str) -> None:
        self._repo = repo
        self._commit = commit
        self._over: dict[str, bytes | None] = {}

    def apply(self, asked: Sequence[Edit]) -> None:
        """All of them, in order. Raises InvalidInput (EditRefused, NotFound, PathRefused …) naming the edit."""
        for number, edit in enumerate(asked):
            try:
                self._apply(edit)
            except InvalidInput as error:
                at = Flaw(where=f"edits/{number}", expected="an edit that can be made", found=error.message)
                error.flaws = error.flaws or (at,)
                raise

    def changed(self) -> dict[str, bytes | None]:
        """What is not as in the commit: path → content, None for a file that goes. Raises SecretRefused, TooLarge."""
        found: dict[str, bytes | None] = {}
        for path, data in self._over.items():
            before = self._committed(path)
            if data == before:
                continue
            if data is not None:
                _check_content(path, before or b"", data)
            found[path] = data
        if len(found) > _MOST_FILES:
            raise TooLarge(f"a change of {len(found)} files; at most {_MOST_FILES}")
        return found

    # Edits -----------------------------------------------------------------------------------------------------------

    def _apply(self, edit: Edit) -> None:
        match edit:
            case PatchDocument():
                path, text, number = self._find(edit.cluster, edit.kind, edit.name)
                self._over[path] = patched(text, number, edit.patch, path=path)
            case PutDocument():
                self._put(edit)
            case RemoveDocument():
                path, text, number = self._find(edit.cluster, edit.kind, edit.name)
                self._over[path] = edited.remove(text, number, path=path)
            case PutFile():
                self._file(edit)
            case RemoveCluster():
                files = self._document_paths(edit.cluster, every=True)
                if not files:
                    raise NotFound(f"there is no cluster {edit.cluster}", reason="UnknownCluster")
                self._over |= dict.fromkeys(files)

    def _put(self, edit: PutDocument) -> None:
        document = edit.document
        kind, metadata = document.get("kind"), document.get("metadata")
        name: Any = cast("JsonObject", metadata).get("name") if isinstance(metadata, dict) else None
        if not isinstance(kind, str) or not isinstance(name, str) or not kind or not name:
            raise InvalidInput("a document needs kind and metadata.name", reason="NoIdentity")
        if kind == "Policy":
            raise InvalidInput(f"the policy is a file: put {POLICY_PATH}", reason="PolicyMisplaced")
        there = self._located(edit.cluster, kind, name)
        if there is not None:
            path, text, number = there
            if edit.path is not None and edit.path != path:
                raise InvalidInput(f"{kind}/{name} is in {path}: remove it there first", reason="ElsewhereAlready")
            patch = list(patch_between(_value(text, number, path), document))
            self._over[path] = patched(text, number, patch, path=path) if patch else text
            return
        path = edit.path or _own_path(edit.cluster, kind, name)
        _check_path(path)
        if not path.startswith(f"clusters/{edit.cluster}/") or not is_document_file(path):
            raise PathRefused(f"{path!r}: a document of {edit.cluster} is a .yaml file in clusters/{edit.cluster}/")
        old = self.read(path)
        self._over[path] = (
            edited.new_file([document], path=path) if not old else edited.append(old, document, path=path)
        )

    def _file(self, edit: PutFile) -> None:
        _check_path(edit.path)
        if edit.text is None and self.read(edit.path) is None:
            raise NotFound(f"there is no file {edit.path}", reason="NoFile")
        self._over[edit.path] = None if edit.text is None else edit.text.encode()

    # Finding ---------------------------------------------------------------------------------------------------------

    def read(self, path: str) -> bytes | None:
        """Raises PathRefused where something else than a file stands."""
        return self._over[path] if path in self._over else self._committed(path)

    def _committed(self, path: str) -> bytes | None:
        found = self._repo.file(self._commit, path)
        if found is None:
            return None
        if found.problem is not None:
            raise PathRefused(f"{path}: {found.problem}")
        return self._repo.blobs([found.blob])[found.blob]

    def _find(self, cluster: str, kind: str, name: str) -> tuple[str, bytes, int]:
        found = self._located(cluster, kind, name)
        if found is None:
            raise NotFound(f"there is no {kind}/{name} in {cluster}", reason="NoDocument")
        return found

    def _located(self, cluster: str, kind: str, name: str) -> tuple[str, bytes, int] | None:
        """The file that holds a document, its text, and which document it is. A file that cannot be read may hold it:
        that is told only if no other does."""
        unread: EditRefused | None = None
        for path in self._document_paths(cluster):
            text = self.read(path)
            if text is None or name.encode() not in text:
                continue
            try:
                number = edited.locate(text, kind, name, path=path)
            except EditRefused as error:
                unread = error
                continue
            if number is not None:
                return path, text, number
        if unread is not None:
            raise unread
        return None

    def _document_paths(self, cluster: str, *, every: bool = False) -> list[str]:
        folder = f"clusters/{names.cluster(cluster)}"
        there = {file.path for file in self._repo.files(self._commit, folder) if file.problem is None or every}
        there |= {path for path in self._over if path.startswith(f"{folder}/")}
        left = (path for path in sorted(there) if path not in self._over or self._over[path] is not None)
        return [path for path in left if every or is_document_file(path)]


def clusters_of(paths: Iterable[str]) -> list[str]:
    """The clusters that files belong to."""
    found = {path.split("/")[1] for path in paths if path.count("/") >= 2 and path.startswith("clusters/")}
    return sorted(name for name in found if names.CLUSTER.fullmatch(name))


def _check_path(path: str) -> None:
    parts = names.document_path(path)
    if path == POLICY_PATH:
        return
    if len(parts) < 3:
        way = f"clusters/<cluster>/…; the policy is {POLICY_PATH}"
        raise PathRefused(f"{path!r} cannot be written: files lie in a cluster's folder, {way}")
    names.cluster(parts[1])


def _own_path(cluster: str, kind: str, name: str) -> str:
    """A file of its own. The identity may hold what a path may not: `_check_path` says so."""
    own = "cluster" if kind == "Cluster" else f"{_dashed(kind)}-{name}"
    return f"clusters/{cluster}/{own}.yaml"


def _dashed(kind: str) -> str:
    """InstanceGroup → instance-group."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in kind).strip("-")


def _value(text: bytes, number: int, path: str) -> JsonObject:
    """Document number `number` as plain data, counted as `edits` counts."""
    values = [document for document in _documents(text, path) if document is not None]
    return cast("JsonObject", values[number])


def _documents(text: bytes, path: str) -> Iterator[Any]:
    for document in read(path, text).documents:
        yield document.value


def _check_content(path: str, before: bytes, data: bytes) -> None:
    if len(data) > MAX_FILE:
        raise TooLarge(f"{path} would have {len(data)} bytes; at most {MAX_FILE}")
    known = {(found.kind, found.masked) for found in find_secrets(before.decode("utf-8", "replace"))}
    for found in find_secrets(data.decode("utf-8", "replace")):
        if (found.kind, found.masked) not in known:
            where = f"{path}:{found.line}:{found.column}"
            expected = "a reference to a secret that is kept elsewhere"
            flaw = Flaw(where=where, expected=expected, found=f"what looks like a {found.kind}")
            error = SecretRefused(f"{where}: this looks like a {found.kind}; no secret stands in the repository")
            error.flaws = (flaw,)
            raise error
