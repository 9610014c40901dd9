"""`instantstart serve` as a process of its own over a sandbox in another one, as a person starts them."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reconciler.cli.sample import read_sample
from reconciler.cli.work_tree import new_repository
from reconciler.resources.helm.binary import find_helm
from reconciler.sandbox.chart import make_chart_repository
from tests.api.serving import Serving
from tests.cli.clibox import ALICE, CliBox
from tests.ui.house import NAME
from web.demo.offline import keep_chart
from web.demo.world import World, sandbox

RATE = 300.0
BOB = ("Bob Example", "bob@example.com")
POLICY = "clusters/policy.yaml"


@dataclass(kw_only=True)
class Town:
    """A repository without a cluster, and the service over it."""

    world: World
    box: CliBox
    serving: Serving

    @property
    def url(self) -> str:
        return self.serving.url

    @property
    def first_link(self) -> str:
        """What the first start prints."""
        return self.serving.wait_for(r"Log in as \S+, once, within ten minutes: (http\S+)")[1]

    def link(self, name: str = NAME) -> str:
        """What `instantstart login-link` prints."""
        port = re.search(r":(\d+)$", self.url)
        assert port is not None
        return str(self._call("login-link", "--for", name, "--port", port[1])["link"])

    def agent(self, name: str) -> str:
        """A token of an agent."""
        return str(self._call("token", "create", "--kind", "agent", "--name", name)["token"])

    def _call(self, *words: str) -> dict[str, Any]:
        """As Alice, in a terminal beside the service."""
        who = {"GIT_AUTHOR_NAME": ALICE[0], "GIT_AUTHOR_EMAIL": ALICE[1]}
        said = self.box.call(*words, "--json", env=who)
        assert said.code == 0, said.err
        return dict(said.json)

    def push(self, changes: Mapping[str, str | None], message: str) -> str:
        """Somebody else commits past the control plane."""
        with self.box.repo() as repo:
            data = {path: None if text is None else text.encode() for path, text in changes.items()}
            return repo.commit(onto=repo.head(), changes=data, message=message, author=BOB)

    def documents(self, cluster: str) -> dict[str, str]:
        """The files of a cluster as they are on the branch now."""
        with self.box.repo() as repo:
            head = repo.head()
            assert head is not None
            files = {file.path: file.blob for file in repo.files(head, f"clusters/{cluster}")}
            texts = repo.blobs(list(files.values()))
            return {path: texts[blob].decode() for path, blob in files.items()}


@contextmanager
def town(folder: Path) -> Generator[Town]:
    chart, path, _ = make_chart_repository(folder / "chart")
    state = folder / "state"
    keep_chart(state, Path(chart.removeprefix("file://")) / path)
    first = new_repository(folder / "config", {POLICY: read_sample()[POLICY]}, branch="main", author=ALICE)
    box = CliBox(path=folder / "config", state=state, first=first)
    with sandbox(RATE) as world:
        environment = {**world.environment(), "INSTANTSTART_HELM": find_helm(str(folder / "helm"))}
        serving = Serving(box=box, env=environment)
        try:
            yield Town(world=world, box=box, serving=serving)
        finally:
            serving.close()
