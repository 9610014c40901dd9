"""When a stage has something new to tell. Pure."""

from __future__ import annotations

from reconciler.engine import stages
from schemas.journal import StageState, StageStatus


def test_a_stage_that_fails_in_another_call_for_the_same_reason_says_so() -> None:
    """Else a person who ordered a retry of the first reads its old cause."""
    first, second = (f"ec2:{call} of ec2.Address/prod/nat: no" for call in ("AllocateAddress", "ReleaseAddress"))
    known = StageStatus(state=StageState.FAILED, reason="AccessDenied", msg=first, at="", seq=1)
    assert stages.differs(known, stages.State(state=StageState.FAILED, reason="AccessDenied", msg=second))
    assert not stages.differs(
        known, stages.State(state=StageState.FAILED, reason="AccessDenied", msg=f"{first}, again")
    )
