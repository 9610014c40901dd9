"""Character sets. What passes here can be a ref, a revision or a path and never a flag, a command or a way out."""

from __future__ import annotations

import re

from reconciler.config_repo.errors import NameRefused, PathRefused, UnknownRevision

CLUSTERS = "clusters"
JOURNAL = "refs/notes/instantstart/status/"
REVIEWS = "refs/notes/instantstart/reviews/"
CHANGES = "refs/heads/change/"
ORDERS = "refs/instantstart/orders/"
KEYS = "refs/instantstart/keys/"
LOST = "refs/instantstart/lost/"
KNOWN = "refs/instantstart/known/"

SHA = re.compile(r"[0-9a-f]{40}")
CLUSTER = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,38}[a-z0-9])?")
_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
CHANGE = re.compile(r"[0-9a-hjkmnp-tv-z]{26}")
_KEY = re.compile(r"[0-9a-f]{64}")
_WRITER = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,62}[a-z0-9])?")
_BRANCH = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,198}[A-Za-z0-9_-])?")
_REVISION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,198})(?:[~^][0-9]{0,6}){0,8}")
# A machine's own hidden files and git's: a commit through us changes documents, not how the repository behaves.
_DOT_GIT = re.compile(r"\.git\W*|git~[0-9]+", re.IGNORECASE)
# HFS+ drops these, so `.g<zero width>it` would be `.git` there.
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def cluster(name: str) -> str:
    return _must(CLUSTER, name, "cluster name", "up to 40 of a-z, 0-9 and -, not starting or ending with -")


def writer(name: str) -> str:
    return _must(_WRITER, name, "writer", "up to 64 of a-z, 0-9 and -")


def ulid(text: str) -> str:
    return _must(_ULID, text, "ulid", "26 digits of Crockford base 32")


def change(text: str) -> str:
    return _must(CHANGE, text, "id of a change", "a ulid in small letters: 26 digits of Crockford base 32")


def key(text: str) -> str:
    return _must(_KEY, text, "key", "64 hex digits")


def sha(text: str) -> str:
    return _must(SHA, text, "object id", "40 hex digits")


def branch(name: str) -> str:
    """A short branch name; not HEAD, nothing that starts as a full ref does."""
    _must(_BRANCH, name, "branch", "a short name of letters, digits, . _ / -")
    if name == "HEAD" or name.startswith("refs/") or not _clean_ref(name):
        raise NameRefused(f"branch {name!r} is not allowed; give the short name, such as main or change/add-group")
    return name


def revision(text: str) -> str:
    """A commit id, a branch or tag, with ~n or ^n behind it. Other refs (notes, orders) are no revisions."""
    base = re.split(r"[~^]", text, maxsplit=1)[0]
    if not _REVISION.fullmatch(text) or base.startswith("refs/") or not _clean_ref(base):
        raise UnknownRevision(
            f"{text!r} is not a revision; give a commit id, a branch or a tag, such as main or main~1"
        )
    return text


def document_path(text: str) -> tuple[str, ...]:
    """The parts of a path below clusters/ that may be written; nothing else in the repository is ours to write."""
    parts = path(text)
    if parts[0] != CLUSTERS or len(parts) < 2:
        raise PathRefused(f"{text!r} cannot be written: documents live under {CLUSTERS}/")
    return parts


def path(text: str) -> tuple[str, ...]:
    """The parts of a relative path that could be a plain file in any checkout."""
    parts = tuple(text.split("/"))
    if len(text.encode("utf-8", "surrogatepass")) > 1024 or len(parts) > 16:
        raise PathRefused(f"{text[:60]!r}… is too long; at most 1024 bytes and 16 folders")
    for part in parts:
        if why := _bad_part(part):
            raise PathRefused(f"{text!r} cannot be written: {why}")
    return parts


def bad_tree_name(name: str) -> str | None:
    """Why an entry of a tree is no file name; None if it is one. Trees can hold what no checkout would."""
    if name in ("", ".", "..") or "/" in name:
        return "a name that points elsewhere"
    plain = name if name.isascii() else _INVISIBLE.sub("", name)
    if _DOT_GIT.fullmatch(plain):
        return "a name that stands for git's own folder"
    return None


def _bad_part(part: str) -> str | None:
    if why := bad_tree_name(part):
        return why
    if part.startswith("-"):
        return "a name that starts with - could be taken for a flag"
    if _CONTROL.search(part) or _INVISIBLE.search(part) or "\\" in part:
        return "control characters, invisible characters and backslashes are not allowed"
    if part != part.strip() or part.endswith("."):
        return "a name must not start or end with a space, nor end with a dot"
    if part.startswith(".git"):
        return "files that tell git or the forge what to do are not documents"
    try:
        size = len(part.encode())
    except UnicodeEncodeError:
        return "the name is no UTF-8"
    return "a name has at most 200 bytes" if size > 200 else None


def _clean_ref(name: str) -> bool:
    parts = name.split("/")
    return ".." not in name and all(p and not p.startswith(".") and not p.endswith((".", ".lock")) for p in parts)


def _must(pattern: re.Pattern[str], text: str, what: str, expected: str) -> str:
    if not pattern.fullmatch(text):
        raise NameRefused(f"{text[:80]!r} is no {what}: expected {expected}")
    return text
