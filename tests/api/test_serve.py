"""The service as a process: the first log-in, a clean stop, its own restart, and what its log never holds."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.api.serving import Serving, environment
from tests.cli.clibox import ALICE, CliBox, make
from tests.waiting import PATIENCE, until

GROUPS = "clusters/demo/groups.yaml"
LONGEST = 60  # seconds of a stop on a busy machine: two for requests under way; a stream would hold it for ever
Starter = Callable[..., Serving]


@pytest.fixture
def box(tmp_path: Path) -> CliBox:
    made = make(tmp_path)
    made.commit({GROUPS: made.text(GROUPS).replace("count: 2", "count: two")})  # no cloud is needed to refuse it
    return made


@pytest.fixture
def start(box: CliBox) -> Iterator[Starter]:
    started: list[Serving] = []

    def one(**more: object) -> Serving:
        started.append(Serving(box=box, **more))  # type: ignore[arg-type]
        return started[-1]

    yield one
    for serving in started:
        serving.close()


def command(box: CliBox, *words: str) -> subprocess.CompletedProcess[str]:
    told = [sys.executable, "-m", "web", *words, "-r", str(box.path), "--state-dir", str(box.state)]
    return subprocess.run(told, capture_output=True, text=True, timeout=PATIENCE, env=environment(), check=False)


def test_the_first_start_lets_the_person_of_this_machine_in_once(box: CliBox, start: Starter) -> None:
    serving = start()
    found = serving.wait_for(r"Log in as (\S+), once, .*: (http://127\.0\.0\.1:\d+)/login#(\S+)")
    assert (found[1], found[2]) == (ALICE[1], serving.url)
    with httpx.Client(base_url=f"{serving.url}/api/v1", timeout=PATIENCE, trust_env=False) as browser:
        assert browser.post("/session", json={"code": found[3]}).status_code == 201
        told = browser.get("/session").json()
        assert told["name"] == ALICE[1] and told["scopes"] == ["read", "propose", "approve", "operate"]
        assert browser.get("/clusters/demo").json()["cluster"] == "demo"
    serving.stop()
    again = start()
    assert again.url and "/login#" not in again.said, "somebody can come in already"
    again.stop()


def test_commands_beside_the_service(box: CliBox, start: Starter) -> None:
    made = json.loads(command(box, "token", "create", "--name", "ci", "--json").stdout)
    assert made["kind"] == "agent" and made["scopes"] == ["read", "propose"] and made["created_by"] == ALICE[1]
    serving = start()
    header = {"Authorization": f"Bearer {made['token']}"}
    with httpx.Client(base_url=f"{serving.url}/api/v1", timeout=PATIENCE, trust_env=False) as client:
        assert client.get("/session", headers=header).json()["name"] == "ci"
        second = command(box, "token", "create", "--kind", "person", "--scope", "read", "--days", "1").stdout.strip()
        told = client.get("/session", headers={"Authorization": f"Bearer {second}"}).json()
        assert (told["name"], told["scopes"]) == (ALICE[1], ["read"])
        listed = command(box, "token", "list")
        assert made["id"] in listed.stdout and "ci" in listed.stdout and made["token"] not in listed.stdout
        assert command(box, "token", "revoke", made["id"]).returncode == 0
        assert client.get("/session", headers=header).status_code == 401
        said = json.loads(command(box, "login-link", "--for", "guest@example.com", "--scope", "read", "--json").stdout)
        code = said["link"].partition("#")[2]
        assert client.post("/session", json={"code": code}).json()["scopes"] == ["read"]
    again = command(box, "token", "revoke", made["id"])
    assert again.returncode == 1 and "there is no token" in again.stderr


@pytest.mark.parametrize(
    ("words", "code", "said", "why"),
    [
        (("token", "create", "--scope", "all"), 64, "'all' is no scope", "wrong usage"),
        (("token", "create", "--scope", "approve"), 1, "an agent never holds approve", "an agent by default"),
        (("token", "create", "--days", "0"), 64, "--days", "over before it begins"),
        (("login-link", "--for", "a\nb"), 1, "without line ends", "it goes into commits"),
        (("login-link", "--port", "0"), 64, "--port", "no port that a browser could open"),
    ],
)
def test_commands_that_are_refused(box: CliBox, words: tuple[str, ...], code: int, said: str, why: str) -> None:
    done = command(box, *words)
    assert (done.returncode, done.stdout) == (code, ""), why
    assert said in done.stderr and "Traceback" not in done.stderr, why


def test_no_token_code_or_cookie_is_ever_logged(box: CliBox, start: Starter) -> None:
    token = json.loads(command(box, "token", "create", "--json").stdout)["token"]
    link = json.loads(command(box, "login-link", "--json").stdout)["link"]
    serving = start(env={"INSTANTSTART_DEBUG": "1"})
    code = link.partition("#")[2]
    with httpx.Client(base_url=f"{serving.url}/api/v1", timeout=PATIENCE, trust_env=False) as client:
        header = {"Authorization": f"Bearer {token}"}
        client.get("/version", headers=header)
        assert client.get("/version", params={"token": token}).json()["reason"] == "TokenInAddress"
        assert client.get(f"/tokens/{token}").json()["reason"] == "TokenInAddress"
        client.request("BREW", "/version", headers=header)
        client.post("/session", content=f'{{"code": "{code}"'.encode(), headers=header)
        client.post("/session", json={"code": code})
        cookie = next(iter(client.cookies.values()))
        client.get("/session", headers={"Authorization": f"Bearer {cookie}"})
        client.get("/clusters/demo", headers=header)
    port = int(serving.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as raw:  # no HTTP at all: the server itself complains
        raw.sendall(f"{token} {code}\r\n\r\n".encode())
        raw.recv(1000)
    with pytest.raises(InvalidStatus):
        connect(f"ws://127.0.0.1:{port}/api/v1/nothing?token={token}").close()
    serving.stop()
    for secret in (token, code, cookie, token[3:], cookie.partition(".")[0]):
        assert secret not in serving.said
    kept = [path for path in box.state.rglob("*") if path.is_file()]
    assert kept and not [path for path in kept if token.encode() in path.read_bytes()]
    assert (box.state / "access").stat().st_mode & 0o777 == 0o700


def test_a_stop_waits_for_nobody(box: CliBox, start: Starter) -> None:
    """An open stream, a request half sent, an idle connection."""
    token = json.loads(command(box, "token", "create", "--json").stdout)["token"]
    serving = start()
    url = serving.url
    serving.wait_for("validate Failed")
    ended = threading.Event()

    def listen() -> None:
        header = {"Authorization": f"Bearer {token}"}
        with httpx.stream("GET", f"{url}/api/v1/events", headers=header, timeout=PATIENCE, trust_env=False) as answer:
            opened.set()
            for _ in answer.iter_lines():
                pass
        ended.set()

    opened = threading.Event()
    reader = threading.Thread(target=listen)
    reader.start()
    assert opened.wait(PATIENCE)
    address = ("127.0.0.1", int(url.rpartition(":")[2]))
    with socket.create_connection(address) as half, socket.create_connection(address):
        half.sendall(b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n")
        time.sleep(0.2)
        took = serving.stop()
    reader.join(PATIENCE)
    assert ended.is_set(), "the stream ended properly, it did not break"
    assert serving.process.returncode == 0 and took < LONGEST, f"{took:.1f} s"
    assert "Traceback" not in serving.said and serving.said.rstrip().endswith("the journal has everything.")


def test_killed_in_the_middle_it_goes_on_where_it_was(box: CliBox, start: Starter) -> None:
    token = json.loads(command(box, "token", "create", "--json").stdout)["token"]
    header = {"Authorization": f"Bearer {token}"}
    first = start()
    port = int(first.url.rpartition(":")[2])
    first.wait_for("validate Failed")
    with httpx.stream("GET", f"{first.url}/api/v1/events", headers=header, timeout=PATIENCE, trust_env=False) as answer:
        lines = answer.iter_lines()
        assert next(lines) == ": open"
        first.stop(signal.SIGKILL)
        with pytest.raises(httpx.HTTPError):
            list(lines)
    second = start(port=port)
    assert second.url == first.url, "the port is free at once"
    with httpx.Client(base_url=second.url, headers=header, timeout=PATIENCE, trust_env=False) as client:
        assert client.get("/api/v1/clusters/demo").json()["condition"] == "Stalled"
        until(lambda: client.get("/readyz").status_code, lambda code: code == 200)
        with client.stream("GET", "/api/v1/events", headers={"Last-Event-ID": "dead-7"}) as answer:
            lines = answer.iter_lines()
            told = [next(lines) for _ in range(6)]
    assert "event: gap" in told
    assert second.stop() < LONGEST and second.process.returncode == 0


def test_a_port_that_is_taken_is_told_before_anything_begins(box: CliBox, start: Starter) -> None:
    first = start()
    port = int(first.url.rpartition(":")[2])
    second = command(box, "serve", "--port", str(port))
    assert second.returncode == 1 and second.stdout == ""
    assert f"127.0.0.1:{port} cannot be served on" in second.stderr and "INSTANTSTART_PORT" in second.stderr
    first.stop(signal.SIGINT)
    assert first.process.returncode == 0, "Ctrl-C stops it as well"


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("INSTANTSTART_PORT", "http", "no number"),
        ("INSTANTSTART_PORT", "70000", "no port"),
        ("INSTANTSTART_HOSTS", "https://control.example", "a name is no address"),
        ("INSTANTSTART_HOSTS", "control.example:3099", "names go without ports"),
    ],
)
def test_settings_that_are_wrong_are_named(box: CliBox, start: Starter, name: str, value: str, why: str) -> None:
    serving = start(env={name: value})
    assert serving.process.wait(PATIENCE) == 1, why
    serving.close()
    assert name in serving.said and "Traceback" not in serving.said
