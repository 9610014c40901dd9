"""What was taken away by hand and does not come back by itself. Pure: from what a tick saw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from reconciler.engine.sight import Sight
from reconciler.plan.make import PlanInput, make
from reconciler.reads import drifts
from schemas.journal import ClusterStatus, OpRecord
from schemas.resource import Observed, Presence, Resource
from tests.plan.test_make import group, seen


def sight(wanted: Iterable[Resource], there: Iterable[Observed], *ops: dict[str, Any], **known: Any) -> Sight:
    desired, observed = {one.key: one for one in wanted}, {one.key: one for one in there}
    made_by = {str(number): OpRecord.model_validate(op) for number, op in enumerate(ops)}
    status = ClusterStatus(cluster="prod", ops=made_by, **known)
    given = PlanInput(
        cluster="prod",
        revision="a" * 40,
        desired=desired,
        observed=observed,
        made=status.refs,
        adopted=status.adopted,
        unmade=status.unmade(),
    )
    said: dict[str, Any] = {"cluster": "prod", "head": "a" * 40, "revision": "a" * 40, "at": "", "folder": None}
    return Sight(**said, account="", region="", status=status, desired=desired, observed=observed, plan=make(given))


def creation(phase: str, at: str) -> dict[str, Any]:
    return {"op": at, "key": group().key, "verb": "create", "phase": phase, "at": f"2026-03-01T{at}:00:00.000Z"}


ABSENT = seen(group(), presence=Presence.ABSENT)
MADE = {"refs": {group().key: "id-gpu"}}


@pytest.mark.parametrize(
    ("resource", "there", "known", "items", "gone", "why"),
    [
        (group(), ABSENT, MADE, ["create"], [], "it is made again"),
        (replace(group(), adopt="gpu"), ABSENT, MADE, [], ["AdoptMissing"], "adopted: we make no other in its place"),
        (group(), ABSENT, {}, [], [], "nobody made it yet"),
        (group(), seen(group(), presence=Presence.UNKNOWN), MADE, [], [], "unknown is not absent"),
        (group(), seen(group()), MADE, [], [], "it stands"),
    ],
)
def test_what_is_gone(
    resource: Resource, there: Observed, known: dict[str, Any], items: list[str], gone: list[str], why: str
) -> None:
    told = drifts.of_sight(made := sight([resource], [there], **known))
    assert [one.action.verb for one in told.items or ()] == items, why
    assert [one.reason for one in told.gone] == gone, why
    assert drifts.count(made) == len(items) + len(gone), why


@pytest.mark.parametrize(
    ("ops", "items", "why"),
    [
        ([creation("failed", "10")], [], "its creation failed: nobody took it away"),
        ([creation("succeeded", "10")], ["create"], "it was made, and is gone"),
        ([creation("failed", "10"), creation("succeeded", "11")], ["create"], "the newest word counts"),
        ([creation("succeeded", "10"), creation("submitted", "11")], [], "it is being made again"),
    ],
)
def test_a_creation_that_did_not_succeed_was_not_undone(ops: list[dict[str, Any]], items: list[str], why: str) -> None:
    told = drifts.of_sight(sight([group()], [ABSENT], *ops, **MADE))
    assert [one.action.verb for one in told.items or ()] == items, why
    assert told.gone == ()
