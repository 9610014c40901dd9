"""Answers that are kept: how long, when they are asked anew, and that readers who come together ask once."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from reconciler.reads.kept import FAILURE, Kept
from schemas.errors import Unavailable


class Asked:
    def __init__(self) -> None:
        self.times = 0
        self.error: Exception | None = None

    def __call__(self) -> int:
        self.times += 1
        if self.error is not None:
            raise self.error
        return self.times


class Now:
    at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.mark.parametrize(
    ("passed", "hard", "soft", "asked", "why"),
    [
        (5.0, "h", "s", 1, "it is still good"),
        (10.0, "h", "s", 2, "its time is over"),
        (0.0, "other", "s", 2, "a hard mark moved: it is wrong now"),
        (0.2, "h", "other", 1, "a soft mark moved a moment ago"),
        (0.5, "h", "other", 2, "a soft mark moved, and the moment is over"),
    ],
)
def test_when_an_answer_is_asked_for_anew(passed: float, hard: str, soft: str, asked: int, why: str) -> None:
    now, ask = Now(), Asked()
    kept: Kept[int] = Kept(10.0, least=0.5, now=now)
    kept.get("key", ask, hard="h", soft="s")
    now.at += passed
    assert kept.get("key", ask, hard=hard, soft=soft) == asked, why


def test_an_error_is_kept_for_a_short_while() -> None:
    now, ask = Now(), Asked()
    kept: Kept[int] = Kept(10.0, now=now)
    ask.error = Unavailable("no")
    for _ in range(3):
        with pytest.raises(Unavailable):
            kept.get("key", ask)
    assert ask.times == 1
    ask.error, now.at = None, now.at + FAILURE
    assert kept.get("key", ask) == 2


def test_readers_that_come_together_ask_once() -> None:
    asked: list[int] = []

    def slow() -> int:
        asked.append(1)
        time.sleep(0.2)
        return 7

    kept: Kept[int] = Kept(10.0)
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(kept.get("key", slow))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (asked, found) == ([1], [7] * 8)


def test_an_old_answer_is_given_while_it_is_renewed_and_not_for_ever() -> None:
    now, ask = Now(), Asked()
    with ThreadPoolExecutor(1) as pool:
        kept: Kept[int] = Kept(1.0, stale=5.0, pool=pool, now=now)
        assert kept.get("key", ask) == 1
        now.at += 2.0
        assert kept.get("key", ask) == 1, "nobody waits"
        pool.submit(int).result()  # the renewal before it is over
        assert kept.get("key", ask) == 2
        ask.error = Unavailable("no")
        now.at += 2.0
        assert kept.get("key", ask) == 2
        pool.submit(int).result()
        assert kept.get("key", ask) == 2, "a renewal that fails leaves it"
        now.at += 5.0
        with pytest.raises(Unavailable):
            kept.get("key", ask)


def test_no_more_are_kept_than_are_wanted() -> None:
    ask = Asked()
    kept: Kept[int] = Kept(10.0, most=2)
    for key in "abc":
        kept.get(key, ask)
    assert kept.get("c", ask) == 3 and kept.get("a", ask) == 4, "the oldest went"
