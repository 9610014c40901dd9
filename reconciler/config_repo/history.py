"""Which commit last changed a cluster: the cluster's revision.

Along first parents only: what a merge brought in belongs to the merge. A new head costs the steps from the last head
we know, each a look at two tree ids; only the first time is the whole history walked, by git.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from reconciler.config_repo import names
from reconciler.config_repo.errors import UnknownCluster
from reconciler.config_repo.process import Git
from reconciler.config_repo.reader import Reader

_STEPS = 50
_KEPT = 8
_TIMEOUT = 600.0


class History:
    """`folders(sha)` gives the trees of all folders below clusters/, valid names or not; `head()` where the branch
    stands: commits that are looked at and never get there (what a change would become) are no part of its line."""

    def __init__(
        self,
        git: Git,
        reader: Reader,
        folders: Callable[[str], Mapping[str, str]],
        head: Callable[[], str | None],
    ) -> None:
        self._git = git
        self._head = head
        self._reader = reader
        self._folders = folders
        self._lock = threading.Lock()
        self._known: dict[str, dict[str, str]] = {}
        self._line_end = ""
        self._line: set[str] = set()  # commits on the first-parent line that ends there, those that changed clusters
        self._after: dict[str, tuple[frozenset[str], str]] = {}  # commit → those on the way to it, from where

    def revision_of(self, sha: str, cluster: str) -> str:
        revisions = self._at(sha)
        if cluster not in revisions:
            raise UnknownCluster(f"there is no cluster {cluster!r}, and up to {sha[:12]} there never was")
        return revisions[cluster]

    def names(self, sha: str) -> set[str]:
        """Folders that there ever were."""
        return set(self._at(sha))

    def _at(self, sha: str) -> dict[str, str]:
        with self._lock:
            revisions = self._known.pop(sha, None)
            if revisions is None:
                revisions = self._advance(sha)
            self._known[sha] = revisions  # last used, last forgotten
            while len(self._known) > _KEPT:
                oldest = next(iter(self._known))
                del self._known[oldest]
                self._after.pop(oldest, None)
            return revisions

    def leads_to(self, a: str, b: str) -> bool:
        """True: a is a commit on the first-parent line of b. False: nobody looked, or it is not."""
        with self._lock:
            while b != self._line_end and b in self._after:
                commits, b = self._after[b][0], self._after[b][1]
                if a in commits:
                    return True
            return self._line_end == b and a in self._line

    def _advance(self, sha: str) -> dict[str, str]:
        changes: list[tuple[str, set[str]]] = []
        at = sha
        for _ in range(_STEPS):
            if not self._known:
                break
            parents = self._reader.commit(at).parents
            if not parents or (parents[0] not in self._known and self._reader.lookup([parents[0]])[0] is None):
                break
            changes.append((at, _differ(self._folders(parents[0]), self._folders(at))))
            at = parents[0]
            if at in self._known:
                revisions = dict(self._known[at])
                for commit, clusters in reversed(changes):
                    revisions |= dict.fromkeys(clusters, commit)
                self._after[sha] = frozenset(commit for commit, _ in changes), at
                if sha == self._head():
                    self._extend(sha)
                return revisions
        return self._walk(sha)

    def _extend(self, head: str) -> None:
        """Make the line end here, if there is a known way from its end."""
        way: list[str] = []
        at = head
        while at != self._line_end and at in self._after:
            way.append(at)
            at = self._after[at][1]
        if at == self._line_end:
            for commit in way:
                self._line.update(self._after.pop(commit)[0])
            self._line_end = head

    def _walk(self, sha: str) -> dict[str, str]:
        chain = self._git.must(
            "rev-list", "--first-parent", "--parents", "--end-of-options", sha, "--", names.CLUSTERS, timeout=_TIMEOUT
        )
        # A commit with one parent named is compared with that one only, also if it is a merge.
        pairs = b"".join(b" ".join(line.split()[:2]) + b"\n" for line in chain.splitlines())
        diff = ("diff-tree", "--stdin", "--root", "-m", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff")
        out = self._git.must(*diff, "--", names.CLUSTERS, stdin=pairs, timeout=_TIMEOUT)
        self._line_end, self._line = sha, {sha, *(line[:40].decode() for line in pairs.splitlines())}
        revisions: dict[str, str] = {}
        commit = ""
        for token in out.split(b"\0"):
            text = token.decode("utf-8", "backslashreplace").strip("\n")
            parts = text.split("/")
            if names.SHA.match(text) and parts[0] != names.CLUSTERS:
                commit = text[:40]
            elif len(parts) > 2:
                revisions.setdefault(parts[1], commit)
        return revisions


def _differ(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    if before is after:
        return set()
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
