"""The same readers over a real cluster of the sandbox: AWS and Kubernetes by their own protocols, nothing invented."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import anyio
import httpx
import pytest
from websockets.sync.client import connect

from reconciler.engine.settings import Settings
from tests.engine_support import GPU, STORAGE, Sandbox, Site, group_yaml, make_site
from tests.mcp_face.facebox import Told, client
from tests.waiting import PATIENCE, until
from web.api.app import make_api
from web.building import build
from web.server import Server

pytestmark = pytest.mark.sandbox
NOT_SIMULATED = {"training-plans", "capacity-reservations"}


@dataclass(kw_only=True)
class Service:
    site: Site
    url: str
    token: str

    @property
    def reader(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=120, trust_env=False)

    def get(self, path: str) -> Any:
        with self.reader as reader:
            answer = reader.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="session")
def service(
    engine_cloud: Sandbox, chart: tuple[str, str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """One cluster that is Ready, for all of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        site = make_site(engine_cloud, chart, tmp_path_factory.mktemp("service"), patch)
        with ready(site) as up:
            yield up


@contextmanager
def ready(site: Site) -> Generator[Service]:
    site.applied(cluster=site.cluster_yaml(), groups=group_yaml("system") + GPU, storage=STORAGE)
    settings = Settings(repository=str(site.path), state_dir=site.state, writer="test")
    house = build(site.engine, settings)
    server = Server(make_api(house), host="127.0.0.1", port=0)
    try:
        server.start()
        token = house.access.tokens.create(
            name="platform-engineer@example.com",
            kind="person",
            scopes=frozenset({"read"}),
            created_by="test",
            life=timedelta(hours=1),
        )[0]
        yield Service(site=site, url=f"http://127.0.0.1:{server.port}", token=token)
    finally:
        house.bus.close()
        house.reads.close()
        server.stop()
        site.close()


def test_a_cluster_and_its_nodes(service: Service) -> None:
    told = until(lambda: service.get("/clusters/prod"), lambda told: told["gpus"]["idle"] is not None)
    assert told["condition"] == "Ready" and told["drift"] == 0
    assert told["gpus"] == {"desired": 2, "there": 2, "ready": 2, "used": 0, "idle": 2}
    assert told["instances"] == {"desired": 4, "there": 4, "ready": 4}
    nodes = service.get("/clusters/prod/nodes")
    assert [(row["group"], row["instance_type"]) for row in nodes["items"]] == [
        *[("gpu", "ml.g5.8xlarge")] * 2,
        *[("system", "ml.m5.2xlarge")] * 2,
    ]
    for row in nodes["items"]:
        assert row["machine"]["status"] == "Running" and row["node"]["takes_pods"] and row["node"]["boot_id"]
        assert row["zone_id"] == "usw2-az2" and row["node"]["name"] == f"hyperpod-{row['instance']}"
    assert all(part["unknown_since"] is None for part in nodes["parts"])


def test_the_past_of_a_node_is_told(service: Service) -> None:
    first = service.get("/clusters/prod/nodes?group=gpu")["items"][0]
    told = service.get(f"/clusters/prod/nodes/{first['id']}")
    assert told["instance"] == first["instance"]
    assert [event["instance"] for event in told["history"]] == [first["instance"]] * len(told["history"])
    assert any("provisioned" in event["message"] for event in told["history"])


def test_events_of_both(service: Service) -> None:
    told = service.get("/clusters/prod/events?limit=500")
    assert {"hyperpod"} <= {event["source"] for event in told["items"]}
    times = [event["at"] for event in told["items"]]
    assert times == sorted(times, reverse=True)
    assert {part["name"]: part["reason"] for part in told["parts"]} == {"hyperpod-events": "", "kubernetes-events": ""}


def test_what_is_ours_is_told_by_stage(service: Service) -> None:
    things = service.get("/clusters/prod/resources?limit=500")["items"]
    assert {thing["health"] for thing in things} == {"healthy"}
    vpc = next(thing for thing in things if thing["type"] == "ec2.Vpc")
    assert vpc["id"].startswith("vpc-") and vpc["document"] == "Cluster/prod"


def test_offerings_are_what_the_account_can_have(service: Service) -> None:
    told = service.get("/offerings?cluster=prod")
    assert told["account"] == service.site.sandbox.account and told["region"] == "us-west-2"
    assert {"us-west-2a", "us-west-2b"} <= {zone["name"] for zone in told["zones"]}
    assert all(zone["id"].startswith("usw2-az") for zone in told["zones"])
    types = {one["instance_type"]: one for one in told["instance_types"]}
    gpu = types["ml.g5.8xlarge"]
    assert (gpu["gpus"], gpu["efa_interfaces"], gpu["vcpus"]) == (1, 1, 32) and "usw2-az2" in gpu["zones"]
    assert gpu["addresses"]["plain"] == 30 and gpu["memory_gib"] == 128
    assert gpu["on_demand"] == {"limit": 1000, "used": 2, "left": 998}
    assert gpu["training_plans"] is None and gpu["reservations"] is None, "the sandbox does not tell"
    assert told["instances"]["used"] == 4 and told["instances"]["left"] == told["instances"]["limit"] - 4
    assert told["kubernetes_versions"][0]["version"] >= "1.33"
    parts = {part["name"]: part for part in told["parts"]}
    assert {name for name, part in parts.items() if part["unknown_since"] is not None} == NOT_SIMULATED
    assert all(parts[name]["reason"] == "NotSupportedHere" for name in NOT_SIMULATED)
    assert told["observed_at"] is None, "not all of it was seen"


def test_offerings_of_the_credentials_and_only_some_types(service: Service) -> None:
    some = "accelerated=true&zone=us-west-2b&type=ml.g5.8xlarge&type=ml.m5.2xlarge"
    told = service.get(f"/offerings?region=us-west-2&{some}")
    assert told["account"] == service.site.sandbox.account
    assert [one["instance_type"] for one in told["instance_types"]] == ["ml.g5.8xlarge"]


def test_offerings_ask_each_question_once_in_a_while(service: Service) -> None:
    service.get("/offerings?cluster=prod")
    before = len(service.site.sandbox.log())
    for _ in range(5):
        service.get("/offerings?cluster=prod")
    asked = {entry["operation"] for entry in service.site.sandbox.log()[before:]}
    assert not asked & {"DescribeInstanceTypeOfferings", "ListServiceQuotas", "DescribeAvailabilityZones"}


def test_a_storage_is_listed(service: Service) -> None:
    bucket = service.get("/clusters/prod/storages/shared/objects")["bucket"]
    s3 = service.site.client("s3")
    for key in ("a.txt", "models/llm/w.bin", "models/other.bin"):
        s3.put_object(Bucket=bucket, Key=f"data/shared/{key}", Body=b"12345")
    top = service.get("/clusters/prod/storages/shared/objects")["items"]
    assert [(one["kind"], one["path"]) for one in top] == [("file", "a.txt"), ("folder", "models/")]
    assert top[0]["bytes"] == 5 and top[0]["modified"]
    inside = service.get("/clusters/prod/storages/shared/objects?path=models")["items"]
    assert [one["path"] for one in inside] == ["models/llm/", "models/other.bin"]


def test_pods_objects_and_logs(service: Service) -> None:
    pods = until(lambda: service.get("/clusters/prod/pods?limit=500")["items"], lambda items: items)
    one = next(item for item in pods if item["phase"] == "Running" and item["owner"].startswith("DaemonSet/"))
    path = f"/clusters/prod/pods/{one['namespace']}/{one['name']}/logs"
    order = {"account": service.site.sandbox.account, "cluster": "prod", "namespace": one["namespace"]}
    container = one["containers"][0]["name"]
    lines = {**order, "pod": one["name"], "container": container}
    service.site.sandbox.post("/pod-logs", {**lines, "lines": ["hello", "HF_TOKEN=hunter2Correct9Horse7Battery"]})
    told = service.get(f"{path}?container={container}")
    assert [line["text"] for line in told["items"]][-2:] == ["hello", "HF_TOKEN=***"]
    url = f"{service.url.replace('http', 'ws')}/api/v1{path}?container={container}&tail=0"
    with connect(url, additional_headers={"Authorization": f"Bearer {service.token}"}) as socket:
        told = threading.Event()

        def write() -> None:  # again and again: nothing says from when on a line is new
            while not told.wait(0.1):
                service.site.sandbox.post("/pod-logs", {**lines, "lines": ["new"]})

        writer = threading.Thread(target=write)
        writer.start()
        try:
            frame = json.loads(socket.recv(timeout=PATIENCE))
        finally:
            told.set()
            writer.join()
    assert {line["text"] for line in frame["lines"]} == {"new"}
    sets = service.get("/clusters/prod/objects?api_version=apps/v1&kind=DaemonSet")["items"]
    assert any(item["metadata"]["name"] in one["owner"] for item in sets)


def test_what_somebody_deleted_is_drift_until_it_is_made_again(service: Service) -> None:
    ec2 = service.site.client("ec2")
    vpc = next(one for one in service.get("/clusters/prod/resources?limit=500")["items"] if one["type"] == "ec2.Vpc")
    mine = [{"Name": "vpc-id", "Values": [vpc["id"]]}]
    (endpoint,) = ec2.describe_vpc_endpoints(Filters=mine)["VpcEndpoints"]
    ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint["VpcEndpointId"]])

    def drifted() -> Any:
        service.site.idle(1)
        return service.get("/clusters/prod/drift")["items"]

    (item,) = until(drifted, lambda items: items)
    assert (item["action"]["type"], item["action"]["verb"]) == ("ec2.VpcEndpoint", "create")
    assert item["then"] == "restored" and item["action"]["because"] == "drift"
    assert service.get("/clusters/prod")["drift"] == 1

    async def by_a_tool() -> Told:
        async with client(service.url, service.token) as found:
            return Told.of(await found.call_tool("cluster_drift", {"cluster": "prod"}))

    (row,) = anyio.run(by_a_tool).data["items"]
    assert (row["verb"], row["then"]) == ("create", "restored")
    until(drifted, lambda items: not items)
    assert ec2.describe_vpc_endpoints(Filters=mine)["VpcEndpoints"][0]["VpcEndpointId"] != endpoint["VpcEndpointId"]


def test_a_node_that_dies_is_seen_without_a_tick(service: Service) -> None:
    """Last: it changes the cluster."""
    first = service.get("/clusters/prod/nodes?group=gpu")["items"][0]
    service.site.sandbox.post(f"/node/{first['instance']}/die", {})

    def takes_pods() -> bool:
        rows = service.get("/clusters/prod/nodes?group=gpu")["items"]
        return any(row["instance"] == first["instance"] and row["node"] and row["node"]["takes_pods"] for row in rows)

    until(takes_pods, lambda still: not still)
