"""Moving refs by compare-and-swap, here and on the remote.

With a remote the push comes first and our copy of the ref follows: so our copy never runs ahead of the remote, and a
crash in between costs nothing. A push that is not confirmed counts as not done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from reconciler.config_repo.errors import (
    RemoteAuthFailed,
    RemoteUnavailable,
    RepositoryRefused,
)
from reconciler.config_repo.objects import NewObject, pack
from reconciler.config_repo.pipe import Ended, Pipe
from reconciler.config_repo.process import REMOTE_TIMEOUT, Completed, Git, GitTimeout, remote_environment
from reconciler.config_repo.records import Credential, RefUpdate

NOWHERE = "0" * 40

_AUTH = (
    "authentication failed",
    "could not read username",
    "could not read password",
    "terminal prompts disabled",
    "permission denied",
    "invalid username or",
    "access denied",
    "not authorized",
    "host key verification failed",
    "returned error: 401",
    "returned error: 403",
    "repository not found",  # what forges say to strangers
)
_RENEW = "Renew INSTANTSTART_CREDENTIAL or the ssh key, and let it read and push this repository"
_BY_RULE = ("declined", "protected", "gh006", "gh013", "deny", "prohibited", "not allowed", "permission")
_MALFORMED = ("fsck error", "fsckobjects", "invalid index-pack output", "unpack-objects failed", "bad object")


class Refs:
    """Stores objects and moves refs, in the repository itself or, with `url`, on the remote and then here."""

    def __init__(self, git: Git, *, url: str | None, credential: Callable[[], Credential | None] | None) -> None:
        self._git = git
        self.url = url
        self._credential = credential
        self._lock = threading.Lock()
        self._fetch_lock = threading.Lock()
        self._mover: Pipe | None = None

    def close(self) -> None:
        with self._lock:
            self._end_mover()

    def store(self, objects: Sequence[NewObject]) -> None:
        """All objects by one process, flushed to disk before it ends; git checks each of them."""
        if objects:
            unique = list({item.id: item for item in objects}.values())
            self._git.must("unpack-objects", "-q", "--strict", stdin=pack(unique))

    def publish(self, updates: Sequence[RefUpdate]) -> dict[str, str | None]:
        """Move each ref on its own; None = moved, else why not. Raises if nobody can say (remote away, no rights)."""
        if self.url is None:
            return self._move(updates)
        verdicts = self._push(updates)
        self._move([u for u in updates if verdicts[u.ref] is None])  # a fetch in between may have been faster: fine
        return verdicts

    def publish_together(self, updates: Sequence[RefUpdate]) -> dict[str, str | None]:
        """Move all of these refs or none; empty = moved, else which did not, and why.

        A remote that cannot do that gets them one after the other, in this order, up to the first that it refuses:
        whoever calls puts first what the others follow from, and can finish what was left."""
        if self.url is None:
            with self._lock:
                said = self._transact(updates)
            return {} if said is None else {_named(updates, said): said}
        try:
            verdicts = self._push(updates, "--atomic")
        except RemoteUnavailable as error:
            if "does not support --atomic" not in error.message:
                raise
            return self._one_by_one(updates)
        rejected: dict[str, str | None] = {ref: said for ref, said in verdicts.items() if said is not None}
        if not rejected:
            self._move(updates)
        # Those that only fell with the others say so.
        return {ref: said for ref, said in rejected.items() if said is None or "atomic" not in said} or rejected

    def _one_by_one(self, updates: Sequence[RefUpdate]) -> dict[str, str | None]:
        for update in updates:
            said = self._push([update])[update.ref]
            if said is not None:
                return {update.ref: said}
            self._move([update])
        return {}

    def keep_here(self, updates: Sequence[RefUpdate]) -> None:
        """Refs that are nobody else's business."""
        self._move(updates)

    def fetch(self, refspecs: Sequence[str]) -> None:
        """One fetch of everything; refs that are gone on the remote go here too."""
        if self.url is None:
            return
        options = ("--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance")
        with self._fetch_lock:
            done = self._remote("fetch", *options, "--end-of-options", self.url, *refspecs)
            if not done.ok and "cannot lock ref" in done.err:  # another process of ours is at the same mirror
                done = self._remote("fetch", *options, "--end-of-options", self.url, *refspecs)
        if not done.ok:
            raise _remote_error(done)

    def _push(self, updates: Sequence[RefUpdate], *more: str) -> dict[str, str | None]:
        leases = [f"--force-with-lease={u.ref}:{u.old or ''}" for u in updates]
        specs = [f"{u.new or ''}:{u.ref}" for u in updates]
        done = self._remote(
            "push", "--porcelain", "--no-verify", *more, *leases, "--end-of-options", self.url or "", *specs
        )
        verdicts = parse_push(done.out)
        if not any(u.ref in verdicts for u in updates):
            raise _remote_error(done)
        missing = f"the remote did not answer for this ref: {done.err}"
        return {u.ref: verdicts.get(u.ref, missing) for u in updates}

    def _remote(self, *args: str) -> Completed:
        env = remote_environment(self.url or "", self._credential() if self._credential else None)
        try:
            return self._git.run(*args, timeout=REMOTE_TIMEOUT, env=env)
        except GitTimeout as error:
            raise RemoteUnavailable(f"the remote did not answer in time: {error.message}") from error

    def _move(self, updates: Sequence[RefUpdate]) -> dict[str, str | None]:
        """Together if possible; one that cannot move makes each try alone, so that it does not hold back the others."""
        if not updates:
            return {}
        with self._lock:
            together = self._transact(updates)
            if together is None or len(updates) == 1:
                return {u.ref: together for u in updates}
            return {u.ref: self._transact([u]) for u in updates}

    def _transact(self, updates: Sequence[RefUpdate]) -> str | None:
        """All of these refs or none; None = moved, else git's words. The process stays until it fails."""
        if self._mover is not None and not self._mover.alive:
            self._end_mover()
        if self._mover is None:
            self._mover = Pipe(self._git, "update-ref", "--stdin", "-z")
        moves = "".join(f"update {u.ref}\0{u.new or NOWHERE}\0{u.old or NOWHERE}\0" for u in updates)
        try:
            self._mover.send(f"start\0{moves}prepare\0commit\0".encode())
            for _ in ("start", "prepare", "commit"):
                self._mover.line()
        except Ended as error:
            self._end_mover()
            return str(error)
        except BaseException:
            self._end_mover()
            raise
        return None

    def _end_mover(self) -> None:
        if self._mover is not None:
            self._mover.end()
            self._mover = None


def _named(updates: Sequence[RefUpdate], rejected: str) -> str:
    """The ref that git's words are about."""
    return next((update.ref for update in updates if update.ref in rejected), updates[0].ref)


def parse_push(out: bytes) -> dict[str, str | None]:
    """The verdict for each ref of `git push --porcelain`. Any spelling of a rejection is one: only the flag counts."""
    verdicts: dict[str, str | None] = {}
    for line in out.decode("utf-8", "replace").splitlines():
        flag, *rest = line.split("\t")
        if len(rest) != 2 or len(flag) != 1:
            continue
        ref = rest[0].rpartition(":")[2]
        verdicts[ref] = rest[1].strip() or "rejected" if flag == "!" else None
    return verdicts


def advice(rejected: str) -> str:
    """What a rejection in these words means for whoever reads it. Only words: no decision is made by them."""
    said = rejected.lower()
    if "shallow" in said:
        return "the remote takes no pushes that need its missing history: make it a full repository"
    if any(words in said for words in _BY_RULE):
        return "the remote refuses by rule: let this writer push refs/notes/instantstart/* and refs/instantstart/*"
    return "another writer was faster: the journal is read again before anything else"


def _remote_error(done: Completed) -> Exception:
    said = done.err or f"exit code {done.code}"
    if "dubious ownership" in said:
        # Git would run that folder's hooks as us. Opened as a folder it runs none, so there is a way.
        hint = "change its owner, or name it as a folder, without file://"
        return RepositoryRefused(f"the remote repository belongs to another user of this machine: {hint}")
    if any(words in said.lower() for words in _AUTH):
        return RemoteAuthFailed(f"the remote refuses our credential: {said}. {_RENEW}")
    if any(words in said.lower() for words in _MALFORMED):
        return RepositoryRefused(f"the remote repository is malformed: {said}")
    return RemoteUnavailable(f"the remote cannot be reached: {said}")
