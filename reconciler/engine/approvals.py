"""Approvals as they stand in the repository: those of changes, read from their signed lines, and those of orders, which
are in the cluster's journal.

Reading costs one process for all refs of changes; only changes whose lines moved are read again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.signing import Signing
from reconciler.journal import changes
from reconciler.plan.approvals import Approval
from schemas.errors import InstantStartError
from schemas.journal import ClusterStatus
from schemas.plan import Finding, Severity

FROM_ORDER = "order"


@dataclass(frozen=True, kw_only=True)
class _Read:
    """What one change says at a tip of its lines."""

    tip: str
    approvals: tuple[Approval, ...]
    rejected: tuple[tuple[str, str], ...]  # cluster, what is wrong


@dataclass(frozen=True, kw_only=True)
class Approvals:
    """All approvals of changes at one moment, expired ones too. `rejected`: lines that would be one, by cluster."""

    approvals: tuple[Approval, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()

    def findings(self, cluster: str) -> list[Finding]:
        return [
            Finding(severity=Severity.WARNING, reason="ApprovalIgnored", message=text)
            for name, text in self.rejected
            if name == cluster
        ]

    def news(self, before: Approvals) -> set[str]:
        """Clusters about which something is approved that was not before, or no longer is."""
        if self.approvals == before.approvals:
            return set()
        now, then = ({one.source: one for one in told.approvals} for told in (self, before))
        moved = now.keys() ^ then.keys()
        return {cluster for source in moved for cluster in (now.get(source) or then[source]).actions}


class ApprovalReader:
    """Thread-safe. `all()` reads what others wrote since; `listed`: as of `ConfigRepo.refs`."""

    def __init__(self, repo: ConfigRepo, signing: Signing) -> None:
        self._repo = repo
        self._signing = signing
        self._lock = threading.Lock()
        self._known: dict[str, _Read] = {}

    def all(self, listed: Mapping[str, str] | None = None) -> Approvals:
        tips = self._repo.changes.tips(listed)
        with self._lock:
            known = self._known
        read = {change: known.get(change) for change in tips}
        now = {
            change: found if found is not None and found.tip == tips[change] else self._of(change, tips[change])
            for change, found in read.items()
        }
        with self._lock:
            self._known = now
        return Approvals(
            approvals=tuple(one for found in now.values() for one in found.approvals),
            rejected=tuple(one for found in now.values() for one in found.rejected),
        )

    def _of(self, change: str, tip: str) -> _Read:
        try:
            view = self._repo.changes.notes(change)
            found = changes.fold(change, view.entries, self._signing.is_signed)
        except InstantStartError:
            return _Read(tip=tip, approvals=(), rejected=())  # who opens the change is told
        return _Read(tip=view.tip or tip, approvals=of_change(found), rejected=rejected_of(found))


def of_change(change: changes.Change) -> tuple[Approval, ...]:
    """What its approvals let pass. Of a change that was closed without a merge: nothing."""
    if change.close is not None and change.merge is None:
        return ()
    return tuple(
        Approval(
            source=f"change {change.id} line {line.seq}",
            by=line.by,
            expires=datetime.fromisoformat(line.expires),
            actions={cluster: frozenset(digests) for cluster, digests in line.actions.items()},
        )
        for line in change.approvals
    )


def rejected_of(change: changes.Change) -> tuple[tuple[str, str], ...]:
    return tuple((cluster, f"change {change.id}: {told}") for told in change.rejected for cluster in told.clusters)


def of_orders(cluster: str, status: ClusterStatus) -> Iterable[Approval]:
    """Words to the engine that its journal holds. One from before words had an expiry has none."""
    for digest in status.approved:
        for let in status.lets.get(digest, ()):
            yield Approval(
                source=f"{FROM_ORDER} {let.order}".strip(),
                by=let.by or FROM_ORDER,
                expires=datetime.fromisoformat(let.until) if let.until else None,
                actions={cluster: frozenset({digest})},
                ordered=True,
            )
        if digest not in status.lets:
            actions = {cluster: frozenset({digest})}
            yield Approval(source=FROM_ORDER, by=FROM_ORDER, expires=None, actions=actions, ordered=True)
