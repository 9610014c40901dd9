"""Tokens: their form, what is kept of them, who may hold what, and when they end."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from schemas.errors import InvalidInput, NotFound, Unavailable
from schemas.principals import ALL_SCOPES, Kind, Principal, Scope
from schemas.secrets import find_secrets
from web.access.access import Access
from web.access.tokens import KEEP_USE, PREFIX, TokenRecord

WHO = "platform-engineer@example.com"


class Now:
    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, 10, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def access(tmp_path: Path, now: Now) -> Access:
    return Access(tmp_path / "state", now=now)


def make(access: Access, *scopes: Scope, kind: Kind = "person", days: float | None = 1) -> tuple[str, TokenRecord]:
    life = None if days is None else timedelta(days=days)
    return access.tokens.create(name=WHO, kind=kind, scopes=frozenset(scopes or ("read",)), created_by=WHO, life=life)


def test_only_a_hash_is_kept(access: Access, tmp_path: Path) -> None:
    token, record = make(access)
    assert token.startswith(PREFIX) and len(token) == len(PREFIX) + 43, "256 random bits"
    kept = b"".join(path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file())
    assert token[len(PREFIX) :].encode() not in kept and record.digest.encode() in kept
    assert find_secrets(f"x {token} y"), "should one land in a document or a message, it is known as a secret"
    assert len({make(access)[0] for _ in range(20)}) == 20


def test_files_are_for_us_alone(access: Access, tmp_path: Path) -> None:
    make(access)
    access.sessions.begin(name=WHO, scopes=ALL_SCOPES)
    access.links.make(name=WHO)
    folder = tmp_path / "state" / "access"
    assert folder.stat().st_mode & 0o777 == 0o700 and folder.parent.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert set(modes.values()) == {0o600}, modes
    assert {"tokens.json", "sessions.json", "links.json", "cookie.key"} <= set(modes)


def test_folders_that_were_open_are_closed(tmp_path: Path) -> None:
    (tmp_path / "state" / "access").mkdir(parents=True)
    (tmp_path / "state").chmod(0o755)
    (tmp_path / "state" / "access").chmod(0o777)
    (tmp_path / "state" / "access" / "cookie.key").write_bytes(b"k" * 32)
    Access(tmp_path / "state")
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "state" / "access").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "state" / "access" / "cookie.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("kind", "scopes", "name", "days", "reason", "why"),
    [
        ("agent", ("read", "approve"), WHO, 1, "AgentScopes", "an agent never approves"),
        ("agent", ("operate",), WHO, 1, "AgentScopes", "an agent gives no orders"),
        ("person", (), WHO, 1, "NoScopes", "it could do nothing"),
        ("person", ("read",), "", 1, "BadName", "nobody"),
        ("person", ("read",), "a\nApproved-by: b", 1, "BadName", "it would write a trailer of its own"),
        ("person", ("read",), "x" * 201, 1, "BadName", "too long for a line"),
        ("person", ("read",), "a <b@example.com>", 1, "BadName", "git puts what stands in <> elsewhere"),
        ("person", ("read",), "\u0430lice@example.com", 1, "MisleadingName", "the first letter is a Cyrillic one"),
        ("person", ("read",), WHO, 0, "BadExpiry", "over before it begins"),
        ("person", ("read",), WHO, 400, "BadExpiry", "more than a year"),
    ],
)
def test_tokens_that_are_not_made(
    access: Access, kind: Kind, scopes: tuple[Scope, ...], name: str, days: int, reason: str, why: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        access.tokens.create(name=name, kind=kind, scopes=frozenset(scopes), created_by=WHO, life=timedelta(days=days))
    assert refused.value.reason == reason, why
    assert access.tokens.all() == []


def test_no_principal_can_be_an_agent_that_decides() -> None:
    """Not even by a file that somebody has edited."""
    for scope in ("approve", "operate"):
        with pytest.raises(ValueError, match="an agent may not hold"):
            Principal(name="a", kind="agent", scopes=frozenset({"read", scope}), via="token")


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("", "nothing"),
        (PREFIX, "only the beginning"),
        (PREFIX + "a" * 43, "nobody's"),
        ("a" * 46, "not of our form"),
        (PREFIX + "a" * 100_000, "longer than any"),
        (PREFIX + "\ud800", "no text"),
    ],
)
def test_tokens_that_are_nobodys(access: Access, told: str, why: str) -> None:
    make(access)
    assert access.by_bearer(told) is None, why


def test_a_token_ends(access: Access, now: Now) -> None:
    token, record = make(access, days=1)
    never = make(access, days=None)[0]
    assert access.by_bearer(token) == record.principal()
    now.at += timedelta(days=1)
    assert access.by_bearer(token) is None and access.by_bearer(never) is not None
    assert record.id in {known.id for known in access.tokens.all()}, "it is still told"


def test_revoked_in_another_process(access: Access, tmp_path: Path, now: Now) -> None:
    """The command line beside the service."""
    token, record = make(access)
    other = Access(tmp_path / "state", now=now)
    assert other.by_bearer(token) is not None
    other.tokens.revoke(record.id.upper())
    assert access.by_bearer(token) is None, "the service notices at once"
    with pytest.raises(NotFound):
        access.tokens.revoke(record.id)


def test_use_is_written_seldom(access: Access, tmp_path: Path, now: Now) -> None:
    token, _ = make(access)
    path = tmp_path / "state" / "access" / "tokens.json"
    before = path.stat().st_mtime_ns
    for _ in range(50):
        access.by_bearer(token)
    assert path.stat().st_mtime_ns == before, "reading writes nothing"
    assert access.tokens.all()[0].last_used == now.at, "but it is known"
    now.at += KEEP_USE + timedelta(seconds=1)
    access.by_bearer(token)
    assert Access(tmp_path / "state", now=now).tokens.all()[0].last_used == now.at
    now.at += timedelta(seconds=1)
    access.by_bearer(token)
    access.close()
    assert Access(tmp_path / "state", now=now).tokens.all()[0].last_used == now.at, "and at the end"


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    """Threads and processes look alike to a lock on a file: each writer here has its own."""
    made: list[str] = []

    def work() -> None:
        access = Access(tmp_path / "state")
        made.extend(make(access)[0] for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    access = Access(tmp_path / "state")
    assert len(made) == 40 and all(access.by_bearer(token) is not None for token in made)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "cut off"),
        ("{", "no JSON"),
        ("[]", "another form"),
        ('{"records": {"x": {"id": 1}}}', "another record"),
        (json.dumps({"records": {"x": {"scopes": ["all"]}}}), "a scope that there is not"),
    ],
)
def test_a_file_nobody_understands_lets_nobody_in(access: Access, tmp_path: Path, text: str, why: str) -> None:
    token, _ = make(access)
    (tmp_path / "state" / "access" / "tokens.json").write_text(text)
    with pytest.raises(Unavailable) as refused:
        access.by_bearer(token)
    assert refused.value.reason == "AccessFileBroken" and "tokens.json" in refused.value.message, why


def test_losing_the_files_logs_out_and_nothing_more(access: Access, tmp_path: Path) -> None:
    token, _ = make(access)
    (tmp_path / "state" / "access" / "tokens.json").unlink()
    assert access.by_bearer(token) is None and access.is_new()
    assert access.by_bearer(make(access)[0]) is not None
