"""What a change would do: the commit that its merge would be, made on no ref, with documents, plan and gates of every
cluster that it touches.

A foresight is bound to what it was made from: where the branch stood, the change's head, and what was live. It is made
again when any of them moved, and its digest says whether what a reviewer saw is still what would happen.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from reconciler.changes import combining
from reconciler.changes.editing import clusters_of
from reconciler.config_repo.repo import ConfigRepo
from reconciler.edits.problems import EditConflict, EditRefused
from reconciler.engine.foresight import foresee
from reconciler.engine.scope import Scope
from reconciler.engine.tick import Engine
from reconciler.journal.changes import Change
from schemas.documents.load import load_policy
from schemas.documents.policy import POLICY_PATH
from schemas.documents.problems import Problem
from schemas.documents.records import SourceFile
from schemas.errors import FieldConflict, InvalidInput
from schemas.plan import Action, Plan, Refusal
from schemas.values import digest

log = logging.getLogger(__name__)
FRESH: Final = 20.0  # seconds of the engine's clock for which a look at the world may be shown again
_KEPT: Final = 64
_US: Final = ("InstantStart", "instantstart@localhost")


@dataclass(frozen=True, kw_only=True)
class Foresight:
    """`main`: where the branch stood; `commit`: what the merge would be, None where there is a conflict. `files`: those
    that would change, path → blob as proposed. `scopes`: one for each cluster, gates included. `introduced`: by
    cluster, digests of actions that are planned because of this change and not without it; `impossible`: what is
    refused because of it. `problems`: of documents
    and policy as they would be; `refused`: why the change cannot be laid over the branch, where no field conflicts."""

    main: str
    head: str
    commit: str | None
    files: Mapping[str, str | None]
    looked_at: datetime
    scopes: Mapping[str, Scope] = field(default_factory=dict[str, Scope])
    introduced: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    impossible: Mapping[str, tuple[Refusal, ...]] = field(default_factory=dict[str, tuple[Refusal, ...]])
    problems: tuple[Problem, ...] = ()
    conflicts: tuple[FieldConflict, ...] = ()
    refused: str | None = None

    @property
    def digest(self) -> str:
        """Of what a reviewer says yes to: the files as proposed, and everything that would be done because of them."""
        actions = {cluster: sorted(found) for cluster, found in self.introduced.items()}
        return digest({"head": self.head, "files": self.files_digest, "actions": actions})

    @property
    def files_digest(self) -> str:
        return digest(dict(self.files))

    @property
    def unplanned(self) -> dict[str, str]:
        """Clusters of which nobody can say what would be done, and why."""
        told: dict[str, str] = {}
        for cluster, scope in self.scopes.items():
            if scope.plan is None and not (scope.folder is not None and scope.folder.problems):
                blind = scope.blind.message if scope.blind is not None else "nothing could be looked at"
                told[cluster] = scope.problem or scope.policy_problem or blind
        return told

    def actions(self, cluster: str) -> list[Action]:
        """Those that the change brings."""
        plan = self.scopes[cluster].plan
        return [a for a in plan.actions if a.digest in self.introduced[cluster]] if plan is not None else []


class Foresights:
    """Makes them, and keeps the newest for a while."""

    def __init__(self, repo: ConfigRepo, engine: Engine) -> None:
        self._repo = repo
        self._engine = engine
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], Foresight] = {}
        self._commits: dict[tuple[str, str], str] = {}

    def of(self, change: Change, main: str, *, fresh: bool) -> Foresight:
        """`fresh`: look again, however short ago it was. What is kept is never of another head or branch."""
        key = (main, change.head)
        with self._lock:
            known = self._kept.get(key)
        now = self._engine.clock.now()
        if not fresh and known is not None and (now - known.looked_at).total_seconds() < FRESH:
            return known
        made = self._make(change, main, now)
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = made
            while len(self._kept) > _KEPT:
                del self._kept[next(iter(self._kept))]
        return made

    def _make(self, change: Change, main: str, now: datetime) -> Foresight:
        files = {path: after for path, (_, after) in combining.proposed(self._repo, change.base, change.head).items()}
        empty = Foresight(main=main, head=change.head, commit=None, files=files, looked_at=now)
        try:
            over = combining.laid_over(self._repo, change.base, change.head, main)
            commit = self._commit(change, main, over)
        except EditConflict as error:
            return dataclasses.replace(empty, conflicts=error.conflicts)
        except (EditRefused, InvalidInput) as error:
            return dataclasses.replace(empty, refused=error.message)
        clusters = clusters_of(self._repo.changes.changed_files(main, commit))
        scopes = foresee(self._engine, clusters, commit, main)
        without = self._without(scopes, main)
        return dataclasses.replace(
            empty,
            commit=commit,
            scopes=scopes,
            introduced={c: _digests(scope.plan) - _digests(without.get(c)) for c, scope in scopes.items()},
            impossible={c: _more(scope.plan, without.get(c)) for c, scope in scopes.items()},
            problems=tuple(self._problems(commit, scopes.values(), over)),
        )

    def _commit(self, change: Change, main: str, over: combining.Laid) -> str:
        with self._lock:
            known = self._commits.get((main, change.head))
        if known is not None and self._repo.has_commit(known):
            return known
        made = self._repo.changes.store_commit(
            parents=[main, change.head], changes=over, message=f"What change {change.id} would be", author=_US
        )
        with self._lock:
            self._commits[main, change.head] = made
            while len(self._commits) > 10 * _KEPT:
                del self._commits[next(iter(self._commits))]
        return made

    def _without(self, scopes: Mapping[str, Scope], main: str) -> dict[str, Plan]:
        """What is planned at the branch's head, by cluster, as the loop saw it last or looked at now. What waits there
        already is not the change's doing."""
        there = self._repo.clusters(main)
        known: dict[str, Plan] = {}
        for cluster in scopes:
            sight = self._engine.sights.get(cluster)
            plan = sight.plan if sight is not None else None
            if plan is not None and cluster in there and plan.revision == self._repo.revision_of(main, cluster):
                known[cluster] = plan
        left = [cluster for cluster in scopes if cluster not in known and cluster in there]
        for cluster, scope in foresee(self._engine, left, main, main).items() if left else ():
            if scope.plan is not None:
                known[cluster] = scope.plan
        return known

    def _problems(self, commit: str, scopes: Iterable[Scope], over: combining.Laid) -> list[Problem]:
        found = [problem for scope in scopes if scope.folder is not None for problem in scope.folder.problems]
        policy = over.get(POLICY_PATH)
        if policy is not None:
            found += load_policy(SourceFile(path=POLICY_PATH, data=policy)).problems
        return found


def _digests(plan: Plan | None) -> frozenset[str]:
    return frozenset(action.digest for action in plan.actions) if plan is not None else frozenset()


def _more(plan: Plan | None, without: Plan | None) -> tuple[Refusal, ...]:
    """Refusals that are not there without the change."""
    known = {(one.key, one.reason, one.message) for one in without.refusals} if without is not None else set[object]()
    return tuple(one for one in plan.refusals if (one.key, one.reason, one.message) not in known) if plan else ()
