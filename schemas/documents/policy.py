"""Policy: what may happen without asking a person. One file, read from the branch's head."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from schemas.documents import words
from schemas.documents.fields import documented, listed, shared
from schemas.documents.shapes import API_VERSION, Broken, Metadata, Ruled, Shape
from schemas.plan import Cost

POLICY_PATH: Final = "clusters/policy.yaml"

ApprovedCost: TypeAlias = Literal["inPlace", "rolling", "replace", "delete"]

_GLOB: Final = r"^clusters(?:/[A-Za-z0-9_*?-][A-Za-z0-9_.*?-]*)+$"
PathGlob: TypeAlias = Annotated[str, words.form(_GLOB, "a path below clusters/, with * where anything may stand", 255)]


class PruneGuard(Shape):
    """Holds a commit that would delete more than anybody is likely to mean. Counted by identity, per cluster."""

    max_delete_share: float = documented(
        "Largest part of a cluster's live objects that one revision may delete, 0 to 1.",
        cost=Cost.IN_PLACE,
        default=0.5,
        ge=0,
        le=1,
    )
    max_deletes: int = documented(
        "Largest number of objects that one revision may delete.", cost=Cost.IN_PLACE, default=20, ge=0, le=100_000
    )


class BlastRadius(Shape):
    """Limits of what one commit may touch, summed over all clusters that it changes."""

    max_clusters: int = documented("Clusters changed.", cost=Cost.IN_PLACE, default=5, ge=1, le=10_000)
    max_nodes: int = documented(
        "Nodes removed, rebooted or replaced.", cost=Cost.IN_PLACE, default=16, ge=0, le=1_000_000
    )
    max_deletes: int = documented("Objects deleted or replaced.", cost=Cost.IN_PLACE, default=50, ge=0, le=1_000_000)


class Approvals(Ruled):
    """Which actions wait for a person other than their author."""

    require_for: Annotated[tuple[ApprovedCost, ...], Field(max_length=4)] = listed(
        "Costs that need an approval; the others pass by themselves.",
        cost=Cost.IN_PLACE,
        default=("replace", "delete"),
        unique_by=(),
    )

    def rules(self) -> Iterator[Broken]:
        for index, cost in enumerate(self.require_for):
            if cost in self.require_for[:index]:
                yield Broken(fields=(("requireFor", index),), expected="each cost once", found=f"{cost} again")


class Drift(Shape):
    """What to do where the cloud differs from git and git did not change."""

    counts: Literal["restore", "hold"] = documented(
        "Node counts changed by others: restore puts git's number back, hold shows it and leaves it.",
        cost=Cost.IN_PLACE,
        default="restore",
    )


class DirectCommit(Ruled):
    """What may be changed without review."""

    paths: Annotated[tuple[PathGlob, ...], Field(max_length=100)] = listed(
        "Files that people may commit without a review. Never this one.",
        cost=Cost.IN_PLACE,
        default=(),
        unique_by=(),
    )

    def rules(self) -> Iterator[Broken]:
        for index, pattern in enumerate(self.paths):
            if fnmatch.fnmatchcase(POLICY_PATH, pattern):
                yield Broken(
                    fields=(("paths", index),),
                    expected="a pattern that leaves the policy out",
                    found=pattern,
                    hint="name the folder: clusters/dev/**",
                )


class PolicySpec(Shape):
    """Every part has defaults; an absent policy is all of them."""

    also_known: ClassVar[dict[str, str]] = {"prune": "pruneGuard", "approval": "approvals", "direct": "directCommit"}

    prune_guard: PruneGuard = documented("The prune guard.", cost=Cost.IN_PLACE, default_factory=shared(PruneGuard()))
    blast_radius: BlastRadius = documented(
        "The blast radius.", cost=Cost.IN_PLACE, default_factory=shared(BlastRadius())
    )
    approvals: Approvals = documented("Approvals.", cost=Cost.IN_PLACE, default_factory=shared(Approvals()))
    drift: Drift = documented("Drift.", cost=Cost.IN_PLACE, default_factory=shared(Drift()))
    direct_commit: DirectCommit = documented(
        "Direct commits.", cost=Cost.IN_PLACE, default_factory=shared(DirectCommit())
    )


class PolicyMetadata(Metadata):
    """A name, for error messages."""

    name: words.ObjectName = Field(description="Any name; `default` will do.")


class Policy(Shape):
    """The policy of the whole repository."""

    api_version: Literal["instantstart/v1"]
    kind: Literal["Policy"]
    metadata: PolicyMetadata
    spec: PolicySpec


def built_in() -> Policy:
    """What holds where no policy is written."""
    given = {"apiVersion": API_VERSION, "kind": "Policy", "metadata": {"name": "built-in"}, "spec": {}}
    return Policy.model_validate(given)
