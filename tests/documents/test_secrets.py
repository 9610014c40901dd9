"""What looks like a secret, and what only looks odd. Every value here is made up."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.secrets import Finding, find_secrets, is_secret_name

# Put together here, so that no scanner takes this file for a leak.
_RANDOM = "q7Zr2Xw9Kd4Tn8Vb3Mh6Yc1Lp5Gs0Jf2Ae7Ru4Wi"
SECRETS = [
    ("AWS access key", "key: " + "AKIA" + "Q3EGZT5WJH7KX2NB", "AKIA"),
    ("AWS access key", "ASIA" + "Q3EGZT5WJH7KX2NB", "ASIA"),
    ("Hugging Face token", "  - name: X\n    value: hf_" + _RANDOM[:34], "hf_q"),
    ("GitHub token", "x: ghp_" + _RANDOM[:36], "ghp_"),
    ("GitHub token", "x: github_pat_" + _RANDOM, "gith"),
    ("GitLab token", "x: glpat-" + _RANDOM[:20], "glpa"),
    ("Slack token", "x: xoxb-" + "1234567890-abcdefghij", "xoxb"),
    ("API key", "x: sk-" + _RANDOM, "sk-q"),
    ("NVIDIA API key", "x: nvapi-" + _RANDOM, "nvap"),
    ("JSON web token", "x: eyJ" + "hbGciOiJI.eyJ" + "zdWIiOiIx." + "c2lnbmF0dXJl", "eyJh"),
    ("private key", "x: |\n  -----BEGIN RSA " + "PRIVATE KEY-----\n", "----"),
    ("password in a URL", "x: postgres://me:" + "hunter22@db.example.com/x", "•"),
    ("value of HF_TOKEN", "HF_TOKEN: " + _RANDOM, "•"),
    ("value of dbPassword", 'dbPassword: "' + "correct-Horse9-battery" + '"', "•"),
    ("value of api-key", "api-key: " + _RANDOM, "•"),
    ("value of WANDB_API_KEY", "- name: WANDB_API_KEY\n  value: " + "0f3a9c" * 6 + "7b1d", "•"),
    ("value of WANDB_API_KEY", '{"name": "WANDB_API_KEY", "value": "' + _RANDOM + '"}', "•"),
    ("value of AWS_SECRET_ACCESS_KEY", "export AWS_SECRET_ACCESS_KEY=" + _RANDOM, "•"),
]


@pytest.mark.parametrize(("kind", "text", "prefix"), SECRETS, ids=[f"{case[0]} {n}" for n, case in enumerate(SECRETS)])
def test_found_and_masked(kind: str, text: str, prefix: str) -> None:
    """R10, D05: told with its kind and place; the mask shows at most what tells the kind."""
    (finding,) = find_secrets(f"# a\n{text}\n")
    assert finding.kind == kind
    assert finding.line >= 2
    assert finding.masked.startswith(prefix)
    assert finding.masked.partition("••••")[0] in (prefix, "")


HARMLESS = [
    ("a commit", "commit: 8f14e45fceea167a5a36dedd4bea2543a1b2c3d4"),
    ("a digest", "token: sha256:8f14e45fceea167a5a36dedd4bea2543a1b2c3d4e5f60718293a4b5c6d7e8f90"),
    ("a ULID", "op: 01JA3Z5Q8W9X7Y6V4T2S1R0PNM"),
    ("an ARN of a secret", "secret: arn:aws:secretsmanager:us-west-2:111122223333:secret:hf-AbCdEf"),
    ("a role", "principal: arn:aws:iam::111122223333:role/engineers"),
    ("a reference", "tokenSecretRef: {name: huggingface-2024, key: HF_TOKEN}"),
    ("a name of a secret", "secretName: huggingface-token-v2"),
    ("a name as value", "secret: my-cluster-secret"),
    ("a variable", "HF_TOKEN: ${HF_TOKEN_FROM_ENVIRONMENT}"),
    ("a shell command", "TOKEN=$(curl -s http://169.254.169.254/latest/api/token)"),
    ("a placeholder", "password: <your password here 123>"),
    ("an empty value", "HF_TOKEN: ''"),
    ("the next field is not its value", "token:\n  expires: 2026-09-01T18:00:00Z"),
    ("a number of tokens", "max_tokens: 32768000"),
    ("a word about tokens", "# a token bucket: 100 requests"),
    ("an address without password", "repository: https://example.com/charts.git"),
    ("an address with a port", "url: https://user:443/path"),
    ("a path", "tokenFile: /var/run/secrets/eks.amazonaws.com/serviceaccount/token"),
    ("a path as value", "token: /var/run/secrets/token-2024/Abc"),
    ("an image", "image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/train@sha256:8f14e45fceea167a5a36dedd4bea2543"),
    ("an instance", "nodes: [i-0123456789abcdef0]"),
    ("base64 of something", "script: IyEvYmluL2Jhc2gKZWNobyBoZWxsbwo="),
    ("a resource", "nvidia.com/gpu: 8"),
]


@pytest.mark.parametrize(("reason", "text"), HARMLESS, ids=[case[0] for case in HARMLESS])
def test_not_found(reason: str, text: str) -> None:
    assert find_secrets(text) == [], reason


def test_several_in_one_text_with_their_places() -> None:
    text = "a: 1\nx: hf_" + _RANDOM[:34] + "\ny: glpat-" + _RANDOM[:20] + "\n"
    assert [(found.kind, found.line, found.column) for found in find_secrets(text)] == [
        ("Hugging Face token", 2, 4),
        ("GitLab token", 3, 4),
    ]


def test_one_secret_is_told_once() -> None:
    found = find_secrets("HF_TOKEN: hf_" + _RANDOM[:34])
    assert [finding.kind for finding in found] == ["Hugging Face token"]


def test_names() -> None:
    assert all(map(is_secret_name, ("HF_TOKEN", "dbPassword", "api-key", "aws_secret_access_key", "clientSecret")))
    assert not any(
        map(is_secret_name, ("tokenizer", "max_tokens", "secretName", "tokenSecretRef", "passwordFile", "key"))
    )


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_looked_at(text: str) -> None:
    assert all(isinstance(finding, Finding) for finding in find_secrets(text))


def test_no_text_takes_long() -> None:
    """Patterns that go back and forth over their input would let one file stop everything."""
    for unit in ("a", "name: token\n", "token: ", "eyJ", "://a:", "x" * 50 + "@", "sk-", '"value": "', "-----BEGIN "):
        started = time.process_time()
        find_secrets((unit * 100_000)[:200_000] + " token PRIVATE KEY-----")
        assert time.process_time() - started < 2, unit
