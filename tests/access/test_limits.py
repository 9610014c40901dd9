"""Buckets: what goes at once, what fills again, and who pays for whom."""

from __future__ import annotations

import pytest

from schemas.errors import TooMany
from schemas.principals import ALL_SCOPES, Principal
from web.access.limits import Limits, Rate, Rates

RATES = Rates(
    read=Rate(each=2, burst=3),
    write=Rate(each=1, burst=1),
    login=Rate(each=0.1, burst=2),
    refused=Rate(each=1, burst=2),
    streams=2,
    all_streams=3,
)


class Time:
    at = 0.0

    def __call__(self) -> float:
        return self.at


def who(id_: str) -> Principal:
    return Principal(name="a@example.com", kind="person", scopes=ALL_SCOPES, via="token", id=id_)


def taken(limits: Limits, *, writes: bool = False, id_: str = "a", tries: int = 10) -> int:
    count = 0
    for _ in range(tries):
        try:
            limits.request(who(id_), writes=writes)
        except TooMany:
            continue
        count += 1
    return count


def test_a_burst_and_what_fills_again() -> None:
    time = Time()
    limits = Limits(RATES, monotonic=time)
    assert taken(limits) == 3, "the burst"
    time.at = 1.0
    assert taken(limits) == 2, "two a second"
    time.at = 1000.0
    assert taken(limits) == 3, "never more than the burst"


def test_nobody_pays_for_another() -> None:
    limits = Limits(RATES, monotonic=Time())
    assert (taken(limits), taken(limits, writes=True), taken(limits, id_="b")) == (3, 1, 3)


def test_it_says_when_to_come_back() -> None:
    time = Time()
    limits = Limits(RATES, monotonic=time)
    for _ in range(2):
        limits.login("127.0.0.1")
    with pytest.raises(TooMany) as refused:
        limits.login("127.0.0.1")
    assert refused.value.after == 10
    limits.login("127.0.0.2")
    time.at = 10.0
    limits.login("127.0.0.1")


def test_wrong_tokens_cost_only_those_who_have_none() -> None:
    """All have one address behind a forwarded port."""
    limits = Limits(RATES, monotonic=Time())
    for _ in range(2):
        limits.refused("127.0.0.1")
    with pytest.raises(TooMany):
        limits.refused("127.0.0.1")
    assert taken(limits) == 3


def test_streams_are_given_back() -> None:
    limits = Limits(RATES, monotonic=Time())
    with limits.stream(who("a")), limits.stream(who("a")):
        with pytest.raises(TooMany), limits.stream(who("a")):
            pass
        with limits.stream(who("b")):
            assert limits.open_streams == 3
            with pytest.raises(TooMany), limits.stream(who("c")):
                pass
    assert limits.open_streams == 0
    with pytest.raises(RuntimeError), limits.stream(who("a")):
        raise RuntimeError
    assert limits.open_streams == 0, "also when it breaks"


def test_memory_has_a_bound() -> None:
    limits = Limits(RATES, monotonic=Time())
    for number in range(20_000):
        limits.refused(f"10.0.{number // 256}.{number % 256}")
    assert len(vars(limits)["_buckets"]) <= 10_000
