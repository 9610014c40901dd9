"""The campaign's own bookkeeping: a process dies where nobody died, and the book knows of what."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.checks import journal_problems, log_problems
from tests.crash.points import Book, shared

ROOT = Path(__file__).parents[2]
PASSES = """
import sys
from pathlib import Path
from tests.crash.points import Book, Points
book = Book(path=Path(sys.argv[1]), killed=set(sys.argv[3:]))
points = Points(scene="s", book=book, stride=int(sys.argv[2]), owned=lambda name: "other" not in name, faults="")
for what in ("one", "other", "two", "three"):
    points.at("send", what)
"""
Live = Callable[[int], str | None]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    made = Book(path=tmp_path / "book")
    made.path.touch()
    return made


@pytest.fixture
def live(book: Book) -> Live:
    """One life of four points at this stride; what it died of."""

    def life(stride: int) -> str | None:
        command = [sys.executable, "-c", PASSES, str(book.path), str(stride), *book.killed]
        done = subprocess.run(command, cwd=ROOT, timeout=120, check=False)
        assert done.returncode in (0, -9)
        return book.take_in(was_killed=done.returncode == -9)

    return life


def all_points(name: str) -> bool:
    return "other" not in name


def test_every_life_dies_where_nobody_died_until_all_are_through(book: Book, live: Live) -> None:
    assert [live(1), live(1), live(1), live(1)] == ["s | send | one", "s | send | two", "s | send | three", None]
    assert (book.kills, len(book.seen), book.left(all_points)) == (3, 4, [])


def test_a_long_life_passes_points_that_are_left(book: Book, live: Live) -> None:
    assert live(3) == "s | send | three"
    assert book.left(all_points) == ["s | send | one", "s | send | two"]
    book.met.clear()
    assert (book.left(all_points), book.rare(all_points)) == ([], ["s | send | one", "s | send | two"])
    assert live(0) is None, "nobody is killed in a run without kills"


def test_workers_share_what_is_sent_and_each_moves_its_own_refs() -> None:
    sends = [f"s | before send | {number}" for number in range(200)]
    one, other = shared(0, 2, 100, 1), shared(1, 2, 100, 1)
    assert all(one(name) != other(name) for name in sends)
    assert one("s | journal moved | x") and other("s | journal moved | x")
    assert 2 < sum(shared(0, 1, 6, 1)(name) for name in sends) < 30


def intent(op: str, seq: int) -> str:
    common = f'"at":"2026-03-01T10:00:00.000Z","say":"x","v":1,"seq":{seq},"roll":1,"t":"op","op":"{op}"'
    return f'{{{common},"phase":"intent","attempt":1,"key":"ec2.Vpc/prod","call":"ec2:CreateVpc","class":"tag"}}'


def test_the_checks_see_what_is_wrong() -> None:
    """An op without an end, a gap, a change that nobody announced, and one that came before its intent."""
    op = "01JABCDEFGHJKMNPQRSTVWXYZ0"
    assert any("has no end" in text for text in journal_problems("prod", [intent(op, 1)]))
    assert any("gaps" in text for text in journal_problems("prod", [intent(op, 1), intent(op, 3)]))
    line = {"t": "op", "op": op, "phase": "intent", "at": "2026-03-01T10:00:00.000Z", "call": "ec2:CreateVpc"}
    asked = {"mutating": True, "service": "ec2", "operation": "CreateVpc", "userAgent": "x", "op": op, "at": 2e9}
    assert log_problems([asked], [line]) == []
    assert "has no intent" in log_problems([{**asked, "op": None}], [line])[0]
    assert "older than its intent" in log_problems([{**asked, "at": 1.0}], [line])[0]
