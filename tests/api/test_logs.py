"""Logs over the API: pages and followed over a WebSocket, each line once, whatever happens to connections and pods."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.api.livebox import LiveBox, pod
from tests.waiting import PATIENCE, until

LOGS = "/clusters/prod/pods/default/train-0/logs"
START = 1772359200.0  # 2026-03-01T10:00:00Z


def running(live: LiveBox, **more: Any) -> Any:
    live.apply(pod("train-0", **more))
    return live.ready()


@contextmanager
def following(live: LiveBox, path: str = LOGS, **query: Any) -> Generator[ClientConnection]:
    url = f"{live.api.url.replace('http', 'ws')}/api/v1{path}?{urlencode(query)}"
    headers = {"Authorization": f"Bearer {live.api.token('read')}"}
    with connect(url, additional_headers=headers, max_size=None, open_timeout=PATIENCE) as socket:
        yield socket


def frames(socket: ClientConnection, enough: Callable[[list[Any]], bool], seconds: float = PATIENCE) -> list[Any]:
    """Frames until there are enough, or the other side closes."""
    found: list[Any] = []
    end = time.monotonic() + seconds
    while not enough(found):
        assert time.monotonic() < end, found[-3:]
        try:
            found.append(json.loads(socket.recv(timeout=seconds)))
        except ConnectionClosed:
            break
    return found


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "log"]


def texts(found: list[Any]) -> list[str]:
    return [line["text"] for frame in found for line in frame.get("lines", [])]


def has(text: str) -> Callable[[list[Any]], bool]:
    return lambda found: text in texts(found)


def test_the_end_of_a_log_and_then_what_came_behind_it(live: LiveBox) -> None:
    reader = running(live)
    live.server.log("default", "train-0", *(f"line {number}" for number in range(300)), at=START)
    first = reader.get(f"{LOGS}?tail=2").json()
    assert [line["text"] for line in first["items"]] == ["line 298", "line 299"]
    assert first["container"] == "main" and not first["more"] and first["data"] == "untrusted"
    assert first["items"][0]["at"] == "2026-03-01T10:00:00.000000000Z"
    nothing = reader.get(LOGS, params={"since": first["cursor"]}).json()
    assert (nothing["items"], nothing["cursor"]) == ([], first["cursor"])
    live.server.log("default", "train-0", "same moment", at=START)
    live.server.log("default", "train-0", "later", at=START + 1.5)
    more = reader.get(LOGS, params={"since": nothing["cursor"]}).json()
    assert [line["text"] for line in more["items"]] == ["same moment", "later"]


@pytest.mark.parametrize("apart", [0.0, 0.3, 2.0], ids=["one moment", "parts of a second", "seconds"])
def test_pages_hold_every_line_once(live: LiveBox, apart: float) -> None:
    reader = running(live)
    for number in range(100):
        live.server.log("default", "train-0", f"line {number}", at=START + number * apart)
    found: list[str] = []
    since = "2026-03-01T10:00:00Z"
    while True:
        told = reader.get(LOGS, params={"since": since, "limit": "7"}).json()
        found += [line["text"] for line in told["items"]]
        since = told["cursor"]
        if not told["more"]:
            break
    assert found == [f"line {number}" for number in range(100)]


def test_a_search_leaves_lines_out_and_goes_on_behind_them(live: LiveBox) -> None:
    reader = running(live)
    live.server.log("default", "train-0", *(f"step {number} loss" for number in range(500)), "Error: NaN", at=START)
    told = reader.get(f"{LOGS}?since=2026-03-01T09:00:00Z&search=error").json()
    assert [line["text"] for line in told["items"]] == ["Error: NaN"]
    assert reader.get(LOGS, params={"since": told["cursor"]}).json()["items"] == []


@pytest.mark.parametrize(
    ("query", "status", "reason", "why"),
    [
        ("container=nope", 422, "NoContainer", "there is no such container"),
        ("since=yesterday", 422, "BadCursor", "no time and no cursor"),
        ("since=2026-03-01T10:00:00", 422, "BadCursor", "a time without a zone says nothing"),
        ("limit=0", 422, "InvalidRequest", "no lines are no page"),
    ],
)
def test_wrong_questions_about_a_log(live: LiveBox, query: str, status: int, reason: str, why: str) -> None:
    answer = running(live).get(f"{LOGS}?{query}")
    assert (answer.status_code, answer.json()["reason"]) == (status, reason), why


def test_which_container_must_be_said_where_there_are_several(live: LiveBox) -> None:
    reader = running(live, containers=("main", "agent"))
    answer = reader.get(LOGS)
    assert answer.json()["reason"] == "ContainerNeeded" and "main, agent" in answer.json()["detail"]
    live.server.log("default", "train-0", "from the agent", container="agent", at=START)
    told = reader.get(f"{LOGS}?container=agent").json()
    assert [line["text"] for line in told["items"]] == ["from the agent"] and told["container"] == "agent"


def test_a_pod_that_is_not_there_or_has_not_begun(live: LiveBox) -> None:
    waiting = pod("train-0", phase="Pending")
    waiting["status"]["containerStatuses"] = []
    live.apply(waiting)
    reader = live.ready()
    assert reader.get(LOGS).json()["reason"] == "ContainerWaiting"
    answer = reader.get("/clusters/prod/pods/default/none/logs")
    assert (answer.status_code, answer.json()["reason"]) == (404, "NotFound")


def test_control_sequences_are_taken_out(live: LiveBox) -> None:
    reader = running(live)
    link = "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"
    nasty = f"\x1b]0;title\x07\x1b[2J\x1b[1;31mred\x1b[0m {link} \u202eevil\u202c a\tb\rc"
    live.server.log("default", "train-0", nasty, at=START)
    (line,) = reader.get(LOGS).json()["items"]
    assert line["text"] == "red link evil a\tbc"


def test_a_log_is_followed(live: LiveBox) -> None:
    running(live)
    live.server.log("default", "train-0", "old", "before", at=START)
    with following(live, tail=1) as socket:
        assert texts(frames(socket, has("before"))) == ["before"]
        live.server.log("default", "train-0", "new", at=START + 1)
        assert texts(frames(socket, has("new"))) == ["new"]


def test_without_a_tail_only_what_is_new_comes(live: LiveBox) -> None:
    running(live)
    live.server.log("default", "train-0", "old", at=START)
    with following(live, tail=0, search="NEW") as socket:
        told = threading.Event()

        def write() -> None:  # again and again: nothing says from when on a line is new
            while not told.wait(0.05):
                live.server.log("default", "train-0", "other", "something new", at=START)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            found = frames(socket, has("something new"))
        finally:
            told.set()
            writer.join()
    assert set(texts(found)) == {"something new"}


def test_a_long_search_tells_how_far_it_is(live: LiveBox) -> None:
    """Who comes back begins behind what was looked at, though nothing of it was found."""
    running(live)
    live.server.log("default", "train-0", *(f"step {number}" for number in range(2500)), at=START)
    with following(live, since="2026-03-01T09:00:00Z", search="Error", follow="false") as socket:
        found = frames(socket, lambda frames: any(frame["kind"] == "end" for frame in frames))
    told = [frame for frame in found if frame["kind"] == "lines"]
    assert texts(found) == [] and 1 <= len(told) <= 3, "and not for each line"
    live.server.log("default", "train-0", "Error: NaN", at=START + 1)
    with following(live, since=told[-1]["cursor"], follow="false") as socket:
        rest = texts(frames(socket, lambda frames: any(frame["kind"] == "end" for frame in frames)))
    assert rest[-1] == "Error: NaN" and len(rest) <= 1000, "what was looked at is not read again"


def test_who_comes_back_with_a_cursor_misses_nothing_and_gets_nothing_twice(live: LiveBox) -> None:
    """All lines are of one moment: only counting tells them apart."""
    running(live)
    live.server.log("default", "train-0", *(f"line {number}" for number in range(10)), at=START)
    with following(live, tail=100) as socket:
        first = frames(socket, has("line 9"))
    live.server.log("default", "train-0", *(f"line {number}" for number in range(10, 20)), at=START)
    with following(live, since=first[-1]["cursor"]) as socket:
        second = frames(socket, has("line 19"))
    assert texts([*first, *second]) == [f"line {number}" for number in range(20)]


def test_a_connection_of_ours_that_breaks_is_told_and_mended(live: LiveBox) -> None:
    running(live)
    live.server.log("default", "train-0", *(f"line {number}" for number in range(5)), at=START)
    with following(live, tail=100) as socket:
        found = frames(socket, has("line 4"))
        live.server.host.down = True
        live.api.rig.kube.close()  # type: ignore[attr-defined]  # the connection breaks
        lost = frames(socket, lambda found: any(frame["kind"] == "lost" for frame in found))
        live.server.host.down = False
        mended = frames(socket, lambda found: bool(found) and found[-1]["kind"] == "lines")
        assert texts(mended) == [], "that it goes on is told before anything is written"
        live.server.log("default", "train-0", "line 5", at=START)
        found += frames(socket, has("line 5"))
    assert lost[-1]["reason"] in ("Closed", "ServerError")
    assert texts(found) == [f"line {number}" for number in range(6)]


@pytest.mark.parametrize(("end", "reason"), [("done", "Succeeded"), ("deleted", "PodGone")])
def test_the_end_of_a_pod_is_told(live: LiveBox, end: str, reason: str) -> None:
    running(live)
    live.server.log("default", "train-0", "last words", at=START)
    with following(live, tail=10) as socket:
        frames(socket, has("last words"))
        if end == "done":
            live.status(pod("train-0", phase="Succeeded"))
        else:
            live.gone("Pod", "train-0", "default")
        (last,) = frames(socket, lambda found: bool(found) and found[-1]["kind"] == "end")
        assert last["reason"] == reason
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1000


def test_a_container_that_begins_anew_is_told(live: LiveBox) -> None:
    running(live)
    live.server.log("default", "train-0", "before", at=START)
    with following(live, tail=10) as socket:
        frames(socket, has("before"))
        again = pod("train-0")
        again["status"]["containerStatuses"][0]["restartCount"] = 1
        live.status(again)
        live.server.log("default", "train-0", "after", at=START + 1)
        live.api.rig.kube.close()  # type: ignore[attr-defined]  # the end of its first life ends the connection
        found = frames(socket, lambda found: any(frame["kind"] == "restarted" for frame in found))
        found += frames(socket, lambda more: "after" in texts([*found, *more]))
    assert texts(found) == ["after"]


def test_a_container_that_has_not_begun_is_waited_for(live: LiveBox) -> None:
    waiting = pod("train-0", phase="Pending")
    waiting["status"]["containerStatuses"] = []
    live.apply(waiting)
    live.ready()
    with following(live, tail=10) as socket:
        (told,) = frames(socket, lambda found: bool(found))
        assert told["kind"] == "waiting"
        live.status(pod("train-0"))
        live.server.log("default", "train-0", "it runs", at=START)
        assert texts(frames(socket, has("it runs"))) == ["it runs"]


def test_fifty_thousand_lines_flow_whole(live: LiveBox) -> None:
    running(live)
    live.server.log("default", "train-0", *(f"{number:06} {'x' * 90}" for number in range(50_000)), at=START)
    seen = 0
    with following(live, since="2026-03-01T00:00:00Z") as socket:
        while seen < 50_000:
            frame = json.loads(socket.recv(timeout=PATIENCE))
            for line in frame["lines"]:
                assert int(line["text"][:6]) == seen
                seen += 1


def test_a_slow_reader_slows_the_reading_and_not_the_service(live: LiveBox) -> None:
    """Who takes nothing makes nobody hold lines for them: the thread waits, and others are served."""
    reader = running(live)
    live.server.log("default", "train-0", *(f"{number:06} {'x' * 900}" for number in range(40_000)), at=START)
    with following(live, since="2026-03-01T00:00:00Z") as socket:
        until(readers, lambda threads: len(threads) == 1)
        time.sleep(2.0)
        assert len(readers()) == 1, "it waits in the middle"
        assert reader.get("/clusters/prod").status_code == 200
        first = json.loads(socket.recv(timeout=PATIENCE))
        assert first["lines"][0]["text"].startswith("000000")
    until(readers, lambda threads: threads == [])


@pytest.mark.parametrize(
    ("path", "query", "status", "reason"),
    [
        ("/clusters/nowhere/pods/default/train-0/logs", {}, 404, "UnknownCluster"),
        (LOGS, {"since": "nonsense"}, 422, "BadCursor"),
        (LOGS, {"tail": "-1"}, 422, "InvalidRequest"),
    ],
)
def test_a_wrong_question_opens_no_socket(
    live: LiveBox, path: str, query: dict[str, str], status: int, reason: str
) -> None:
    running(live)
    with pytest.raises(InvalidStatus) as refused, following(live, path, **query):
        pass
    assert refused.value.response.status_code == status
    assert json.loads(refused.value.response.body or b"{}")["reason"] == reason


def test_a_wrong_container_closes_the_socket_and_says_why(live: LiveBox) -> None:
    running(live)
    with following(live, container="nope") as socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=PATIENCE)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason.partition(":")[0]) == (1008, "NoContainer")


def test_nobody_follows_without_a_token(live: LiveBox) -> None:
    running(live)
    url = f"{live.api.url.replace('http', 'ws')}/api/v1{LOGS}"
    with pytest.raises(InvalidStatus) as refused, connect(url):
        pass
    assert refused.value.response.status_code == 401
