"""A repository with an engine over the invented cloud, and the changes service on it, without HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconciler.changes.service import Changes
from reconciler.changes.views import ChangeView
from schemas.changes import ChangeUpdate, NewChange, NewReview
from schemas.principals import AGENT_SCOPES, ALL_SCOPES, Principal, Scope
from tests.engine.fakes import Rig, cluster_yaml, group_yaml

AUTHOR = "data-scientist@example.com"
REVIEWER = "platform-engineer@example.com"
SECOND = "second-engineer@example.com"
POLICY = """apiVersion: instantstart/v1
kind: Policy
metadata:
  name: default
spec:
  approvals:
    requireFor: [replace, delete]
  pruneGuard:
    maxDeleteShare: 1.0
"""


def person(name: str = AUTHOR, *scopes: Scope) -> Principal:
    return Principal(name=name, kind="person", scopes=frozenset(scopes) or ALL_SCOPES, via="token")


def agent(name: str = "agent-7", behalf: str = AUTHOR) -> Principal:
    return Principal(name=name, kind="agent", scopes=AGENT_SCOPES, via="token", on_behalf_of=behalf)


def scale(count: int, *, cluster: str = "prod", group: str = "workers", at: str = "/spec/count") -> dict[str, Any]:
    step = {"op": "replace", "path": at, "value": count}
    return {"edit": "patch", "cluster": cluster, "kind": "InstanceGroup", "name": group, "patch": [step]}


def drop(group: str, *, cluster: str = "prod") -> dict[str, Any]:
    return {"edit": "remove", "cluster": cluster, "kind": "InstanceGroup", "name": group}


def file(path: str, text: str | None) -> dict[str, Any]:
    return {"edit": "file", "path": path, "text": text}


def asked(*edits: dict[str, Any], title: str = "a change", **more: Any) -> NewChange:
    return NewChange.model_validate({"title": title, "edits": list(edits), **more})


@dataclass(kw_only=True)
class ChangeBox:
    """`rig`: repository, cloud and engine; it has cluster prod with groups workers and spare, if it was settled."""

    rig: Rig
    _changes: Changes | None = field(default=None)

    @property
    def changes(self) -> Changes:
        if self._changes is None:
            self._changes = Changes(self.rig.engine)
        return self._changes

    def restart(self) -> None:
        """A new process: everything in memory is lost."""
        self.rig.restart()
        self._changes = None

    def open(
        self, *edits: dict[str, Any], who: Principal | None = None, key: str | None = None, **more: Any
    ) -> ChangeView:
        return self.changes.open(who or person(), asked(*edits, **more), key=key)

    def edit(self, change: str, *edits: dict[str, Any], who: Principal | None = None, **more: Any) -> ChangeView:
        update = ChangeUpdate.model_validate({"edits": list(edits), **more})
        return self.changes.update(who or person(), change, update, head=None)

    def review(self, change: str, verdict: str = "approve", who: str = REVIEWER, plan: str | None = None) -> ChangeView:
        """An approval of what is planned now, if no other plan is told."""
        if verdict == "approve" and plan is None:
            plan = self.changes.view(change).plan
        told = NewReview.model_validate({"verdict": verdict, "plan": plan})
        return self.changes.review(person(who), change, told)

    def merge(self, change: str, who: str = AUTHOR) -> ChangeView:
        return self.changes.merge(person(who), change, head=self.changes.state(change).change.head)

    def main(self) -> str:
        self.rig.repo.fetch()
        head = self.rig.repo.head()
        assert head is not None
        return head

    def text(self, path: str, at: str | None = None) -> str | None:
        """A file at the branch's head."""
        repo = self.rig.repo
        found = repo.file(at or self.main(), path)
        return None if found is None else repo.blobs([found.blob])[found.blob].decode()

    def settled(self, extra: Mapping[str, str | None] | None = None) -> ChangeBox:
        groups = group_yaml("workers", 2) + "---\n" + group_yaml("spare", 1)
        self.rig.commit({"cluster": cluster_yaml(), "groups": groups, **(extra or {})})
        self.rig.settle()
        return self


def make(root: Path, policy: str = POLICY, *, remote: bool = False) -> ChangeBox:
    path = root / "config"
    rig = Rig(path=path, state=root / "state", policy=policy, location=f"file://{path}" if remote else "")
    return ChangeBox(rig=rig)
