"""What a revision does to all its clusters together: limits of the policy hold for the whole of it, also where only
some of the clusters are due, or only one was asked for."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine import open as opening
from reconciler.engine.memory import Memory
from reconciler.engine.scope import Scope
from reconciler.live.clock import Clock
from reconciler.plan.gates import Fleet, Spent, fleet_of, spent
from schemas.errors import InstantStartError
from schemas.plan import Plan

log = logging.getLogger(__name__)


def fleets_of(scopes: Sequence[Scope], memories: Mapping[str, Memory]) -> dict[str, Fleet]:
    """By revision. Clusters that are not due now count with what was planned for them last."""
    seen = {scope.cluster: scope.observed for scope in scopes}
    revisions = {scope.revision for scope in scopes}
    plans: dict[str, dict[str, Plan]] = {revision: {} for revision in revisions}
    for name, memory in memories.items():
        if memory.plan is not None and memory.plan.revision in revisions:
            plans[memory.plan.revision][name] = memory.plan
    new = frozenset(name for name, memory in memories.items() if memory.fold.ready is None)
    looks = {name: seen.get(name, memory.seen) for name, memory in memories.items()}
    return {
        revision: fleet_of(found, looks, new, {name: _spent(plan, found, memories) for name, plan in found.items()})
        for revision, found in plans.items()
    }


def _spent(plan: Plan, fleet: Iterable[str], memories: Mapping[str, Memory]) -> Spent:
    """Where another revision is still the journal's, this one has done nothing yet. What it did to one cluster
    counts until all of the fleet were Ready: the others would slip under a limit, one after the other. To be born
    changes nothing."""
    fold = memories[plan.cluster].fold
    if fold.rollout is None or fold.rollout.rev != plan.revision:
        return Spent()
    through = all(memories[name].fold.ready == plan.revision for name in fleet)
    born = fold.rollout.ready is None
    return spent(fold.status(), plan, None if through or born else fold.rollout.seq)


class Beside:
    """Clusters that nobody asked for and that the revisions of those asked for change too. They are planned without a
    word, each once: what was planned last counts from then on."""

    def __init__(self, repo: ConfigRepo, memories: dict[str, Memory], clock: Clock) -> None:
        self._repo = repo
        self._memories = memories
        self._clock = clock
        self._planned: dict[str, str] = {}  # the revision, by cluster

    def open(self, others: Iterable[str], scopes: Sequence[Scope], head: str, tips: opening.Tips) -> list[Scope]:
        """Scopes that are still to be planned."""
        revisions = {scope.revision for scope in scopes if scope.plan is not None and scope.plan.actions}
        found: list[Scope] = []
        for name in others if revisions else ():
            try:
                at = self._repo.revision_of(head, name)
                if at in revisions and self._planned.get(name) != at:
                    found.append(opening.open_scope(self._repo, name, head, self._memories, self._clock, tips))
                    self._planned[name] = at
            except InstantStartError as error:  # told when it is that cluster's turn
                log.warning("what this revision does to %s is not known: %s", name, error.message)
        return found

    def forget(self, name: str) -> None:
        self._planned.pop(name, None)
