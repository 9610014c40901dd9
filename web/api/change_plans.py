"""A change's plan and its differences, as the API shows them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from reconciler.changes.foresight import Foresight
from reconciler.changes.judging import Verdict, fleet_of
from reconciler.config_repo.repo import ConfigRepo
from reconciler.edits.differences import differences
from reconciler.edits.problems import EditRefused
from reconciler.plan.gates import Limits
from reconciler.reads.plans import PlanView, ProblemView, of_scope, problem_views
from schemas.errors import FieldConflict
from schemas.reading.read import is_document_file
from web.api.house import House

_LONGEST: Final = 200_000  # characters of a difference in lines


class _View(BaseModel):
    model_config = ConfigDict(frozen=True)


class ReachView(_View):
    """One thing that the policy limits over all clusters of a change."""

    what: Literal["clusters", "nodes", "deletes", "gpus", "running_jobs"]
    found: int
    most: int


class ClusterPlanView(_View):
    """`introduced`: digests of the actions that this change brings; the others wait already. `plan` has both."""

    cluster: str
    introduced: tuple[str, ...]
    plan: PlanView


class ChangePlanView(_View):
    """Bound to `base` (where the branch stood), `head`, and what was live at `looked_at`. `digest` names what an
    approval says yes to; null where the change cannot be laid over the branch. `commit`: what the merge would be, on
    no ref. `missing`: what it waits for before it may be merged."""

    change: str
    base: str
    head: str
    commit: str | None
    digest: str | None
    looked_at: str
    clusters: tuple[ClusterPlanView, ...] = ()
    reach: tuple[ReachView, ...] = ()
    missing: tuple[str, ...] = ()
    conflicts: tuple[FieldConflict, ...] = ()
    refused: str | None = None
    problems: tuple[ProblemView, ...] = ()


class DocumentDiffView(_View):
    kind: str
    name: str
    verb: Literal["add", "remove", "change"]
    patch: tuple[dict[str, Any], ...] = Field(description="RFC 6902, from what it was to what it is")


class FileDiffView(_View):
    """`lines`: a unified difference, null where a side is no text or it is too long to show. `documents`: the same by
    field; empty where a side cannot be read."""

    path: str
    verb: Literal["add", "remove", "change"]
    lines: str | None = None
    documents: tuple[DocumentDiffView, ...] = ()


def plan_of(house: House, change: str, *, fresh: bool) -> ChangePlanView:
    seen, verdict = house.changes.foresee(change, fresh=fresh)
    return _shown(change, seen, verdict, house.changes.limits(seen.main))


def diffs(repo: ConfigRepo, files: Mapping[str, tuple[str | None, str | None]]) -> list[FileDiffView]:
    """`files`: path → blob before and after."""
    data = repo.blobs({blob for pair in files.values() for blob in pair if blob is not None})
    return [
        _diff(path, *(data[blob] if blob is not None else None for blob in pair))
        for path, pair in sorted(files.items())
    ]


def _shown(change: str, seen: Foresight, verdict: Verdict, limits: Limits) -> ChangePlanView:
    return ChangePlanView(
        change=change,
        base=seen.main,
        head=seen.head,
        commit=seen.commit,
        digest=seen.digest if seen.commit is not None else None,
        looked_at=seen.looked_at.isoformat(timespec="seconds"),
        clusters=tuple(
            ClusterPlanView(cluster=cluster, introduced=tuple(sorted(seen.introduced[cluster])), plan=of_scope(scope))
            for cluster, scope in sorted(seen.scopes.items())
        ),
        reach=_reach(seen, limits),
        missing=tuple(verdict.missing()),
        conflicts=seen.conflicts,
        refused=seen.refused,
        problems=problem_views(seen.problems),
    )


def _reach(seen: Foresight, limits: Limits) -> tuple[ReachView, ...]:
    if not seen.scopes:
        return ()
    fleet = fleet_of(seen)
    return (
        ReachView(what="clusters", found=fleet.clusters, most=limits.max_clusters),
        ReachView(what="nodes", found=fleet.nodes, most=limits.max_nodes),
        ReachView(what="deletes", found=fleet.deletes, most=limits.max_deletes),
        ReachView(what="gpus", found=fleet.gpus, most=limits.max_gpus),
        ReachView(what="running_jobs", found=fleet.jobs, most=limits.max_jobs),
    )


def _diff(path: str, before: bytes | None, after: bytes | None) -> FileDiffView:
    verb: Literal["add", "remove", "change"] = "add" if before is None else "remove" if after is None else "change"
    return FileDiffView(
        path=path, verb=verb, lines=_lines(path, before, after), documents=_documents(path, before, after)
    )


def _lines(path: str, before: bytes | None, after: bytes | None) -> str | None:
    try:
        old, new = ((side or b"").decode("utf-8").splitlines(keepends=True) for side in (before, after))
    except UnicodeDecodeError:
        return None
    found = difflib.unified_diff(
        old, new, f"a/{path}" if before else "/dev/null", f"b/{path}" if after else "/dev/null"
    )
    text = "".join(line if line.endswith("\n") else f"{line}\n" for line in found)
    return text if len(text) <= _LONGEST else None


def _documents(path: str, before: bytes | None, after: bytes | None) -> tuple[DocumentDiffView, ...]:
    if not is_document_file(path):
        return ()
    try:
        found = differences(before, after, path=path)
    except EditRefused:
        return ()
    return tuple(DocumentDiffView(kind=one.kind, name=one.name, verb=one.verb, patch=one.patch) for one in found)
