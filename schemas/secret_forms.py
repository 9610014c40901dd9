"""Forms that only secrets have: `hf_…`, `AKIA…`, a private key's header, a signature in an address. Pure.

Each form begins at one of its marks, letters it cannot be without: a text that holds no mark costs one plain search
a mark, and a form is tried only where a mark stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where something that looks like a secret stands, and how many of its first characters may be shown."""

    kind: str
    start: int
    end: int
    shown: int = 0
    by_name: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Form:
    kind: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]  # matched at a mark; its group, if it has one, is the secret


def _form(kind: str, marks: str, pattern: str) -> _Form:
    return _Form(kind=kind, marks=tuple(marks.split(" ")), pattern=re.compile(pattern))


_FORMS: Final = (
    _form(
        "private key",
        "-----BEGIN",
        r"(?s)-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:.*?-----END [A-Z0-9 ]{0,60}PRIVATE KEY(?: BLOCK)?-----|.*\Z)",
    ),
    _form(
        "AWS access key id",
        "AKIA ASIA ABIA ACCA",
        r"(?<![A-Za-z0-9])A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    _form("AWS session token", "FwoG FQoG IQoJ", r"(?<![A-Za-z0-9/+])(?:FwoG|FQoG|IQoJ)[A-Za-z0-9/+]{60,}={0,2}"),
    _form(
        "Hugging Face token",
        "hf_ api_org_",
        r"(?<![A-Za-z0-9_])(?:hf|api_org)_(?:[A-Za-z0-9]{30,}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,})",
    ),
    _form("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9]{20,}"),
    _form("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    _form("GitLab token", "glpat-", r"glpat-[A-Za-z0-9_.-]{16,}"),
    _form("GitLab token", "gldt- glrt- glptt- glsoat-", r"(?<![A-Za-z0-9_])gl(?:dt|rt|ptt|soat)-[A-Za-z0-9_.-]{20,}"),
    _form("Slack token", "xox", r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _form("Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}"),
    _form("Google API key", "AIza", r"(?<![A-Za-z0-9_])AIza[A-Za-z0-9_-]{35}"),
    _form("NVIDIA API key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{30,}"),
    _form(
        "API key",
        "sk-",
        r"(?<![A-Za-z0-9_-])sk-(?:(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{24,}|(?=[a-z_-]*[A-Z])[A-Za-z0-9_-]{32,})",
    ),
    _form("npm token", "npm_", r"(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{36}"),
    _form("PyPI token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    _form("Docker token", "dckr_pat_", r"dckr_pat_[A-Za-z0-9_-]{20,}"),
    _form("InstantStart token", "is_", r"(?<![A-Za-z0-9_-])is_(?=[a-z_-]*[A-Z0-9])[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    _form("EKS token", "k8s-aws-v1.", r"k8s-aws-v1\.[A-Za-z0-9_=-]{8,}"),
    _form(
        "authorization header",
        "earer EARER asic ASIC",
        r"(?i)(?<=b)(?<![a-z]b)(?:earer|asic)\s{1,8}((?=[^\s\"']*[0-9])[a-z0-9._~+/-]{20,4096}={0,2})",
    ),
    _form(
        "authorization header",
        "uthorization",
        r"(?i)uthorization\\{0,3}[\"']?\s{0,8}[:=]\s{0,8}\\{0,3}[\"']?(?:bearer|basic|token)\s{1,8}"
        r"([a-z0-9._~+/-]{16,4096}={0,2})",
    ),
    _form(
        "JSON web token",
        "eyJ",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){1,3}",
    ),
    _form(
        "presigned URL",
        "X-Amz-S x-amz-s",
        r"(?i)X-Amz-(?:Signature=[0-9a-f]{16,}|Security-Token=[a-z0-9%/+=]{16,})",
    ),
    _form("signature of a request", "Signature=", r"(?<![A-Za-z-])Signature=([0-9a-f]{64})(?![0-9a-f])"),
    _form(
        "password in a URL",
        "://",
        r"(?<=[A-Za-z0-9+.-])://[^\s/:@\"'<>${}]{0,100}:(?!\*+@)([^\s/@\"'<>${}]{3,200})@",
    ),
)
_MARKS: Final = tuple((mark, form) for form in _FORMS for mark in form.marks)


def forms_in(text: str) -> Iterator[Place]:
    """All places that have a form, form by form."""
    for mark, form in [pair for pair in _MARKS if pair[0] in text]:
        yield from _places(text, form, mark)


def _places(text: str, form: _Form, mark: str) -> Iterator[Place]:
    at = text.find(mark)
    while at >= 0:
        match = form.pattern.match(text, at)
        if match is None:
            at = text.find(mark, at + 1)
            continue
        start, end = match.span(form.pattern.groups)
        # The first characters of a password tell nothing but the password.
        shown = 0 if form.pattern.groups else 4
        yield Place(kind=form.kind, start=start, end=end, shown=shown)
        at = text.find(mark, match.end())
