"""A cloud on paper: plans of whole folders are carried out on it to the letter, in no time."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import jsonpatch

from reconciler.desired.build import Desired, build
from reconciler.plan.make import PlanInput, make
from reconciler.plan.previous import Previous, together
from reconciler.plan.registry import rule_for
from schemas.documents.load import load_cluster
from schemas.documents.records import LoadedCluster, SourceFile
from schemas.plan import Action, Plan, Verb
from schemas.resource import Health, Mark, Observed, Presence, Resource, absent, resolve

SCRIPT = b"#!/bin/bash\n"


class _Attrs(dict[str, Any]):
    """Whatever somebody refers to has a value."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self._key = key

    def __contains__(self, attr: object) -> bool:
        return True

    def __getitem__(self, attr: str) -> Any:
        return f"{self._key}#{attr}"


@dataclass(kw_only=True)
class Paper:
    """`live`: key → spec as the plan's patches made it."""

    live: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    known: dict[str, Resource] = field(default_factory=dict[str, Resource])

    def plan(self, desired: Desired, *before: Desired) -> Plan:
        """What is to be done now; `before`: the revisions that may have left something, the Ready one first."""
        previous = together([d.resources for d in before], ready=bool(before)) if before else Previous()
        self.known = {**previous.resources, **self.known, **desired.resources}
        observed = {key: self._look(resource) for key, resource in self.known.items()}
        given = PlanInput(
            cluster=desired.cluster,
            revision=None,
            desired=desired.resources,
            previous=previous.resources,
            moved=previous.moved,
            observed=observed,
            made={key: f"{key}#id" for key in self.live},
        )
        return make(given)

    def apply(self, plan: Plan, desired: Desired) -> None:
        for action in plan.actions:
            self._apply(action, desired)

    def converge(self, desired: Desired, *before: Desired) -> Plan:
        """Plan and apply until nothing is left to do; returns the plan at that point, with its refusals."""
        plan = self.plan(desired, *before)
        for _ in range(20):
            if not plan.actions:
                return plan
            self.apply(plan, desired)
            plan = self.plan(desired, *before)
        raise AssertionError(f"it does not come to an end: {[(a.verb.value, a.key) for a in plan.actions]}")

    def _apply(self, action: Action, desired: Desired) -> None:
        if action.verb is Verb.CREATE:
            self.live[action.key] = self._resolved(desired.resources[action.key])
        elif action.verb is Verb.DELETE:
            del self.live[action.key]
            child = [r for r in self.known.values() if rule_for(r.type).child_of == action.type]
            for resource in child:
                self.live.pop(resource.key, None)
        elif action.verb is Verb.UPDATE:
            steps = [dict(step) for step in action.patch]
            self.live[action.key] = jsonpatch.apply_patch(self.live[action.key], steps)

    def _resolved(self, resource: Resource) -> dict[str, Any]:
        there = {key: self._seen(other) for key, other in self.known.items()}
        spec: dict[str, Any] = cast("dict[str, Any]", resolve(resource.spec, there))
        return copy.deepcopy(spec)

    def _look(self, resource: Resource) -> Observed:
        if resource.reference or resource.key in self.live:
            return self._seen(resource)
        return absent(resource)

    def _seen(self, resource: Resource) -> Observed:
        return Observed(
            key=resource.key,
            type=resource.type,
            name=resource.name,
            presence=Presence.PRESENT,
            spec=copy.deepcopy(self.live.get(resource.key, {})),
            attrs=_Attrs(resource.key),
            health=Health.HEALTHY,
            ready=True,
            mark=Mark.OURS,
            identity=resource.key,
            guards={"count": self.live.get(resource.key, {}).get("count")},
        )


def loaded(files: Mapping[str, str], name: str = "prod") -> LoadedCluster:
    return load_cluster(
        name, [SourceFile(path=f"clusters/{name}/{path}", data=text.encode()) for path, text in files.items()]
    )


def desired(files: Mapping[str, str], name: str = "prod") -> Desired:
    found = loaded(files, name)
    assert found.problems == (), [str(problem) for problem in found.problems]
    return build(found, SCRIPT)


def meaning(paper: Paper) -> dict[str, Any]:
    """What is live, without what says nothing."""
    return {key: _said(spec) for key, spec in paper.live.items()}


def _said(value: Any) -> Any:
    match value:
        case dict():
            members = cast("dict[str, Any]", value)
            return {k: _said(v) for k, v in members.items() if k == "spot" or v not in (None, [], {})}
        case list() | tuple():
            return sorted((_said(v) for v in cast("list[Any]", value)), key=str)
        case _:
            return value


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterable[str]:
    return sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
