"""A service over one account of the sandbox, an agent that talks to it, and people who decide beside it."""

from __future__ import annotations

import base64
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx
import pytest
from mcp.client import Client

from reconciler.engine.settings import Settings
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.tokens import EksTokens
from schemas.principals import AGENT_SCOPES, ALL_SCOPES
from tests.engine_support import RATE, Sandbox, Site, make_site
from tests.mcp_face.facebox import Told, client
from tests.waiting import PATIENCE
from web.service import Service
from web.settings import WebSettings

PERSON = "engineer-2@example.com"
POLICY = """apiVersion: instantstart/v1
kind: Policy
metadata:
  name: default
spec:
  approvals:
    requireFor: [replace, delete]
"""
Result = TypeVar("Result")


@dataclass(kw_only=True)
class Town:
    """`person`: somebody who reviews, merges and gives orders over REST; `cluster`: the one that skills are about."""

    site: Site
    service: Service
    agent: str
    person: httpx.Client
    cluster: str = "train"
    _kube: KubeCluster | None = field(default=None)

    def run(self, script: Callable[[Client], Awaitable[Result]]) -> Result:
        """With the SDK's client, over HTTP."""

        async def whole() -> Result:
            async with client(self.service.base, self.agent, "http") as tools:
                return await script(tools)

        return anyio.run(whole)

    # People

    def merge(self, change: str) -> None:
        """Approved, if somebody must, by who saw its plan; and merged."""
        found = self.get(f"/changes/{change}")
        if any(one["state"] != "ok" for one in found["checks"]):
            digest = self.get(f"/changes/{change}/plan?fresh=true")["digest"]
            self.post(f"/changes/{change}/reviews", {"verdict": "approve", "plan": digest})
        _ok(self.person.post(f"/changes/{change}/merge", headers={"If-Match": found["head"]}))

    def order(self, do: str, subject: str) -> None:
        self.post("/orders", {"cluster": self.cluster, "do": do, "subject": subject, "why": "the cause is gone"})

    def get(self, path: str) -> Any:
        return _ok(self.person.get(path))

    def post(self, path: str, body: Any = None) -> Any:
        return _ok(self.person.post(path, json=body))

    def changes(self) -> list[Any]:
        found: list[Any] = self.get("/changes?limit=100")["items"]
        return found

    # The world

    @property
    def kube(self) -> KubeCluster:
        """As an administrator of the cluster."""
        if self._kube is None:
            made = self.site.client("eks").describe_cluster(name=self.cluster)["cluster"]
            session = self.site.engine.accounts.session(self.site.sandbox.account, "us-west-2")
            authority = base64.b64decode(made["certificateAuthority"]["data"]).decode()
            self._kube = KubeCluster(made["endpoint"], authority, EksTokens(session, self.cluster))
        return self._kube

    def log(self, namespace: str, pod: str, *lines: str, container: str = "main") -> None:
        where = {"account": self.site.sandbox.account, "cluster": self.cluster}
        told = {"namespace": namespace, "pod": pod, "container": container, "lines": lines}
        self.site.sandbox.post("/pod-logs", {**where, **told})

    def close(self) -> None:
        if self._kube is not None:
            self._kube.close()
        self.person.close()


@contextmanager
def settled(engine_cloud: Sandbox, chart: tuple[str, str, str], where: Path) -> Generator[Town]:
    """A town with one cluster that is suspended: others are made like it."""
    with pytest.MonkeyPatch.context() as patch:
        site = make_site(engine_cloud, chart, where, patch)
        site.commit_paths({"clusters/policy.yaml": POLICY.encode()})
        site.commit("a cluster to copy from", cluster=site.cluster_yaml("  suspend: true\n"))
        settings = Settings(repository=str(site.path), state_dir=site.state, writer="test", rate=RATE)
        service = Service(site.engine, settings, WebSettings(port=0))
        service.start()
        tokens = service.house.access.tokens
        life = timedelta(hours=3)
        agent, _ = tokens.create(name="agent-7", kind="agent", scopes=AGENT_SCOPES, created_by="test", life=life)
        whose, _ = tokens.create(name=PERSON, kind="person", scopes=ALL_SCOPES, created_by="test", life=life)
        headers = {"Authorization": f"Bearer {whose}"}
        person = httpx.Client(base_url=f"{service.base}/api/v1", headers=headers, timeout=PATIENCE, trust_env=False)
        town = Town(site=site, service=service, agent=agent, person=person)
        try:
            yield town
        finally:
            town.close()
            service.stop()
            site.close()


async def until(look: Callable[[], Awaitable[Told]], wanted: Callable[[dict[str, Any]], Any]) -> Told:
    """Look again and again; fails with what was seen last."""
    end = time.monotonic() + PATIENCE
    while not wanted((told := await look()).data):
        assert time.monotonic() < end, told.text
        await anyio.sleep(0.1)
    return told


def _ok(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()
