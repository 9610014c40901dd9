"""What must not leave in a message: keys, tokens, signatures. Cutting comes after redacting, never before.

The detector of schemas/secrets.py does the work. A message may lose more than a document: whatever stands behind a
telling word goes too, however harmless it looks.
"""

from __future__ import annotations

import re

from schemas.secrets import HIDDEN as HIDDEN
from schemas.secrets import mask_secrets
from schemas.terminals import without_escapes

MESSAGE_LIMIT = 500

_AFTER_WORD = re.compile(
    r"""((?:secret[_\-]?(?:access[_\-]?)?key|session[_\-]?token|security[_\-]token|password|passwd|api[_\-]?key"""
    r"""|access[_\-]?token|x-amz-(?:signature|credential|security-token)|signature)["']?\s*[=:]\s*["']?)"""
    r"""([^\s"'&,;]{6,})""",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\b(Bearer|Basic)\s+[\w\-.=+/]{8,}")
_URL_USER = re.compile(r"(://)[^/\s:@]{1,100}:[^/\s@]{1,200}@")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


def redact(text: str) -> str:
    """The text with everything that looks like a secret replaced by `***`."""
    text = _AFTER_WORD.sub(rf"\g<1>{HIDDEN}", mask_secrets(text))  # a whole private key before its first word
    text = _SCHEME.sub(rf"\g<1> {HIDDEN}", text)
    return mask_secrets(_URL_USER.sub(rf"\g<1>{HIDDEN}@", text))


def presentable(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """One line, redacted and cut: fit for notes, logs and screens."""
    line = redact(_CONTROL.sub(" ", without_escapes(text))).strip()
    # What was cut may look like a secret that the whole did not.
    return line if len(line) <= limit else mask_secrets(line[: limit - 1].rstrip() + "…")
