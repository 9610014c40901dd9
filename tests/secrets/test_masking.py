"""What is masked holds no secret any more, whatever stood around it."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.secrets import HIDDEN, find_secrets, mask_secrets

HF = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz01234567"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\nq7Zr\n-----END RSA " + "PRIVATE KEY-----"

# Texts out of which secrets are made, and what may change their meaning when one of them goes.
PIECES = [
    *(
        "hf_",
        "a1B2c3D4e5F6g7H8i9J0",
        HF,
        JWT,
        PEM,
        "AKIA" + "Q3EGZT5WJH7KX2NB",
        "glpat-",
        "sk-",
        "xoxb-",
        "://me:",
        "@h",
    ),
    *(
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "eyJabcdefgh",
        ".",
        "Bearer ",
        "Authorization: ",
        "X-Amz-Signature=",
        "0a" * 16,
    ),
    *("token", "password", "api_key", "name", "value", "secret", "key", ":", "=", ": ", '"', "'", "\\", "\n", " ", ","),
    *(
        "{",
        "}",
        "[",
        "]",
        "***",
        "*",
        "/",
        "-",
        "_",
        "a",
        "9",
        "é",
        "İ",
        "K",
        "01JAZ5Q8T3W4X5Y6Z7A8B9C0D1",
        "arn:",
        "<",
    ),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=25).map("".join)


@settings(max_examples=500, deadline=None)
@given(TEXTS)
def test_what_was_masked_passes(text: str) -> None:
    masked = mask_secrets(text)
    assert find_secrets(masked) == []
    assert mask_secrets(masked) == masked
    assert len(masked) <= len(text)


@settings(max_examples=500, deadline=None)
@given(TEXTS)
def test_the_rest_stays(text: str) -> None:
    """Only what is hidden changes; a text without secrets is the same text."""
    masked = mask_secrets(text)
    assert (masked == text) == (not find_secrets(text))
    if masked != text:
        assert HIDDEN in masked


@given(
    st.text(max_size=30),
    st.text(alphabet=string.ascii_letters + string.digits, min_size=34, max_size=34),
    st.text(max_size=30),
)
def test_a_planted_token_never_survives(before: str, body: str, after: str) -> None:
    assert body not in mask_secrets(f"{before} hf_{body} {after}")


def test_several_on_one_line() -> None:
    assert mask_secrets(f"see {HF}!") == "see ***!"
    assert mask_secrets(f"{HF} and {JWT} and AKIA{'A' * 16}") == "*** and *** and ***"


def test_what_stands_around_a_secret_stays() -> None:
    assert mask_secrets("https://bob:pa55" + "word@example.com/x") == "https://bob:***@example.com/x"
    assert mask_secrets(f"Authorization: Bearer {JWT}; next") == "Authorization: Bearer ***; next"
    assert json.loads(mask_secrets(json.dumps({"dbPassword": "Tr0ub4dor&3", "n": 1}))) == {"dbPassword": "***", "n": 1}


@pytest.mark.parametrize("end", ["", "\nand more"])
def test_a_private_key_goes_as_a_whole(end: str) -> None:
    assert mask_secrets(f"key: {PEM}{end}") == f"key: ***{end}"
    assert mask_secrets(f"key: {PEM[:40]}{end}") == "key: ***"  # without its end, all the rest may be the key


def test_two_that_overlap_are_one() -> None:
    assert mask_secrets(f"password: a-{HF}-{HF}") == "password: ***"
