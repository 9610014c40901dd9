"""Pods as people see them. Pure: from what is followed live."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from reconciler.reads.parts import View
from reconciler.reads.trimmed import PodFacts


class ContainerView(View):
    """`state`: waiting, running or terminated; `since`: when it began or ended."""

    name: str
    image: str
    init: bool
    ready: bool
    restarts: int
    state: str
    reason: str
    message: str
    exit_code: int | None
    since: str


class PodView(View):
    """`gpus`: GPUs or Trainium chips it asks for. `ready`: "1/2" of its containers. `owner`: `Job/train`."""

    namespace: str
    name: str
    node: str
    phase: str
    reason: str
    message: str
    ready: str
    restarts: int
    gpus: int
    efa_interfaces: int
    owner: str
    created: str
    started: str
    deleting: bool
    containers: tuple[ContainerView, ...]


class Texts:
    """Pods as JSON, each written once for as long as it stays as it is. Thread-safe: a race writes one twice."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[PodFacts, bytes]] = {}

    def of(self, pod: PodFacts) -> bytes:
        known = self._known.get(pod.uid)
        if known is not None and known[0] is pod:
            return known[1]
        text = _view(pod).model_dump_json().encode()
        self._known[pod.uid] = pod, text
        return text

    def keep(self, pods: Iterable[PodFacts]) -> None:
        """Forget those that are gone."""
        there = {pod.uid for pod in pods}
        if len(self._known) > 2 * len(there):
            self._known = {uid: known for uid, known in self._known.items() if uid in there}


def _view(pod: PodFacts) -> PodView:
    main = [container for container in pod.containers if not container.init]
    return PodView(
        namespace=pod.namespace,
        name=pod.name,
        node=pod.node,
        phase=pod.phase,
        reason=pod.reason,
        message=pod.message,
        ready=f"{sum(container.ready for container in main)}/{len(main)}",
        restarts=sum(container.restarts for container in pod.containers),
        gpus=pod.gpus,
        efa_interfaces=pod.efa,
        owner=pod.owner,
        created=pod.created,
        started=pod.started,
        deleting=pod.deleting,
        containers=tuple(ContainerView(**asdict(container)) for container in pod.containers),
    )
