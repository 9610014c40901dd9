"""The OpenAPI document is complete, and the service does what it says: proved by requests made up from it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.api.apibox import ApiBox
from tests.api.livebox import LiveBox, machine, node
from web.access.limits import Rate, Rates
from web.api.app import make_api

ROOT = Path(__file__).parents[2]
METHODS = ("get", "post", "put", "patch", "delete")
OPEN = {"get_health", "get_readiness", "create_session"}
SEED = "20260301"
# A schema cannot say all that makes a request right, such as a cursor that a page has given; and the one token is at
# hand all the time, which a made-up one must not replace. What needs AWS is answered 503 here, with the reason.
CONFIG = """
[generation]
with-security-parameters = false

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 400, 401, 403, 404, 409, 410, 412, 422, 428, 429, 503]

[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 503]
"""


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    document = make_api(None).openapi()
    return [(path, method, on[method]) for path, on in document["paths"].items() for method in METHODS if method in on]


@pytest.mark.parametrize(
    ("path", "method", "told"), operations(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_operation_says_all_that_it_can_answer(path: str, method: str, told: dict[str, Any]) -> None:
    name = told["operationId"]
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+", name), "stable, and good for a function's name"
    assert told.get("tags"), "it stands somewhere in the documentation"
    assert told.get("description") or told.get("summary")
    needed = {"400", "403", "421", "429", "500", "503"}
    needed |= set() if name in OPEN else {"401"}
    needed |= {"413", "422"} if "requestBody" in told else set()
    needed |= {"422"} if told.get("parameters") else set()
    needed |= {"404"} if "{" in path else set()
    assert needed <= set(told["responses"])
    assert bool(told.get("security")) is (name not in OPEN)
    for status, answer in told["responses"].items():
        if int(status) >= 400:
            schema = answer["content"]["application/problem+json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/Problem"}, status
            assert len(answer["content"]) == 1, "one form of every error"


def test_names_are_there_once() -> None:
    names = [told["operationId"] for _, _, told in operations()]
    assert len(names) == len(set(names))
    schemas = make_api(None).openapi()["components"]["schemas"]
    assert [name for name in schemas if name.startswith(("reconciler__", "web__", "schemas__"))] == [], (
        "two of one name"
    )


def test_every_reference_leads_somewhere() -> None:
    document = make_api(None).openapi()
    text = json.dumps(document)
    wanted = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert wanted == wanted & set(document["components"]["schemas"])
    assert "HTTPValidationError" not in text


def test_it_is_served_and_printed_alike(api: ApiBox) -> None:
    printed = subprocess.run([sys.executable, "-m", "web", "openapi"], cwd=ROOT, capture_output=True, check=True)
    served = api.anybody().get("/openapi.json")
    assert served.status_code == 200 and served.json() == json.loads(printed.stdout)


def test_requests_made_up_from_it(live: LiveBox, tmp_path: Path) -> None:
    """Schemathesis: no 5xx, nothing undocumented, no answer of another form."""
    live.ready()
    live.machines(machine("i-0"))
    live.apply(node("i-0"))
    api = live.api
    api.house.pulse.tell(api.rig.tick())
    plenty = Rate(each=1e6, burst=10**6)
    api.house.access.limits.rates = Rates(read=plenty, write=plenty, login=plenty, refused=plenty)
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    command = [
        str(Path(sys.executable).with_name("st")),
        *("--config-file", str(tmp_path / "schemathesis.toml")),
        *("run", f"{api.url}/api/v1/openapi.json"),
        *("--header", f"Authorization: Bearer {api.token()}"),
        *("--max-examples", "25", "--seed", SEED, "--generation-database", "none", "--no-color"),
        *("--phases", "coverage,fuzzing"),
        *("--exclude-operation-id", "stream_events"),  # it never ends
        *("--request-timeout", "300", "--continue-on-failure"),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=3600, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert re.search(r"[1-9][0-9]{2,} generated", done.stdout), done.stdout[-2000:]
