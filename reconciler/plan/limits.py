"""A Policy document as the numbers that the gates read."""

from __future__ import annotations

from reconciler.plan.gates import Limits
from schemas.documents.policy import Policy
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
    )


def holds_counts(policy: Policy) -> bool:
    """Whether a count that others moved is left alone until a person decides."""
    return policy.spec.drift.counts == "hold"
