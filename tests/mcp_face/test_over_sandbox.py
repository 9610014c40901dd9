"""A scripted agent follows the skill create-cluster literally, against the sandbox, from a sentence to the end: every
tool that a step names is called in that step, nothing else is, and the first answer to the proposal is lost."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp.client import Client

from instantstart_mcp import catalogue, playbooks
from reconciler.engine.settings import Settings
from schemas.principals import AGENT_SCOPES, ALL_SCOPES
from tests.engine_support import RATE, Sandbox, Site, make_site
from tests.mcp_face.facebox import Told, client, cut_off
from web.service import Service
from web.settings import WebSettings

pytestmark = pytest.mark.sandbox
NAMES = {value.name for value in catalogue.TOOLS}
SENTENCE: dict[str, Any] = {
    "name": "train",
    "region": "us-west-2",
    "zone": "usw2-az2",
    "instance_type": "ml.g5.8xlarge",
    "count": 2,
    "capacity": "onDemand",
    "storage_bucket": "new",
    "like": "prod",
}


@dataclass(kw_only=True)
class Agent:
    """Knows the skill, the sentence, and what it was told."""

    tools: Client
    url: str
    token: str
    person: httpx.Client
    called: list[str] = field(default_factory=list[str])
    told: dict[str, Told] = field(default_factory=dict[str, Told])

    async def follow(self, step: str) -> None:
        for name in dict.fromkeys(word for word in re.findall(r"`([a-z_]+)`", step) if word in NAMES):
            self.told[name] = await getattr(self, name)()
            assert not self.told[name].error, self.told[name].text

    async def cluster_list(self) -> Told:
        told = await self.call("cluster_list", {})
        assert SENTENCE["name"] not in [row["cluster"] for row in told.data["items"]]
        return told

    async def change_list(self) -> Told:
        told = await self.call("change_list", {"state": "open"})
        assert told.data["items"] == []
        return told

    async def offerings_get(self) -> Told:
        asked = {name: SENTENCE[name] for name in ("region", "zone", "instance_type")}
        told = await self.call("offerings_get", asked)
        (offer,) = told.data["instance_types"]
        assert offer["instance_type"] == SENTENCE["instance_type"] and SENTENCE["zone"] in offer["zones"]
        return told

    async def cluster_create(self) -> Told:
        """The client gives up in the middle, and calls again: one change."""
        await cut_off(self.url, self.token, "http", 0.3, "cluster_create", SENTENCE)
        return await self.call("cluster_create", SENTENCE)

    async def change_wait(self) -> Told:
        change = self.told["cluster_create"].data["change"]
        assert self.told["cluster_create"].data["status_tool"] == "change_wait"
        before = await self.call("change_wait", {"change": change, "timeout_seconds": 0})
        assert before.data["outcome"] == "needs_review" and change in before.data["review_link"]
        head = self.person.get(f"/changes/{change}").json()["head"]
        merged = self.person.post(f"/changes/{change}/merge", headers={"If-Match": head})
        assert merged.status_code == 200, merged.text
        told = before
        for _ in range(30):
            told = await self.call("change_wait", {"change": change, "timeout_seconds": 10})
            if told.data.get("terminal"):
                break
        return told

    async def cluster_get(self) -> Told:
        return await self.call("cluster_get", {"cluster": SENTENCE["name"]})

    async def call(self, name: str, arguments: dict[str, Any]) -> Told:
        self.called.append(name)
        return Told.of(await self.tools.call_tool(name, arguments))


@pytest.fixture
def up(
    engine_cloud: Sandbox, chart: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Site, Service]]:
    """A service whose loop runs, and one cluster that is suspended: others are made like it."""
    site = make_site(engine_cloud, chart, tmp_path, monkeypatch)
    site.commit("a cluster to copy from", cluster=site.cluster_yaml("  suspend: true\n"))
    with serving(site) as service:
        yield site, service
    site.close()


@contextmanager
def serving(site: Site) -> Generator[Service]:
    settings = Settings(repository=str(site.path), state_dir=site.state, writer="test", rate=RATE)
    service = Service(site.engine, settings, WebSettings(port=0))
    service.start()
    try:
        yield service
    finally:
        service.stop()


def test_from_a_sentence_to_a_cluster_that_is_ready(up: tuple[Site, Service]) -> None:
    site, service = up
    tokens = service.house.access.tokens
    life = timedelta(hours=1)
    token = tokens.create(name="agent-7", kind="agent", scopes=AGENT_SCOPES, created_by="test", life=life)[0]
    whose = tokens.create(name="engineer@example.com", kind="person", scopes=ALL_SCOPES, created_by="test", life=life)[
        0
    ]
    skill = next(one for one in playbooks.skills() if one.name == "create-cluster")
    steps = re.findall(r"^\d\. (.*?)(?=^\d\. |\Z)", skill.body.split("## Steps")[1], re.DOTALL | re.MULTILINE)
    assert len(steps) == 7
    # Of the last step only what belongs to `ready`.
    steps[-1] = next(line for line in steps[-1].splitlines() if line.strip().startswith("- `ready`"))

    async def whole() -> Agent:
        async with client(service.base, token, "http") as tools:
            with httpx.Client(
                base_url=f"{service.base}/api/v1", headers={"Authorization": f"Bearer {whose}"}, timeout=60
            ) as person:
                agent = Agent(tools=tools, url=service.base, token=token, person=person)
                for step in steps:
                    await agent.follow(step)
                listed = person.get("/changes").json()["items"]
                assert [one["id"] for one in listed] == [agent.told["cluster_create"].data["change"]]
                assert listed[0]["proposed_by"] == "agent-7" and listed[0]["state"] == "merged"
                return agent

    agent = anyio.run(whole)
    assert list(dict.fromkeys(agent.called)) == [
        "cluster_list",
        "change_list",
        "offerings_get",
        "cluster_create",
        "change_wait",
        "cluster_get",
    ]
    assert agent.told["change_wait"].data["outcome"] == "ready", agent.told["change_wait"].text
    cluster = agent.told["cluster_get"].data
    assert cluster["condition"] == "Ready"
    assert {group["name"]: group["count"] for group in cluster["groups"]} == {"workers": 2, "system": 2}
    assert [one["name"] for one in cluster["storages"]] == ["shared"]
    listing = site.engine.accounts.session(site.sandbox.account, "us-west-2").read("sagemaker", "ListClusters")
    assert [one["ClusterName"] for one in listing["ClusterSummaries"]] == ["train"], "one cluster, made once"
