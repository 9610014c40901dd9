"""What looks like a secret in a text. Pure, so that both the documents and the commits can ask.

Two ways to know one: its own form (an access key, a token with a well-known prefix, a private key), or a field
named like a secret that holds random-looking text. Digests, ARNs, ids, references and placeholders pass: a
detector that cries often is soon switched off. Nothing here ever returns the secret itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One suspected secret. `line` and `column` count from 1; `masked` is safe to show anywhere.

    `by_name`: known by the name of its field only, not by its own form.
    """

    kind: str
    line: int
    column: int
    masked: str
    by_name: bool = False


# (kind, a literal that must be there, the whole form). The literal keeps the usual text from costing anything.
_FORMS: Final[tuple[tuple[str, str, re.Pattern[str]], ...]] = (
    ("AWS access key", "AKIA", re.compile(r"(?<![A-Za-z0-9])AKIA[A-Z0-9]{16}(?![A-Za-z0-9])")),
    ("AWS access key", "ASIA", re.compile(r"(?<![A-Za-z0-9])ASIA[A-Z0-9]{16}(?![A-Za-z0-9])")),
    ("private key", "PRIVATE KEY-----", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("Hugging Face token", "hf_", re.compile(r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{30,}")),
    ("GitHub token", "gh", re.compile(r"(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9]{36,}")),
    ("GitHub token", "github_pat_", re.compile(r"github_pat_[A-Za-z0-9_]{36,}")),
    ("GitLab token", "glpat-", re.compile(r"glpat-[A-Za-z0-9_-]{20,}")),
    ("Slack token", "xox", re.compile(r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}")),
    ("Slack webhook", "hooks.slack.com", re.compile(r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}")),
    ("API key", "sk-", re.compile(r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{32,}")),
    ("Google API key", "AIza", re.compile(r"(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}")),
    ("NVIDIA API key", "nvapi-", re.compile(r"nvapi-[A-Za-z0-9_-]{40,}")),
    ("npm token", "npm_", re.compile(r"(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{36}")),
    ("PyPI token", "pypi-AgE", re.compile(r"pypi-AgE[A-Za-z0-9_-]{40,}")),
    ("Docker token", "dckr_pat_", re.compile(r"dckr_pat_[A-Za-z0-9_-]{20,}")),
    ("JSON web token", "eyJ", re.compile(r"(?<![A-Za-z0-9_-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")),
    (
        "password in a URL",
        "@",
        re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,30}://[^\s/:@\"'<>${}]{1,100}:([^\s/@\"'<>${}]{3,200})@"),
    ),
)
_SECRET_WORDS: Final = (
    "secret",
    "token",
    "passw",
    "passphrase",
    "credential",
    *(f"{first}{joint}key" for first in ("api", "access") for joint in ("", "_", "-")),
)
_SECRET_NAME = re.compile(
    r"(?:secret|token|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|credentials?)(?:[_-]?(?:key|value))?\Z",
    re.IGNORECASE,
)
# `name: value`, `"name": "value"`, `name=value`; a list item's dash may stand before it.
_PAIR = re.compile(
    r"""(?<![A-Za-z0-9_.-])(?P<name>[A-Za-z][A-Za-z0-9_.-]{0,100})["']?[ \t]*[:=][ \t]*(?P<quote>["']?)"""
    r"""(?P<value>[^\s"'#,}\]]{8,4096})(?P=quote)"""
)
# The environment form: `- name: HF_TOKEN`, then `value: …` on the next line (or in one line of flow style).
_ENV = re.compile(
    r"""["']?name["']?[ \t]*:[ \t]*["']?(?P<name>[A-Za-z][A-Za-z0-9_.-]{0,100})["']?[ \t]*,?[ \t]*(?:\r?\n[ \t]*)?"""
    r"""["']?value["']?[ \t]*:[ \t]*(?P<quote>["']?)(?P<value>[^\s"'#,}\]]{8,4096})(?P=quote)"""
)
_HARMLESS = re.compile(
    r"""(?x)
    \$ | \{\{ | < | arn: | sha256: | s3:// | https?:// | / | \./        # variables, references, addresses, paths
    | (?:projects|secretsmanager|ssm|vault|k8s)[:/]
    """
)
_UNLIKE_RANDOM = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)*\Z|[0-9.]+[A-Za-z]{0,2}\Z|[a-z]+(?:-[a-z0-9]{1,8})+\Z")


def find_secrets(text: str) -> list[Finding]:
    """Everything in `text` that looks like a secret, in order of appearance. Costs microseconds on clean text."""
    possible = [(kind, form) for kind, literal, form in _FORMS if literal in text]
    lowered = text.lower()
    named = [word for word in _SECRET_WORDS if word in lowered]
    if not possible and not named:
        return []
    found = {start: (kind, value) for start, kind, value in _suspects(text, possible, named=bool(named))}
    return [_finding(text, start, kind, value) for start, (kind, value) in sorted(found.items())]


def is_secret_name(name: str) -> bool:
    """Whether a field or variable of this name is expected to hold a secret: HF_TOKEN, dbPassword, api-key."""
    return _SECRET_NAME.search(name) is not None


def mask(value: str, *, prefix: int = 0) -> str:
    """A stand-in that shows only how long the value is, and the first characters that tell its kind."""
    return f"{value[:prefix]}•••• ({len(value)} characters)"


def _suspects(text: str, possible: list[tuple[str, re.Pattern[str]]], *, named: bool) -> Iterator[tuple[int, str, str]]:
    """Start, kind and value of each; one that has its own form is not told again by its name."""
    known: set[int] = set()
    for kind, form in possible:
        for match in form.finditer(text):
            group = 1 if form.groups else 0
            known.add(match.start(group))
            yield match.start(group), kind, match.group(group)
    for pattern in (_PAIR, _ENV) if named else ():
        for match in pattern.finditer(text):
            start = match.start("value")
            if start not in known and is_secret_name(match["name"]) and _looks_random(match["value"]):
                yield start, f"value of {match['name']}", match["value"]


def _looks_random(value: str) -> bool:
    if _HARMLESS.match(value) or _UNLIKE_RANDOM.match(value):
        return False
    kinds = sum(
        (
            any(c.islower() for c in value),
            any(c.isupper() for c in value),
            any(c.isdigit() for c in value),
            any(not c.isalnum() for c in value),
        )
    )
    return kinds >= 2 and len(set(value)) >= min(8, len(value) - 2)


def _finding(text: str, start: int, kind: str, value: str) -> Finding:
    line_start = text.rfind("\n", 0, start) + 1
    by_name = kind.startswith("value of")
    prefix = 0 if by_name or kind.startswith("password") else 4
    return Finding(
        kind=kind,
        line=text.count("\n", 0, start) + 1,
        column=start - line_start + 1,
        masked=mask(value, prefix=prefix),
        by_name=by_name,
    )
