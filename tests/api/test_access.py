"""Logging in and out, and tokens over the API: who may make which."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from schemas.principals import ALL_SCOPES, Kind, Scope
from schemas.reach import Reach
from tests.api.apibox import ApiBox
from web.access.limits import Rates
from web.access.sessions import cookie_name

ME, OTHER = "platform-engineer@example.com", "somebody-else@example.com"


def log_in(api: ApiBox, *, name: str = ME) -> httpx.Client:
    """A browser with a session."""
    browser = api.anybody()
    answer = browser.post("/session", json={"code": api.house.access.links.make(name=name)})
    assert answer.status_code == 201, answer.text
    return browser


def test_from_a_link_to_a_session_and_out(api: ApiBox) -> None:
    browser = log_in(api)
    told = browser.get("/session").json()
    assert (told["name"], told["kind"], told["via"]) == (ME, "person", "session")
    assert told["scopes"] == ["read", "propose", "approve", "operate"], "a person of this machine may do all"
    left = datetime.fromisoformat(told["expires"]) - datetime.now(UTC)
    assert timedelta(hours=11, minutes=59) < left <= timedelta(hours=12)
    kept = dict(browser.cookies)
    assert browser.delete("/session").status_code == 204
    assert not browser.cookies, "the browser forgets it"
    again = api.anybody({"Cookie": "; ".join(f"{name}={value}" for name, value in kept.items())})
    assert again.get("/session").status_code == 401, "and so do we: a stolen cookie is worth nothing any more"


def test_the_cookie(api: ApiBox) -> None:
    answer = api.anybody().post("/session", json={"code": api.house.access.links.make(name=ME)})
    told = answer.headers["set-cookie"]
    assert told.startswith(f"instantstart_session_{api.port}=")
    parts = {part.strip().lower() for part in told.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/", "max-age=43200"} <= parts
    assert "secure" not in parts, "this is plain HTTP"
    assert answer.headers["cache-control"] == "no-store"


def test_a_link_works_once(api: ApiBox) -> None:
    code = api.house.access.links.make(name=ME)
    assert api.anybody().post("/session", json={"code": code}).status_code == 201
    again = api.anybody().post("/session", json={"code": code})
    assert again.status_code == 401 and again.json()["reason"] == "LinkOver" and "login-link" in again.json()["way_out"]


def test_a_token_logs_a_person_in_and_no_agent(api: ApiBox) -> None:
    browser = api.anybody()
    told = browser.post("/session", json={"code": api.token("read")})
    assert (told.status_code, told.json()["via"], told.json()["scopes"]) == (201, "session", ["read"])
    assert browser.get("/session").json()["name"] == ME
    agents = api.anybody().post("/session", json={"code": api.token("read", name="helper", kind="agent")})
    assert agents.status_code == 403 and agents.json()["reason"] == "AgentsHaveNoSession"
    unknown = api.anybody().post("/session", json={"code": "is_" + "x" * 43})
    assert unknown.status_code == 401 and unknown.json()["reason"] == "NotLoggedIn"


def test_sessions_survive_a_restart(api: ApiBox) -> None:
    browser = log_in(api)
    cookies = dict(browser.cookies)
    api.restart()
    again = api.anybody()
    again.cookies.update(cookies)
    assert again.get("/session").json()["name"] == ME


def test_out_everywhere(api: ApiBox) -> None:
    here, there, other = log_in(api), log_in(api), log_in(api, name=OTHER)
    assert here.delete("/session", params={"everywhere": True}).status_code == 204
    assert there.get("/session").status_code == 401 and other.get("/session").status_code == 200


def test_a_token_beside_a_cookie_counts_alone(api: ApiBox) -> None:
    """Else a wrong token would act with a browser's rights."""
    browser = log_in(api)
    assert browser.get("/session", headers={"Authorization": "Bearer nonsense"}).status_code == 401
    assert browser.get("/session", headers={"Authorization": "Basic YTpi"}).status_code == 401
    agent = {"Authorization": f"Bearer {api.token('read', name='agent', kind='agent')}"}
    assert browser.get("/session", headers=agent).json()["name"] == "agent"
    assert browser.get("/tokens", headers=agent).status_code == 403


def test_a_cookie_of_another_port_is_not_ours(api: ApiBox) -> None:
    value = log_in(api).cookies[cookie_name(f"127.0.0.1:{api.port}")]
    other = api.anybody({"Cookie": f"instantstart_session_1={value}"})
    assert other.get("/session").status_code == 401


def test_a_token_has_no_session_to_end(api: ApiBox) -> None:
    answer = api.client("read").delete("/session")
    assert answer.status_code == 409 and answer.json()["reason"] == "NoSession"


def test_wrong_log_ins_are_slowed_down_and_right_ones_are_not(api: ApiBox) -> None:
    burst = Rates().login.burst
    anybody = api.anybody()
    wrong = [anybody.post("/session", json={"code": "x" * 43}) for _ in range(burst)]
    assert {answer.status_code for answer in wrong} == {401}
    more = anybody.post("/session", json={"code": "x" * 43})
    assert more.status_code == 429 and more.json()["reason"] == "TooManyRequests"
    assert 1 <= int(more.headers["retry-after"]) <= 60
    right = anybody.post("/session", json={"code": api.house.access.links.make(name=ME)})
    assert right.status_code == 201, "behind a forwarded port everybody has one address"


def test_wrong_tokens_are_slowed_down_and_right_ones_are_not(api: ApiBox) -> None:
    known = api.client("read")
    wrong = api.anybody({"Authorization": "Bearer is_" + "x" * 43})
    told = [wrong.get("/version") for _ in range(Rates().refused.burst + 5)]
    assert {answer.status_code for answer in told} == {401, 429}
    assert told[0].headers["www-authenticate"] == "Bearer"
    assert known.get("/version").status_code == 200


def test_a_token_from_making_to_revoking(api: ApiBox) -> None:
    operator = log_in(api)
    made = operator.post("/tokens", json={"name": "agent", "kind": "agent", "scopes": ["propose", "read"], "days": 7})
    assert made.status_code == 201, made.text
    body = made.json()
    assert body["scopes"] == ["read", "propose"] and body["created_by"] == ME
    agent = api.anybody({"Authorization": f"Bearer {body['token']}"})
    told = agent.get("/session").json()
    assert (told["name"], told["kind"], told["via"], told["on_behalf_of"]) == ("agent", "agent", "token", ME)
    listed = next(one for one in operator.get("/tokens").json()["items"] if one["id"] == body["id"])
    assert "token" not in listed and "digest" not in listed and listed["last_used"] is not None
    assert body["token"] not in operator.get("/tokens").text
    assert operator.delete(f"/tokens/{body['id']}").status_code == 204
    assert agent.get("/session").status_code == 401
    gone = operator.delete(f"/tokens/{body['id']}")
    assert gone.status_code == 404 and gone.json()["reason"] == "UnknownToken"


@pytest.mark.parametrize(
    ("mine", "body", "status", "reason", "why"),
    [
        (("operate", "read"), {"kind": "person", "name": ME, "scopes": ["read"]}, 201, "", "a token of one's own"),
        (
            ("operate", "read"),
            {"kind": "person", "name": ME.upper(), "scopes": ["read"]},
            201,
            "",
            "names have no case",
        ),
        (("operate", "read"), {"kind": "agent", "name": "a", "scopes": ["read"]}, 201, "", "a token for an agent"),
        (("read", "approve"), {"kind": "agent", "name": "a", "scopes": ["read"]}, 403, "MissingScope", "no operator"),
        (
            ("operate", "read"),
            {"kind": "person", "name": OTHER, "scopes": ["read"]},
            403,
            "NotYourName",
            "else one could approve one's own change in another's name",
        ),
        (
            ("operate", "read"),
            {"kind": "person", "name": ME, "scopes": ["approve"]},
            403,
            "MissingScope",
            "nobody gives what they do not hold",
        ),
        (
            ("operate", "approve", "read"),
            {"kind": "agent", "name": "a", "scopes": ["read", "approve"]},
            422,
            "AgentScopes",
            "an agent never approves",
        ),
        (
            ("operate", "read"),
            {"kind": "agent", "name": "a", "scopes": ["read", "operate"]},
            422,
            "AgentScopes",
            "an agent gives no orders",
        ),
        (
            ("operate", "read"),
            {"kind": "agent", "name": "a", "scopes": []},
            422,
            "InvalidRequest",
            "it could do nothing",
        ),
        (("operate",), {"kind": "agent", "name": "a", "scopes": ["all"]}, 422, "InvalidRequest", "no such scope"),
        (("operate",), {"kind": "robot", "name": "a", "scopes": ["read"]}, 422, "InvalidRequest", "no such kind"),
        (
            ("operate", "read"),
            {"kind": "agent", "name": "a\nb", "scopes": ["read"]},
            422,
            "InvalidRequest",
            "it would write a trailer of its own",
        ),
        (
            ("operate", "read"),
            {"kind": "agent", "name": "a", "scopes": ["read"], "days": 9999},
            422,
            "InvalidRequest",
            "more than a year",
        ),
        (
            ("operate", "read"),
            {"kind": "agent", "name": "a", "scopes": ["read"], "admin": True},
            422,
            "InvalidRequest",
            "an unknown field is a mistake",
        ),
    ],
)
def test_who_may_make_which_token(
    api: ApiBox, mine: tuple[Scope, ...], body: dict[str, Any], status: int, reason: str, why: str
) -> None:
    before = len(api.house.access.tokens.all())
    answer = api.client(*mine).post("/tokens", json=body)
    assert answer.status_code == status, (why, answer.text)
    assert answer.json().get("reason", "") == reason, why
    assert len(api.house.access.tokens.all()) == before + (2 if status == 201 else 1), "one is the operator's own"


@pytest.mark.parametrize(
    ("kind", "scopes", "may", "why"),
    [
        ("person", ("read",), ("GET /version",), "read sees"),
        ("person", ("propose",), (), "propose alone does not even see"),
        ("person", ("operate",), ("GET /tokens",), "operate makes tokens and is not read"),
        ("agent", ("read", "propose"), ("GET /version",), "an agent sees, and makes no tokens"),
    ],
)
def test_scopes(api: ApiBox, kind: Kind, scopes: tuple[Scope, ...], may: tuple[str, ...], why: str) -> None:
    client = api.client(*scopes, kind=kind)
    for call in ("GET /version", "GET /tokens"):
        method, path = call.split()
        assert client.request(method, path).status_code == (200 if call in may else 403), (why, call)


def test_pages_of_tokens(api: ApiBox) -> None:
    operator = api.client("operate")
    for number in range(6):
        api.token("read", name=f"agent-{number}", kind="agent")
    found: list[str] = []
    cursor: str | None = None
    while True:
        told = operator.get("/tokens", params={"limit": 3, **({"cursor": cursor} if cursor else {})}).json()
        assert len(told["items"]) <= 3
        found += [one["id"] for one in told["items"]]
        cursor = told["next"]
        if cursor is None:
            break
    assert len(found) == len(set(found)) == 7
    bad = operator.get("/tokens", params={"cursor": "nonsense!"})
    assert bad.status_code == 422 and bad.json()["reason"] == "BadCursor"


def test_a_token_that_reaches_a_part_alone(api: ApiBox) -> None:
    """D13: an agent for one team proposes nothing for another, and cannot be lent more than its maker has."""
    maker = api.client()
    asked = {"name": "agent-7", "kind": "agent", "scopes": ["read", "propose"]}
    reach = {"paths": ["clusters/dev/**"], "kinds": ["InstanceGroup"]}
    made = maker.post("/tokens", json={**asked, "reach": reach})
    assert made.status_code == 201 and made.json()["reach"] == reach
    agent = api.anybody({"Authorization": f"Bearer {made.json()['token']}"})
    assert agent.get("/session").json()["reach"] == reach, "it can know before it tries"
    edit = {"edit": "file", "path": "clusters/prod/cluster.yaml", "text": "kind: Cluster\n"}
    refused = agent.post("/changes", json={"title": "elsewhere", "edits": [edit]})
    assert (refused.status_code, refused.json()["reason"]) == (403, "OutOfReach")
    assert "clusters/dev/**" in refused.json()["detail"] and refused.json()["way_out"]
    wrong = maker.post("/tokens", json={**asked, "reach": {"paths": ["../etc"]}})
    assert wrong.status_code == 422 and "reach" in wrong.text and "clusters" in wrong.text


def test_who_reaches_a_part_lends_no_more(api: ApiBox) -> None:
    token = api.house.access.tokens.create(
        name=ME, kind="person", scopes=ALL_SCOPES, created_by=ME, life=None, reach=Reach(paths=("clusters/dev/**",))
    )[0]
    browser = api.anybody()
    assert browser.post("/session", json={"code": token}).json()["reach"]["paths"] == ["clusters/dev/**"]
    asked = {"name": "agent-7", "kind": "agent", "scopes": ["read"]}
    more = browser.post("/tokens", json=asked)
    assert (more.status_code, more.json()["reason"]) == (403, "OutOfReach")
    same = browser.post("/tokens", json={**asked, "reach": {"paths": ["clusters/dev/**"], "kinds": ["Storage"]}})
    assert same.status_code == 201
