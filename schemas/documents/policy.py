"""Policy: what may happen without asking a person. One file, read from the branch's head."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from schemas.documents import words
from schemas.documents.fields import documented, listed, shared
from schemas.documents.shapes import API_VERSION, Broken, Metadata, Ruled, Shape
from schemas.globs import matches
from schemas.plan import Cost

POLICY_PATH: Final = "clusters/policy.yaml"

ApprovedCost: TypeAlias = Literal["inPlace", "rolling", "replace", "delete"]

_GLOB: Final = r"^clusters(?:/[A-Za-z0-9_*?-][A-Za-z0-9_.*?-]*)+$"
PathGlob: TypeAlias = Annotated[
    str, words.form(_GLOB, "a path below clusters/, with * for anything in a name and ** for any folders", 255)
]
Approver: TypeAlias = Annotated[
    str,
    words.form(r"^[A-Za-z0-9_.+*@-]+$", "the name of a person as in their token, with * where anything may stand", 200),
]
Duration: TypeAlias = Annotated[str, words.form(r"^[1-9][0-9]{0,3}[mhd]$", "a time such as 30m, 12h or 7d", 5)]
_SECONDS: Final = {"m": 60, "h": 3600, "d": 86400}
_LONGEST: Final = 90 * 86400


def seconds_of(duration: str) -> int:
    """`7d` as seconds."""
    return int(duration[:-1]) * _SECONDS[duration[-1]]


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
    max_gpus: int = documented(
        "GPUs and Trainium chips of nodes that are removed.", cost=Cost.IN_PLACE, default=128, ge=0, le=10_000_000
    )
    max_running_jobs: int = documented(
        "Jobs that run on nodes of groups that are removed or made smaller.",
        cost=Cost.IN_PLACE,
        default=4,
        ge=0,
        le=1_000_000,
    )


class ApprovalRule(Ruled):
    """Who must approve what. With `costs` it is about actions, which wait until they are approved; without, about
    files: a change of them is not merged before. A person counts once, and never the author."""

    also_known: ClassVar[dict[str, str]] = {"path": "paths", "cost": "costs", "users": "approvers", "min": "count"}

    paths: Annotated[tuple[PathGlob, ...], Field(max_length=100)] = listed(
        "Files it is about. None: all of them.", cost=Cost.IN_PLACE, default=()
    )
    costs: Annotated[tuple[ApprovedCost, ...], Field(max_length=4)] = listed(
        "Costs of actions it is about. None: any change of the files, before it is merged.",
        cost=Cost.IN_PLACE,
        default=(),
    )
    approvers: Annotated[tuple[Approver, ...], Field(max_length=100)] = listed(
        "Who counts. None: everybody but the author.", cost=Cost.IN_PLACE, default=()
    )
    count: int = documented("How many of them must approve.", cost=Cost.IN_PLACE, default=1, ge=1, le=20)

    def rules(self) -> Iterator[Broken]:
        if not self.paths and not self.costs:
            yield Broken(fields=(("paths",),), expected="paths or costs", found="neither", hint="say what it is about")
        named = {name.casefold() for name in self.approvers}
        if self.approvers and not any("*" in name for name in named) and len(named) < self.count:
            found = f"{self.count}, of {len(named)}"
            yield Broken(fields=(("count",),), expected="no more than there are approvers", found=found)


class Approvals(Ruled):
    """Which actions and changes wait for a person other than their author."""

    also_known: ClassVar[dict[str, str]] = {"expires": "expireAfter", "expiry": "expireAfter"}

    require_for: Annotated[tuple[ApprovedCost, ...], Field(max_length=4)] = listed(
        "Costs that need an approval; the others pass by themselves.",
        cost=Cost.IN_PLACE,
        default=("replace", "delete"),
        unique_by=(),
    )
    rules_: Annotated[tuple[ApprovalRule, ...], Field(max_length=100)] = listed(
        "Who must approve, by path and by cost; all that fit must be met.",
        cost=Cost.IN_PLACE,
        default=(),
        alias="rules",
    )
    expire_after: Duration = documented(
        "How long an approval lasts that is not used up.", cost=Cost.IN_PLACE, default="7d"
    )

    orders: Literal["pushed", "signed"] = documented(
        "Which orders to approve or to release count. pushed: any in the repository, so whoever may push to "
        "refs/instantstart/orders can give one in any name; signed, the strict choice: only those that the service "
        "wrote, over its API or by the command line with its state directory.",
        cost=Cost.IN_PLACE,
        default="pushed",
    )

    def rules(self) -> Iterator[Broken]:
        if seconds_of(self.expire_after) > _LONGEST:
            expected = f"at most {_LONGEST // 86400}d"
            yield Broken(fields=(("expireAfter",),), expected=expected, found=self.expire_after)
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
            if matches(pattern, POLICY_PATH):
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
