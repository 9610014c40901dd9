"""Two revisions of a cluster side by side, without a look at any cloud: what the older one wants stands in for the
world, and the plan from there to the newer one is the difference."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import jsonpatch
import jsonpointer
from pydantic import BaseModel, ConfigDict

from reconciler.desired.build import Desired
from reconciler.plan.gates import Fleet, GateInput, Held, decide, fleet_of
from reconciler.plan.limits import limits_of
from reconciler.plan.make import PlanInput, make
from reconciler.reads.plans import FieldChangeView, PlanView, of_plan, problem_views
from schemas.documents.records import Document, LoadedCluster
from schemas.plan import Plan
from schemas.resource import Health, Mark, Observed, Presence, Ref, Resource, absent

if TYPE_CHECKING:  # the engine brings boto3 and the kubernetes client along, which a view does not need
    from reconciler.engine.library import Folder, Library


class DocumentView(BaseModel):
    """One document that differs. `change`: added, changed or removed."""

    model_config = ConfigDict(frozen=True)

    change: str
    kind: str
    name: str
    where: str
    changes: tuple[FieldChangeView, ...] = ()


class DifferenceView(BaseModel):
    """`plan`: what would be done if the world were exactly what `old` wants."""

    model_config = ConfigDict(frozen=True)

    cluster: str
    old: str
    new: str
    documents: tuple[DocumentView, ...]
    plan: PlanView


def difference(library: Library, cluster: str, old: str, new: str) -> DifferenceView:
    """`old` and `new` are full commit ids."""
    before, after = library.folder(old, cluster), library.folder(new, cluster)
    return DifferenceView(
        cluster=cluster,
        old=old,
        new=new,
        documents=_documents(_loaded(before, cluster), _loaded(after, cluster)),
        plan=_plan(library, cluster, new, before, after),
    )


def _loaded(folder: Folder | None, cluster: str) -> LoadedCluster:
    return folder.loaded if folder is not None else LoadedCluster(name=cluster)


# Documents -----------------------------------------------------------------------------------------------------------


def _documents(before: LoadedCluster, after: LoadedCluster) -> tuple[DocumentView, ...]:
    if before.problems or after.problems:
        return ()  # a document that could not be read must not look like one that was removed
    olds = {(doc.kind, doc.name): doc for doc in before.documents}
    news = {(doc.kind, doc.name): doc for doc in after.documents}
    found: list[DocumentView] = []
    for identity in sorted(olds.keys() | news.keys()):
        old, new = olds.get(identity), news.get(identity)
        if old is None and new is not None:
            found.append(_document("added", new))
        elif new is None and old is not None:
            found.append(_document("removed", old))
        elif old is not None and new is not None and old.digest != new.digest:
            found.append(_document("changed", new, _steps(old, new)))
    return tuple(found)


def _document(change: str, doc: Document, changes: tuple[FieldChangeView, ...] = ()) -> DocumentView:
    return DocumentView(change=change, kind=doc.kind, name=doc.name, where=f"{doc.path}:{doc.line}", changes=changes)


def _steps(old: Document, new: Document) -> tuple[FieldChangeView, ...]:
    make_patch: Any = jsonpatch.make_patch
    find: Any = jsonpointer.resolve_pointer
    return tuple(
        FieldChangeView(
            op=step["op"],
            path="/spec" + step["path"],
            before=find(old.authored, step["path"], None) if step["op"] != "add" else None,
            after=step.get("value"),
        )
        for step in sorted(make_patch(old.authored, new.authored).patch, key=lambda step: str(step["path"]))
    )


# Plan ----------------------------------------------------------------------------------------------------------------


def _plan(library: Library, cluster: str, new: str, before: Folder | None, after: Folder | None) -> PlanView:
    for folder in (before, after):
        if folder is not None and folder.desired is None:
            problems = problem_views(folder.problems)
            which, many = "older" if folder is before else "newer", len(problems)
            text = f"the {which} revision has {many} problem{'' if many == 1 else 's'} in its documents"
            return PlanView(cluster=cluster, revision=new, unplanned=text, problems=problems)
    old = before.desired if before is not None else None
    wanted = after.desired if after is not None else None
    world = _as_world(_marked(old), _marked(wanted))
    plan = make(
        PlanInput(
            cluster=cluster,
            revision=new,
            desired=_marked(wanted),
            previous=_marked(old),
            observed=world,
            due=_new_operations(old, wanted),
            made={key: r.name for key, r in _marked(old).items() if r.adopt is None and not r.reference},
            adopted={key: r.adopt for key, r in _marked(old).items() if r.adopt is not None},
        )
    )
    return of_plan(plan, world, _held(library, new, plan, world, old, wanted))


def _marked(desired: Desired | None) -> dict[str, Resource]:
    """Resources with their references as words, so that two of them can be compared without a world."""
    if desired is None:
        return {}
    return {
        key: dataclasses.replace(
            resource,
            spec=_words(resource.spec),
            made_with=_words(resource.made_with),
            initial={},
            after=resource.needs(),
            made_after=(),
            adopt=None if resource.reference else resource.adopt,
        )
        for key, resource in desired.resources.items()
    }


def _words(value: Any) -> Any:
    match value:
        case Ref():
            return f"({value.attr} of {value.key})"
        case dict():
            return {name: _words(inner) for name, inner in cast("dict[str, Any]", value).items()}
        case list() | tuple():
            return [_words(inner) for inner in cast("list[Any]", value)]
        case _:
            return value


def _as_world(old: Mapping[str, Resource], new: Mapping[str, Resource]) -> dict[str, Observed]:
    """All that the older revision wants is there and healthy; what only the newer one wants is not, but for what it
    adopts."""
    seen = {key: _stands(resource) for key, resource in old.items()}
    for key, resource in new.items():
        if key in seen:
            continue
        there = resource.reference or resource.adopt is not None
        seen[key] = dataclasses.replace(_stands(resource), mark=Mark.FOREIGN) if there else absent(resource)
    return seen


def _stands(resource: Resource) -> Observed:
    return Observed(
        key=resource.key,
        type=resource.type,
        name=resource.name,
        presence=Presence.PRESENT,
        spec=resource.spec,
        health=Health.HEALTHY,
        ready=True,
        mark=Mark.FOREIGN if resource.reference else Mark.OURS if resource.adopt is None else Mark.ADOPTED,
        identity=resource.name,
    )


def _new_operations(old: Desired | None, new: Desired | None) -> frozenset[str]:
    if new is None:
        return frozenset()
    known = old.identities if old is not None else frozenset[str]()
    return frozenset(key for op in new.operations if op.identity not in known for key in op.keys)


def _held(
    library: Library,
    head: str,
    plan: Plan,
    world: Mapping[str, Observed],
    old: Desired | None,
    new: Desired | None,
) -> dict[str, Held]:
    """What the gates would say under the newer revision's policy."""
    fleet: Fleet = fleet_of({plan.cluster: plan}, {plan.cluster: world})
    given = GateInput(
        plan=plan,
        observed=world,
        limits=limits_of(library.policy(head).policy),
        suspended=new is not None and new.suspend,
        folder_gone=new is None,
        unprotected=old is not None and not old.protected,
        fleet=fleet,
    )
    asked = {action.digest: decide(action, given) for action in plan.actions}
    return {digest: held for digest, held in asked.items() if held is not None}
