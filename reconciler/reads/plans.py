"""A plan as every face shows it: the same actions, refusals and findings, with before and after side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import jsonpointer
from pydantic import BaseModel, ConfigDict, Field

from reconciler.plan.gates import Held
from schemas.documents.problems import Problem
from schemas.plan import Action, Finding, Plan, Refusal
from schemas.resource import Observed, Source
from schemas.values import JsonObject

if TYPE_CHECKING:  # the engine brings boto3 and the kubernetes client along, which a view does not need
    from reconciler.engine.scope import Scope


class _View(BaseModel):
    model_config = ConfigDict(frozen=True)


class ProblemView(_View):
    """One thing wrong in a file; `text` is all of it in a line."""

    file: str
    line: int
    column: int
    field: str
    expected: str
    found: str
    hint: str
    text: str


class FieldChangeView(_View):
    """One step of the RFC 6902 patch with the value it replaces. Null: not there."""

    op: str
    path: str
    before: Any = None
    after: Any = None


class PlannedHoldView(_View):
    reason: str
    message: str
    way: str


class ActionView(_View):
    """`document`: kind and name of what asked for it; `where`: its file and line."""

    verb: str
    key: str
    type: str
    name: str
    stage: str
    lane: str
    cost: str
    because: str
    digest: str
    document: str
    where: str
    changes: tuple[FieldChangeView, ...] = ()
    want: dict[str, Any] = Field(default_factory=dict[str, Any])
    needs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    held: PlannedHoldView | None = None


class RefusalView(_View):
    key: str
    stage: str
    document: str
    where: str
    reason: str
    message: str
    way_out: str


class FindingView(_View):
    severity: str
    reason: str
    message: str
    document: str = ""
    where: str = ""


class SeenView(_View):
    """Something in sight that no action is about: not ours, or not to be seen now."""

    key: str
    reason: str = ""
    message: str = ""


class PlanView(_View):
    """`unplanned`: why there is no plan at all (wrong documents, or nothing could be looked at)."""

    cluster: str
    revision: str | None
    digest: str | None = None
    unplanned: str | None = None
    problems: tuple[ProblemView, ...] = ()
    counts: dict[str, int] = Field(default_factory=dict[str, int])
    actions: tuple[ActionView, ...] = ()
    refusals: tuple[RefusalView, ...] = ()
    findings: tuple[FindingView, ...] = ()
    unmanaged: tuple[SeenView, ...] = ()
    unknown: tuple[SeenView, ...] = ()

    @property
    def held(self) -> tuple[ActionView, ...]:
        return tuple(action for action in self.actions if action.held is not None)


def of_scope(scope: Scope) -> PlanView:
    """What the engine saw and planned for one cluster, gates included."""
    problems = problem_views(scope.folder.problems if scope.folder is not None else ())
    if scope.plan is None:
        return PlanView(cluster=scope.cluster, revision=scope.revision, unplanned=_why(scope), problems=problems)
    view = of_plan(scope.plan, scope.observed, scope.held)
    if scope.status.broken is not None:
        finding = FindingView(severity="error", reason="JournalBroken", message=scope.status.msg)
        view = view.model_copy(update={"findings": (finding, *view.findings)})
    if scope.policy_problem is None:
        return view
    finding = FindingView(severity="error", reason="PolicyInvalid", message=scope.policy_problem)
    return view.model_copy(update={"findings": (finding, *view.findings)})


def of_plan(plan: Plan, observed: Mapping[str, Observed], held: Mapping[str, Held]) -> PlanView:
    return PlanView(
        cluster=plan.cluster,
        revision=plan.revision,
        digest=plan.digest,
        counts={verb: number for verb, number in plan.counts().items() if number},
        actions=tuple(action_view(a, observed.get(a.key), held.get(a.digest)) for a in plan.actions),
        refusals=tuple(_refusal(refusal) for refusal in plan.refusals),
        findings=tuple(_finding(finding) for finding in plan.findings),
        unmanaged=tuple(SeenView(key=thing.key, message=thing.message) for thing in plan.unmanaged),
        unknown=tuple(_unseen(key, observed.get(key)) for key in plan.unknown),
    )


def problem_views(problems: Iterable[Problem]) -> tuple[ProblemView, ...]:
    return tuple(
        ProblemView(
            file=found.file,
            line=found.line,
            column=found.column,
            field=found.field,
            expected=found.expected,
            found=found.found,
            hint=found.hint,
            text=str(found),
        )
        for found in problems
    )


def shown(value: Any) -> Any:
    """A value with its open references in words; what is left is plain JSON."""
    match value:
        case Mapping():
            return {str(name): shown(inner) for name, inner in cast("Mapping[str, Any]", value).items()}
        case list() | tuple():
            return [shown(inner) for inner in cast("list[Any]", value)]
        case set() | frozenset():
            return sorted(shown(inner) for inner in cast("set[Any]", value))
        case None | bool() | int() | float() | str():
            return value
        case _:
            return f"({value})"


def action_view(action: Action, seen: Observed | None, held: Held | None) -> ActionView:
    spec = seen.spec if seen is not None else {}
    return ActionView(
        verb=action.verb.value,
        key=action.key,
        type=action.type,
        name=action.name,
        stage=action.stage.value,
        lane=action.lane,
        cost=action.cost.value,
        because=action.because,
        digest=action.digest,
        document=str(action.source),
        where=_where(action.source),
        changes=tuple(_change(step, spec) for step in action.patch),
        want=shown(action.want),
        needs=action.needs,
        notes=action.notes,
        held=None if held is None else PlannedHoldView(reason=held.reason, message=held.message, way=held.way),
    )


def _change(step: JsonObject, spec: JsonObject) -> FieldChangeView:
    path = str(step["path"])
    return FieldChangeView(op=str(step["op"]), path=path, before=_at(spec, path), after=shown(step.get("value")))


def _at(spec: JsonObject, path: str) -> Any:
    find: Any = jsonpointer.resolve_pointer
    return shown(find(spec, path, None))


def _refusal(refusal: Refusal) -> RefusalView:
    return RefusalView(
        key=refusal.key,
        stage=refusal.stage.value,
        document=str(refusal.source),
        where=_where(refusal.source),
        reason=refusal.reason,
        message=refusal.message,
        way_out=refusal.way_out,
    )


def _finding(finding: Finding) -> FindingView:
    source = finding.source
    return FindingView(
        severity=finding.severity.value,
        reason=finding.reason,
        message=finding.message,
        document="" if source is None else str(source),
        where="" if source is None else _where(source),
    )


def _unseen(key: str, seen: Observed | None) -> SeenView:
    return SeenView(key=key, reason=seen.reason if seen else "", message=seen.message if seen else "")


def _where(source: Source) -> str:
    return f"{source.path}:{source.line}" if source.path else ""


def _why(scope: Scope) -> str:
    if scope.folder is not None and scope.folder.problems:
        more = len(scope.folder.problems)
        return f"{more} problem{'s' if more > 1 else ''} in its documents: nothing is planned"
    if scope.policy_problem is not None:
        return scope.policy_problem
    if scope.blind is not None:
        return scope.blind.message
    return "nothing could be looked at"
