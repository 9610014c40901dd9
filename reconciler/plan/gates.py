"""One gate for every path: may this planned action go now?

Pure. Asked per action just before its intent is written; what was sent is followed, never interrupted. An action
passes if the policy lets its cost pass alone or its digest is approved. `suspend` and a journal that cannot be
trusted let nothing pass, approved or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from reconciler.plan import needed
from reconciler.plan.make import UNMARKED
from reconciler.plan.needed import Rule
from reconciler.plan.registry import rule_for
from schemas import instance_types
from schemas.journal import ClusterStatus, Phase
from schemas.plan import Action, Cost, Plan, Verb
from schemas.resource import Mark, Observed

REMOVALS = (Verb.DELETE, Verb.REPLACE)
# An intent without a reply may have had its effect; while it is planned as well, the plan counts it.
_MANY = 16  # accelerators of the largest type
_TAKEN = (Phase.INTENT, Phase.SUBMITTED, Phase.SUCCEEDED, Phase.UNKNOWN, Phase.RESOLVED)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a policy says. `prune_*` are per cluster (share: of what is ours and live, 0 to 1), `max_*` over all
    clusters that one commit changes; nodes are those removed or rebooted."""

    approval_for: frozenset[Cost] = frozenset({Cost.REPLACE, Cost.DELETE})
    prune_share: float = 0.5
    prune_deletes: int = 20
    max_clusters: int = 5
    max_nodes: int = 16
    max_deletes: int = 50
    max_gpus: int = 128
    max_jobs: int = 4
    rules: tuple[Rule, ...] = ()
    expire_after: int = 7 * 86400  # seconds
    direct: tuple[str, ...] = ()  # files that persons may commit without a review
    signed_orders: bool = False  # an order to approve or to release counts only with the service's signature


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """What one revision does over all clusters that it touches. `gpus`: of nodes removed; `jobs`: that run on groups
    that get smaller."""

    clusters: int = 0
    deletes: int = 0
    nodes: int = 0
    gpus: int = 0
    jobs: int = 0


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a revision has done already: a plan that shrinks while it is applied is still the plan it was.
    `deletes` by resource type; `changed`: it did anything but make new things."""

    deletes: Mapping[str, int] = field(default_factory=dict[str, int])
    nodes: int = 0
    gpus: int = 0
    changed: bool = False


@dataclass(frozen=True, kw_only=True)
class GateInput:
    """All a decision is made from. `approved`: action digest → who approved it, in normal form; `ordered`: those that
    an order lets pass, which alone lets go of what no approval is asked for. `folder_gone`: the cluster's folder is
    not in this revision; `unprotected`: deletionProtection was false in the newest Ready one."""

    plan: Plan
    observed: Mapping[str, Observed]
    limits: Limits
    approved: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    ordered: frozenset[str] = frozenset()
    suspended: bool = False
    folder_gone: bool = False
    unprotected: bool = False
    journal_doubt: str | None = None
    hold_count_drift: bool = False
    spent: Spent = field(default_factory=Spent)
    fleet: Fleet = field(default_factory=Fleet)


@dataclass(frozen=True, kw_only=True)
class Held:
    """Why an action may not go. `way`: the order that lets it pass, or what else must change."""

    reason: str
    message: str
    way: str


def decide(action: Action, given: GateInput) -> Held | None:
    """None: the action may go."""
    takes = action.verb in (*REMOVALS, Verb.RUN, Verb.RELEASE) or _takes_nodes(action, given)
    if given.journal_doubt is not None and takes:
        return Held(
            reason="JournalIncomplete",
            message=f"{given.journal_doubt}: nothing is deleted and no operation runs",
            way=f"look at the cluster, then order release {given.plan.cluster} journal",
        )
    if given.suspended:
        return Held(reason="Suspended", message="spec.suspend is true", way="instantstart resume")
    locked = _vanished_folder(action, given) or _mark_taken_off(action, given)
    if locked is not None and action.digest not in given.ordered:
        return locked
    if given.approved.get(action.digest) and not _unmet(action, given):
        return None
    for rule in (
        _vanished_folder,
        _mark_taken_off,
        _count_drift,
        _running_pods,
        _needs_approval,
        _prune_guard,
        _blast_radius,
    ):
        held = rule(action, given)
        if held is not None:
            return held
    return None


def _vanished_folder(action: Action, given: GateInput) -> Held | None:
    if not given.folder_gone or given.unprotected or action.verb not in (*REMOVALS, Verb.RELEASE):
        return None
    return Held(
        reason="DeletionProtected",
        message="the cluster's folder is gone while deletionProtection was on: nothing is deleted",
        way="put the folder back, commit deletionProtection: false, let it get Ready, then remove it; or release",
    )


def _mark_taken_off(action: Action, given: GateInput) -> Held | None:
    if action.because != UNMARKED:
        return None
    return Held(
        reason="MarkTakenOff",
        message=f"{action.key} ({action.name}) was made here and its mark was taken off: it is not deleted",
        way=f"put its tags back, and it is deleted; or order release {given.plan.cluster} {action.key}, and it stays",
    )


def _count_drift(action: Action, given: GateInput) -> Held | None:
    if not given.hold_count_drift or action.because != "drift" or action.fields != ("count",):
        return None
    steps = {str(step["path"]): step.get("value") for step in action.patch}
    return Held(
        reason="CountDrift",
        message=f"the live count differs from git's {steps.get('/count')} and the policy holds such drift",
        way="commit the live count, or approve putting git's count back",
    )


def _running_pods(action: Action, given: GateInput) -> Held | None:
    """Nodes with work on them are not taken away without a word."""
    seen = given.observed.get(action.key)
    pods = list(seen.detail.get("pods", ())) if seen is not None else []
    shrinks = action.verb in REMOVALS or (seen is not None and lowers_count(action, seen))
    if not pods or not shrinks or (given.unprotected and given.folder_gone):
        return None
    names = ", ".join(pods[:3]) + (f" and {len(pods) - 3} more" if len(pods) > 3 else "")
    return Held(reason="RunningPods", message=f"{action.name} runs {names}", way="let them finish, or approve")


def lowers_count(action: Action, seen: Observed) -> bool:
    """Whether an update of a group takes nodes away."""
    wanted, live = action.want.get("count"), seen.spec.get("count")
    return "count" in action.fields and isinstance(wanted, int) and isinstance(live, int) and wanted < live


def _needs_approval(action: Action, given: GateInput) -> Held | None:
    if given.folder_gone and given.unprotected:
        return None
    message = f"{action.verb.value} of {action.key} needs an approval"
    if action.verb in REMOVALS and _is_in_adopted(action, given):
        message += ", whatever the policy says: it is in something adopted"
        return Held(reason="NeedsApproval", message=message, way="approve, or put its document back")
    unmet = _unmet(action, given)
    if not unmet:
        return None
    wants = [rule.wants for rule in unmet if rule != needed.ANYBODY]
    have = len(given.approved.get(action.digest, ()))
    if wants:
        message = f"{action.verb.value} of {action.key} needs {' and '.join(wants)}" + (f"; it has {have}" * bool(have))
    return Held(reason="NeedsApproval", message=message, way="approve")


def _unmet(action: Action, given: GateInput) -> list[Rule]:
    """Rules about this action that its approvers do not meet."""
    limits = given.limits
    rules = needed.of_action(action, given.plan.cluster, limits.approval_for, limits.rules)
    return needed.missing(rules, given.approved.get(action.digest, ()))


def _is_in_adopted(action: Action, given: GateInput) -> bool:
    """It may have been there before us: what cannot carry a mark follows its parent, and that one was."""
    if rule_for(action.type).marked:
        return False
    parent = rule_for(action.type).inside
    return any(seen.type == parent and seen.mark is Mark.ADOPTED for seen in given.observed.values())


def _prune_guard(action: Action, given: GateInput) -> Held | None:
    """By identity and share, not by number: a renamed everything must not pass as many small steps."""
    if action.verb not in REMOVALS or (given.folder_gone and given.unprotected):
        return None
    for what, deletes, ours in _shares(action, given):
        share = deletes / max(ours, 1)
        if share > given.limits.prune_share or deletes > given.limits.prune_deletes:
            return Held(
                reason="PruneGuard",
                message=f"this plan deletes {deletes} of {ours} live {what} ({share:.0%})",
                way="approve each delete, or split the change",
            )
    return None


def _shares(action: Action, given: GateInput) -> Iterator[tuple[str, int, int]]:
    """(of what, deleted, live and ours): of everything, and of the action's own type where more than one goes. All
    groups of a cluster are a small part of its resources, and yet everything that matters."""
    going = [a for a in given.plan.actions if a.verb in REMOVALS]
    ours = [seen for seen in given.observed.values() if seen.present and seen.ours]
    gone = given.spent.deletes
    yield "resources", len(going) + sum(gone.values()), len(ours) + sum(gone.values())
    before = gone.get(action.type, 0)
    alike = sum(1 for a in going if a.type == action.type) + before
    if alike > 1:
        yield action.type, alike, sum(1 for seen in ours if seen.type == action.type) + before


def _blast_radius(action: Action, given: GateInput) -> Held | None:
    limits, fleet = given.limits, given.fleet
    if given.folder_gone and given.unprotected:
        return None
    over = [
        f"{found} {what} (at most {most})"
        for what, found, most, touched in (
            ("clusters changed", fleet.clusters, limits.max_clusters, action.verb is not Verb.CREATE),
            ("nodes removed or rebooted", fleet.nodes, limits.max_nodes, _takes_nodes(action, given)),
            ("resources deleted", fleet.deletes, limits.max_deletes, action.verb in REMOVALS),
            ("GPUs removed", fleet.gpus, limits.max_gpus, gpus_taken(action, given.observed.get(action.key)) > 0),
            ("running jobs touched", fleet.jobs, limits.max_jobs, bool(_jobs(given.observed.get(action.key)))),
        )
        if found > most and touched
    ]
    if not over:
        return None
    text = "over all clusters this revision means " + ", ".join(over)
    return Held(reason="BlastRadius", message=text, way="approve, or split the change")


def spent(status: ClusterStatus, plan: Plan, since: int | None = None) -> Spent:
    """What ops did since a line of the journal, and the plan names no more. None: since this rollout began, or was
    Ready last."""
    after = status.since if since is None else since
    planned = [action.digest for action in plan.actions]
    ops = [op for op in status.ops.values() if op.seq > after and op.phase in _TAKEN]
    ops = [op for op in ops if op.asked == status.rev and not any(op.serves(digest) for digest in planned)]
    deletes: Counter[str] = Counter()
    for op in ops:
        if op.verb in REMOVALS:
            deletes[op.key.split("/", 1)[0]] += max(len(op.actions), 1)
    changed = any(op.verb != Verb.CREATE for op in ops)
    gpus = sum(op.gpus for op in ops)
    return Spent(deletes=deletes, nodes=sum(op.nodes for op in ops), gpus=gpus, changed=changed)


def fleet_of(
    plans: Mapping[str, Plan],
    observed: Mapping[str, Mapping[str, Observed]],
    new: frozenset[str] = frozenset(),
    gone: Mapping[str, Spent] | None = None,
) -> Fleet:
    """Summed over the clusters whose revision is the same commit. `new` clusters were never Ready: building them
    changes nothing that anybody relies on. `gone`: what they have spent already."""
    before = {cluster: found for cluster, found in (gone or {}).items() if cluster in plans}
    changing = {cluster for cluster, plan in plans.items() if plan.actions}
    changing |= {cluster for cluster, found in before.items() if found.changed}
    return Fleet(
        clusters=len(changing - new),
        deletes=sum(1 for plan in plans.values() for a in plan.actions if a.verb in REMOVALS)
        + sum(sum(found.deletes.values()) for found in before.values()),
        nodes=sum(
            nodes_taken(action, observed.get(cluster, {}).get(action.key))
            for cluster, plan in plans.items()
            for action in plan.actions
        )
        + sum(found.nodes for found in before.values()),
        gpus=sum(
            gpus_taken(action, observed.get(cluster, {}).get(action.key))
            for cluster, plan in plans.items()
            for action in plan.actions
        )
        + sum(found.gpus for found in before.values()),
        jobs=sum(
            len({job for action in plan.actions for job in _jobs(observed.get(cluster, {}).get(action.key))})
            for cluster, plan in plans.items()
        ),
    )


def _takes_nodes(action: Action, given: GateInput) -> bool:
    return nodes_taken(action, given.observed.get(action.key)) > 0


def nodes_taken(action: Action, seen: Observed | None) -> int:
    """How many nodes an action takes away or reboots."""
    if action.verb is Verb.RUN:
        return 1
    if action.type != "hyperpod.InstanceGroup" or seen is None or not seen.present:
        return 0
    live, wanted = seen.spec.get("count", 0), action.want.get("count")
    if action.verb in REMOVALS:
        return int(live)
    return int(live) - int(wanted or 0) if lowers_count(action, seen) else 0


def gpus_taken(action: Action, seen: Observed | None) -> int:
    """How many GPUs or Trainium chips go with the nodes that an action takes away. Of an accelerated type about which
    nobody says how many it has, as many as the largest."""
    if action.verb is Verb.RUN or seen is None:
        return 0  # a reboot takes none away
    each = instance_types.accelerators(str(seen.spec.get("instanceType", "")))
    return nodes_taken(action, seen) * (_MANY if each is None else each)


def _jobs(seen: Observed | None) -> Iterable[str]:
    """Jobs that run on a group that the plan makes smaller; seen only where it does."""
    return seen.detail.get("jobs", ()) if seen is not None else ()
