"""Objects, events and storages: text from outside is data, and no secret leaves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.livebox import HYPERPOD, LiveBox, machine, pod
from tests.live.aws_server import Answer
from tests.waiting import until

PLANTED = "hunter2Correct9Horse7Battery"  # nothing but its place tells that it is a secret
KEYED = "AKIAIOSFODNN7QQQQQQQ"
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def secret(name: str = "creds") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "default", "annotations": {"note": f"api_key={PLANTED}"}},
        "stringData": {"password": PLANTED, "plain": PLANTED},
    }


def event(name: str, message: str, at: str, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "train-0", "namespace": "default"},
        "reason": "Failed",
        "message": message,
        "type": "Warning",
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 3,
        **more,
    }


def test_no_secret_leaves(live: LiveBox) -> None:
    """Planted in a Secret, a variable, an argument, an annotation, a ConfigMap, an event, a status and a log."""
    bad = pod("train-0", env=[{"name": "HF_TOKEN", "value": PLANTED}, {"name": "PLAIN", "value": f"id {KEYED} x"}])
    bad["spec"]["containers"][0]["args"] = ["--password", PLANTED, f"--api-key={PLANTED}", "--rate=1"]
    bad["status"]["containerStatuses"][0]["state"] = {
        "terminated": {"exitCode": 1, "reason": "Error", "message": f"login with token={PLANTED} failed"}
    }
    shown = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf", "namespace": "default"}}
    config = {**shown, "data": {"db_password": PLANTED, "text": f"use {TOKEN} here", "ok": "value"}}
    live.apply(secret(), bad, config, event("e1", f"cannot pull: password={PLANTED}", "2026-03-01T10:00:00Z"))
    live.server.log("default", "train-0", f"export HF_TOKEN={PLANTED}", f"key {KEYED}", "fine")
    live.says["ListClusterEvents"] = lambda _: Answer(
        json={"Events": [hyperpod_event("1", f"script: secret_key={PLANTED}")]}
    )
    live.says["DescribeCluster"] = lambda _: Answer(json={**HYPERPOD, "FailureMessage": f"token={PLANTED}"})
    reader = live.ready()
    paths = [
        "/clusters/prod/objects?api_version=v1&kind=Secret",
        "/clusters/prod/objects?api_version=v1&kind=Secret&namespace=default&name=creds",
        "/clusters/prod/objects?api_version=v1&kind=Pod",
        "/clusters/prod/objects?api_version=v1&kind=ConfigMap&namespace=default",
        "/clusters/prod/objects?api_version=v1&kind=Event",
        "/clusters/prod/pods",
        "/clusters/prod/events",
        "/clusters/prod/pods/default/train-0/logs",
        "/clusters/prod",
        "/clusters/prod/nodes",
        "/clusters/prod/timeline",
    ]
    answers = {path: reader.get(path) for path in paths}
    for path, answer in answers.items():
        assert answer.status_code == 200, (path, answer.text)
        for planted in (PLANTED, KEYED, TOKEN):
            assert planted not in answer.text, path
    assert "aHVudGVyMk" not in answers[paths[0]].text, "nor as base64"
    (found,) = answers[paths[1]].json()["items"]
    assert found["data"] == {"password": "***", "plain": "***"}, "the keys may be seen"
    assert "value" in answers[paths[3]].text and "--rate=1" in answers[paths[2]].text, "what is no secret stays"
    assert "fine" in answers["/clusters/prod/pods/default/train-0/logs"].text


def hyperpod_event(number: str, text: str, at: float = 1772359200.0, **more: Any) -> dict[str, Any]:
    return {
        "EventId": number,
        "ClusterArn": HYPERPOD["ClusterArn"],
        "ClusterName": "prod",
        "ResourceType": "Instance",
        "InstanceId": "i-0aaaaaaaaaaaaaaaa",
        "InstanceGroupName": "gpu",
        "EventTime": at,
        "Description": text,
        "EventLevel": "Error",
        **more,
    }


def test_events_of_both_sources_newest_first(live: LiveBox) -> None:
    live.apply(
        event("old", "first", "2026-03-01T09:00:00Z"),
        event("new", "\x1b[31mthird\x1b[0m\n", "2026-03-01T11:00:00Z", type="Normal"),
    )
    live.says["ListClusterEvents"] = lambda _: Answer(json={"Events": [hyperpod_event("2", "second")]})
    reader = live.ready()
    told = reader.get("/clusters/prod/events").json()
    mine = [one for one in told["items"] if one["message"] in ("first", "second") or "third" in one["message"]]
    assert [one["source"] for one in mine] == ["kubernetes", "hyperpod", "kubernetes"]
    assert [one["level"] for one in mine] == ["info", "error", "warning"]
    assert "\x1b" not in mine[0]["message"] and mine[0]["count"] == 3
    assert mine[1]["about"] == "Instance/i-0aaaaaaaaaaaaaaaa" and mine[1]["group"] == "gpu"
    first = reader.get("/clusters/prod/events?limit=1&source=hyperpod").json()
    assert [one["message"] for one in first["items"]] == ["second"]
    only = reader.get("/clusters/prod/events?level=warning&about=Pod/train-0").json()["items"]
    assert [one["message"] for one in only] == ["first"]


def test_events_of_a_node_and_of_a_group(live: LiveBox) -> None:
    """Kubernetes knows no groups: the nodes of a group tell which of its events belong there."""
    mine, other = "i-0aaaaaaaaaaaaaaaa", "i-0bbbbbbbbbbbbbbbb"
    about_node = {"involvedObject": {"kind": "Node", "name": f"hyperpod-{mine}"}}
    live.apply(
        event("node", "about the node", "2026-03-01T09:00:00Z", **about_node),
        event("kubelet", "by its kubelet", "2026-03-01T09:01:00Z", source={"host": f"hyperpod-{mine}"}),
        event("elsewhere", "of another group", "2026-03-01T09:02:00Z", source={"host": f"hyperpod-{other}"}),
        event("nowhere", "of no node", "2026-03-01T09:03:00Z", source={"host": "ip-10-0-0-1"}),
    )
    live.machines(machine(mine), machine(other, group="system"))
    live.says["ListClusterEvents"] = lambda _: Answer(json={"Events": [hyperpod_event("1", "of HyperPod")]})
    reader = live.ready()

    def messages(query: str) -> set[str]:
        told = reader.get(f"/clusters/prod/events?{query}").json()["items"]
        return {one["message"] for one in told}

    until(lambda: messages("group=gpu"), lambda found: len(found) == 3)
    assert messages("group=gpu") == messages(f"node={mine}") == {"about the node", "by its kubelet", "of HyperPod"}
    assert messages("group=system") == {"of another group"}
    assert messages("group=gpu&source=kubernetes&level=info") == set()


def test_a_source_of_events_that_cannot_be_seen_is_told(live: LiveBox) -> None:
    live.says["ListClusterEvents"] = lambda _: Answer(status=400, code="ValidationException", message="not continuous")
    reader = live.ready()
    told = reader.get("/clusters/prod/events").json()
    parts = {part["name"]: part for part in told["parts"]}
    assert parts["hyperpod-events"]["reason"] == "ValidationException" and parts["kubernetes-events"]["observed_at"]
    alone = reader.get("/clusters/prod/events?source=hyperpod")
    assert (alone.status_code, alone.json()["reason"]) == (503, "ValidationException"), "no empty list"


def test_the_failure_of_a_cluster_is_an_event(live: LiveBox) -> None:
    live.says["DescribeCluster"] = lambda _: Answer(json={**HYPERPOD, "FailureMessage": "no capacity in usw2-az2"})
    told = live.ready().get("/clusters/prod/events?source=hyperpod").json()
    assert [(one["id"], one["level"], one["message"]) for one in told["items"]] == [
        ("failure", "error", "no capacity in usw2-az2")
    ]


@pytest.mark.parametrize(
    ("query", "status", "reason", "why"),
    [
        ("api_version=v1&kind=Nothing", 404, "KindNotServed", "the cluster serves no such kind"),
        ("api_version=v1&kind=Pod&namespace=default&name=none", 404, "NotFound", "there is none of this name"),
        ("api_version=v1&kind=Pod&cursor=WyJ4Il0", 422, "BadRequest", "a cursor that no page gave"),
        ("api_version=../v1&kind=Pod", 422, "InvalidRequest", "a path is no version"),
        ("api_version=v1&kind=pods", 422, "InvalidRequest", "a plural is no kind"),
        ("api_version=v1&kind=Pod&name=../../secrets", 422, "InvalidRequest", "a path is no name"),
        ("kind=Pod", 422, "InvalidRequest", "the version is needed"),
    ],
)
def test_objects_that_cannot_be_listed(live: LiveBox, query: str, status: int, reason: str, why: str) -> None:
    answer = live.ready().get(f"/clusters/prod/objects?{query}")
    assert answer.status_code == status, (why, answer.text)
    assert reason in ("BadRequest", answer.json()["reason"]), why


def test_objects_come_in_pages_of_the_cluster(live: LiveBox) -> None:
    live.apply(*(config(f"c{number:03}") for number in range(30)))
    reader = live.ready()
    found: list[str] = []
    cursor: str | None = None
    while True:
        query = {"api_version": "v1", "kind": "ConfigMap", "namespace": "default", "limit": "7"}
        told = reader.get("/clusters/prod/objects", params={**query, **({"cursor": cursor} if cursor else {})}).json()
        found += [item["metadata"]["name"] for item in told["items"]]
        assert all("managedFields" not in item["metadata"] for item in told["items"])
        cursor = told["next"]
        if cursor is None:
            break
    assert [name for name in found if name.startswith("c0")] == [f"c{number:03}" for number in range(30)]
    labelled = reader.get("/clusters/prod/objects?api_version=v1&kind=ConfigMap&labels=number=7").json()
    assert [item["metadata"]["name"] for item in labelled["items"]] == ["c007"]


def config(name: str) -> dict[str, Any]:
    labels = {"number": str(int(name[1:]))}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "data": {"a": "b"},
    }


def test_without_a_control_plane_nothing_live_is_claimed(live: LiveBox) -> None:
    live.server.host.down = True
    reader = live.ready()
    for path in ("objects?api_version=v1&kind=Pod", "pods/default/train-0/logs"):
        answer = reader.get(f"/clusters/prod/{path}")
        assert (answer.status_code, answer.json()["reason"]) == (503, "ServerError")


S3 = """<?xml version="1.0"?><ListBucketResult><Name>b</Name><Prefix>{prefix}</Prefix><KeyCount>2</KeyCount>
<IsTruncated>{more}</IsTruncated>{token}{inside}</ListBucketResult>"""


def test_a_storage_is_listed_folder_by_folder(live: LiveBox) -> None:
    asked: list[str] = []

    def answer(seen: dict[str, Any]) -> Answer:
        asked.append(seen["path"])
        more = "continuation-token" not in seen["path"]
        inside = (
            "<CommonPrefixes><Prefix>data/shared/models/llm/</Prefix></CommonPrefixes>"
            "<Contents><Key>data/shared/models/</Key><Size>0</Size></Contents>"
            if more
            else "<Contents><Key>data/shared/models/&lt;b&gt;.bin</Key><Size>7</Size>"
            "<LastModified>2026-03-01T10:00:00.000Z</LastModified><StorageClass>STANDARD</StorageClass></Contents>"
        )
        token = "<NextContinuationToken>tok</NextContinuationToken>" if more else ""
        text = S3.format(prefix="data/shared/models/", more=str(more).lower(), token=token, inside=inside)
        return Answer(raw=text.encode())

    live.says["s3"] = live.says["ListObjectsV2"] = live.says[""] = answer
    reader = live.ready()
    first = reader.get("/clusters/prod/storages/shared/objects?path=models&limit=1").json()
    assert first["bucket"] == "sagemaker-prod-111122223333-us-west-2" and first["prefix"] == "data/shared/models/"
    assert [(item["kind"], item["path"]) for item in first["items"]] == [("folder", "models/llm/")]
    more = {"path": "models", "limit": "1", "cursor": first["next"]}
    second = reader.get("/clusters/prod/storages/shared/objects", params=more).json()
    assert [(item["kind"], item["name"], item["bytes"]) for item in second["items"]] == [("file", "<b>.bin", 7)]
    assert second["next"] is None and all("delimiter=%2F" in path for path in asked)


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [("storages/none/objects", 404, "UnknownStorage"), ("storages/shared/objects?path=/etc", 422, "BadPath")],
)
def test_a_storage_that_cannot_be_listed(live: LiveBox, path: str, status: int, reason: str) -> None:
    answer = live.ready().get(f"/clusters/prod/{path}")
    assert (answer.status_code, answer.json()["reason"]) == (status, reason)


def test_events_follow_what_happens(live: LiveBox) -> None:
    reader = live.ready()
    reader.get("/clusters/prod/events")
    live.apply(event("late", "comes later", "2026-03-01T12:00:00Z"))
    until(
        lambda: [one["message"] for one in reader.get("/clusters/prod/events").json()["items"]],
        lambda messages: "comes later" in messages,
    )
