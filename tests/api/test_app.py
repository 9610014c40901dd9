"""What every route has in common."""

from __future__ import annotations

import pytest

from tests.api.apibox import ApiBox
from web.api.problems import MEDIA


def test_a_reader_sees_the_version(api: ApiBox) -> None:
    answer = api.client("read").get("/version")
    assert answer.status_code == 200
    assert answer.json()["branch"] == "main" and answer.json()["local"] is True


@pytest.mark.parametrize(
    ("path", "method", "status", "reason", "why"),
    [
        ("/version", "GET", 401, "NotLoggedIn", "nobody said who asks"),
        ("/nope", "GET", 404, "NotFound", "what is not there is told as a problem, never as a page"),
        ("/version/more", "GET", 404, "NotFound", "a prefix is no route"),
        ("/version", "DELETE", 405, "MethodNotAllowed", "the path is there, the method is not"),
    ],
)
def test_errors_of_the_framework_are_problem_details(
    api: ApiBox, path: str, method: str, status: int, reason: str, why: str
) -> None:
    answer = api.anybody({"Accept": "text/html"}).request(method, path)
    assert answer.status_code == status, why
    assert answer.headers["content-type"] == MEDIA
    body = answer.json()
    assert (body["reason"], body["status"], body["type"]) == (reason, status, f"urn:instantstart:{reason}")


def test_a_scope_that_is_missing_is_named(api: ApiBox) -> None:
    answer = api.client("propose").get("/version")
    assert answer.status_code == 403 and answer.json()["reason"] == "MissingScope" and "read" in answer.json()["detail"]


def test_tokens_survive_a_restart(api: ApiBox) -> None:
    header = {"Authorization": f"Bearer {api.token('read')}"}
    before = api.anybody(header).get("/version").json()["life"]
    api.restart()
    after = api.anybody(header).get("/version")
    assert after.status_code == 200 and after.json()["life"] != before
