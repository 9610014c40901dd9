"""What can go wrong between us and a git repository.

    RetryLater        RemoteUnavailable · RemoteAuthFailed · RefMoved · ObjectMissing · GitFailed
    StopUntilChange   RepositoryRefused
    InvalidInput      NotARepository · UnknownRevision · UnknownCluster · PathRefused · NameRefused · SecretRefused ·
                      WorkTreeInTheWay

Messages are cut and redacted where they are made, so they may go into notes and logs.
"""

from __future__ import annotations

from schemas.errors import InvalidInput, NotFound, RetryLater, StopUntilChange


class GitFailed(RetryLater):
    """A git process failed in a way we have no better word for."""


class RemoteUnavailable(RetryLater):
    """The remote did not answer, or not to the end. A push may or may not have arrived: fetch before sending again."""


class RemoteAuthFailed(RetryLater):
    """The remote does not accept our credential. Not worth a second try within a tick."""


class RefMoved(RetryLater):
    """Somebody else was faster. `tip` is where the ref stands now, as far as we know; None: it does not exist."""

    def __init__(self, message: str, *, ref: str, tip: str | None) -> None:
        super().__init__(message)
        self.ref = ref
        self.tip = tip


class ObjectMissing(RetryLater):
    """An object the repository should have is not there (shallow clone, damage). Never to be read as "empty"."""


class RepositoryRefused(StopUntilChange):
    """What the remote holds is malformed (fsck), or it refuses what we ask for by rule."""


class NotARepository(InvalidInput):
    """The location is no git repository, or not one we accept."""


class UnknownRevision(NotFound):
    """No commit goes by this name here."""


class UnknownCluster(NotFound):
    """No commit up to this revision ever held a folder of this name."""


class PathRefused(InvalidInput):
    """A path that must not be written."""


class NameRefused(InvalidInput):
    """A ref, cluster, writer or id outside its character set."""


class SecretRefused(InvalidInput):
    """What looks like a secret was about to be written."""


class WorkTreeInTheWay(InvalidInput):
    """The branch is checked out, and changes not yet committed there would be overwritten."""
