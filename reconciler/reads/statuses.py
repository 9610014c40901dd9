"""Status of clusters as faces show it: what the journal says, and, where somebody looked, what was seen and when.

Every value has its time: `at` of the newest journal line, `looked` of the look. Without a look there is no "now".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from reconciler.config_repo.errors import ObjectMissing, UnknownCluster
from reconciler.config_repo.records import Order
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine import journal
from reconciler.plan.once import retried
from schemas.journal import ClusterStatus, Condition, OpRecord, Phase, StageStatus
from schemas.resource import STAGES, Observed, Presence

if TYPE_CHECKING:  # the engine brings boto3 and the kubernetes client along, which a view does not need
    from reconciler.engine.scope import Scope

SETTLED = (Condition.READY, Condition.STALLED, Condition.GONE)


class _View(BaseModel):
    model_config = ConfigDict(frozen=True)


class StageView(_View):
    """`since`: when it came into this state; `msg`: what it waits for or what went wrong."""

    stage: str
    state: str
    reason: str = ""
    msg: str = ""
    progress: str | None = None
    since: str = ""


class HoldView(_View):
    key: str
    action: str
    reason: str
    msg: str
    since: str = ""


class OpView(_View):
    """An op that is not over, since its intent; or one that failed and is not overcome, since it did."""

    op: str
    call: str
    key: str
    phase: str
    attempt: int
    since: str
    next: str | None = None
    reason: str | None = None
    msg: str | None = None


class WaitingOrderView(_View):
    """An order that was given and that the engine has not taken up yet."""

    id: str
    do: str
    subject: str
    by: str
    why: str


class ResourceView(_View):
    key: str
    presence: str
    health: str
    progress: str | None = None
    reason: str = ""
    message: str = ""


class LookView(_View):
    """What a look saw. `at`: simulated UTC; `actions`: how many the plan would do now."""

    at: str
    problem: str | None = None
    actions: int = 0
    resources: tuple[ResourceView, ...] = ()


class StatusView(_View):
    """`revision` is the one the journal is at, `head` the one that main wants; they differ until it is taken up."""

    cluster: str
    condition: str
    reason: str = ""
    msg: str = ""
    revision: str | None = None
    head: str | None = None
    last_ready: str | None = None
    started: str = ""
    at: str = ""
    seq: int = 0
    plan: dict[str, Any] | None = None
    stages: tuple[StageView, ...] = ()
    held: tuple[HoldView, ...] = ()
    open_ops: tuple[OpView, ...] = ()
    failed_ops: tuple[OpView, ...] = ()
    orders: tuple[WaitingOrderView, ...] = ()
    look: LookView | None = None

    @property
    def settled(self) -> bool:
        """Nothing goes on by itself, and main wants nothing else."""
        return Condition(self.condition) in SETTLED and self.head in (None, self.revision)


class FleetView(_View):
    branch: str
    head: str | None
    clusters: tuple[StatusView, ...] = Field(default_factory=tuple)


def fleet(repo: ConfigRepo, *, gone: bool = False) -> FleetView:
    """All clusters that have a folder or a journal; those that are gone only if asked for."""
    head = repo.head()
    folders: Mapping[str, str] = repo.clusters(head) if head is not None else {}
    views = [status(repo, name) for name in sorted({*folders, *repo.journal_clusters()})]
    kept = [view for view in views if gone or view.condition != Condition.GONE.value or view.cluster in folders]
    return FleetView(branch=repo.branch, head=head, clusters=tuple(kept))


def status(repo: ConfigRepo, cluster: str) -> StatusView:
    """From the journal alone. A cluster that nobody knows has condition Unknown."""
    try:
        notes = repo.notes(cluster)
    except ObjectMissing as error:
        wanted = _wanted(repo, cluster)
        return StatusView(cluster=cluster, condition="Stalled", reason="JournalBroken", msg=error.message, head=wanted)
    folded = journal.read(repo, cluster, notes).status()
    view = of_status(folded, head=_wanted(repo, cluster), orders=orders(repo).get(cluster, ()))
    return view if notes.tip is not None else view.model_copy(update=_without_journal(repo, cluster))


def _without_journal(repo: ConfigRepo, cluster: str) -> dict[str, str]:
    """That there is no journal does not say that nothing was ever applied."""
    known = repo.known_tip(cluster)
    if known is None:
        way = f"status {cluster} --live looks at what is there"
        return {"msg": f"nothing was applied yet, or the journal was lost; {way}"}
    text = f"the journal is gone from the repository; commit {known} is what was there"
    return {"reason": "JournalGone", "msg": text}


def of_status(folded: ClusterStatus, *, head: str | None, orders: tuple[WaitingOrderView, ...] = ()) -> StatusView:
    failed = [op for op in folded.ops.values() if op.phase is Phase.FAILED and not _is_overcome(op, folded)]
    return StatusView(
        cluster=folded.cluster,
        condition=folded.condition.value,
        reason=folded.reason,
        msg=folded.msg,
        revision=folded.rev,
        head=head,
        last_ready=folded.last_ready,
        started=folded.started,
        at=folded.at,
        seq=folded.seq,
        plan=folded.plan,
        stages=_stages(folded.stages),
        held=tuple(
            HoldView(key=hold.key, action=hold.action, reason=hold.reason, msg=hold.msg, since=hold.at)
            for hold in folded.holds.values()
            if hold.state == "held"
        ),
        open_ops=tuple(_op(op) for op in folded.open_ops()),
        failed_ops=tuple(_op(op) for op in failed),
        orders=tuple(order for order in orders if order.id not in folded.orders),
    )


def _is_overcome(failed: OpRecord, folded: ClusterStatus) -> bool:
    """Whether a failure is history: all is Ready, it gets another try, or something newer was sent for the same."""
    if folded.condition is Condition.READY or retried(failed, folded.retries):
        return True
    return any(
        op.seq > failed.seq and (op.key == failed.key or set(op.actions) & set(failed.actions))
        for op in folded.ops.values()
    )


def with_look(view: StatusView, scope: Scope) -> StatusView:
    """The same with what was just seen."""
    from reconciler.engine.doubt import doubt

    world = scope.world
    seen = [_resource(scope.observed[key]) for key in sorted(scope.observed) if _worth(scope, key)]
    look = LookView(
        at=world.clock.iso() if world is not None else "",
        problem=scope.blind.message if scope.blind is not None else doubt(scope),
        actions=len(scope.plan.actions) if scope.plan is not None else 0,
        resources=tuple(seen),
    )
    return view.model_copy(update={"look": look})


def _worth(scope: Scope, key: str) -> bool:
    resource = scope.resource(key)
    return resource is not None and not resource.reference


def _resource(seen: Observed) -> ResourceView:
    return ResourceView(
        key=seen.key,
        presence=seen.presence.value,
        health=seen.health.value if seen.presence is Presence.PRESENT else "",
        progress=seen.progress,
        reason=seen.reason,
        message=seen.message,
    )


def _stages(stages: Mapping[str, StageStatus]) -> tuple[StageView, ...]:
    order = {stage.value: number for number, stage in enumerate(STAGES)}
    return tuple(
        StageView(stage=name, state=at.state.value, reason=at.reason, msg=at.msg, progress=at.progress, since=at.at)
        for name, at in sorted(stages.items(), key=lambda pair: order.get(pair[0], len(order)))
    )


def _op(op: OpRecord) -> OpView:
    return OpView(
        op=op.op,
        call=op.call,
        key=op.key,
        phase=op.phase.value,
        attempt=op.attempt,
        since=op.at if op.phase.open else op.ended,
        next=op.next,
        reason=op.reason,
        msg=op.msg,
    )


def _wanted(repo: ConfigRepo, cluster: str) -> str | None:
    head = repo.head()
    if head is None or cluster not in {*repo.clusters(head), *repo.journal_clusters()}:
        return None
    try:
        return repo.revision_of(head, cluster)
    except UnknownCluster:
        return None  # its history was rewritten away; only the journal is left


def orders(repo: ConfigRepo) -> dict[str, tuple[WaitingOrderView, ...]]:
    """By cluster, oldest first: orders that the engine has not taken up yet."""
    found: dict[str, tuple[WaitingOrderView, ...]] = {}
    for order in repo.orders():
        if order.problem is None:
            cluster = str(order.body.get("cluster"))
            found[cluster] = (*found.get(cluster, ()), _order(order))
    return found


def _order(order: Order) -> WaitingOrderView:
    return WaitingOrderView(
        id=order.ulid,
        do=str(order.body.get("do", "")),
        subject=str(order.body.get("subject", "")),
        by=str(order.body.get("principal") or order.author),
        why=str(order.body.get("why", "")),
    )
