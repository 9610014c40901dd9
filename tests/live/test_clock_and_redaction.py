"""Injected time, and what must not be said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.live.clock import Clock, SteppedClock, iso
from reconciler.live.redaction import presentable, redact
from schemas.secrets import find_secrets


def test_a_fast_clock_runs_ahead_of_the_real_one() -> None:
    clock = Clock(rate=100_000)
    start, first = clock.now(), clock.monotonic()
    clock.sleep(50)
    assert clock.now() - start >= timedelta(seconds=50)
    assert clock.monotonic() - first >= 50


def test_a_stepped_clock_moves_only_when_told() -> None:
    clock = SteppedClock(datetime(2026, 1, 1, tzinfo=UTC))
    clock.sleep(90)
    clock.advance(0.25)
    assert clock.iso() == "2026-01-01T00:01:30.250Z" and clock.slept == [90]


@pytest.mark.parametrize("rate", [0, -1])
def test_a_clock_does_not_stand_still(rate: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        Clock(rate)


def test_moments_are_utc() -> None:
    assert iso(datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))) == "2026-01-01T00:00:00.000Z"
    assert iso(datetime(2026, 1, 1)) == "2026-01-01T00:00:00.000Z"


SECRETS = [
    "k8s-aws-v1.aHR0cHM6Ly9zdHMuYW1hem9uYXdzLmNvbQ",
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "hf_" + "a" * 34,
    "ghp_" + "b" * 36,
    "eyJhbGciOiJI." + "eyJzdWIiOiIx." + "c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("around", ["{}", "token: {} was refused", '{{"key": "{}"}}'])
def test_secrets_are_hidden(secret: str, around: str) -> None:
    """D05."""
    assert secret not in redact(around.format(secret))


@pytest.mark.parametrize(
    "text",
    [
        "https://sts.amazonaws.com/?X-Amz-Signature=0123456789abcdef",
        "https://user:correcthorse@example.com/x",
        "Authorization: Bearer correcthorsebattery",
        '"SecretAccessKey": "correcthorsebattery"',
        "password=correcthorse",
    ],
)
def test_secrets_are_hidden_by_the_word_before_them(text: str) -> None:
    told = redact(text)
    assert "correcthorse" not in told and "0123456789abcdef" not in told


@pytest.mark.parametrize(
    "text",
    ["subnet-0a1b2c3d4e5f is in use", "arn:aws:iam::111122223333:role/prod-node", "cluster prod: 12/16 nodes"],
)
def test_plain_words_stay(text: str) -> None:
    assert redact(text) == text


@given(st.text(max_size=2000))
def test_what_is_presentable_is_one_short_line(text: str) -> None:
    told = presentable(text)
    assert len(told) <= 500 and "\n" not in told and "\x1b" not in told
    assert find_secrets(told) == []


def test_a_private_key_is_hidden_before_its_first_word() -> None:
    """A telling word in front of it takes one word only; the detector takes the key."""
    assert "MIIE" not in redact('"secret_key": "-----BEGIN RSA ' + 'PRIVATE KEY-----\nMIIE"')


def test_what_is_cut_does_not_look_like_a_secret() -> None:
    """Half a commit id behind `token:` would: journals refuse it, and the message is lost."""
    told = presentable("x" * 460 + " token: " + "0a1b2c3d" * 5)
    assert len(told) <= 500 and find_secrets(told) == []
