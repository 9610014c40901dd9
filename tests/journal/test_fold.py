"""What the journal's lines mean when they are folded."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.journal.fold import fold_lines, read, revisions
from reconciler.journal.lines import BrokenLine, Pen, fit, parse, shorten
from schemas.journal import Condition, Phase

REV_A, REV_B = "a" * 40, "b" * 40


def pen(seq: int = 0, roll: int = 0) -> Pen:
    ticks: Iterator[int] = iter(range(1, 10_000))
    return Pen(seq, roll, lambda: f"2026-03-01T10:{(n := next(ticks)) // 60 % 60:02d}:{n % 60:02d}.000Z")


def texts(p: Pen) -> list[str]:
    return [text for _, text in p.lines]


def rollout(p: Pen, rev: str, **more: Any) -> None:
    fields = {"rev": rev, "input": "c" * 40, "writer": "w", "plan": {"create": 1}, **more}
    p.write(rev, "rollout", "apply", **fields)


def intent(p: Pen, rev: str, op: str, **more: Any) -> None:
    fields: dict[str, Any] = {
        "key": "eks.Cluster/prod",
        "lane": "eks/prod",
        "verb": "create",
        "call": "eks:CreateCluster",
        "class": "token",
        "asked": rev,
        "want": "w",
        **more,
    }
    p.write(rev, "op", "create it", op=op, phase="intent", attempt=1, **fields)


def stage(p: Pen, rev: str, name: str, state: str, reason: str = "") -> None:
    p.write(rev, "stage", f"{name} {state}", stage=name, state=state, reason=reason)


def test_the_example_of_the_design_main_moves_while_eks_is_made() -> None:
    """An open op is carried into the new rollout, and the old revision is Superseded, never green."""
    p = pen(40, 6)
    rollout(p, REV_A)
    intent(p, REV_A, "01JA")
    p.write(REV_A, "op", "accepted", op="01JA", phase="submitted", ref={"arn": "arn:x"}, how="reply")
    stage(p, REV_A, "control-plane", "Progressing", "CreateCluster")
    before = fold_lines("prod", texts(p))
    assert {op.lane for op in before.open_ops()} == {"eks/prod"}
    p.write(REV_A, "end", "superseded", by=REV_B, carried=["01JA"])
    assert fold_lines("prod", texts(p)).condition is Condition.SUPERSEDED
    rollout(p, REV_B, open=[op.model_dump_compact() for op in before.open_ops()], **{"from": REV_A})
    p.write(REV_B, "op", "done", op="01JA", phase="succeeded", how="found")
    stage(p, REV_B, "control-plane", "Ready")
    after = fold_lines("prod", texts(p))
    assert (after.rev, after.condition, after.seq, after.roll) == (REV_B, Condition.READY, 48, 8)
    assert after.ops["01JA"].asked == REV_A
    assert after.last_ready == REV_B


def test_the_log_tells_a_revision_that_was_ready_from_one_that_never_was() -> None:
    p = pen()
    rollout(p, REV_A)
    stage(p, REV_A, "network", "Ready")
    p.write(REV_A, "end", "superseded", by=REV_B, carried=[])
    rollout(p, REV_B)
    stage(p, REV_B, "network", "Progressing")
    p.write(REV_B, "end", "superseded", by="c" * 40, carried=[])
    notes = {rev: "\n".join(text for at, text in p.lines if at == rev).encode() for rev in (REV_A, REV_B)}
    told = revisions(notes)
    assert [(told[r].condition, told[r].reason) for r in (REV_A, REV_B)] == [
        (Condition.SUPERSEDED, "WasReady"),
        (Condition.SUPERSEDED, "Superseded"),
    ]


@pytest.mark.parametrize(
    ("phases", "condition", "reason"),
    [
        (["intent"], Condition.RECONCILING, "an open op keeps the revision from being Ready"),
        (["intent", "submitted"], Condition.RECONCILING, "accepted is not done"),
        (["intent", "refused"], Condition.RECONCILING, "refused stays open and is tried again"),
        (["intent", "succeeded"], Condition.READY, "nothing is open and all stages are Ready"),
        (["intent", "unknown"], Condition.STALLED, "only a person can tell what happened"),
        (["intent", "unknown", "resolved"], Condition.READY, "a person told"),
        (["intent", "cancelled"], Condition.READY, "never sent"),
    ],
)
def test_condition_by_phase(phases: list[str], condition: Condition, reason: str) -> None:
    p = pen()
    rollout(p, REV_A)
    stage(p, REV_A, "compute", "Ready")
    intent(p, REV_A, "01JC")
    for phase in phases[1:]:
        p.write(REV_A, "op", phase, op="01JC", phase=phase)
    assert fold_lines("prod", texts(p)).condition is condition, reason


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ("submitted", "an ended op does not go on"),
        ("failed", "an ended op ends once"),
    ],
)
def test_nothing_follows_an_end(second: str, reason: str) -> None:
    p = pen()
    rollout(p, REV_A)
    intent(p, REV_A, "01JC")
    p.write(REV_A, "op", "done", op="01JC", phase="succeeded")
    p.write(REV_A, "op", "again", op="01JC", phase=second)
    assert fold_lines("prod", texts(p)).broken is not None, reason


def test_a_gap_breaks_the_journal_and_what_was_read_is_still_told() -> None:
    p = pen()
    rollout(p, REV_A)
    stage(p, REV_A, "network", "Ready")
    stage(p, REV_A, "compute", "Progressing")
    status = fold_lines("prod", [texts(p)[0], texts(p)[2]])
    assert (status.condition, status.reason) == (Condition.STALLED, "JournalBroken")
    assert status.stages["compute"].state.value == "Progressing"


def test_the_same_line_twice_is_one_line() -> None:
    """A re-push may leave the same line in two notes."""
    p = pen()
    rollout(p, REV_A)
    stage(p, REV_A, "network", "Ready")
    assert fold_lines("prod", [*texts(p), texts(p)[1]]) == fold_lines("prod", texts(p))


def test_two_lines_of_one_seq_are_a_forgery() -> None:
    p, q = pen(), pen()
    rollout(p, REV_A)
    rollout(q, REV_B)
    assert fold_lines("prod", [*texts(p), *texts(q)]).broken == "two different lines with seq 1"


def test_unknown_kinds_and_keys_are_ignored_and_a_newer_version_is_only_read() -> None:
    p = pen()
    rollout(p, REV_A)
    line = json.loads(texts(p)[0])
    extra = {**line, "seq": 2, "t": "weather", "sun": True}
    newer = {**line, "seq": 3, "v": 2, "later": 1}
    status = fold_lines("prod", [texts(p)[0], json.dumps(extra)])
    assert status.broken is None
    assert status.seq == 2
    assert "version 2" in str(fold_lines("prod", [texts(p)[0], json.dumps(extra), json.dumps(newer)]).broken)


def test_approving_a_key_lets_the_action_held_under_it_pass_and_no_other() -> None:
    p = pen()
    rollout(p, REV_A)
    p.write(REV_A, "hold", "held", key="k/prod/a", action="d" * 64, reason="NeedsApproval")
    assert fold_lines("prod", texts(p)).condition is Condition.STALLED
    p.write(REV_A, "order", "ok", do="approve", subject="k/prod/a", by="a@b.example", id="01X")
    status = fold_lines("prod", texts(p))
    assert status.approved == ("d" * 64,)
    assert status.holds["k/prod/a"].state == "released"
    p.write(REV_A, "hold", "held", key="k/prod/a", action="e" * 64, reason="NeedsApproval")
    assert fold_lines("prod", texts(p)).condition is Condition.STALLED


def test_a_line_is_cut_in_its_free_text_only() -> None:
    p = pen()
    rollout(p, REV_A)
    p.write(REV_A, "stage", "x" * 500, stage="network", state="Failed", reason="R", msg="m" * 5000)
    text = texts(p)[1]
    assert len(text) <= 2048
    assert len(json.loads(text)["say"]) <= 120
    with pytest.raises(ValueError, match="journal line"):
        fit({"seq": 1, "t": "op", "ref": {"x": "y" * 5000}}, 2048)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"seq":1}', '{"seq":1,"t":"op"}', "\x00"])
def test_broken_lines_are_reported(text: str) -> None:
    with pytest.raises(BrokenLine):
        parse(text)


def test_shorten_never_makes_two_lines() -> None:
    assert "\n" not in shorten("a\nb\r\n" * 100, 50)


# Laws ----------------------------------------------------------------------------------------------------------------

EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("rollout"), st.sampled_from([REV_A, REV_B])),
        st.tuples(st.just("intent"), st.sampled_from(["01A", "01B", "01C"])),
        st.tuples(st.just("phase"), st.sampled_from([ph.value for ph in Phase if ph is not Phase.INTENT])),
        st.tuples(st.just("stage"), st.sampled_from(["Ready", "Failed", "Progressing"])),
        st.tuples(st.just("hold"), st.sampled_from(["held", "released"])),
    ),
    max_size=30,
)


def history(events: list[tuple[str, str]]) -> list[str]:
    """A history that an engine could have written: carried ops stand whole in the next rollout."""
    p = pen()
    rollout(p, REV_A)
    rev, count = REV_A, 0
    for kind, value in events:
        status = read("prod", texts(p)).status()
        open_ops = status.open_ops()
        if kind == "rollout":
            p.write(rev, "end", "moved", by=value, carried=[op.op for op in open_ops])
            rollout(p, value, open=[op.model_dump_compact() for op in open_ops], ready=status.last_ready)
            rev = value
        elif kind == "intent":
            count += 1
            intent(p, rev, f"{value}{count}", lane=f"l{count}")
        elif kind == "phase" and open_ops and (open_ops[0].phase is not Phase.UNKNOWN or value == "resolved"):
            p.write(rev, "op", value, op=open_ops[0].op, phase=value)
        elif kind == "stage":
            stage(p, rev, "compute", value)
        elif kind == "hold":
            p.write(rev, "hold", value, key="k", action="d" * 64, reason="R", state=value)
    return texts(p)


@given(EVENTS)
def test_fold_of_all_is_fold_from_the_newest_rollout(events: list[tuple[str, str]]) -> None:
    lines = history(events)
    newest = max(i for i, text in enumerate(lines) if '"t":"rollout"' in text)
    assert fold_lines("prod", lines) == fold_lines("prod", lines[newest:])


@given(EVENTS, st.randoms(use_true_random=False))
def test_the_order_of_lines_does_not_matter(events: list[tuple[str, str]], random: Any) -> None:
    lines = history(events)
    mixed = list(lines)
    random.shuffle(mixed)
    assert fold_lines("prod", mixed) == fold_lines("prod", lines)


@given(EVENTS)
def test_taking_lines_one_by_one_is_the_same(events: list[tuple[str, str]]) -> None:
    lines = history(events)
    state = read("prod", lines[:1])
    for text in lines[1:]:
        state.feed(text)
    assert state.status() == fold_lines("prod", lines)


class Text(str):
    """One whose life can be followed."""


@pytest.mark.parametrize("backwards", [False, True])
def test_lines_before_the_newest_rollout_are_not_held_while_it_reads(backwards: bool) -> None:
    """A restart reads all journals; those of years would be in memory at once, only to be thrown away."""
    p = pen()
    for number in range(30):
        rollout(p, f"{number:040x}")
        stage(p, f"{number:040x}", "network", "Ready")
        stage(p, f"{number:040x}", "compute", "Progressing")
    lines = texts(p)[::-1] if backwards else texts(p)
    followed: list[weakref.ref[Text]] = []

    def told() -> Iterator[str]:
        for line in lines:
            text = Text(line)
            followed.append(weakref.ref(text))
            yield text
            del text
        gc.collect()
        assert sum(text() is not None for text in followed) <= 4, "the rollout, what came after it, and the one at hand"

    assert read("prod", told()).status() == fold_lines("prod", lines)
    assert len(followed) == 90
