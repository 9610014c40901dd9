"""A real browser with a session, and a page of somebody else on another port of the same machine.

The page tries what pages can: fetch, forms, frames, scripts, EventSource, WebSocket. The browser sends the session's
cookie along, because all ports of a host are one site to it; the guard is what stops the page.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.api.apibox import ApiBox
from tests.api.livebox import LiveBox
from tests.waiting import PATIENCE
from web.access.guard import Guard

ME = "platform-engineer@example.com"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
REBOUND = "rebound.example"
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "train-0", "namespace": "default"},
    "spec": {"containers": [{"name": "main", "image": "train:1"}]},
}
# Each answers what came of it: "done" is that the page got through.
ATTEMPTS = """async ({api, log}) => {
  const within = (job) => Promise.race([job, new Promise(end => setTimeout(() => end("silence"), 60000))]);
  const told = {};
  const ask = async (name, path, options) => {
    try {
      const answer = await fetch(api + path, {credentials: "include", ...options});
      told[name] = answer.type === "opaque" ? "opaque" : answer.ok ? "done" : "refused " + answer.status;
    } catch (error) { told[name] = "failed"; }
  };
  const token = JSON.stringify({name: "mine", kind: "agent", scopes: ["read"]});
  await ask("read", "/api/v1/clusters", {});
  await ask("read blindly", "/api/v1/clusters", {mode: "no-cors"});
  await ask("write", "/api/v1/tokens", {method: "POST", body: token, headers: {"content-type": "application/json"}});
  await ask("write blindly", "/api/v1/tokens", {method: "POST", body: token, mode: "no-cors"});
  await ask("log out", "/api/v1/session", {method: "DELETE"});
  told["events"] = await within(new Promise(end => {
    const source = new EventSource(api + "/api/v1/events", {withCredentials: true});
    source.onopen = () => { source.close(); end("done"); };
    source.onerror = () => { source.close(); end("failed"); };
  }));
  told["log"] = await within(new Promise(end => {
    const socket = new WebSocket(api.replace("http", "ws") + log);
    socket.onopen = () => { socket.close(); end("done"); };
    socket.onerror = () => end("failed");
  }));
  return told;
}"""
# These want a page to stand in, and say nothing to it.
PLANTED = """async ({api}) => {
  const ended = [];
  const plant = (name, more) => {
    const made = Object.assign(document.createElement(name), more);
    ended.push(new Promise(end => { made.onload = made.onerror = end; setTimeout(end, 60000); }));
    document.body.append(made);
    return made;
  };
  plant("img", {src: api + "/api/v1/clusters"});
  plant("script", {src: api + "/api/v1/clusters"});
  plant("iframe", {src: api + "/api/v1/clusters"});
  const frame = plant("iframe", {name: "hidden"});
  const form = document.createElement("form");
  Object.assign(form, {method: "post", action: api + "/api/v1/tokens", enctype: "text/plain", target: "hidden"});
  const input = document.createElement("input");
  input.name = '{"name": "mine", "kind": "agent", "scopes": ["read"], "days": 1, "x": "';
  input.value = '"}';
  form.append(input);
  document.body.append(form);
  form.submit();
  await Promise.all(ended);
}"""


class Blank(BaseHTTPRequestHandler):
    """Somebody's page: empty, so that what it does is the test's."""

    def do_GET(self) -> None:
        body = b"<!doctype html><title>elsewhere</title><body></body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """The port of another server on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Blank)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium here; .ci/run installs it where it may")
    with sync_playwright() as playwright:
        flags = [*FLAGS, f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags, timeout=PATIENCE * 1000)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context()
    context.set_default_timeout(120_000)
    yield context.new_page()
    context.close()


def logged_in(page: Page, api: ApiBox, base: str) -> None:
    """By a link, as a person; the page is one of ours afterwards."""
    page.goto(f"{base}/healthz")
    code = api.house.access.links.make(name=ME)
    asked = """async (code) => (await fetch("/api/v1/session", {
        method: "POST", body: JSON.stringify({code}), headers: {"content-type": "application/json"}
    })).status"""
    assert page.evaluate(asked, code) == 201
    kept = next(one for one in page.context.cookies(base) if one.get("name") == f"instantstart_session_{api.port}")
    assert kept.get("httpOnly") and kept.get("sameSite") == "Strict"
    assert page.evaluate("document.cookie") == "", "no script reads it"


def refused(api: ApiBox) -> float:
    """Requests that the guard turned away, as the metrics count them."""
    lines = api.client("read").get(f"{api.url}/metrics").text.splitlines()
    counted = "instantstart_http_request_duration_seconds_count"
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(counted) and 'route="other"' in line)


def ready(live: LiveBox) -> str:
    """The path of a log that can be followed."""
    live.ready()
    live.apply(POD)
    live.server.log("default", "train-0", "step 1")
    return "/api/v1/clusters/prod/pods/default/train-0/logs"


DONE = dict.fromkeys(("read", "read blindly", "write", "write blindly", "log out", "events", "log"), "done")
STOPPED = dict.fromkeys(DONE, "failed")


def test_our_own_page_can_do_all_of_it(live: LiveBox, page: Page) -> None:
    """Else the others would show nothing."""
    log = ready(live)
    logged_in(page, live.api, live.api.url)
    told = page.evaluate(ATTEMPTS, {"api": live.api.url, "log": log})
    # A text without its type is refused to everybody; after the log-out there is nobody to open streams for.
    assert told == DONE | {"write blindly": "refused 422", "events": "failed", "log": "failed"}
    logged_in(page, live.api, live.api.url)
    asked = ATTEMPTS.replace('await ask("log out"', 'if (false) await ask("log out"')
    assert page.evaluate(asked, {"api": live.api.url, "log": log})["log"] == "done"


@pytest.mark.parametrize(
    ("ours", "theirs", "why"),
    [
        ("127.0.0.1", "127.0.0.1", "another port of the same name is the same site: the cookie comes along"),
        ("localhost", "localhost", "the same by name"),
        ("127.0.0.1", "localhost", "another name of this machine is another site"),
    ],
)
def test_a_page_of_another_port_gets_nowhere(
    live: LiveBox, page: Page, elsewhere: int, ours: str, theirs: str, why: str
) -> None:
    log, api = ready(live), live.api
    base = f"http://{ours}:{api.port}"
    logged_in(page, api, base)
    tokens, before = len(api.house.access.tokens.all()), refused(api)
    page.goto(f"http://{theirs}:{elsewhere}/")
    assert page.evaluate(ATTEMPTS, {"api": base, "log": log}) == STOPPED, why
    asked = refused(api) - before
    assert asked >= 5, f"the browser did ask, and was refused: {asked}"
    page.evaluate(PLANTED, {"api": base})
    assert refused(api) - before - asked >= 4, "image, script, frame and form as well"
    made = [record for record in api.house.access.tokens.all() if record.name == "mine"]
    assert made == [] and len(api.house.access.tokens.all()) >= tokens
    assert api.house.access.limits.open_streams == 0
    page.goto(f"{base}/healthz")
    told = page.evaluate("async () => (await fetch('/api/v1/session')).json()")
    assert (told["name"], told["via"]) == (ME, "session"), "the person is still logged in"


def test_a_link_from_elsewhere_to_the_api_opens_nothing(live: LiveBox, page: Page, elsewhere: int) -> None:
    api = live.api
    logged_in(page, api, api.url)
    page.goto(f"http://127.0.0.1:{elsewhere}/")
    with page.expect_popup() as opened:
        page.evaluate(
            "(to) => { const a = document.createElement('a'); Object.assign(a, {href: to, target: '_blank',"
            " rel: 'opener'}); document.body.append(a); a.click(); }",
            f"{api.url}/api/v1/tokens",
        )
    opened.value.wait_for_load_state()
    assert "ForeignOrigin" in opened.value.content()


def test_without_the_guard_the_same_page_gets_through(live: LiveBox, page: Page, elsewhere: int) -> None:
    """It is the guard that stops it, not the browser: CORS hides answers, it stops neither streams nor sockets."""
    api = live.api
    api.without = (Guard,)
    log = ready(live)
    logged_in(page, api, api.url)
    page.goto(f"http://127.0.0.1:{elsewhere}/")
    asked = ATTEMPTS.replace('await ask("log out"', 'if (false) await ask("log out"')
    told = page.evaluate(asked, {"api": api.url, "log": log})
    assert told["log"] == "done"


def test_a_name_that_was_pointed_at_this_machine(live: LiveBox, page: Page) -> None:
    """DNS rebinding: to the browser the page and the API are one origin."""
    api = live.api
    answer = page.goto(f"http://{REBOUND}:{api.port}/api/v1/clusters")
    assert answer is not None and answer.status == 421
    page.goto(f"http://{REBOUND}:{api.port}/healthz")
    told = page.evaluate(ATTEMPTS, {"api": f"http://{REBOUND}:{api.port}", "log": "/api/v1/clusters/prod/x"})
    assert set(told.values()) == {"refused 421", "failed"} and told["write"] == "refused 421"
    assert "mine" not in {record.name for record in api.house.access.tokens.all()}


def test_nobody_forgets_to_end_a_stream(live: LiveBox, page: Page) -> None:
    """A tab that is closed gives its streams back, at the latest with the next event."""
    log, api = ready(live), live.api
    logged_in(page, api, api.url)
    page.evaluate(
        """({log}) => { window.kept = [new EventSource("/api/v1/events"),
        new WebSocket(location.origin.replace("http", "ws") + log)]; }""",
        {"log": log},
    )
    end = time.monotonic() + PATIENCE
    while api.house.access.limits.open_streams < 2:
        assert time.monotonic() < end
        page.wait_for_timeout(20)
    page.close()
    while api.house.access.limits.open_streams:
        assert time.monotonic() < end
        api.house.bus.publish("tick", {})
        time.sleep(0.05)
