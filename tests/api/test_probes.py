"""Health, readiness and metrics, as whoever runs the container sees them."""

from __future__ import annotations

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from reconciler.engine.tick import Result
from tests.api.apibox import ApiBox
from tests.engine.fakes import cluster_yaml, group_yaml


def test_health_needs_nobody(api: ApiBox) -> None:
    answer = api.anybody().get(f"{api.url}/healthz", headers={"Host": "10.0.3.7:3099"})
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_ready_from_the_first_tick_on_and_not_while_the_remote_is_away(api: ApiBox) -> None:
    anybody, url = api.anybody(), f"{api.url}/readyz"
    first = anybody.get(url)
    assert (first.status_code, first.json()["reason"], first.headers["retry-after"]) == (503, "FirstTick", "1")
    api.house.pulse.tell(api.rig.tick())
    assert anybody.get(url).status_code == 200
    api.house.pulse.tell(Result(problem="RemoteUnavailable: git@host said no"))
    away = anybody.get(url)
    assert (away.status_code, away.json()["reason"]) == (503, "NoTick")
    assert "git@host" not in away.text, "it is for everybody, so it tells nothing"
    api.house.pulse.tell(Result(problems={"prod": "InvalidInput: one cluster alone"}))
    assert anybody.get(url).status_code == 200, "the others go on"


def test_ready_by_a_repository_that_goes_and_comes(api: ApiBox) -> None:
    """The same with a real folder that is not there for a while."""
    api.house.pulse.tell(api.rig.tick())
    hidden = api.rig.path.with_name("hidden")
    refs = api.rig.path / "HEAD"
    refs.rename(hidden)
    api.house.pulse.tell(api.rig.tick())
    assert api.anybody().get(f"{api.url}/readyz").status_code == 503
    hidden.rename(refs)
    api.house.pulse.tell(api.rig.tick())
    assert api.anybody().get(f"{api.url}/readyz").status_code == 200


def metrics_of(api: ApiBox) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = api.client("read").get(f"{api.url}/metrics")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(answer.text)
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for family in families for one in family.samples}


def test_metrics_count_what_happens(api: ApiBox) -> None:
    api.rig.commit({"cluster": cluster_yaml(), "groups": group_yaml("a")})
    api.rig.commit({"cluster": cluster_yaml("dev"), "groups": group_yaml("b")}, cluster="dev")
    result = api.rig.tick()
    api.house.pulse.tell(result)
    api.house.metrics.tick(0.02)
    api.house.pulse.tell(Result(problem="RemoteUnavailable: no", problems={"prod": "not a word of ours"}))
    found = metrics_of(api)
    assert found["instantstart_clusters", (("condition", "Reconciling"),)] == 2
    assert found["instantstart_clusters", (("condition", "Ready"),)] == 0
    assert found["instantstart_ticks_total", ()] == 2
    assert found["instantstart_sent_total", ()] == result.sent > 0
    assert found["instantstart_journal_lines_total", ()] == result.lines > 0
    assert found["instantstart_tick_duration_seconds_count", ()] == 1
    assert found["instantstart_problems_total", (("reason", "RemoteUnavailable"),)] == 1
    assert found["instantstart_problems_total", (("reason", "Other"),)] == 1, "text becomes no label"
    assert found["instantstart_repository_up", ()] == 0
    assert found["instantstart_last_tick_timestamp_seconds", ()] > 1.7e9


@pytest.mark.parametrize(
    ("method", "path", "labels", "why"),
    [
        ("GET", "/version", ("GET", "/version", "2xx"), "a route by its template"),
        ("DELETE", "/tokens/abc", ("DELETE", "/tokens/{id}", "4xx"), "never by the address"),
        ("GET", "/nope/abc", ("GET", "other", "4xx"), "what is no route has no name of its own"),
        ("HEAD", "/version", ("GET", "/version", "2xx"), "HEAD is GET"),
        ("BREW", "/version", ("other", "other", "4xx"), "methods have a bound too"),
    ],
)
def test_requests_are_counted_by_route(
    api: ApiBox, method: str, path: str, labels: tuple[str, str, str], why: str
) -> None:
    api.client().request(method, path)
    name = "instantstart_http_request_duration_seconds_count"
    assert metrics_of(api)[name, tuple(zip(("method", "route", "status"), labels, strict=True))] == 1, why


def test_no_label_without_a_bound(api: ApiBox) -> None:
    """No cluster, commit, object or person: each would be a series for ever."""
    names = [f"cluster-{number}" for number in range(5)]
    for name in names:
        api.rig.commit({"cluster": cluster_yaml(name), "groups": group_yaml("gpu-workers")}, cluster=name)
    result = api.rig.tick()
    api.house.pulse.tell(result)
    api.house.pulse.tell(Result(problems=dict.fromkeys(names, f"Refused: {result.head} and cluster-1")))
    for name in names:
        api.client("read").get(f"/clusters/{name}")
    text = api.client("read").get(f"{api.url}/metrics").text
    for told in (*names, "gpu-workers", str(result.head), "example.com"):
        assert told not in text
    assert not re.search(r"[0-9a-f]{40}", text)
    labels = {label for _, labels in metrics_of(api) for label, _ in labels}
    assert labels == {"condition", "reason", "method", "route", "status", "le"}


def test_metrics_are_not_for_everybody(api: ApiBox) -> None:
    assert api.anybody().get(f"{api.url}/metrics").status_code == 401
