"""What must not leave in a message: keys, tokens, signatures. Cutting comes after redacting, never before."""

from __future__ import annotations

import re

HIDDEN = "(hidden)"
MESSAGE_LIMIT = 500

_WHOLE = re.compile(
    r"k8s-aws-v1\.[\w\-=]+"  # EKS tokens are presigned URLs
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w\-]{16,}|hf_[A-Za-z0-9]{20,}|xox[abprs]-[\w\-]{10,})"
    r"|\beyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]*"  # JSON web tokens
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_AFTER_WORD = re.compile(
    r"""((?:secret[_\-]?(?:access[_\-]?)?key|session[_\-]?token|security[_\-]token|password|passwd|api[_\-]?key"""
    r"""|access[_\-]?token|x-amz-(?:signature|credential|security-token)|signature)["']?\s*[=:]\s*["']?)"""
    r"""([^\s"'&,;]{6,})""",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\b(Bearer|Basic)\s+[\w\-.=+/]{8,}")
_URL_USER = re.compile(r"(\w+://)[^/\s:@]+:[^/\s@]+@")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


def redact(text: str) -> str:
    """The text with everything that looks like a secret replaced by `(hidden)`."""
    text = _WHOLE.sub(HIDDEN, text)
    text = _AFTER_WORD.sub(rf"\g<1>{HIDDEN}", text)
    text = _SCHEME.sub(rf"\g<1> {HIDDEN}", text)
    return _URL_USER.sub(rf"\g<1>{HIDDEN}@", text)


def presentable(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """One line, redacted and cut: fit for notes, logs and screens."""
    line = _CONTROL.sub(" ", redact(text)).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
