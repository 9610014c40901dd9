"""Where the policy says so, what waits is let pass by orders that the service wrote, whoever may push."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.changes import ordering
from schemas.changes import NewOrder
from schemas.journal import Condition
from tests.changes.changebox import POLICY, REVIEWER, ChangeBox, make, person
from tests.changes.test_held import ONLY_WORKERS, SPARE

STRICT = POLICY.replace("  approvals:\n", "  approvals:\n    orders: signed\n")
OURS, PUSHED = "01JNAAAAAAAAAAAAAAAAAAAAA1", "01JNAAAAAAAAAAAAAAAAAAAAA2"


@pytest.fixture(params=[STRICT, POLICY], ids=["signed", "pushed"])
def waiting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ChangeBox]:
    """The author pushed a commit that takes a group away; it waits for another person."""
    box = make(tmp_path, str(request.param)).settled()
    box.rig.commit({"groups": ONLY_WORKERS})
    assert box.rig.settle().reason == "NeedsApproval"
    yield box
    box.rig.close()


def held(box: ChangeBox) -> str:
    return next(hold.action for hold in box.rig.status().holds.values() if hold.key == SPARE)


def body(box: ChangeBox, **more: str) -> dict[str, Any]:
    asked = {"cluster": "prod", "do": "approve", "subject": held(box), "principal": REVIEWER, "why": "x"}
    return {**asked, **more}


def is_strict(box: ChangeBox) -> bool:
    return "orders: signed" in (box.text("clusters/policy.yaml") or "")


def unsigned(box: ChangeBox) -> dict[str, Any]:
    return body(box)


def nonsense(box: ChangeBox) -> dict[str, Any]:
    return body(box, sig="0" * 64)


def no_text(box: ChangeBox) -> dict[str, Any]:
    return {**body(box), "sig": 7}


def of_another_order(box: ChangeBox) -> dict[str, Any]:
    return box.changes.store.signed_order(OURS, body(box))


def under_another_name(box: ChangeBox) -> dict[str, Any]:
    return {**box.changes.store.signed_order(PUSHED, body(box, principal="a@example.com")), "principal": REVIEWER}


@pytest.mark.parametrize("forged", [unsigned, nonsense, no_text, of_another_order, under_another_name])
def test_a_pushed_order_in_the_name_of_another(
    waiting: ChangeBox, forged: Callable[[ChangeBox], dict[str, Any]]
) -> None:
    waiting.rig.repo.put_order(PUSHED, forged(waiting))
    status = waiting.rig.settle()
    told = [line for line in waiting.rig.lines() if line["t"] == "order"][-1]
    if is_strict(waiting):
        assert (status.reason, told["do"]) == ("NeedsApproval", "refused approve")
        assert "the policy's approvals.orders" in told["why"]
        assert waiting.rig.cloud.seen(SPARE) is not None
    else:
        assert (status.condition, told["do"]) == (Condition.READY, "approve"), "who may push may give orders"


def test_an_order_of_the_service_lets_it_pass(waiting: ChangeBox) -> None:
    asked = NewOrder.model_validate({"cluster": "prod", "do": "approve", "subject": held(waiting), "why": "x"})
    _, told = ordering.give(waiting.changes.store, person(REVIEWER), asked, order=OURS)
    assert "sig" not in told
    waiting.restart()
    assert waiting.rig.settle().condition is Condition.READY
    assert waiting.rig.cloud.seen(SPARE) is None


def test_an_order_that_lets_nothing_pass_needs_no_signature(waiting: ChangeBox) -> None:
    waiting.rig.order("retry", "compute")
    waiting.rig.settle()
    assert [line["do"] for line in waiting.rig.lines() if line["t"] == "order"] == ["retry"]
