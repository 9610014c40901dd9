"""A Policy document as the numbers that the gates read."""

from __future__ import annotations

from reconciler.plan.gates import Limits
from reconciler.plan.needed import Rule
from schemas.documents.policy import Policy, seconds_of
from schemas.plan import Cost


def limits_of(policy: Policy) -> Limits:
    spec = policy.spec
    return Limits(
        approval_for=frozenset(Cost(cost) for cost in spec.approvals.require_for),
        prune_share=spec.prune_guard.max_delete_share,
        prune_deletes=spec.prune_guard.max_deletes,
        max_clusters=spec.blast_radius.max_clusters,
        max_nodes=spec.blast_radius.max_nodes,
        max_deletes=spec.blast_radius.max_deletes,
        max_gpus=spec.blast_radius.max_gpus,
        max_jobs=spec.blast_radius.max_running_jobs,
        rules=tuple(
            Rule(
                paths=rule.paths,
                costs=frozenset(Cost(cost) for cost in rule.costs),
                approvers=rule.approvers,
                count=rule.count,
            )
            for rule in spec.approvals.rules_
        ),
        expire_after=seconds_of(spec.approvals.expire_after),
        direct=spec.direct_commit.paths,
        signed_orders=spec.approvals.orders == "signed",
    )


def holds_counts(policy: Policy) -> bool:
    """Whether a count that others moved is left alone until a person decides."""
    return policy.spec.drift.counts == "hold"
