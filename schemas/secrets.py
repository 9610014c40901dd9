"""What looks like a secret in a text. Pure: documents, notes, orders and messages all ask here.

Two kinds of evidence: a form that only secrets have (schemas/secret_forms.py), and a telling name with a value that
looks made by a machine. Ids that GitOps is full of (commit ids, digests, ulids, ARNs, names of secrets, references,
placeholders) are no secrets: a detector that cries often is soon switched off. Nothing here ever returns the secret.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from schemas.secret_forms import Place, forms_in

HIDDEN: Final = "***"  # shorter than anything that is hidden: masking never makes a text longer


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


# Telling names. The words are looked for in the text, so that only what stands behind one is looked at closely.
_SECRET_NAME = re.compile(
    r"(?i)(?:secret|token|passw(?:or)?d|passphrase|pwd|(?:access|api|private|account|auth)[_-]?key|credentials?)"
    r"(?:[_-]?(?:key|value))?\Z"
)
_WORDS: Final = ("secret", "token", "passw", "passphrase", "pwd", "credential", "key")
_BEFORE_KEY: Final = tuple(
    first + joint for first in ("secret", "access", "api", "private", "account", "auth") for joint in ("", "_", "-")
)
_REST_OF_NAME = re.compile(
    r"(?:secret|token|passw(?:or)?d|passphrase|pwd|credentials?|key)(?:[_-]?(?:key|value))?(?![a-z0-9_.-])"
)
_NAME_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_LONGEST_NAME: Final = 100

# `name: value`, `"name": "value"`, `name=value`, also inside a JSON string (\"), and what Kubernetes calls an
# environment: `- name: HF_TOKEN`, then `value: …`.
_QUOTE = r"""(?:\\{0,3}["'])?"""
_IS = _QUOTE + r"[ \t]{0,100}[:=][ \t]{0,100}" + _QUOTE
_VALUE = r"""(?P<value>(?<=["'])[^\s"'\\]{6,4096}+(?=\\{0,3}["'])|[^\s"'\\,;{}\[\]]{6,4096}+)"""
_PAIR = re.compile(_IS + _VALUE)
_NAMED = re.compile(_QUOTE + r"[\s,]{1,80}" + _QUOTE + r"(?i:value)" + _IS + _VALUE)
_NAME_FIELD = re.compile(r"(?i:name)" + _QUOTE + r"[ \t]{0,20}[:=][ \t]{0,20}" + _QUOTE + r"\Z")

_PASSWORD = re.compile(r"(?i)(?:passw(?:or)?d|passphrase|pwd)(?:[_-]?(?:key|value))?\Z")
# Names that end like a secret's and hold an id, or what a service gave to go on with.
_BARE_TOKEN = re.compile(r"(?i)(?:\A|\.)token\Z")
_REQUEST_TOKEN = re.compile(
    r"(?i)(?:\A|\.)(?:client_?(?:request_?)?|idempotency_?|next_?|continue_?|continuation_?|page_?|resume_?)token\Z"
)
# Values that stand for a secret kept elsewhere, and words that stand for none.
_REFERENCE = re.compile(
    r"(?i)[<$%*./]|\{\{|arn:|https?://|s3://|sha256:|env:|file:|(?:projects|secretsmanager|ssm|vault|k8s)[:/]"
)
_PLACEHOLDER = re.compile(
    r"(?i)xxx|\(hidden\)|(?:your|my|example|changeme|change-me|redacted|hidden|none|null|true|false|required|optional"
    r"|enabled|disabled|placeholder|dummy|todo)\b"
)
_ULID = r"[0-9A-HJKMNP-TV-Z]{26}"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ID = re.compile(
    rf"(?:{_ULID}|{_UUID})(?:[-_.][A-Za-z0-9]{{1,16}})?|[0-9a-f]{{32}}|[0-9a-f]{{40}}|[0-9a-f]{{64}}|[0-9]+"
)
# Ulids of our time, ids of AWS, names of Kubernetes objects: no secret, whatever the field is called.
_NEVER = re.compile(
    r"01[0-9A-HJKMNP-TV-Z]{24}|(?:[a-z]{1,12}-){1,4}[0-9a-f]{8}(?:[0-9a-f]{9})?|[a-z]+(?:-[a-z0-9]{1,10})+"
)
_CHUNK = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"(?:[A-Z]?[a-z]{2,}|[A-Z]{2,})[0-9]{0,4}|[A-Z]?[a-z]++(?:[A-Z][a-z]++){0,5}")
_RUN = re.compile(r"[0-9]+|[A-Z]+|[a-z]+")
_ROUNDS: Final = 8


def find_secrets(text: str) -> list[Finding]:
    """Everything in `text` that looks like a secret, in order. Clean text costs microseconds."""
    return [_finding(text, places) for places in _groups(text)]


def mask_secrets(text: str) -> str:
    """The text with everything that looks like a secret replaced by `***`. `find_secrets` finds nothing in it."""
    for _ in range(_ROUNDS):
        groups = _groups(text)
        if not groups:
            return text
        parts: list[str] = []
        done = 0
        for group in groups:
            parts += [text[done : group[0].start], HIDDEN]
            done = max(place.end for place in group)
        # What stood beside a secret may look like one now, so the text is looked at again.
        text = "".join([*parts, text[done:]])
    return HIDDEN if _groups(text) else text


def is_secret_name(name: str) -> bool:
    """Whether a field or variable of this name is expected to hold a secret: HF_TOKEN, dbPassword, api-key."""
    return _SECRET_NAME.search(name) is not None


def mask(value: str, *, prefix: int = 0) -> str:
    """A stand-in that shows only how long the value is, and the first characters that tell its kind."""
    return f"{value[:prefix]}{HIDDEN} ({len(value)} characters)"


def _groups(text: str) -> list[list[Place]]:
    """Places in order; those that overlap are one secret."""
    groups: list[list[Place]] = []
    end = 0
    for place in sorted([*forms_in(text), *_named_in(text)], key=lambda place: (place.start, -place.end)):
        if groups and place.start < end:
            groups[-1].append(place)
        else:
            groups.append([place])
        end = max(end, place.end)
    return groups


def _finding(text: str, places: list[Place]) -> Finding:
    told = next((place for place in places if not place.by_name), places[0])
    return Finding(
        kind=told.kind,
        line=text.count("\n", 0, told.start) + 1,
        column=told.start - text.rfind("\n", 0, told.start),
        masked=mask(text[told.start : told.end], prefix=told.shown),
        by_name=told.by_name,
    )


def _named_in(text: str) -> Iterator[Place]:
    lowered = _lowered(text)
    done = 0
    for at in sorted(_words_in(lowered)):
        rest = _REST_OF_NAME.match(lowered, at) if at >= done else None
        if rest is None:
            continue
        before = text[max(0, at - _LONGEST_NAME) : at]
        start = at - len(before) + len(before.rstrip(_NAME_LETTERS))
        match = _PAIR.match(text, rest.end())
        if match is None and _NAME_FIELD.search(text, max(0, start - 60), start):
            match = _NAMED.match(text, rest.end())
        if match is None or match["value"].endswith(":"):  # the value is a name itself
            continue
        done = match.end("value")  # each value is judged once
        name = text[start : rest.end()]
        if _looks_secret(name, match["value"]):
            yield Place(kind=f"value of {name}", start=match.start("value"), end=done, by_name=True)


def _words_in(lowered: str) -> Iterator[int]:
    for word in _WORDS:
        at = lowered.find(word)
        while at >= 0:
            if word != "key" or lowered.endswith(_BEFORE_KEY, 0, at):
                yield at
            at = lowered.find(word, at + 1)


def _lowered(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    # A few letters become two; places must stay what they are.
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def _looks_secret(name: str, value: str) -> bool:
    bare = value.rstrip(".:)!?…")
    if _REFERENCE.match(value):
        return False
    random = _is_mixed("".join(_CHUNK.findall(bare)), 12) or any(map(_is_made_by_machine, _CHUNK.findall(bare)))
    if not random and _PLACEHOLDER.match(value):
        return False
    if _PASSWORD.search(name):
        return _entropy(value) >= 2.2 and not value.isdigit() and (random or value.count("/") < 2)
    # A secret is referred to by name far more often than it is written out: words joined by dashes are a name.
    if not random or len(set(bare)) < 8 or _entropy(bare) < 2.5 or _NEVER.fullmatch(bare):
        return False
    if _REQUEST_TOKEN.search(name):
        return len(bare) >= 40 and not _ID.fullmatch(bare)
    return not (_BARE_TOKEN.search(name) and _ID.fullmatch(bare))


def _is_made_by_machine(chunk: str) -> bool:
    if len(chunk) < 8 or _WORD.fullmatch(chunk) or chunk.isdigit():
        return False
    if len(chunk) >= 16:
        return True
    return _is_mixed(chunk, 8) or (len(chunk) >= 10 and any(letter.isdigit() for letter in chunk))


def _is_mixed(text: str, least: int) -> bool:
    """Small letters, capitals and digits that take turns as no name does."""
    if len(text) < least or text.islower() or text.isupper() or text.isalpha():
        return False
    return len(_RUN.findall(text)) >= max(5, len(text) / 2)


def _entropy(value: str) -> float:
    """Shannon's, in bits per character: about 2.5 for words, over 3.5 for what a machine made."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
