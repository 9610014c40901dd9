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

from reconciler.config_repo.records import Order
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine import (
    act,
    doubt,
    gate,
    lanes,
    look,
    orders,
    planning,
    record,
    resolve,
    rollout,
    sight,
    wake,
    workloads,
)
from reconciler.engine import load as loading
from reconciler.engine import open as opening
from reconciler.engine.approvals import ApprovalReader, Approvals
from reconciler.engine.fleets import Beside, fleets_of
from reconciler.engine.kubes import Kubes
from reconciler.engine.library import Library
from reconciler.engine.memory import Memory
from reconciler.engine.preflight import Preflight
from reconciler.engine.scope import Scope
from reconciler.engine.sight import Sight
from reconciler.engine.signing import Signing
from reconciler.engine.trouble import trouble_of
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.clock import Clock
from reconciler.plan.gates import Fleet, fleet_of, spent
from reconciler.resources.handler import Handler
from schemas.errors import InstantStartError, InvalidInput

FAMILIES = 16
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
        self._beside = Beside(repo, self.memories, clock)
        self._loose = 0  # journal commits since the repository was packed
        # Clusters wait for their families: in one pool, enough clusters would wait for each other for ever.
        self._families = ThreadPoolExecutor(max_workers=FAMILIES, thread_name_prefix="look")
        self._cache = str(state_dir / "cache")
        self.new_op = new_op or (lambda: str(ULID.from_datetime(clock.now())))
        self.lock = threading.Lock()
        self._denials = wake.Denials()
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
                return Result(problem=f"{error.reason}: {error.message}", wake=self._denials.pause(error, self.poll))
            self._denials.over()
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

    # Steps ------------------------------------------------------------------------------------------------------------

    def _tick(self, head: str, only: set[str] | None) -> Result:
        """All the steps, in their order. `only`: clusters that were asked for, else those that are due."""
        refs = self.repo.refs()
        given = self.repo.orders(refs)
        ordered = {str(order.body.get("cluster")) for order in given if order.problem is None}
        approvals = self.approvals.all(refs)
        ordered |= approvals.news(self._approvals)
        self._approvals = approvals
        tips = self.repo.journal_tips(refs)
        there = opening.clusters(self.repo, head, self.memories, tips, self._gone)
        known = [name for name in there if only is None or name in only]
        names = [name for name in known if name in ordered or self._is_due(name, head)]
        result = Result(head=head, clusters=names)
        self._prepare(names, head)
        everyone = self._open(names, head, tips, result)
        for scope in everyone:
            scope.approvals = approvals
        list(self.pool.map(self._try_to_see, _well(everyone)))
        scopes = _well(everyone)
        if only is not None:
            beside = self._beside.open([name for name in there if name not in only], scopes, head, tips)
            list(self.pool.map(self._try, beside, itertools.repeat(self.see), beside))
        fleets = fleets_of(scopes, self.memories)
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
        result.sent = self._send(alive, drafts)
        result.lines += self._publish(_well(alive), replies=True)
        for scope in everyone:
            self._keep(scope, head)
        self._forget_gone()
        self._tidy()
        result.problems |= {scope.cluster: scope.problem for scope in everyone if scope.problem is not None}
        due = (self.memories[name].wake for name in known if name in self.memories)
        result.wake = wake.soonest(due, self.clock.now().timestamp(), self.poll)
        return result

    def _is_due(self, name: str, head: str) -> bool:
        memory = self.memories.get(name)
        return memory is None or wake.is_due(self.repo, memory, head, self.clock.now().timestamp())

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

    def _write(
        self,
        scope: Scope,
        fleets: Mapping[str, Fleet],
        given: Sequence[Order],
        taken: dict[str, list[str]],
        drafts: dict[str, list[act.Draft]],
    ) -> None:
        """Everything that is decided and written about one cluster before anything is sent."""
        gate.gate(scope, fleets[scope.revision], self.clock.now())
        rollout.open_rollout(scope, self.library, self.writer)  # with what the gate said
        scope.held.clear()
        now = self.clock.now()
        taken[scope.cluster] = orders.take(scope, given, now, self.signing)
        gate.gate(scope, scope.fleet, now)
        resolve.resolve(scope, self.handlers, self.clock)
        gate.record_holds(scope)
        drafts[scope.cluster] = act.draft(scope, self.handlers, self.clock, self.new_op)
        record.record_stages(scope)

    def _publish(self, scopes: Sequence[Scope], *, replies: bool = False) -> int:
        """Returns how many lines are on the remote now."""
        count = {scope.cluster: len(scope.pen.lines) for scope in scopes}
        rejected = record.publish(self.repo, scopes, replies=replies)
        accepted = [number for cluster, number in count.items() if number and cluster not in rejected]
        self._loose += len(accepted)
        if accepted and self.on_lines is not None:
            self.on_lines()
        return sum(accepted)

    def _remove_orders(self, ulids: Sequence[str]) -> None:
        try:
            self.repo.remove_orders(ulids)
        except InstantStartError as error:  # their lines are published: they are known when they are met again
            log.warning("orders that were taken could not be removed: %s", error.message)

    def _send(self, scopes: Sequence[Scope], drafts: Mapping[str, Sequence[act.Draft]]) -> int:
        """Send, and write what came back. Returns how many calls left."""
        sent = 0
        for scope, answers in lanes.send(scopes, drafts, self.pool):
            sent += sum(answer is not None for _, answer in answers)
            scope.sent += len(answers)
            for item, answer in answers:
                if scope.problem is None:
                    self._try(scope, act.record, scope, item, answer, self.clock)
        return sent

    # Afterwards -------------------------------------------------------------------------------------------------------

    def _keep(self, scope: Scope, head: str) -> None:
        """What the next tick and readers need to know of this one."""
        memory = scope.memory
        memory.head = head
        if scope.problem is None:  # else what replies said may wait for the journal
            memory.forget_ended()
        if scope.nothing_here and not doubt.may_be_there(scope):
            memory.nothing_left = scope.revision
        memory.wake = self.clock.now().timestamp() + wake.pause(scope, self.clock, self.poll)
        if not scope.nothing_here:
            self.sights[scope.cluster] = sight.of(scope, self.clock.iso())

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
                self._beside.forget(name)

    def _tidy(self) -> None:
        """Pack the small objects that journal commits leave behind, before they are many thousands."""
        if self._loose < MAINTAIN:
            return
        self._loose = 0
        try:
            self.repo.maintain()
        except InstantStartError as error:
            log.warning("the repository could not be packed: %s", error.message)

    # What goes wrong --------------------------------------------------------------------------------------------------

    def _try(self, scope: Scope, step: Callable[..., None], *args: Any) -> None:
        """A cluster that cannot be worked on is left alone in this tick; the others go on."""
        try:
            step(*args)
        except Exception as error:
            if not isinstance(error, InstantStartError):
                log.exception("a tick of %s broke", scope.cluster)
            scope.give_up(trouble_of(error))

    def _leave_alone(self, name: str, error: Exception, result: Result) -> None:
        """A cluster that could not even be opened."""
        trouble = trouble_of(error)
        problem = result.problems[name] = str(trouble)
        memory = self.memories.get(name)
        if memory is None:
            return
        memory.trouble = trouble
        memory.wake = self.clock.now().timestamp() + wake.rest(memory, self.poll)
        known = self.sights.get(name)
        if known is not None:
            self.sights[name] = sight.left_alone(known, memory.status(), problem, self.clock.iso())

    def _distrust(self) -> None:
        for memory in self.memories.values():
            memory.distrust()


def _well(scopes: Iterable[Scope]) -> list[Scope]:
    return [scope for scope in scopes if scope.problem is None and not scope.nothing_here]


def _role_made_at(scope: Scope, arn: str) -> float | None:
    for op in scope.status.ops.values():
        if op.call == "iam:CreateRole" and op.ref is not None and op.ref.get("arn") == arn and op.ended:
            return datetime.fromisoformat(op.ended).timestamp()
    return None
