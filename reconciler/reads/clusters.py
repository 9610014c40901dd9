"""A cluster as faces show it first: what is wanted, how far it is, what is held and who may let it go, what its GPUs
do, and what drifted. Pure: made from the newest tick, the documents and what is followed live."""

from __future__ import annotations

from collections.abc import Mapping

from reconciler.engine.sight import Sight
from reconciler.plan import needed
from reconciler.plan.gates import Held
from reconciler.plan.limits import limits_of
from reconciler.reads import drifts, inventories, progress
from reconciler.reads.inventories import StageCount
from reconciler.reads.parts import PartView, View, told
from reconciler.reads.progress import ProgressView
from reconciler.reads.statuses import HoldView, OpView, StatusView, WaitingOrderView
from reconciler.reads.wishes import DesiredView
from schemas.documents.policy import Policy

ANYBODY = "a person with scope approve who is not the author"
_RELEASED = frozenset(
    {"DeletionProtected", "JournalIncomplete", "MarkTakenOff"}
)  # by no rule that an approval could satisfy


class AuthorView(View):
    """Who made a commit, and when. Names and subjects are text from outside. Of a merged change `name` is ours:
    `proposed_by` asked for it and `approved_by` let it pass, as the commit's trailers tell their readers."""

    commit: str
    name: str
    email: str
    at: str
    subject: str
    change: str | None = None
    proposed_by: str | None = None
    approved_by: tuple[str, ...] = ()


class HeldView(View):
    """An action that may not go. `way`: what lets it go; `who` may say so, in words; `action`: the beginning of its
    digest. `order` and `subject`: the order that does it, where one does."""

    key: str
    action: str
    reason: str
    message: str
    since: str = ""
    way: str = ""
    who: str = ""
    order: str | None = None
    subject: str = ""


class GpusView(View):
    """GPUs or Trainium chips. `desired`: of all groups; `there`: on nodes that Kubernetes has; `ready`: of those on
    nodes that take pods; `used`: asked for by pods that run or are bound; `idle`: ready and not used. Null: not
    known now."""

    desired: int | None = None
    there: int | None = None
    ready: int | None = None
    used: int | None = None
    idle: int | None = None


class CountsView(View):
    """Instances wanted, and nodes there and ready, as last seen; null: not known."""

    desired: int
    there: int | None = None
    ready: int | None = None


class ClusterView(View):
    """`condition`: Ready, Reconciling, Stalled, Superseded, Gone or Unknown. `revision`: the one being applied or
    applied last, `head`: the one that main wants. `observed_at`: when the newest look at AWS was over; `parts` say of
    each source how sure it is. `actions`: how many things the plan would do now; `drift` null: nobody knows."""

    cluster: str
    condition: str
    reason: str = ""
    message: str = ""
    revision: AuthorView | None = None
    head: AuthorView | None = None
    last_ready: str | None = None
    started: str = ""
    at: str = ""
    desired: DesiredView
    stages: tuple[ProgressView, ...] = ()
    things: tuple[StageCount, ...] = ()
    held: tuple[HeldView, ...] = ()
    open_ops: tuple[OpView, ...] = ()
    failed_ops: tuple[OpView, ...] = ()
    orders: tuple[WaitingOrderView, ...] = ()
    instances: CountsView
    gpus: GpusView
    drift: int | None = None
    actions: int | None = None
    observed_at: str | None = None
    problem: str = ""
    doubt: str = ""
    parts: tuple[PartView, ...] = ()


class SummaryView(View):
    """One line of the fleet; the words are those of ClusterView. `stage`: the first that is not Ready."""

    cluster: str
    condition: str
    reason: str = ""
    message: str = ""
    stage: str | None = None
    progress: str | None = None
    account: str
    region: str
    kubernetes_version: str
    groups: int
    storages: int
    instance_types: dict[str, int]
    zones: tuple[str, ...]
    instances: CountsView
    gpus: GpusView
    held: int
    failed_ops: int
    drift: int | None
    suspended: bool
    revision: AuthorView | None = None
    head: AuthorView | None = None
    observed_at: str | None = None
    parts: tuple[PartView, ...] = ()


def of(
    *,
    status: StatusView,
    desired: DesiredView,
    sight: Sight | None,
    policy: Policy | None,
    revision: AuthorView | None,
    head: AuthorView | None,
    instances: CountsView,
    gpus: GpusView,
    parts: tuple[PartView, ...],
    problem: str | None,
) -> ClusterView:
    things = inventories.things(sight) if sight is not None else ()
    return ClusterView(
        cluster=status.cluster,
        condition=status.condition,
        reason=status.reason,
        message=status.msg,
        revision=revision,
        head=head,
        last_ready=status.last_ready,
        started=status.started,
        at=status.at,
        desired=desired,
        stages=progress.of_status(status, things),
        things=inventories.by_stage(things),
        held=tuple(_held(status.cluster, hold, sight, policy) for hold in status.held),
        open_ops=status.open_ops,
        failed_ops=status.failed_ops,
        orders=status.orders,
        instances=instances,
        gpus=gpus,
        drift=drifts.count(sight) if sight is not None else None,
        actions=len(sight.plan.actions) if sight is not None and sight.plan is not None else None,
        observed_at=sight.at if sight is not None else None,
        problem=told(problem or ""),
        doubt=told(sight.doubt or "") if sight is not None else "",
        parts=parts,
    )


def summary(view: ClusterView) -> SummaryView:
    waiting = next((stage for stage in view.stages if stage.state != "Ready"), None)
    return SummaryView(
        cluster=view.cluster,
        condition=view.condition,
        reason=view.reason,
        message=view.message,
        stage=waiting.stage if waiting is not None else None,
        progress=f"{waiting.done}/{waiting.all}" if waiting is not None and waiting.all is not None else None,
        account=view.desired.account,
        region=view.desired.region,
        kubernetes_version=view.desired.kubernetes_version,
        groups=len(view.desired.groups),
        storages=len(view.desired.storages),
        instance_types=view.desired.instance_types,
        zones=view.desired.zones,
        instances=view.instances,
        gpus=view.gpus,
        held=len(view.held),
        failed_ops=len(view.failed_ops),
        drift=view.drift,
        suspended=view.desired.suspend,
        revision=view.revision,
        head=view.head,
        observed_at=view.observed_at,
        parts=view.parts,
    )


def _held(cluster: str, hold: HoldView, sight: Sight | None, policy: Policy | None) -> HeldView:
    known = _gate_of(hold, sight)
    subject = hold.action or hold.key
    if hold.reason == "Suspended":
        order, way, who = None, f"instantstart resume {cluster}", "whoever may change the cluster's document"
    elif hold.reason in _RELEASED:
        order, way, who = "release", f"release {cluster} {subject}", ANYBODY
    else:
        order, way, who = "approve", f"approve {cluster} {subject}", _approvers(hold, sight, policy)
    return HeldView(
        key=hold.key,
        action=hold.action,
        reason=hold.reason,
        message=hold.msg,
        since=hold.since,
        way=known.way if known is not None else way,
        who=who,
        order=order,
        subject=subject if order is not None else "",
    )


def _gate_of(hold: HoldView, sight: Sight | None) -> Held | None:
    """What the gate said in the newest tick of the same action."""
    held: Mapping[str, Held] = sight.held if sight is not None else {}
    return next((found for digest, found in held.items() if hold.action and digest.startswith(hold.action)), None)


def _approvers(hold: HoldView, sight: Sight | None, policy: Policy | None) -> str:
    """Whose word counts, as the policy says of this action now."""
    planned = sight.plan.actions if sight is not None and sight.plan is not None else ()
    action = next((one for one in planned if hold.action and one.digest.startswith(hold.action)), None)
    if hold.reason != "NeedsApproval" or action is None or policy is None:
        return ANYBODY
    limits = limits_of(policy)
    rules = needed.of_action(action, action.key.split("/")[1], limits.approval_for, limits.rules)
    return " and ".join(rule.wants for rule in rules if rule != needed.ANYBODY) or ANYBODY
