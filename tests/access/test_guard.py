"""Who gets past the guard, and why not: hosts, origins, Fetch Metadata, tokens in addresses."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from web.access.guard import Guard

HERE = "127.0.0.1:3099"
TOKEN = "is_" + "aB3" * 14 + "x"
Told = list[tuple[str, str]]


async def nothing(*_: Any) -> Any:
    raise AssertionError("only the verdict is asked for")


def verdict(kind: str, method: str, path: str, told: Told, query: str = "") -> tuple[int, str]:
    scope = {
        "type": kind,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in told],
    }
    if kind == "http":
        scope["method"] = method
    answer = Guard(nothing, hosts=["Control.example"]).verdict(scope)
    return (200, "") if answer is None else (answer.status_code, str(json.loads(bytes(answer.body))["reason"]))


@pytest.mark.parametrize(
    ("host", "status", "why"),
    [
        ("127.0.0.1:3099", 200, "loopback"),
        ("localhost:4000", 200, "a forward may change the port"),
        ("localhost", 200, "no port is the default one"),
        ("[::1]:3099", 200, "loopback of IPv6"),
        ("LocalHost:3099", 200, "names have no case"),
        ("control.example", 200, "a name that settings give"),
        ("evil.example:3099", 421, "DNS rebinding: a name that somebody else points here"),
        ("127.0.0.1.evil.example:3099", 421, "a name that only begins like ours"),
        ("localhost.:3099", 421, "another spelling is another name"),
        ("localhost:3099@evil.example", 421, "no form of a host"),
        ("2130706433:3099", 421, "a number that resolves to loopback is none of our names"),
        ("", 421, "an empty name"),
        ("localhost:", 421, "a port that is none"),
    ],
)
def test_hosts(host: str, status: int, why: str) -> None:
    assert verdict("http", "GET", "/api/v1/version", [("host", host)])[0] == status, why


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ([], "HTTP/1.1 asks for a Host"),
        ([("host", HERE), ("host", "localhost")], "two hosts: proxies and we could disagree about which counts"),
        ([("host", HERE), ("origin", f"http://{HERE}"), ("origin", "http://evil.example")], "two origins"),
        ([("host", HERE), ("authorization", "a"), ("authorization", "b")], "two tokens"),
    ],
)
def test_headers_that_contradict_each_other(told: Told, why: str) -> None:
    assert verdict("http", "GET", "/api/v1/version", told) == (400, "BadHeaders"), why


OURS, ALIEN = f"http://{HERE}", "http://127.0.0.1:4000"
NAVIGATES = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]


@pytest.mark.parametrize(
    ("kind", "method", "path", "told", "passes", "why"),
    [
        ("http", "GET", "/api/v1/clusters", [], True, "no browser: tokens decide"),
        ("http", "POST", "/api/v1/changes", [], True, "no browser: tokens decide"),
        ("websocket", "", "/api/v1/x", [], True, "no browser: tokens decide"),
        ("http", "POST", "/api/v1/changes", [("origin", OURS)], True, "our own page"),
        ("http", "POST", "/api/v1/changes", [("origin", OURS.upper())], True, "scheme and host have no case"),
        ("http", "POST", "/api/v1/changes", [("origin", f"https://{HERE}")], True, "TLS may end before us"),
        ("http", "POST", "/api/v1/changes", [("sec-fetch-site", "same-origin")], True, "our own page"),
        ("http", "GET", "/api/v1/changes", [("sec-fetch-site", "none")], True, "typed by a person"),
        ("websocket", "", "/api/v1/x", [("origin", OURS)], True, "our own page"),
        ("http", "POST", "/api/v1/changes", [("origin", ALIEN)], False, "another port is another origin"),
        ("http", "POST", "/api/v1/changes", [("origin", "http://localhost:3099")], False, "another name for us too"),
        ("http", "POST", "/api/v1/changes", [("origin", "null")], False, "a sandboxed frame or a file"),
        ("http", "POST", "/api/v1/changes", [("origin", f"file://{HERE}")], False, "no scheme of the web"),
        ("http", "POST", "/api/v1/changes", [("origin", f"http://x@{HERE}")], False, "a user is no part of an origin"),
        ("http", "POST", "/api/v1/changes", [("origin", "http://[::1")], False, "no address at all"),
        ("http", "GET", "/api/v1/changes", [("origin", "http://[x]")], False, "no address at all"),
        ("http", "DELETE", "/api/v1/session", [("sec-fetch-site", "same-site")], False, "ports are one site"),
        (
            "http",
            "GET",
            "/api/v1/events",
            [("sec-fetch-site", "same-site")],
            False,
            "an EventSource of theirs",
        ),
        ("http", "GET", "/api/v1/events", [("origin", ALIEN)], False, "the same in an older browser"),
        ("http", "GET", "/metrics", [("sec-fetch-site", "cross-site")], False, "for programs"),
        ("http", "GET", "/assets/app.js", [("sec-fetch-site", "cross-site")], False, "a script of ours in their page"),
        ("http", "OPTIONS", "/api/v1/changes", [("origin", ALIEN)], False, "a preflight is answered by nobody"),
        ("websocket", "", "/api/v1/x", [("origin", ALIEN)], False, "CORS does not hold WebSockets back"),
        ("websocket", "", "/api/v1/x", [("sec-fetch-site", "cross-site")], False, "the same without Origin"),
        ("http", "GET", "/", NAVIGATES, True, "a link to our page, in a tab of its own"),
        ("http", "GET", "/login", NAVIGATES, True, "the log-in link, from a chat"),
        ("http", "GET", "/api/v1/clusters", NAVIGATES, False, "no page, and it would leave data in a tab"),
        ("http", "GET", "/mcp", NAVIGATES, False, "for programs"),
        ("http", "POST", "/", NAVIGATES, False, "a form that is sent to us"),
        ("http", "GET", "/", [*NAVIGATES[:2], ("sec-fetch-dest", "iframe")], False, "a frame in their page"),
        ("http", "GET", "/", [*NAVIGATES, ("origin", ALIEN)], False, "opening a page sends no Origin"),
    ],
)
def test_origins(kind: str, method: str, path: str, told: Told, passes: bool, why: str) -> None:
    found = verdict(kind, method, path, [("host", HERE), *told])
    assert found == ((200, "") if passes else (403, "ForeignOrigin")), why


@pytest.mark.parametrize(
    ("path", "query", "status", "why"),
    [
        ("/api/v1/events", f"token={TOKEN}", 400, "browsers and proxies keep addresses"),
        (f"/api/v1/tokens/{TOKEN}", "", 400, "the same in a path"),
        ("/api/v1/events", "cluster=is_ready", 200, "only what has a token's form"),
    ],
)
def test_no_token_in_an_address(path: str, query: str, status: int, why: str) -> None:
    told = [("host", HERE)]
    found = verdict("http", "GET", path, told, query)
    assert found == ((200, "") if status == 200 else (400, "TokenInAddress")), why
    assert verdict("websocket", "GET", path, told, query)[0] == status, why


@pytest.mark.parametrize(
    ("method", "path", "status", "why"),
    [
        ("GET", "/healthz", 200, "a kubelet asks by the pod's address"),
        ("GET", "/readyz", 200, "a kubelet asks by the pod's address"),
        ("POST", "/healthz", 421, "only to be read"),
        ("GET", "/healthz/more", 421, "only the probe itself"),
        ("GET", "/metrics", 421, "it tells something"),
    ],
)
def test_probes_go_by_any_name(method: str, path: str, status: int, why: str) -> None:
    assert verdict("http", method, path, [("host", "10.0.3.7:3099")])[0] == status, why


def test_what_is_neither_http_nor_websocket_passes() -> None:
    """The server's own lifespan messages."""
    seen: list[str] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(Guard(app)({"type": "lifespan"}, nothing, nothing))
    assert seen == ["lifespan"]
