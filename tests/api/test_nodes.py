"""Nodes, groups, pods and GPUs: HyperPod and Kubernetes joined, followed live, and told unknown when out of sight."""

from __future__ import annotations

from typing import Any

from tests.api.livebox import LiveBox, machine, node, pod
from tests.live.aws_server import Answer
from tests.waiting import until

A, B, C = "i-0aaaaaaaaaaaaaaaa", "i-0bbbbbbbbbbbbbbbb", "i-0cccccccccccccccc"


def busy(live: LiveBox) -> Any:
    """Two GPU nodes, one of them silent, one machine that is still provisioned, pods on the first."""
    live.machines(machine(A), machine(B, status="Failure"), machine("", status="Pending", NodeLogicalId="logical-3"))
    live.apply(node(A), node(B, ready=False), pod("train-0", on=A, gpus=3), pod("waiting", gpus=4, phase="Pending"))
    live.apply(pod("over", on=A, gpus=1, phase="Succeeded"))
    return live.ready()


def test_a_node_is_one_row(live: LiveBox) -> None:
    reader = busy(live)
    told = reader.get("/clusters/prod/nodes").json()
    rows = {row["id"]: row for row in told["items"]}
    assert set(rows) == {A, B, "logical-3"} and told["observed_at"]
    first = rows[A]
    assert (first["group"], first["instance_type"], first["zone"]) == ("gpu", "ml.g5.12xlarge", "us-west-2b")
    assert first["machine"]["status"] == "Running" and first["node"]["ready"] is True and first["node"]["takes_pods"]
    assert (first["gpus"], first["gpus_used"], first["pods"]) == (4, 3, 1), "what is over holds nothing"
    assert first["node"]["boot_id"] == f"boot-{A}" and first["node"]["health"] == "Schedulable"
    assert rows[B]["node"]["ready"] is None and rows[B]["machine"]["status"] == "Failure"
    assert (rows["logical-3"]["node"], rows["logical-3"]["machine"]["status"]) == (None, "Pending")
    only = reader.get("/clusters/prod/nodes?group=system").json()
    assert only["items"] == []


def test_gpus_of_the_cluster(live: LiveBox) -> None:
    reader = busy(live)
    told = until(lambda: reader.get("/clusters/prod").json(), lambda told: told["gpus"]["used"] is not None)
    assert told["gpus"] == {"desired": 8, "there": 8, "ready": 4, "used": 3, "idle": 1}
    groups = {group["name"]: group for group in reader.get("/clusters/prod/groups").json()["items"]}
    assert groups["gpu"]["gpus"] == {"desired": 8, "there": 8, "ready": 4, "used": 3, "idle": 1}
    assert groups["gpu"]["desired"]["count"] == 2 and groups["gpu"]["nodes"]["ready"] == 1
    assert groups["system"]["gpus"]["desired"] == 0


def test_what_changes_is_seen_within_a_moment(live: LiveBox) -> None:
    reader = busy(live)
    assert len(reader.get("/clusters/prod/nodes").json()["items"]) == 3
    live.apply(node(C), pod("train-1", on=C, gpus=4))
    rows = until(
        lambda: {row["id"]: row for row in reader.get("/clusters/prod/nodes").json()["items"]},
        lambda rows: C in rows and rows[C]["gpus_used"] == 4,
    )
    assert rows[C]["machine"] is None, "HyperPod does not list it"
    live.status(pod("train-1", on=C, gpus=4, phase="Succeeded"))
    until(
        lambda: {row["id"]: row for row in reader.get("/clusters/prod/nodes").json()["items"]},
        lambda rows: rows[C]["gpus_used"] == 0,
    )


def test_kubernetes_out_of_sight_is_unknown_and_not_as_it_was(live: LiveBox) -> None:
    reader = busy(live)
    until(lambda: reader.get("/clusters/prod").json(), lambda told: told["gpus"]["used"] == 3)
    live.server.host.down = True
    live.api.rig.kube.close()  # type: ignore[attr-defined]  # the connection breaks
    told = until(
        lambda: reader.get("/clusters/prod/nodes").json(),
        lambda told: all(part["unknown_since"] for part in told["parts"] if part["name"] != "hyperpod-nodes"),
    )
    rows = {row["id"]: row for row in told["items"]}
    assert rows[A]["node"] is None and rows[A]["gpus_used"] is None, "no old green"
    assert rows[A]["machine"]["status"] == "Running"
    parts = {part["name"]: part for part in told["parts"]}
    assert parts["kubernetes-nodes"]["reason"] == "ServerError" and parts["kubernetes-nodes"]["observed_at"]
    gpus = until(lambda: reader.get("/clusters/prod").json()["gpus"], lambda gpus: gpus["used"] is None)
    assert gpus == {"desired": 8, "there": None, "ready": None, "used": None, "idle": None}
    live.server.host.down = False
    until(lambda: reader.get("/clusters/prod").json()["gpus"]["used"], lambda used: used == 3)


def test_nothing_that_was_never_seen_is_an_empty_list(live: LiveBox) -> None:
    live.says["ListClusterNodes"] = lambda _: Answer(status=400, code="AccessDeniedException", message="no")
    live.server.host.down = True
    reader = live.ready()
    answer = until(lambda: reader.get("/clusters/prod/nodes"), lambda answer: answer.json()["reason"] != "NotLooked")
    assert answer.status_code == 503 and answer.json()["reason"] in ("AccessDenied", "ServerError")
    pods = until(lambda: reader.get("/clusters/prod/pods"), lambda answer: answer.json()["reason"] != "NotLooked")
    assert (pods.status_code, pods.json()["reason"]) == (503, "ServerError")


def test_one_source_out_of_sight_does_not_hide_the_other(live: LiveBox) -> None:
    live.says["ListClusterNodes"] = lambda _: Answer(status=400, code="AccessDeniedException", message="no")
    live.apply(node(A))
    told = live.ready().get("/clusters/prod/nodes").json()
    assert [(row["id"], row["machine"]) for row in told["items"]] == [(A, None)]
    parts = {part["name"]: part for part in told["parts"]}
    assert parts["hyperpod-nodes"]["reason"] == "AccessDenied" and told["observed_at"] is None


def test_nodes_come_in_pages(live: LiveBox) -> None:
    live.machines(*(machine(f"i-{number:017d}") for number in range(250)))
    reader = live.ready()
    found: list[str] = []
    cursor = None
    while True:
        more: dict[str, str] = {"cursor": cursor} if cursor else {}
        told = reader.get("/clusters/prod/nodes", params={"limit": "100", **more}).json()
        found += [row["id"] for row in told["items"]]
        cursor = told["next"]
        if cursor is None:
            break
    assert found == [f"i-{number:017d}" for number in range(250)]


def test_pods_by_namespace_node_and_owner(live: LiveBox) -> None:
    reader = busy(live)
    live.apply(pod("other", on=B, containers=("one", "two")))
    told = until(lambda: reader.get("/clusters/prod/pods").json(), lambda told: len(told["items"]) == 4)
    first = next(item for item in told["items"] if item["name"] == "train-0")
    assert (first["phase"], first["ready"], first["gpus"], first["node"]) == ("Running", "1/1", 3, f"hyperpod-{A}")
    assert first["containers"][0]["state"] == "running"
    names = [item["name"] for item in reader.get(f"/clusters/prod/pods?node=hyperpod-{B}").json()["items"]]
    assert names == ["other"]
    assert reader.get("/clusters/prod/pods?namespace=nowhere").json()["items"] == []
    named = reader.get("/clusters/prod/pods?namespace=default&name=train-0&limit=1").json()["items"]
    assert [item["name"] for item in named] == ["train-0"]
