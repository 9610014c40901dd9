"""The service that a browser's test looks at: the API's box, ticked by hand."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from schemas.principals import ALL_SCOPES, Scope
from tests.api.apibox import ApiBox
from tests.engine.fakes import cluster_yaml, group_yaml
from web.access.links import link

NAME = "platform-engineer@example.com"
GPUS = "ml.g5.12xlarge"


class UiHouse:
    """`box.rig` is the repository, cloud and engine: `clusters` commits some, `tick` lets the engine look once."""

    def __init__(self, box: ApiBox) -> None:
        self.box = box

    @property
    def url(self) -> str:
        return self.box.url

    def link(self, name: str = NAME, scopes: frozenset[Scope] = ALL_SCOPES) -> str:
        """A log-in link for somebody, good once."""
        return link(self.url, self.box.house.access.links.make(name=name, scopes=scopes))

    def clusters(self, *names: str, gpus: int = 2) -> None:
        for name in names:
            gpu = group_yaml("gpu", gpus).replace("ml.m5.2xlarge", GPUS)
            files = {"cluster": cluster_yaml(name), "system": group_yaml("system"), "gpu": gpu}
            self.box.rig.commit(files, cluster=name)

    def tick(self, seconds: float = 30.0) -> None:
        """The engine looks once, and whoever follows is told."""
        result = self.box.rig.tick(seconds)
        house = self.box.house
        told = {"at": house.clock.iso(), "head": result.head, "problem": result.problem, "wake": round(result.wake, 3)}
        house.bus.publish("tick", {**told, "clusters": result.clusters, "sent": result.sent, "lines": result.lines})
        house.watch.ring()

    def settle(self) -> None:
        self.box.rig.settle()
        self.box.house.watch.ring()

    def until(self, wanted: Callable[[], bool]) -> None:
        """Ticks, a minute of the engine apart, until something is so."""
        for _ in range(100):
            if wanted():
                return
            self.tick(60)
        raise AssertionError(self.box.rig.story())

    @contextmanager
    def away(self) -> Generator[None]:
        """Nobody answers, until the block ends; then a new process does, on the same port."""
        port = self.box.stop()
        yield
        self.box.rig.restart()
        self.box.start(port)

    def close(self) -> None:
        self.box.close()
