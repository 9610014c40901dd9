"""Step 2: documents of a revision, and of the revisions before it that still count.

Files are parsed once per blob, folders once per tree: nothing unchanged is read again.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from reconciler.config_repo.errors import ObjectMissing, UnknownRevision
from reconciler.config_repo.repo import ConfigRepo
from reconciler.desired.build import Desired, build
from reconciler.plan.limits import holds_counts, limits_of
from reconciler.plan.previous import together
from schemas.documents.load import assemble, load_policy
from schemas.documents.parse import parse_file
from schemas.documents.policy import POLICY_PATH, built_in
from schemas.documents.problems import problem
from schemas.documents.records import LoadedCluster, LoadedPolicy, ParsedFile, SourceFile
from schemas.journal import Condition
from schemas.reading.records import Spot

if TYPE_CHECKING:  # reading documents needs no client of any cloud, and those take a second to import
    from reconciler.engine.scope import Scope

K = TypeVar("K")
V = TypeVar("V")
_KEPT_FILES = 50_000
_KEPT_FOLDERS = 4_000
KEPT_BASE = 300  # revisions since the last Ready one that a rollout names


@functools.cache
def packaged_script() -> bytes:
    """The lifecycle script used where no document names one."""
    return (Path(__file__).parent.parent / "resources" / "storage" / "lifecycle" / "on_create.sh").read_bytes()


@dataclass(frozen=True, kw_only=True)
class Folder:
    """One cluster's folder at one tree: its documents, and its resources unless it has problems."""

    loaded: LoadedCluster
    desired: Desired | None


class Library:
    """Reads folders and policies of any revision, and keeps what it read."""

    def __init__(self, repo: ConfigRepo) -> None:
        self._repo = repo
        self._lock = threading.Lock()
        self._files: OrderedDict[tuple[str, str], ParsedFile] = OrderedDict()
        self._folders: OrderedDict[tuple[str, str], Folder] = OrderedDict()
        self._policies: OrderedDict[str, LoadedPolicy] = OrderedDict()

    def folder(self, revision: str, cluster: str) -> Folder | None:
        """None: the folder is not there at this revision."""
        tree = self._repo.clusters(revision).get(cluster)
        if tree is None:
            return None
        known = self._kept(self._folders, (tree, cluster))
        if known is not None:
            return known
        files = self._repo.files(revision, f"clusters/{cluster}")
        parsed = self._parse([(f.path, f.blob) for f in files if f.problem is None])
        unreadable = tuple(
            problem(f.path, Spot(1, 1), (), expected="a regular file", found=f.problem)
            for f in files
            if f.problem is not None
        )
        loaded = assemble(cluster, parsed)
        loaded = dataclasses.replace(loaded, problems=(*unreadable, *loaded.problems))
        desired = None if loaded.problems else build(loaded, packaged_script())
        folder = Folder(loaded=loaded, desired=desired)
        self._keep(self._folders, (tree, cluster), folder, _KEPT_FOLDERS)
        return folder

    def policy(self, head: str) -> LoadedPolicy:
        """The policy in force at the branch's head."""
        found = self._repo.file(head, POLICY_PATH)
        if found is None:
            return LoadedPolicy(policy=built_in())
        if found.problem is not None:
            unreadable = problem(POLICY_PATH, Spot(1, 1), (), expected="a regular file", found=found.problem)
            return LoadedPolicy(policy=built_in(), problems=(unreadable,))
        known = self._kept(self._policies, found.blob)
        if known is None:
            data = self._repo.blobs([found.blob])[found.blob]
            known = load_policy(SourceFile(path=POLICY_PATH, data=data))
            self._keep(self._policies, found.blob, known, 64)
        return known

    def parent(self, revision: str) -> str | None:
        """The first parent, if it can be had."""
        try:
            return next(iter(self._repo.commit_info(revision).parents), None)
        except (ObjectMissing, UnknownRevision):
            return None

    def _parse(self, wanted: list[tuple[str, str]]) -> list[ParsedFile]:
        missing = [blob for path, blob in wanted if self._kept(self._files, (path, blob)) is None]
        data = self._repo.blobs(dict.fromkeys(missing)) if missing else {}
        parsed: list[ParsedFile] = []
        for path, blob in wanted:
            known = self._kept(self._files, (path, blob))
            if known is None:
                known = parse_file(path, data[blob])
                self._keep(self._files, (path, blob), known, _KEPT_FILES)
            parsed.append(known)
        return parsed

    def _kept(self, where: OrderedDict[K, V], key: K) -> V | None:
        with self._lock:
            found = where.get(key)
            if found is not None:
                where.move_to_end(key)
            return found

    def _keep(self, where: OrderedDict[K, V], key: K, value: V, most: int) -> None:
        with self._lock:
            where[key] = value
            while len(where) > most:
                where.popitem(last=False)


def load(scope: Scope, library: Library) -> None:
    """Fill in documents, resources, and what earlier revisions of this rollout wanted."""
    policy = library.policy(scope.head)
    scope.limits, scope.hold_counts = limits_of(policy.policy), holds_counts(policy.policy)
    scope.policy_problem = str(policy.problems[0]) if policy.problems else None
    folder = library.folder(scope.revision, scope.cluster) if scope.input is not None else None
    if folder is not None:
        scope.loaded, scope.desired = folder.loaded, folder.desired
    _previous(scope, library)
    known = scope.desired or _newest_known(scope, library)
    if known is not None:
        scope.account, scope.region = known.account, known.region


def _previous(scope: Scope, library: Library) -> None:
    """Resources of every revision since and including the last Ready one, taken together; the last Ready one alone
    decides about protection and about which Operations had their turn."""
    status = scope.status
    same = status.rev == scope.revision
    revisions = list(status.base)
    if status.rev is not None and not same:
        settled = status.condition in (Condition.READY, Condition.GONE) or status.last_ready == status.rev
        revisions = [status.rev] if settled else [*revisions, status.rev]
    if same and status.last_ready == status.rev:
        revisions = [scope.revision]
    if not revisions:
        revisions = list(_first_base(scope, library))
    wanted = [_desired_at(library, revision, scope.cluster) for revision in revisions]
    known = [desired for desired in wanted if desired is not None]
    ready = bool(wanted) and wanted[0] is not None and revisions[0] == status.last_ready
    before = together([desired.resources for desired in known], ready=ready)
    scope.previous, scope.moved_fields = before.resources, before.moved
    for desired in known:
        scope.earlier.update({operation.identity: operation for operation in desired.operations})
    scope.baseline = _baseline(scope, library)
    scope.unprotected = _unprotected(scope, library)


def _unprotected(scope: Scope, library: Library) -> bool:
    """deletionProtection: false has reached Ready, and nobody has put it back since."""
    status = scope.status
    ready = _desired_at(library, status.last_ready, scope.cluster)
    if ready is None or ready.protected:
        return False
    told = [*status.base, *([status.rev] if status.rev is not None else [])]
    since = told[told.index(status.last_ready) + 1 :] if status.last_ready in told else told
    removed = library.parent(scope.revision) if scope.input is None else None
    later = [_desired_at(library, revision, scope.cluster) for revision in (*since, removed)]
    return not any(desired.protected for desired in later if desired is not None)


def _first_base(scope: Scope, library: Library) -> tuple[str, ...]:
    """Neither folder nor journal: what there was before the folder went is all that is known."""
    removed = library.parent(scope.revision) if scope.input is None and scope.status.rev is None else None
    return (removed,) if removed is not None else ()


def base_of(scope: Scope, library: Library) -> tuple[str, ...]:
    """The `base` of a rollout that begins now."""
    status = scope.status
    if status.rev is None:
        return _first_base(scope, library)
    settled = status.condition in (Condition.READY, Condition.GONE) or status.last_ready == status.rev
    return (status.rev,) if settled else (*status.base[:1], *status.base[1:][-KEPT_BASE:], status.rev)


def _baseline(scope: Scope, library: Library) -> frozenset[str]:
    status = scope.status
    if status.last_ready is not None:
        before = _desired_at(library, status.last_ready, scope.cluster)
        return before.identities if before is not None else frozenset()
    first = status.base[0] if status.base else (status.rev or scope.revision)
    before = _desired_at(library, library.parent(first), scope.cluster)
    return before.identities if before is not None else frozenset()


def _newest_known(scope: Scope, library: Library) -> Desired | None:
    """Account and region where this revision does not tell: the newest earlier one that does."""
    status = scope.status
    for revision in (status.rev, *reversed(status.base), status.last_ready):
        desired = _desired_at(library, revision, scope.cluster)
        if desired is not None:
            return desired
    return _desired_at(library, library.parent(scope.revision), scope.cluster)


def _desired_at(library: Library, revision: str | None, cluster: str) -> Desired | None:
    if revision is None:
        return None
    try:
        folder = library.folder(revision, cluster)
    except (ObjectMissing, UnknownRevision):
        return None  # history was rewritten and the old commit is gone: what it wanted cannot be known
    return folder.desired if folder is not None else None
