"""Log-in links and the sessions that they begin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from itsdangerous import URLSafeSerializer

from schemas.errors import Forbidden, InvalidInput
from schemas.principals import ALL_SCOPES, Scope
from web.access.access import Access
from web.access.links import link
from web.access.sessions import cookie_name

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
    return Access(tmp_path, now=now)


def signer(access: Access) -> URLSafeSerializer:
    """With our own key."""
    return URLSafeSerializer((access.folder / "cookie.key").read_bytes(), salt="instantstart-session")


def test_a_link_is_good_once(access: Access) -> None:
    code = access.links.make(name=WHO)
    found = access.links.take(code)
    assert found is not None and found.name == WHO and frozenset(found.scopes) == ALL_SCOPES
    assert access.links.take(code) is None
    assert link("http://127.0.0.1:3099", code) == f"http://127.0.0.1:3099/login#{code}", "the fragment stays here"


@pytest.mark.parametrize(
    ("minutes", "works", "why"), [(9.9, True, "within ten minutes"), (10, False, "ten minutes are over")]
)
def test_a_link_lives_ten_minutes(access: Access, now: Now, minutes: float, works: bool, why: str) -> None:
    code = access.links.make(name=WHO)
    now.at += timedelta(minutes=minutes)
    assert (access.links.take(code) is not None) is works, why


def test_a_link_without_scopes_or_name_is_none(access: Access) -> None:
    for name, scopes in ((WHO, frozenset[str]()), ("a\nb", ALL_SCOPES)):
        with pytest.raises(InvalidInput):
            access.links.make(name=name, scopes=scopes)  # type: ignore[arg-type]


def test_neither_code_nor_cookie_is_kept(access: Access, tmp_path: Path) -> None:
    code = access.links.make(name=WHO)
    cookie, _ = access.sessions.begin(name=WHO, scopes=ALL_SCOPES)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    secret = str(
        URLSafeSerializer(access.folder.joinpath("cookie.key").read_bytes(), "instantstart-session").loads(cookie)
    )
    for text in (code, cookie, secret):
        assert text.encode() not in kept


@pytest.mark.parametrize(
    ("hours", "works", "why"), [(11.9, True, "within twelve hours"), (12, False, "twelve hours are over")]
)
def test_a_session_lives_twelve_hours(access: Access, now: Now, hours: float, works: bool, why: str) -> None:
    cookie, _ = access.sessions.begin(name=WHO, scopes=ALL_SCOPES)
    now.at += timedelta(hours=hours)
    assert (access.by_cookie(cookie) is not None) is works, why
    assert access.sessions.exist() is works


def test_sessions_outlive_the_process_and_can_be_ended(access: Access, tmp_path: Path, now: Now) -> None:
    cookie, record = access.sessions.begin(name=WHO, scopes=ALL_SCOPES)
    second, _ = access.sessions.begin(name=WHO.upper(), scopes=ALL_SCOPES)
    other, _ = access.sessions.begin(name="another@example.com", scopes=ALL_SCOPES)
    again = Access(tmp_path, now=now)
    assert again.by_cookie(cookie) == record.principal()
    again.sessions.end(record.id)
    assert access.by_cookie(cookie) is None and access.by_cookie(second) is not None
    assert again.sessions.end_all(WHO) == 1, "a name has no case"
    assert access.by_cookie(second) is None and access.by_cookie(other) is not None


@pytest.mark.parametrize(
    ("token_hours", "after_hours", "revoked", "works", "why"),
    [
        (1000, 11.9, False, True, "twelve hours, as any session"),
        (1000, 12, False, False, "and no more"),
        (1, 0.9, False, True, "as long as its token lives"),
        (1, 1, False, False, "not longer than its token"),
        (1000, 0, True, False, "a token that was revoked takes its sessions along"),
    ],
)
def test_a_session_begun_with_a_token_ends_with_it(
    access: Access, now: Now, token_hours: float, after_hours: float, revoked: bool, works: bool, why: str
) -> None:
    reads = frozenset[Scope]({"read"})
    life = timedelta(hours=token_hours)
    token, record = access.tokens.create(name=WHO, kind="person", scopes=reads, created_by=WHO, life=life)
    begun = access.begin_by_token(token)
    assert begun is not None
    who = access.by_cookie(begun[0])
    assert who is not None and (who.scopes, who.via) == (reads, "session"), "what the token holds, and no more"
    now.at += timedelta(hours=after_hours)
    if revoked:
        access.tokens.revoke(record.id)
    assert (access.by_cookie(begun[0]) is not None) is works, why


def test_tokens_that_begin_no_session(access: Access) -> None:
    agents, _ = access.tokens.create(
        name="helper", kind="agent", scopes=frozenset[Scope]({"read"}), created_by=WHO, life=None
    )
    with pytest.raises(Forbidden, match="a browser's session is a person's"):
        access.begin_by_token(agents)
    assert access.begin_by_token("is_" + "x" * 43) is None
    assert not access.sessions.exist()


def test_forged_cookies(access: Access) -> None:
    cookie, _ = access.sessions.begin(name=WHO, scopes=ALL_SCOPES)
    forged = {
        "another signature": cookie[:-2] + ("AA" if cookie[-2:] != "AA" else "BB"),
        "another id": "x" + cookie,
        "no signature": cookie.partition(".")[0],
        "another key": str(URLSafeSerializer(b"k" * 32, salt="instantstart-session").dumps("x")),
        "longer than any": cookie + "." * 1000,
        "nothing": "",
    }
    assert access.by_cookie(cookie) is not None
    assert {why: access.by_cookie(told) for why, told in forged.items()} == dict.fromkeys(forged)


def test_what_we_sign_and_have_not_begun_is_no_session(access: Access) -> None:
    """The key alone makes nobody."""
    for told in ("x", {"name": WHO}, 7, None):
        assert access.by_cookie(str(signer(access).dumps(told))) is None


def test_a_lost_key_logs_out(access: Access, tmp_path: Path, now: Now) -> None:
    cookie, _ = access.sessions.begin(name=WHO, scopes=ALL_SCOPES)
    (tmp_path / "access" / "cookie.key").write_bytes(b"short")
    again = Access(tmp_path, now=now)
    assert again.by_cookie(cookie) is None
    assert again.by_cookie(again.sessions.begin(name=WHO, scopes=ALL_SCOPES)[0]) is not None


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("127.0.0.1:3099", "instantstart_session_3099"),
        ("localhost:4001", "instantstart_session_4001"),
        ("[::1]:3099", "instantstart_session_3099"),
        ("control.example", "instantstart_session_80"),
        ("[::1]", "instantstart_session_80"),
        ("localhost:x;y", "instantstart_session_80"),
    ],
)
def test_the_port_stands_in_the_name(host: str, name: str) -> None:
    """Browsers share cookies between the ports of a host: two services would log each other out."""
    assert cookie_name(host) == name
