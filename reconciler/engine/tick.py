"""The tick: open, catch up, load, look, plan, gate, rollout, orders, gate, resolve, draft, publish, send, record,
publish. One file per step.

Nothing blocks, and nothing counts that the journal does not have. A tick in which nothing moved writes nothing.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ulid import ULID

from reconciler.config_repo.errors import RemoteAuthFailed
from reconciler.config_repo.records import Order
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine import act, doubt, gate, look, orders, planning, record, resolve, rollout, sight, workloads
from reconciler.engine import load as loading
from reconciler.engine import open as opening
from reconciler.engine.approvals import ApprovalReader, Approvals
from reconciler.engine.kubes import Kubes
from reconciler.engine.library import Library
from reconciler.engine.memory import Memory
from reconciler.engine.preflight import Preflight
from reconciler.engine.scope import Scope
from reconciler.engine.sight import Sight
from reconciler.engine.signing import Signing
from reconciler.engine.trouble import trouble_of
from reconciler.engine.wake import next_wake
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.clock import Clock
from reconciler.plan.gates import Fleet, Spent, fleet_of, spent
from reconciler.resources.handler import Handler
from schemas.errors import InstantStartError, InvalidInput
from schemas.plan import Plan

FAMILIES = 16
NOBODY = 600.0  # seconds before it is tried again to see whether a cluster that nobody tells of has left something
LONGEST_DENIED = 900.0
AFTER_PROBLEM = 5.0  # seconds before a cluster that could not be worked on is tried again; longer every time
MAINTAIN = 1000  # journal commits, each of some five objects
AFTER_GONE = 3600.0  # seconds for which a cluster that is gone is remembered
log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Result:
    """What a tick did. `wake`: seconds until the next one is worth while; `problem`: why it could do nothing;
    `problems`: clusters that could not be worked on, and why; `notes`: what a person should know that is about none of
    them; `seconds`: real ones that it took, as the loop saw."""

    head: str | None = None
    clusters: list[str] = field(default_factory=list[str])
    sent: int = 0
    lines: int = 0
    wake: float = 60.0
    problem: str | None = None
    problems: dict[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list[str])


class Engine:
    """Holds what a process needs to tick: repository, clients, handlers, clock, and memories that may be lost.
    `on_lines` is called in the middle of a tick whenever lines have become durable; it must not block."""

    def __init__(
        self,
        *,
        repo: ConfigRepo,
        accounts: AwsAccounts,
        handlers: Sequence[Handler],
        clock: Clock,
        pool: Executor,
        state_dir: Path,
        writer: str,
        poll: float = 60.0,
        new_op: Callable[[], str] | None = None,
        preflight: Preflight | None = None,
    ) -> None:
        self.repo = repo
        self.accounts = accounts
        self.handlers = handlers
        self.clock = clock
        self.pool = pool
        self.writer = writer
        self.poll = poll
        self.library = Library(repo, state_dir / "cache" / "documents")
        self.kubes = Kubes(accounts)
        self.signing = Signing(state_dir)
        self.approvals = ApprovalReader(repo, self.signing)
        self.preflight = preflight
        self.memories: dict[str, Memory] = {}
        self.sights: dict[str, Sight] = {}  # for readers in other threads: each is replaced whole
        self._approvals = Approvals()  # as of the newest tick
        self._gone: dict[str, str] = {}
        self._beside: dict[str, str] = {}  # revisions planned for clusters that nobody asked for
        self._loose = 0  # journal commits since the repository was packed
        # Clusters wait for their families: in one pool, enough clusters would wait for each other for ever.
        self._families = ThreadPoolExecutor(max_workers=FAMILIES, thread_name_prefix="look")
        self._cache = str(state_dir / "cache")
        self.new_op = new_op or (lambda: str(ULID.from_datetime(clock.now())))
        self.lock = threading.Lock()
        self._denied = 0  # times in a row that the remote refused our credential
        self.problem: str | None = None  # why the newest tick could do nothing for anybody
        self.on_lines: Callable[[], None] | None = None

    def tick(self, only: Iterable[str] | None = None) -> Result:
        """One pass over the clusters that are due (or over `only`). Raises nothing of ours: problems are told."""
        result = self._fetch_and_tick(only)
        self.problem = result.problem
        return result

    def _fetch_and_tick(self, only: Iterable[str] | None) -> Result:
        with self.lock:
            try:
                self.repo.fetch()
                head = self.repo.head()
            except InstantStartError as error:
                return Result(problem=f"{error.reason}: {error.message}", wake=self._wait_for_remote(error))
            self._denied = 0
            if head is None:
                text = f"no commits on branch {self.repo.branch} yet: make one, or run instantstart init"
                return Result(problem=text, wake=self.poll)
            try:
                return self._tick(head, None if only is None else set(only))
            except InstantStartError as error:
                self._distrust()
                return Result(head=head, problem=f"{error.reason}: {error.message}", wake=self.poll)
            except BaseException:
                self._distrust()
                raise

    def observe(self, cluster: str) -> Scope:
        """Look and plan without writing or sending anything: what `plan` and `status` show."""
        head = self.repo.head()
        if head is None:
            raise InvalidInput(f"no commits on branch {self.repo.branch} yet", reason="NoCommits")
        return self.observe_at(cluster, head)

    def observe_at(self, cluster: str, revision: str) -> Scope:
        """As `observe`, for what another revision wants."""
        with self.lock:  # a tick and a look share what is remembered of a cluster
            scope = opening.open_scope(self.repo, cluster, revision, self.memories, self.clock)
            scope.approvals = self.approvals.all()
            self.see(scope)
            plans = {cluster: scope.plan} if scope.plan else {}
            gone = {name: spent(scope.status, plan) for name, plan in plans.items()}
            gate.gate(scope, fleet_of(plans, {cluster: scope.observed}, gone=gone), self.clock.now())
            return scope

    def close(self) -> None:
        self._families.shutdown(wait=True)
        self.kubes.close()
        self.accounts.close()
        self.repo.close()

    def _wait_for_remote(self, error: InstantStartError) -> float:
        """A credential that is refused again and again locks accounts: ask less and less often."""
        if not isinstance(error, RemoteAuthFailed):
            return self.poll
        self._denied += 1
        return min(self.poll * 2.0 ** min(self._denied - 1, 10), max(self.poll, LONGEST_DENIED))

    # Steps -----------------------------------------------------------------------------------------------------------

    def _tick(self, head: str, only: set[str] | None) -> Result:
        refs = self.repo.refs()
        given = self.repo.orders(refs)
        ordered = {str(order.body.get("cluster")) for order in given if order.problem is None}
        approvals = self.approvals.all(refs)
        ordered |= approvals.news(self._approvals)
        self._approvals = approvals
        tips = self.repo.journal_tips(refs)
        there = opening.clusters(self.repo, head, self.memories, tips, self._gone)
        known = [name for name in there if only is None or name in only]
        names = [name for name in known if self._is_due(name, head, name in ordered)]
        result = Result(head=head, clusters=names)
        self._prepare(names, head)
        everyone = self._open(names, head, tips, result)
        for scope in everyone:
            scope.approvals = approvals
        list(self.pool.map(self._try_to_see, _well(everyone)))
        scopes = _well(everyone)
        if only is not None:
            self._see_beside([name for name in there if name not in only], scopes, head, tips)
        fleets = self._fleets(scopes)
        taken: dict[str, list[str]] = {}
        drafts: dict[str, list[act.Draft]] = {}
        for scope in scopes:
            self._try(scope, self._write, scope, fleets, given, taken, drafts)
        for scope in _well(scopes):
            scope.mark_intents()
        result.lines += self._publish(_well(scopes))
        alive = _well(scopes)
        done = [ulid for scope in alive for ulid in taken[scope.cluster]]
        strays = orders.strays(given, there, self.clock.now())
        result.notes += strays.values()
        if done or strays:
            self._remove_orders([*done, *strays])

        result.sent = self._act(alive, drafts)
        result.lines += self._publish(_well(alive), replies=True)
        for scope in everyone:
            scope.memory.head = head
            if scope.problem is None:  # else the fold may know of ends that the journal does not
                scope.memory.forget_ended()
            if scope.nothing_here and not doubt.may_be_there(scope):
                scope.memory.nothing_left = scope.revision
            scope.memory.wake = self.clock.now().timestamp() + self._pause(scope)
            if not scope.nothing_here:
                self.sights[scope.cluster] = sight.of(scope, self.clock.iso())
        self._forget_gone()
        self._tidy()
        result.problems |= {scope.cluster: scope.problem for scope in everyone if scope.problem is not None}
        result.wake = self._soonest(known)
        return result

    def _prepare(self, names: Sequence[str], head: str) -> None:
        """Read the documents of many clusters together: only faster than each alone, as at a start."""
        trees = self.repo.clusters(head)
        try:
            if len(names) > 1:
                self.library.prepare({name: trees[name] for name in names if name in trees})
        except Exception:  # whose documents these are is told when each is read alone
            log.warning("documents could not be read together", exc_info=True)

    def _open(self, names: Iterable[str], head: str, tips: opening.Tips, result: Result) -> list[Scope]:
        scopes: list[Scope] = []
        for name in names:
            try:
                scope = opening.open_scope(self.repo, name, head, self.memories, self.clock, tips)
                doubt.keep(self.repo, [scope.memory])
            except Exception as error:
                if not isinstance(error, InstantStartError):
                    log.exception("opening %s broke", name)
                self._leave_alone(name, error, result)
                continue
            if scope.status.broken is not None:
                scope.problem = f"the journal is broken: {scope.status.msg}"
            scopes.append(scope)
        return scopes

    def _leave_alone(self, name: str, error: Exception, result: Result) -> None:
        """A cluster that could not even be opened."""
        trouble = trouble_of(error)
        problem = result.problems[name] = str(trouble)
        memory = self.memories.get(name)
        if memory is None:
            return
        memory.trouble = trouble
        memory.wake = self.clock.now().timestamp() + self._rest(memory)
        known = self.sights.get(name)
        if known is not None:
            self.sights[name] = sight.left_alone(known, memory.status(), problem, self.clock.iso())

    def _write(
        self,
        scope: Scope,
        fleets: Mapping[str, Fleet],
        given: Sequence[Order],
        taken: dict[str, list[str]],
        drafts: dict[str, list[act.Draft]],
    ) -> None:
        """Everything that is decided and written about one cluster before anything is sent."""
        self._decide(scope, fleets[scope.revision])
        now = self.clock.now()
        taken[scope.cluster] = orders.take(scope, given, now, self.signing)
        gate.gate(scope, scope.fleet, now)
        resolve.resolve(scope, self.handlers, self.clock)
        gate.record_holds(scope)
        drafts[scope.cluster] = act.draft(scope, self.handlers, self.clock, self.new_op)
        record.record_stages(scope)

    def _try(self, scope: Scope, step: Callable[..., None], *args: Any) -> None:
        """A cluster that cannot be worked on is left alone in this tick; the others go on."""
        try:
            step(*args)
        except Exception as error:
            if not isinstance(error, InstantStartError):
                log.exception("a tick of %s broke", scope.cluster)
            scope.give_up(trouble_of(error))

    def _publish(self, scopes: Sequence[Scope], *, replies: bool = False) -> int:
        """Returns how many lines are on the remote now."""
        count = {scope.cluster: len(scope.pen.lines) for scope in scopes}
        rejected = record.publish(self.repo, scopes, replies=replies)
        accepted = [number for cluster, number in count.items() if number and cluster not in rejected]
        self._loose += len(accepted)
        if accepted and self.on_lines is not None:
            self.on_lines()
        return sum(accepted)

    def _tidy(self) -> None:
        """Pack the small objects that journal commits leave behind, before they are many thousands."""
        if self._loose < MAINTAIN:
            return
        self._loose = 0
        try:
            self.repo.maintain()
        except InstantStartError as error:
            log.warning("the repository could not be packed: %s", error.message)

    def _remove_orders(self, ulids: Sequence[str]) -> None:
        try:
            self.repo.remove_orders(ulids)
        except InstantStartError as error:  # their lines are published: they are known when they are met again
            log.warning("orders that were taken could not be removed: %s", error.message)

    def _distrust(self) -> None:
        for memory in self.memories.values():
            memory.distrust()

    def _pause(self, scope: Scope) -> float:
        if scope.nothing_here:
            return NOBODY
        if scope.problem is None:
            scope.memory.problems, scope.memory.trouble = 0, None
            return next_wake(scope, self.clock, self.poll)
        return self.poll if scope.status.broken is not None else self._rest(scope.memory)

    def _rest(self, memory: Memory) -> float:
        """Whoever refuses (a remote, a broken handler) is not asked every few seconds for ever."""
        memory.problems += 1
        return min(AFTER_PROBLEM * 2.0 ** min(memory.problems - 1, 16), self.poll)

    def _try_to_see(self, scope: Scope) -> None:
        self._try(scope, record.catch_up, scope)  # first: what is planned depends on what is known to have happened
        if scope.problem is None:
            self._try(scope, self.see, scope)

    def see(self, scope: Scope) -> None:
        """Load, look and plan one cluster."""
        loading.load(scope, self.library)

        def read_file(path: str) -> bytes:
            if scope.folder is None or path not in scope.folder.others:
                raise InvalidInput(f"{path} is not a file in clusters/{scope.cluster}/")
            return scope.folder.others[path]

        look.enter(scope, self.accounts, self.kubes.of, self.clock, read_file, self._cache)
        if scope.world is not None:
            scope.world.role_made_at = lambda arn: _role_made_at(scope, arn)
        look.look(scope, self.handlers, self._families)
        look.note_absence(scope, self.clock.now().timestamp())
        record.note_blindness(scope, self.clock.now().timestamp())
        planning.plan(scope, self.clock)
        workloads.see_work(scope)
        if self.preflight is not None:
            self.preflight.see(scope)
        scope.nothing_here = doubt.is_anew(scope) and not doubt.has_ours(scope)

    def _see_beside(self, others: Iterable[str], scopes: Sequence[Scope], head: str, tips: opening.Tips) -> None:
        """Plan, without a word, what the revisions of these clusters do to others: a limit over all clusters of a
        revision holds for one of them alone too. Once for each: what was planned last counts from then on."""
        revisions = {scope.revision for scope in scopes if scope.plan is not None and scope.plan.actions}
        beside: list[Scope] = []
        for name in others if revisions else ():
            try:
                at = self.repo.revision_of(head, name)
                if at in revisions and self._beside.get(name) != at:
                    beside.append(opening.open_scope(self.repo, name, head, self.memories, self.clock, tips))
                    self._beside[name] = at
            except InstantStartError as error:  # told when it is that cluster's turn
                log.warning("what this revision does to %s is not known: %s", name, error.message)
        list(self.pool.map(self._try, beside, itertools.repeat(self.see), beside))

    def _fleets(self, scopes: Sequence[Scope]) -> dict[str, Fleet]:
        """What each revision does to all its clusters together. Those that are not due now count with what was
        planned for them last."""
        seen = {scope.cluster: scope.observed for scope in scopes}
        revisions = {scope.revision for scope in scopes}
        plans: dict[str, dict[str, Plan]] = {revision: {} for revision in revisions}
        for name, memory in self.memories.items():
            if memory.plan is not None and memory.plan.revision in revisions:
                plans[memory.plan.revision][name] = memory.plan
        new = frozenset(name for name, memory in self.memories.items() if memory.fold.ready is None)
        looks = {name: seen.get(name, memory.seen) for name, memory in self.memories.items()}
        return {
            revision: fleet_of(found, looks, new, {name: self._spent(plan, found) for name, plan in found.items()})
            for revision, found in plans.items()
        }

    def _spent(self, plan: Plan, fleet: Iterable[str]) -> Spent:
        """Where another revision is still the journal's, this one has done nothing yet. What it did to one cluster
        counts until all of the fleet were Ready: the others would slip under a limit, one after the other. To be born
        changes nothing."""
        fold = self.memories[plan.cluster].fold
        if fold.rollout is None or fold.rollout.rev != plan.revision:
            return Spent()
        through = all(self.memories[name].fold.ready == plan.revision for name in fleet)
        born = fold.rollout.ready is None
        return spent(fold.status(), plan, None if through or born else fold.rollout.seq)

    def _decide(self, scope: Scope, fleet: Fleet) -> None:
        """Gate, and open the rollout with what the gate said."""
        gate.gate(scope, fleet, self.clock.now())
        rollout.open_rollout(scope, self.library, self.writer)
        scope.held.clear()

    def _forget_gone(self) -> None:
        """Of a cluster that is gone only its journal remains."""
        now = self.clock.now().timestamp()
        for name in self._gone.keys() & self.memories.keys():
            ended = self.memories[name].fold.at
            if ended and now - datetime.fromisoformat(ended).timestamp() > AFTER_GONE:
                del self.memories[name]
                self.sights.pop(name, None)
                self.kubes.forget(name)
                self.library.forget(name)
                self.repo.let_go(name)
                self._beside.pop(name, None)

    def _act(self, scopes: Sequence[Scope], drafts: dict[str, list[act.Draft]]) -> int:
        """Send lanes side by side, each lane in order; write what came back."""
        jobs: list[tuple[Scope, list[act.Draft]]] = []
        for scope in scopes:
            lanes: dict[str, list[act.Draft]] = {}
            for item in drafts[scope.cluster]:
                lanes.setdefault(item.call.lane, []).append(item)
            jobs.extend((scope, items) for items in lanes.values())
        sent = 0
        whose, what = [scope for scope, _ in jobs], [items for _, items in jobs]
        for scope, answers in zip(whose, self.pool.map(act.send, whose, what), strict=True):
            sent += sum(answer is not None for _, answer in answers)
            scope.sent += len(answers)
            for item, answer in answers:
                if scope.problem is None:
                    self._try(scope, act.record, scope, item, answer, self.clock)
        return sent

    def _is_due(self, name: str, head: str, ordered: bool) -> bool:
        memory = self.memories.get(name)
        if memory is None or ordered or self.clock.now().timestamp() >= memory.wake:
            return True
        if memory.head == head:
            return False
        status = memory.status()
        return opening.revision_at(self.repo, name, head, status) != status.rev

    def _soonest(self, names: Iterable[str]) -> float:
        """Seconds until one of these clusters is due."""
        now = self.clock.now().timestamp()
        wakes = [self.memories[name].wake - now for name in names if name in self.memories]
        return max(0.0, min([self.poll, *wakes]))


def _well(scopes: Iterable[Scope]) -> list[Scope]:
    return [scope for scope in scopes if scope.problem is None and not scope.nothing_here]


def _role_made_at(scope: Scope, arn: str) -> float | None:
    for op in scope.status.ops.values():
        if op.call == "iam:CreateRole" and op.ref is not None and op.ref.get("arn") == arn and op.ended:
            return datetime.fromisoformat(op.ended).timestamp()
    return None
