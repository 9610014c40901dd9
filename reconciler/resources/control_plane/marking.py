"""Our tags on what EKS knows by an ARN: cluster, add-on and access entry get and lose them by the same calls."""

from __future__ import annotations

from reconciler.resources.base import OUR_TAGS
from reconciler.resources.drafts import Draft, adoption_marks, removing, step
from reconciler.resources.handler import World
from schemas.plan import Action
from schemas.resource import Observed


def adopting(world: World, action: Action, seen: Observed, what: str) -> Draft:
    """`what`: the thing in words, "add-on coredns"."""
    tag = step("eks", "TagResource", resourceArn=seen.attrs["arn"], tags=adoption_marks(world, action))
    return Draft(steps=[tag], say=f"Adopt {what}")


def releasing(seen: Observed, what: str) -> Draft:
    """`what`: the thing in words, "add-on coredns"."""
    untag = removing("eks", "UntagResource", resourceArn=seen.attrs["arn"], tagKeys=list(OUR_TAGS))
    return Draft(steps=[untag], say=f"Release {what}: it stays, our tags go")
