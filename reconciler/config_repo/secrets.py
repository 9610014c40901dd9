"""What looks like a secret. Pure.

Two kinds of evidence: a form that only secrets have (`hf_…`, `AKIA…`, a private key's header), and a telling key with
a value that looks made by a machine. Ids that GitOps is full of (commit ids, digests, ulids, ARNs, names of secrets)
are not secrets, and a detector that cries at them would be switched off.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Where something looks like a secret: line and column from 1. `masked` may be shown."""

    kind: str
    line: int
    column: int
    masked: str


# What the secret is, letters it cannot be without (so that most texts cost one search each), and its form.
_FORMS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (kind, tuple(marks.split()), re.compile(pattern))
    for kind, marks, pattern in (
        ("private key", "-----BEGIN", r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"),
        (
            "AWS access key id",
            "AKIA ASIA ABIA ACCA",
            r"(?<![A-Za-z0-9])A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        ),
        ("AWS session token", "FwoG FQoG IQoJ", r"(?<![A-Za-z0-9/+])(?:FwoG|FQoG|IQoJ)[A-Za-z0-9/+]{60,}={0,2}"),
        ("Hugging Face token", "hf_ api_org_", r"(?<![A-Za-z0-9_])(?:hf|api_org)_[A-Za-z0-9]{30,}"),
        ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9]{30,}"),
        ("GitHub token", "github_pat_", r"(?<![A-Za-z0-9_])github_pat_[A-Za-z0-9_]{40,}"),
        ("GitLab token", "gl", r"(?<![A-Za-z0-9_])gl(?:pat|dt|rt|ptt|soat)-[A-Za-z0-9_.-]{20,}"),
        ("Slack token", "xox", r"(?<![A-Za-z0-9_])xox[abeoprs]-[A-Za-z0-9-]{12,}"),
        ("Google API key", "AIza", r"(?<![A-Za-z0-9_])AIza[A-Za-z0-9_-]{35}"),
        ("NVIDIA API key", "nvapi-", r"(?<![A-Za-z0-9_])nvapi-[A-Za-z0-9_-]{30,}"),
        ("API key", "sk-", r"(?<![A-Za-z0-9_-])sk-(?:ant-|proj-|live-)?(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{24,}"),
        ("EKS token", "k8s-aws-v1.", r"k8s-aws-v1\.[A-Za-z0-9_-]{20,}"),
        ("JSON web token", "eyJ", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        ("presigned URL", "X-Amz-", r"X-Amz-(?:Signature=[0-9a-f]{64}|Security-Token=[A-Za-z0-9%/+]{40,})"),
        (
            "authorization header",
            "earer BEARER asic BASIC",
            r"(?i)(?<![a-z])(?:bearer|basic)\s{1,8}(?=[^\s\"']*[0-9])[a-z0-9._~+/-]{20,}={0,2}",
        ),
        (
            "password in a URL",
            "://",
            r"(?<![A-Za-z0-9])[a-z][a-z0-9+.-]{1,20}://[^/\s:@\"'{}<>$]{1,80}:[^/\s@\"'{}<>$]{3,200}@",
        ),
    )
)

# `key: value`, `key = value`, `"key": "value"`, also inside a JSON string (\"), and Kubernetes' name/value pairs.
_KEY = r"""(?<![A-Za-z0-9_.-])(?P<key>[A-Za-z][A-Za-z0-9_.-]{2,60})"""
_IS = r"""\\?["']?[ \t]*[:=][ \t]*\\?["']?"""
_VALUE = r"""(?P<value>[^\s"'\\,;{}\[\]]{6,4096})"""
_PAIR = re.compile(_KEY + _IS + _VALUE)
_NAMED = re.compile(r"(?i:name)" + _IS + _KEY + r"""\\?["']?[\s,]{1,80}\\?["']?(?i:value)""" + _IS + _VALUE)
_TELLING = re.compile(r"(?i)passw|passphrase|pwd|secret|token|credential|(?:access|api|private|account|auth)[_-]?key")
_PASSWORD = re.compile(r"(?i)(?:password|passwd|passphrase|pwd)$")
_SECRET = re.compile(r"(?i)(?:secret|(?:secret|access|api|private|account|auth)[_-]?key|token|credentials?)$")
# Keys that end like a secret's but hold an id; and values that stand for a secret kept elsewhere.
_IDEMPOTENCY = re.compile(
    r"(?i)(?:^token|client_?(?:request_?)?token|next_?token|continue_?token|continuation_?token|page_?token|resume_?token)$"
)
_PLACEHOLDER = re.compile(
    r"(?i)^(?:[<$%*.]|\{\{|arn:|https?://|s3://|ssm:|secretsmanager:|env:|file:|/|xxx|(?:your|my|example|changeme|change-me|redacted|none|null|true|false|required|optional|placeholder|dummy|todo)\b)"
)
_PLAIN_ID = re.compile(
    r"(?:[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:sha256:)?[0-9a-f]{40}|(?:sha256:)?[0-9a-f]{64}|[0-9]+)"
)
_CHUNK = re.compile(r"[A-Za-z0-9]+")
_WORDS = re.compile(r"(?:[A-Z]?[a-z]{2,}|[A-Z]{2,})[0-9]{0,4}|(?:[A-Z]?[a-z]+){1,6}")


def find_secrets(text: str) -> list[Finding]:
    """All places that look like a secret, in order; of two that overlap the one that starts first."""
    return [_finding(text, kind, start, end) for kind, start, end in _places(text)]


def mask_secrets(text: str) -> str:
    """The text with everything that looks like a secret replaced."""
    for _, start, end in reversed(_places(text)):
        text = text[:start] + "***" + text[end:]
    return text


def _places(text: str) -> list[tuple[str, int, int]]:
    places: list[tuple[str, int, int]] = []
    for place in sorted(_candidates(text), key=lambda c: (c[1], -c[2])):
        if not places or place[1] >= places[-1][2]:
            places.append(place)
    return places


def _candidates(text: str) -> Iterator[tuple[str, int, int]]:
    for kind, marks, form in _FORMS:
        if any(mark in text for mark in marks):
            for match in form.finditer(text):
                yield kind, match.start(), match.end()
    if not _TELLING.search(text):
        return
    for pattern in (_PAIR, _NAMED):
        for match in pattern.finditer(text):
            if _looks_secret(match["key"], match["value"]):
                yield f"value of {match['key']}", match.start("value"), match.end("value")


def _looks_secret(key: str, value: str) -> bool:
    if _PLACEHOLDER.match(value):
        return False
    if _PASSWORD.search(key):
        return _entropy(value) >= 2.2 and not _is_path_like(value)
    if not _SECRET.search(key):
        return False
    if _IDEMPOTENCY.search(key) and (_PLAIN_ID.fullmatch(value) or len(value) < 40):
        return False
    # A secret is referred to by name far more often than it is written out: words joined by dashes are a name.
    return len(value) >= 16 and _entropy(value) >= 3.0 and any(_is_made_by_machine(c) for c in _CHUNK.findall(value))


def _is_made_by_machine(chunk: str) -> bool:
    if _WORDS.fullmatch(chunk) or chunk.isdigit():
        return False
    return len(chunk) >= 16 or (len(chunk) >= 10 and any(c.isdigit() for c in chunk))


def _is_path_like(value: str) -> bool:
    return value.count("/") >= 2 or value.isdigit()


def _entropy(value: str) -> float:
    """Shannon's, in bits per character: about 2.5 for words, over 3.5 for what a machine made."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _finding(text: str, kind: str, start: int, end: int) -> Finding:
    line_start = text.rfind("\n", 0, start) + 1
    shown = "" if kind.startswith(("value of", "password")) else text[start : start + 4]
    return Finding(
        kind=kind,
        line=text.count("\n", 0, start) + 1,
        column=start - line_start + 1,
        masked=f"{shown}*** ({end - start} characters)",
    )
