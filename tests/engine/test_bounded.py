"""What was not used for longest goes first, and never more stays than may."""

from __future__ import annotations

import pytest

from reconciler.engine.bounded import Bounded


@pytest.mark.parametrize(
    ("steps", "left", "why"),
    [
        ("a1 b1 c1", "abc", "all of them fit"),
        ("a4 b4 c4", "bc", "the oldest goes"),
        ("a4 b4 a? c4", "ac", "what was asked for is used"),
        ("a4 b4 a4 c4", "ac", "what is put anew is used"),
        ("a8 a1 b8", "ab", "and weighs what it weighs now"),
        ("a1 b1 c50", "c", "the newest stays, whatever it weighs"),
        ("a50 b1", "b", "and only as long as it is the newest"),
        ("a4 b4 a- c4", "bc", "what is forgotten makes room"),
        ("a9 a- b9", "b", "and weighs nothing"),
        ("a- b1", "b", "nothing to forget"),
    ],
)
def test_it_forgets(steps: str, left: str, why: str) -> None:
    kept: Bounded[str, int] = Bounded(9)
    for name, what in ((step[0], step[1:]) for step in steps.split()):
        match what:
            case "?":
                assert kept.get(name) is not None
            case "-":
                kept.forget(name.__eq__)
            case _:
                kept.put(name, int(what), int(what))
    assert "".join(name for name in "abc" if kept.get(name) is not None) == left, why
    assert len(kept) == len(left)
    assert kept.weight == sum(value for name in left if (value := kept.get(name)) is not None)


def test_without_weights_entries_are_counted() -> None:
    kept: Bounded[int, str] = Bounded(3)
    for number in range(10):
        kept.put(number, str(number))
    assert [kept.get(number) for number in range(10)] == [*[None] * 7, "7", "8", "9"]
