"""The config repository: read any revision, commit by compare-and-swap, keep the journal, take orders."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from reconciler.config_repo import names, trees
from reconciler.config_repo.changes import ChangeRefs
from reconciler.config_repo.errors import GitFailed, RefMoved, UnknownRevision
from reconciler.config_repo.history import History
from reconciler.config_repo.journals import Journals
from reconciler.config_repo.locations import locate
from reconciler.config_repo.moves import Moves
from reconciler.config_repo.notes import US
from reconciler.config_repo.objects import EMPTY_TREE, TREE, new_commit, new_object
from reconciler.config_repo.orders import Orders, below, list_refs
from reconciler.config_repo.process import Git, initialise
from reconciler.config_repo.reader import Reader
from reconciler.config_repo.records import (
    CommitInfo,
    Credential,
    NotesAppend,
    NotesResult,
    NotesView,
    Order,
    RefUpdate,
    RepoFile,
)
from reconciler.config_repo.refs import Refs

_REFSPECS = (
    "+refs/heads/*:refs/heads/*",
    "+refs/notes/instantstart/*:refs/notes/instantstart/*",
    "+refs/instantstart/orders/*:refs/instantstart/orders/*",
    "+refs/instantstart/keys/*:refs/instantstart/keys/*",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Listed:
    """What lies below clusters/: all folders, those that are clusters, and what is wrong."""

    folders: Mapping[str, str] = field(default_factory=dict[str, str])
    clusters: Mapping[str, str] = field(default_factory=dict[str, str])
    problems: tuple[RepoFile, ...] = ()


class ConfigRepo:
    """One repository at one branch. Reads may come from many threads; see each method for what it raises.

    A folder is used directly (durable = on disk); of a remote we keep a bare mirror (durable = pushed), and what we
    read is what the last `fetch` brought.
    """

    _refs_of: type[Refs] = Refs

    def __init__(
        self,
        git: Git,
        *,
        url: str | None,
        branch: str,
        writer: str,
        session: str,
        clock: Callable[[], float],
        credential: Callable[[], Credential | None] | None,
    ) -> None:
        self.branch = branch
        self.is_remote = url is not None
        self._git = git
        self._clock = clock
        self._reader = Reader(git)
        self._refs = self._refs_of(git, url=url, credential=credential)
        self._journals = Journals(self._reader, self._refs, writer=writer, session=session, clock=clock)
        self._orders = Orders(git, self._reader, self._refs, clock=clock, fetch=self.fetch)
        self._moves = Moves(git, self._commit_at)
        self.changes = ChangeRefs(
            git, self._reader, self._refs, move=self._moves.move, writer=writer, session=session, clock=clock
        )
        self._history = History(git, self._reader, lambda sha: self._folders(sha).folders, self.head)
        self._lock = threading.Lock()
        self._listed: dict[str, _Listed] = {}

    @classmethod
    def open(
        cls,
        location: str,
        *,
        state_dir: Path,
        branch: str = "main",
        writer: str,
        session: str | None = None,
        clock: Callable[[], float] = time.time,
        credential: Callable[[], Credential | None] | None = None,
    ) -> Self:
        """`location`: a folder, or file://, ssh://, https:// or user@host:path. Nothing is fetched yet.

        `writer` names this process in refs/instantstart/lost/, `session` this life of it (unique; made up if not
        given); `credential` is asked before each talk with the remote.
        """
        names.branch(branch)
        names.writer(writer)
        place = locate(location, state_dir)
        if place.url is not None:
            initialise(place.path, branch)
        git = Git(place.path)
        session = names.writer(session or uuid.uuid4().hex[:16])
        return cls(
            git,
            url=place.url,
            branch=branch,
            writer=writer,
            session=session,
            clock=clock,
            credential=credential,
        )

    def close(self) -> None:
        self._reader.close()
        self._refs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Reading ---------------------------------------------------------------------------------------------------------

    def fetch(self) -> None:
        """Branches, journals and orders in one go. Raises RemoteUnavailable, RemoteAuthFailed, RepositoryRefused."""
        self._refs.fetch(_REFSPECS)

    def head(self) -> str | None:
        """The commit the branch stands at; None: there are no commits on it yet."""
        return self._commit_at(f"refs/heads/{self.branch}")

    def resolve(self, rev: str) -> str:
        """The commit a person means. The text goes by stdin and its characters are checked: it can be no flag."""
        found = self._commit_at(names.revision(rev))
        if found is None:
            raise UnknownRevision(f"no commit is known as {rev!r}")
        return found

    def has_commit(self, sha: str) -> bool:
        return self._commit_at(names.sha(sha)) is not None

    def commit_info(self, sha: str) -> CommitInfo:
        return self._reader.commit(names.sha(sha))

    def refs(self) -> dict[str, str]:
        """Where orders, journals and changes stand, by full name: one process for what `orders`, `journal_tips` and
        `changes.tips` would start one each."""
        return list_refs(self._git, names.ORDERS, names.JOURNAL, names.REVIEWS)

    def is_ancestor(self, a: str, b: str) -> bool:
        """Whether b contains a. False if either is no longer here."""
        if self._history.leads_to(a, b):  # no process for what is already known
            return True
        done = self._git.run("merge-base", "--is-ancestor", names.sha(a), names.sha(b))
        if done.code not in (0, 1):
            self._reader.refresh()
            if self.has_commit(a) and self.has_commit(b):
                raise GitFailed(f"git merge-base failed: {done.err}")
        return done.ok

    def history_rewritten(self, old_head: str, new_head: str) -> bool:
        """Whether the branch went on from old_head to new_head by anything else than new commits."""
        return not self.is_ancestor(old_head, new_head)

    def clusters(self, sha: str) -> Mapping[str, str]:
        """Cluster name → id of its input tree at this commit."""
        return self._folders(sha).clusters

    def input_of(self, sha: str, cluster: str) -> str | None:
        """The input tree of one cluster at a commit, mostly without listing the others; None: no such folder."""
        found = self._reader.lookup([f"{names.sha(sha)}:{names.CLUSTERS}/{names.cluster(cluster)}"])[0]
        if found is not None and found.kind == "tree":
            return found.id
        return self.clusters(sha).get(cluster)  # absent is not the same as not readable

    def problems(self, sha: str) -> list[RepoFile]:
        """Entries below clusters/ that look like a cluster and are none."""
        return list(self._folders(sha).problems)

    def revision_of(self, sha: str, cluster: str) -> str:
        """The first-parent commit that last changed (or removed) the cluster's input. Raises UnknownCluster."""
        return self._history.revision_of(names.sha(sha), names.cluster(cluster))

    def clusters_ever(self, sha: str) -> set[str]:
        """Every cluster that had a folder in some first-parent commit up to this one."""
        return {name for name in self._history.names(names.sha(sha)) if names.CLUSTER.fullmatch(name)}

    def log(self, sha: str, *, cluster: str | None = None, limit: int = 50) -> list[CommitInfo]:
        """First-parent commits, newest first; with a cluster those that changed its input."""
        paths = ("--", f"{names.CLUSTERS}/{names.cluster(cluster)}") if cluster is not None else ("--",)
        options = ("rev-list", "--first-parent", f"--max-count={int(limit)}")
        shas = self._git.must(*options, "--end-of-options", names.sha(sha), *paths).decode().split()
        commits = self._reader.commits(shas)
        return [commits[item] for item in shas]

    def files(self, sha: str, folder: str) -> list[RepoFile]:
        """Everything below a folder (such as `clusters/prod`), sorted by path; nothing if it is no folder."""
        entry = trees.find_entry(self._reader, self.commit_info(sha).tree, folder.split("/"))
        if entry is None or entry.mode != TREE:
            return []
        return trees.list_files(self._reader, entry.id, folder)

    def cluster_files(self, trees_of: Mapping[str, str]) -> dict[str, list[RepoFile]]:
        """As `files`, for the folders of many clusters together, named by their input trees."""
        tops = {f"{names.CLUSTERS}/{names.cluster(name)}": names.sha(tree) for name, tree in trees_of.items()}
        found = trees.list_folders(self._reader, tops)
        return {name: found[f"{names.CLUSTERS}/{name}"] for name in trees_of}

    def file(self, sha: str, path: str) -> RepoFile | None:
        """One file (such as `clusters/policy.yaml`); None: there is nothing at this path."""
        folder = path.rpartition("/")[0]
        entry = trees.find_entry(self._reader, self.commit_info(sha).tree, path.split("/"))
        if entry is None or entry.mode == TREE:
            return None
        return trees.describe_all(self._reader, [(folder, entry)])[0]

    def blobs(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Contents by id. Raises ObjectMissing: what should be there and is not is never taken as empty."""
        return self._reader.contents([names.sha(item) for item in ids], "blob")

    # Commits ---------------------------------------------------------------------------------------------------------

    def commit(
        self,
        *,
        onto: str | None,
        changes: Mapping[str, bytes | None],
        message: str,
        author: tuple[str, str],
        branch: str | None = None,
    ) -> str:
        """A commit on `onto` (None: the first of the branch) with files written or, with None, removed.

        The branch moves from `onto` or not at all: RefMoved says where it stands. Another `branch` than the one we
        were opened at is made if there is none. If nothing changes, `onto` is returned. Raises PathRefused, RefMoved,
        WorkTreeInTheWay and what `fetch` raises.
        """
        ref = f"refs/heads/{names.branch(branch if branch is not None else self.branch)}"
        parsed = {names.document_path(path): data for path, data in changes.items()}
        old_tree = self.commit_info(onto).tree if onto is not None else None
        tree, objects = trees.edit_tree(self._reader, old_tree, parsed)
        if onto is not None and (tree or EMPTY_TREE) == old_tree:
            tip = self._commit_at(ref)
            if tip != onto:
                raise RefMoved(f"{ref} has moved", ref=ref, tip=tip)
            return onto
        if tree is None:
            tree, objects = EMPTY_TREE, [new_object("tree", b"")]
        commit = new_commit(
            tree=tree,
            parents=[onto] if onto else [],
            author=author,
            committer=US,
            at=self._clock(),
            message=message,
        )
        self._refs.store([*objects, commit])
        # Another branch than ours may be born on any commit: a change starts on its base.
        born = branch not in (None, self.branch) and self._commit_at(ref) is None
        self._moves.move([RefUpdate(ref=ref, old=None if born else onto, new=commit.id)], self._refs.publish)
        return commit.id

    # Journal ---------------------------------------------------------------------------------------------------------

    def notes(self, cluster: str) -> NotesView:
        return self._journals.view(cluster)

    def let_go(self, cluster: str) -> None:
        """Keep nothing of this journal in memory: nobody will read it soon."""
        self._journals.let_go(cluster)

    def journal_tip(self, cluster: str) -> str | None:
        """Where the journal stands, without reading it; None: there is none."""
        return self._journals.tip(cluster)

    def journal_tips(self, listed: Mapping[str, str] | None = None) -> dict[str, str]:
        """Where each journal stands, by cluster, sorted; also of clusters that no longer have a folder. `listed`: as of
        `refs`."""
        refs = list_refs(self._git, names.JOURNAL) if listed is None else listed
        return {name: tip for name, tip in below(names.JOURNAL, refs).items() if names.CLUSTER.fullmatch(name)}

    def journal_clusters(self) -> list[str]:
        """Clusters that have a journal, whether or not they still have a folder."""
        return list(self.journal_tips())

    def append_notes(self, batch: Sequence[NotesAppend]) -> dict[str, NotesResult]:
        """Add lines to journals; each cluster is accepted or rejected alone. Accepted = durable.

        A rejection means another writer was faster: our lines stay under refs/instantstart/lost/, fetch and fold again.
        Raises SecretRefused and NameRefused before anything is written, and what `fetch` raises when no ref moved.
        """
        return self._journals.append(batch)

    def known_tip(self, cluster: str) -> str | None:
        """The newest tip of a journal that this writer once read whole or wrote, kept here beside the mirror."""
        return self._journals.known_tip(cluster)

    def keep_known(self, tips: Mapping[str, str | None]) -> None:
        """Keep them, by cluster, for `known_tip`."""
        self._journals.keep_known(tips)

    def keep_lost(self, cluster: str, tip: str) -> None:
        """Keep a journal that its ref no longer holds under refs/instantstart/lost/."""
        self._journals.keep_lost(cluster, tip)

    # Orders ----------------------------------------------------------------------------------------------------------

    def orders(self, listed: Mapping[str, str] | None = None) -> list[Order]:
        """`listed`: as of `refs`."""
        return self._orders.all(listed)

    def put_order(self, ulid: str, body: Mapping[str, Any], *, author: tuple[str, str] = US) -> None:
        self._orders.put(ulid, body, author)

    def remove_orders(self, ulids: Sequence[str]) -> None:
        self._orders.remove(ulids)

    # Housekeeping ----------------------------------------------------------------------------------------------------

    def maintain(self) -> None:
        """Pack what lies loose, a few objects for each journal commit. Deletes no object; for every hour or so."""
        self._git.must("repack", "--geometric=2", "-d", "-l", "-q", timeout=600.0)
        self._git.must("pack-refs", "--all")
        self._reader.refresh()

    # Helpers ---------------------------------------------------------------------------------------------------------

    def _commit_at(self, name: str) -> str | None:
        found = self._reader.lookup([f"{name}^{{commit}}"])[0]
        return found.id if found else None

    def _folders(self, sha: str) -> _Listed:
        """Folders below clusters/ and what is wrong there, cached by the tree of clusters/."""
        entry = trees.find_entry(self._reader, self.commit_info(sha).tree, [names.CLUSTERS])
        if entry is None:
            return _Listed()
        if entry.mode != TREE:
            return _Listed(problems=(trees.describe("", entry),))
        with self._lock:
            listed = self._listed.get(entry.id)
        if listed is None:
            listed = self._list_folders(entry.id)
            with self._lock:
                self._listed[entry.id] = listed
                while len(self._listed) > 4:
                    del self._listed[next(iter(self._listed))]
        return listed

    def _list_folders(self, tree: str) -> _Listed:
        folders: dict[str, str] = {}
        clusters: dict[str, str] = {}
        problems: list[RepoFile] = []
        known = next(reversed(self._listed.values()), _Listed()).clusters  # most names are those of the last time
        for entry in self._reader.trees([tree])[tree]:
            name = entry.name.decode("utf-8", "backslashreplace")
            if entry.mode == TREE:
                folders[name] = entry.id
                if name in known or names.CLUSTER.fullmatch(name):
                    clusters[name] = entry.id
                    continue
            if entry.mode.startswith("100"):
                continue  # such as policy.yaml; read by its own name
            file = trees.describe(names.CLUSTERS, entry)
            if entry.mode == TREE and file.problem is None:
                file = trees.invalid_cluster(file)
            problems.append(file)
        return _Listed(folders=MappingProxyType(folders), clusters=MappingProxyType(clusters), problems=tuple(problems))
