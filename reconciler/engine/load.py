"""Step 2: documents of a revision, and of the revisions before it that still count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.config_repo.errors import ObjectMissing, UnknownRevision
from reconciler.desired.build import Desired
from reconciler.engine.library import Library
from reconciler.plan.limits import holds_counts, limits_of
from reconciler.plan.make import ADOPTABLE
from reconciler.plan.previous import together
from schemas.journal import ClusterStatus, Condition

if TYPE_CHECKING:  # reading documents needs no client of any cloud, and those take a second to import
    from reconciler.engine.scope import Scope

KEPT_BASE = 300  # revisions since the last Ready one that a rollout names


def load(scope: Scope, library: Library) -> None:
    """Fill in documents, resources, and what earlier revisions of this rollout wanted."""
    policy = library.policy(scope.policy_at or scope.head)
    scope.limits, scope.hold_counts = limits_of(policy.policy), holds_counts(policy.policy)
    scope.policy_problem = str(policy.problems[0]) if policy.problems else None
    if scope.input is not None:
        library.remember(scope.revision, scope.cluster, scope.input)
        aside = scope.policy_at is not None
        found = library.folder(scope.revision, scope.cluster) if aside else None
        scope.folder = found or library.current(scope.input, scope.cluster)
        scope.desired = scope.folder.desired
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
    known = [desired for desired in wanted if desired is not None and _was_applied(desired, status)]
    ready = bool(wanted) and wanted[0] is not None and revisions[0] == status.last_ready
    before = together([desired.resources for desired in known], ready=ready)
    scope.previous, scope.moved_fields = before.resources, before.moved
    for desired in known:
        scope.earlier.update({operation.identity: operation for operation in desired.operations})
    scope.baseline = _baseline(scope, library)
    scope.unprotected = _unprotected(scope, library)


def _was_applied(desired: Desired, status: ClusterStatus) -> bool:
    """False for a revision about other things than those that the journal says were adopted or made: nothing of it
    was done, and it says nothing about what is there."""
    for resource in desired.resources.values():
        if resource.type not in ADOPTABLE:
            continue
        known = status.adopted.get(resource.key)
        named = resource.name if resource.reference else resource.adopt
        if named != known and (known is not None or (named is not None and resource.key in status.refs)):
            return False
    return True


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
