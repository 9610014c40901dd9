"""What every route has in common: problems, methods, sizes, headers, limits."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import APIRouter
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from schemas.errors import Conflict, FieldConflict, Flaw, InstantStartError, InvalidInput, Unavailable
from tests.api.apibox import ApiBox
from web.access.headers import ALWAYS
from web.access.limits import Rate, Rates
from web.api.app import LARGEST
from web.api.problems import MEDIA, of_error, status_of

ME = "platform-engineer@example.com"


def test_a_reader_sees_the_version(api: ApiBox) -> None:
    answer = api.client("read").get("/version")
    assert answer.status_code == 200
    assert answer.json()["branch"] == "main" and answer.json()["local"] is True


@pytest.mark.parametrize(
    ("method", "path", "status", "reason", "why"),
    [
        ("GET", "/version", 401, "NotLoggedIn", "nobody said who asks"),
        ("GET", "/nope", 404, "NotFound", "what is not there is told as a problem, never as a page"),
        ("GET", "/version/more", 404, "NotFound", "a prefix is no route"),
        ("GET", "/%2e%2e/%2e%2e/etc/passwd", 404, "NotFound", "a path is a name here, not a place on a disk"),
        ("DELETE", "/version", 405, "MethodNotAllowed", "the path is there, the method is not"),
        ("PUT", "/tokens", 405, "MethodNotAllowed", "several methods, none of them this"),
        ("OPTIONS", "/tokens", 405, "MethodNotAllowed", "nobody asks before a cross-origin call: there are none"),
        ("TRACE", "/tokens", 405, "MethodNotAllowed", "an old method that echoes headers"),
        ("BREW", "/tokens", 405, "MethodNotAllowed", "a method that nobody knows"),
    ],
)
def test_errors_of_the_framework_are_problem_details(
    api: ApiBox, method: str, path: str, status: int, reason: str, why: str
) -> None:
    answer = api.anybody({"Accept": "text/html"}).request(method, path)
    assert answer.status_code == status, why
    assert answer.headers["content-type"] == MEDIA
    body = answer.json()
    assert (body["reason"], body["status"], body["type"]) == (reason, status, f"urn:instantstart:{reason}")


def test_allow_names_every_method(api: ApiBox) -> None:
    told = api.anybody().request("PUT", "/tokens").headers["allow"]
    assert told == "GET, HEAD, POST", "also those of another route with this path"
    assert api.anybody().request("GET", "/tokens/abc").headers["allow"] == "DELETE"


@pytest.mark.parametrize(
    ("path", "status", "why"),
    [
        ("/version", 200, "what GET gives, without the body"),
        ("/nope", 404, "what GET gives, without the body"),
        ("/events", 405, "a stream has no end that a HEAD could come to"),
    ],
)
def test_head(api: ApiBox, path: str, status: int, why: str) -> None:
    answer = api.client("read").head(path)
    assert answer.status_code == status, why
    assert answer.content == b""
    assert "content-type" in answer.headers


def test_headers_of_every_answer(api: ApiBox) -> None:
    reader = api.client("read")
    foreign = api.anybody({"Origin": "http://evil.example"})
    for answer in (reader.get("/version"), reader.get("/nope"), reader.put("/version"), foreign.get("/version")):
        assert {name: answer.headers[name] for name in ALWAYS} == ALWAYS, answer.status_code
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers and "access-control-allow-origin" not in answer.headers
    assert foreign.get("/version").json()["reason"] == "ForeignOrigin"
    assert "script-src 'self';" in ALWAYS["Content-Security-Policy"], "no script inline, none from elsewhere"


RIGHT = b'{"code": "' + b"x" * 43 + b'"}'
BODIES: list[tuple[bytes, dict[str, str], int, str]] = [
    (b"{" + b" " * LARGEST, {}, 413, "too long, and says so"),
    (
        RIGHT,
        {"Content-Type": "text/plain"},
        422,
        "a form of another site",
    ),
    (RIGHT, {"Content-Type": ""}, 422, "no type at all"),
    (b'{"code": "\xff"}', {}, 400, "no UTF-8"),
    (b"{", {}, 422, "no JSON"),
    (b"[]", {}, 422, "no object"),
    (b"", {}, 422, "nothing"),
    (b"[" * 100_000, {}, 400, "nested without end"),
    (gzip.compress(RIGHT), {"Content-Encoding": "gzip"}, 400, "compressed bodies are not opened"),
]


@pytest.mark.parametrize(("body", "headers", "status", "why"), BODIES, ids=[case[-1] for case in BODIES])
def test_bodies(api: ApiBox, body: bytes, headers: dict[str, str], status: int, why: str) -> None:
    told = {"Content-Type": "application/json"} | headers
    answer = api.anybody().post("/session", content=body, headers=told)
    assert answer.status_code == status, (why, answer.text)
    assert answer.headers["content-type"] == MEDIA and answer.json()["status"] == status


def test_a_body_that_does_not_say_how_long_it_is(api: ApiBox) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(2 * LARGEST // 65536):
            yield b" " * 65536

    answer = api.anybody().post("/session", content=chunks(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413 and answer.json()["status"] == 413


def test_a_value_that_was_wrong_is_not_repeated(api: ApiBox) -> None:
    """It may be a secret, sent to the wrong place."""
    secret = "is_" + "aB3" * 14 + "x"
    answer = api.client("operate").post("/tokens", json={"name": "a", "kind": secret, "scopes": ["read"]})
    assert answer.status_code == 422 and secret not in answer.text
    flaw = answer.json()["errors"][0]
    assert flaw["where"] == "body/kind" and "person" in flaw["expected"]


def test_too_many_requests(api: ApiBox) -> None:
    api.house.access.limits.rates = Rates(read=Rate(each=0.1, burst=3), write=Rate(each=0.1, burst=1))
    reader = api.client("read")
    told = [reader.get("/session") for _ in range(4)]
    assert [answer.status_code for answer in told] == [200, 200, 200, 429]
    assert told[-1].json()["reason"] == "TooManyRequests" and 1 <= int(told[-1].headers["retry-after"]) <= 10
    assert [reader.delete("/session").status_code for _ in range(2)] == [409, 429], "writing has a bucket of its own"
    assert api.client("read", name="another@example.com").get("/session").status_code == 200, "nobody pays for another"


def test_what_breaks_is_told_in_the_log_and_to_nobody_else(api: ApiBox, caplog: pytest.LogCaptureFixture) -> None:
    router = APIRouter()

    @router.get("/api-broken/{name}")
    def broken(name: str) -> None:
        raise RuntimeError(f"password of {name}")

    api.more_routes = router
    with caplog.at_level(logging.ERROR):
        answer = api.anybody().get(f"{api.url}/api-broken/prod")
    assert answer.status_code == 500 and answer.headers["content-type"] == MEDIA
    assert answer.json()["reason"] == "InternalError" and "password" not in answer.text
    assert {name: answer.headers[name] for name in ALWAYS} == ALWAYS
    assert "GET /api-broken/{name} broke" in caplog.text and "RuntimeError" in caplog.text


def test_errors_of_ours() -> None:
    wrong = InvalidInput("wrong", flaws=[Flaw(where="/a", expected="b", found="c", hint="d")], way_out="do this")
    body = json.loads(bytes(of_error(wrong).body))
    assert body["errors"] == [{"where": "/a", "expected": "b", "found": "c", "hint": "d"}]
    assert body["way_out"] == "do this" and "conflicts" not in body
    at = FieldConflict(path="p", document="D/x", field="/spec/count", base=1, yours=2, theirs=None, by=ME, commit="c")
    body = json.loads(bytes(of_error(Conflict("both", conflicts=[at])).body))
    assert body["conflicts"][0] == {
        "path": "p", "document": "D/x", "field": "/spec/count", "base": 1, "yours": 2, "theirs": None,
        "by": ME, "at": "", "commit": "c",
    }, "what is not there is said, not left out"  # fmt: skip
    later = of_error(Unavailable("later", after=7))
    assert (later.status_code, later.headers["retry-after"]) == (503, "7")


def all_errors() -> dict[str, Any]:
    found: dict[str, Any] = {}
    todo: list[type[InstantStartError]] = [InstantStartError]
    while todo:
        kind = todo.pop()
        if kind.__module__ == "schemas.errors" or kind.__name__ not in found:  # others have their own NotFound
            found[kind.__name__] = kind
        todo += kind.__subclasses__()
    return found


@pytest.mark.parametrize(
    ("name", "status", "why"),
    [
        ("Unauthorized", 401, "who?"),
        ("Forbidden", 403, "you may not"),
        ("NotFound", 404, "it is not there"),
        ("UnknownCluster", 404, "it is not there"),
        ("UnknownRevision", 404, "it is not there"),
        ("Conflict", 409, "somebody else"),
        ("RefMoved", 409, "somebody else was faster"),
        ("Gone", 410, "it was there"),
        ("Stale", 412, "If-Match"),
        ("TooLarge", 413, "too much"),
        ("Unseen", 428, "If-Match is wanted"),
        ("InvalidInput", 422, "wrong"),
        ("SecretRefused", 422, "wrong"),
        ("TooMany", 429, "too often"),
        ("RemoteUnavailable", 503, "later"),
        ("RemoteAuthFailed", 503, "later: our credential, not theirs"),
        ("Unavailable", 503, "later"),
        ("LostReply", 503, "later"),
        ("StopUntilChange", 422, "not until something changes"),
    ],
)
def test_what_an_error_means_over_http(name: str, status: int, why: str) -> None:
    kind = all_errors()[name]
    error = kind("x", ref="r", tip=None) if name == "RefMoved" else kind("x")
    assert status_of(error) == status, why


def test_a_scope_that_is_missing_is_named(api: ApiBox) -> None:
    answer = api.client("propose").get("/version")
    assert answer.status_code == 403 and answer.json()["reason"] == "MissingScope" and "read" in answer.json()["detail"]


def test_tokens_survive_a_restart(api: ApiBox) -> None:
    header = {"Authorization": f"Bearer {api.token('read')}"}
    before = api.anybody(header).get("/version").json()["life"]
    api.restart()
    after = api.anybody(header).get("/version")
    assert after.status_code == 200 and after.json()["life"] != before


@pytest.mark.parametrize(
    ("path", "headers", "status", "reason", "why"),
    [
        ("/api/v1/version", {"Origin": "http://127.0.0.1:1"}, 403, "ForeignOrigin", "a page of another port"),
        ("/api/v1/version", {"Sec-Fetch-Site": "cross-site"}, 403, "ForeignOrigin", "a page of another site"),
        ("/api/v1/nope", {}, 403, "", "there is nothing to talk to"),
        ("/api/v1/clusters/prod/pods/a/b/logs", {}, 401, "NotLoggedIn", "nobody said who asks"),
        (
            "/api/v1/clusters/prod/pods/a/b/logs",
            {"Authorization": "Bearer is_x"},
            401,
            "NotLoggedIn",
            "a token that is nobody's",
        ),
    ],
)
def test_sockets_that_do_not_open(
    api: ApiBox, path: str, headers: dict[str, str], status: int, reason: str, why: str
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{api.port}{path}", additional_headers=headers).close()
    answer = refused.value.response
    assert answer.status_code == status, why
    assert not reason or json.loads(answer.body or b"")["reason"] == reason, why
