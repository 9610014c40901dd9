"""Every kind of changing call of a cluster's life meets every fault. Run by `make faults`.

The kinds come from a life in which nothing went wrong, so a new kind of call is covered by itself. What became of each
is a table in `outcomes/`: a change of it is seen in review.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.journal import Condition, OpRecord, Phase
from tests.engine_support import Site
from tests.faults.campaign import HELD, OUTCOMES, Entry, Kind, Life, fault_of, kept, kind_of, read_kind, table
from tests.faults.life import LIFE, Step, nothing_left

PASSING = ("throttle", "conflict", "expired_token", "error500", f"timeout:{HELD}", "lost_reply")
STOPPING = ("access_denied", "quota", "invalid")
REBOOT = "sagemaker:BatchRebootClusterNodes"


@pytest.fixture(scope="module")
def wanted() -> list[Kind]:
    """The kinds of changing calls."""
    return [read_kind(line) for line in (OUTCOMES / "calls.txt").read_text().splitlines()]


def test_what_passes_by_itself(make: Callable[[], Site], wanted: list[Kind]) -> None:
    """Nobody does anything, and the life goes its way: each effect once. Only of what happens once may a person be
    asked whether it did."""
    life = Life(site=make())
    for kind in wanted:
        life.plan(kind, PASSING)
    for step in LIFE:
        _lived(life, step, _told_whether_it_happened)
    _checked(life, "passing", PASSING, lambda entry: _went_on(life, entry))


def test_what_stops_until_somebody_acts(make: Callable[[], Site], wanted: list[Kind]) -> None:
    """Stalled with the cause word for word, nothing is sent again by itself, and `retry` makes it go on."""
    life = Life(site=make())
    for kind in wanted:
        life.plan(kind, [*STOPPING, "cut"])
    for step in LIFE:
        _lived(life, step, _retried)
    _checked(life, "stopping", [*STOPPING, "cut"], lambda entry: _stopped(life, entry))


def _lived(life: Life, step: Step, act: Callable[[Life], None]) -> None:
    """One step of the life; wherever it stops, a person acts."""
    revision = step.commit(life.site)
    for _ in range(100):
        status = life.step([step.end, Condition.STALLED], revision)
        if status.condition is step.end:
            return
        act(life)
    raise AssertionError(life.story(f"{step.name} stops for ever"))


def _told_whether_it_happened(life: Life) -> None:
    """The one thing that may stop here: nobody can tell whether a reboot happened."""
    unknown = [op for op in life.site.status.open_ops() if op.phase is Phase.UNKNOWN]
    for op in unknown:
        life.expect(op.call == REBOOT, f"only a reboot may ask, not {op.call} of {op.key}")
        done = any(entry.get("op") == op.op and entry["effect"] for entry in life.log())
        life.site.order("resolve", op.op, **{"as": "happened" if done else "not-happened"})
        if not done:
            life.site.order("retry", op.key)
    if not unknown:
        status = life.site.status
        failed = _failed(life)
        life.problems.append(f"{status.reason} {status.msg}: {[f'{op.call} of {op.key}: {op.msg}' for op in failed]}")
        assert failed, life.story("it stopped, and there is nothing to retry")
        _retry(life, failed)


def _retried(life: Life) -> None:
    """A person reads why, sees that nothing more happens, and orders it again."""
    stopped = _failed(life)
    if not stopped:
        _told_whether_it_happened(life)
        return
    stages = " ".join(stage.msg for stage in life.site.status.stages.values())
    cause = any(op.call in stages and (op.msg or "-")[:80] in stages for op in stopped)
    life.expect(cause, f"nobody is told why {[op.call for op in stopped]} stopped: {stages}")
    before, lines = len(life.log()), len(life.site.lines)
    life.site.idle(2)  # what does not need it goes on meanwhile
    sent = [str(kind_of(e)) for e in life.log()[before:] if e.get("op") in {op.op for op in stopped}]
    life.expect(not sent, f"sent by itself while it was stopped: {sent}")
    keys = {op.key for op in stopped}
    more = [line["say"] for line in life.site.lines[lines:] if line["t"] == "op" and line.get("key") in keys]
    life.expect(not more, f"begun by itself while it was stopped: {more}")
    _retry(life, stopped)


def _failed(life: Life) -> list[OpRecord]:
    ops = life.site.status.ops.values()
    return [op for op in ops if op.phase is Phase.FAILED and op.op not in life.handled]


def _retry(life: Life, ops: list[OpRecord]) -> None:
    for op in ops:
        life.handled.add(op.op)
    for key in {op.key for op in ops}:
        life.site.order("retry", key)


def _checked(life: Life, name: str, faults: list[str] | tuple[str, ...], cell: Callable[[Entry], str]) -> None:
    cells = {(str(kind), fault): cell(entry) for (kind, fault), entry in life.met().items()}
    found = table(cells, [fault.partition(":")[0] for fault in faults])
    print(found)
    assert not life.problems, "\n".join(life.problems)
    assert nothing_left(life.site) == []
    assert life.site.sandbox.get("/effects")["duplicates"] == []
    kept(name, found)


def _op(life: Life, entry: Entry) -> OpRecord | None:
    """The op that a request belongs to, as the journal knows it; helm's own requests carry none."""
    lines = [line for line in life.site.lines if line["t"] == "op" and line["op"] == entry.get("op")]
    if not lines:
        return None
    merged = {key: value for line in lines for key, value in line.items()}
    known = {*OpRecord.model_fields, "class"}
    return OpRecord.model_validate({key: value for key, value in merged.items() if key in known})


def _went_on(life: Life, entry: Entry) -> str:
    op = _op(life, entry)
    if op is None or op.phase in (Phase.SUCCEEDED, Phase.CANCELLED):
        return "goes on"
    return f"{op.phase.value} {op.reason or ''}".strip()


def _stopped(life: Life, entry: Entry) -> str:
    """What the journal said about the op. A failure is that of the last fault which the op met; requests of one op may
    be under way together, and meet it together."""
    if not entry.get("op"):
        return "as helm says"
    told = [line for line in life.site.lines if line["t"] == "op" and line["op"] == entry["op"]]
    said = next((line for line in told if line["phase"] in ("refused", "failed")), None)
    last = [other for other in life.entries if other["fault"] and other.get("op") == entry["op"]][-1]
    if said is None or (said["phase"] == "failed" and fault_of(last) != fault_of(entry)):
        return "goes on"
    return f"{'stops' if said['phase'] == 'failed' else 'later'} {said['reason']}"
