"""The gate of `make conformance`: what it lets through. The tools themselves need npm; see conformance/run.py."""

from __future__ import annotations

from typing import Any

import pytest

from tests.mcp_face.conformance import suite
from tests.mcp_face.conformance.verdict import judged, scenario_of


def check(name: str, status: str = "SUCCESS") -> dict[str, Any]:
    return {"id": name, "status": status, "errorMessage": f"{name} went wrong"}


GOOD = {"ping": [check("pong")]}
BAD = {"ping": [check("pong"), check("wire", "FAILURE")]}


@pytest.mark.parametrize(
    ("found", "expected", "wrong", "why"),
    [
        (GOOD, {}, (), "all is well"),
        (BAD, {}, ("ping:wire: FAILURE: wire went wrong",), "a failure that nobody expects"),
        (BAD, {"ping:wire": "because"}, (), "one that somebody expects"),
        (BAD, {"ping:*": "because"}, (), "the same by a pattern"),
        (
            {"ping": [check("pong"), check("wire", "WARNING")]},
            {},
            ("ping:wire: WARNING: wire went wrong",),
            "what a server should do",
        ),
        (
            {"ping": [check("pong"), check("later", "SKIPPED"), check("seen", "INFO")]},
            {},
            (),
            "what does not apply to a server that promises it not",
        ),
        (
            GOOD,
            {"ping:wire": "because"},
            ("ping:wire: expected not to pass, and does: take it out of expected.yaml",),
            "an expectation that is stale",
        ),
        ({"ping": []}, {}, ("ping: nothing of it was examined",), "no check at all"),
        ({"ping": [check("later", "SKIPPED")]}, {}, ("ping: nothing of it was examined",), "every check skipped"),
        ({"ping": []}, {"ping": "because"}, (), "the same, and known"),
        ({}, {}, ("ping: not run",), "a suite that did not run"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_verdict(found: Any, expected: dict[str, str], wrong: tuple[str, ...], why: str) -> None:
    assert judged(found, expected, ["ping"]).wrong == wrong, why


def test_numbers_of_a_verdict() -> None:
    told = judged(BAD, {"ping:wire": "because"}, ["ping"])
    assert (told.scenarios, told.passed, told.expected) == (1, 1, 1)


@pytest.mark.parametrize(
    ("folder", "scenario"),
    [
        ("server-ping-2026-12-01T08-54-33-475Z", "ping"),
        ("server-server-initialize-2026-12-01T08-54-33-475Z", "server-initialize"),
        ("server-json-schema-2020-12-2026-12-01T08-54-33-475Z", "json-schema-2020-12"),
    ],
)
def test_a_folder_of_results_names_its_scenario(folder: str, scenario: str) -> None:
    assert scenario_of(folder) == scenario


def test_another_folder_is_an_error() -> None:
    with pytest.raises(ValueError, match="no folder of results"):
        scenario_of("server-ping")


@pytest.mark.parametrize("revision", suite.REVISIONS)
def test_what_is_expected_has_a_reason(revision: str) -> None:
    expected = suite.expected(revision)
    assert expected and all(len(reason) > 20 for reason in expected.values())
