"""Rebooting a node: once, and told by its boot id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest

from reconciler.live.errors import CallRefused, NotFound
from reconciler.live.kube.cluster import KubeCluster
from reconciler.resources.handler import Verdict
from reconciler.resources.hyperpod.reboot import Reboots
from schemas.journal import Phase
from schemas.plan import Verb
from schemas.resource import Observed, Presence, Resource, Stage
from tests.resources_hyperpod.cloud import SOURCE, Bench, Cloud, action, record, running

NODE = "i-0123456789abcdef0"
KEY = f"Operation/reboot-a#{NODE}"
REBOOT = Resource(
    key=KEY,
    type="hyperpod.Reboot",
    name=NODE,
    cluster="prod",
    stage=Stage.OPERATIONS,
    lane=f"node/{NODE}",
    spec={"instance": NODE},
    source=SOURCE,
)


class Kube:
    """Nodes by name with their boot ids; None: nobody answers."""

    def __init__(self, boots: dict[str, str] | None) -> None:
        self.boots = boots

    def get(self, gvk: Any, namespace: str | None, name: str) -> dict[str, Any]:
        if self.boots is None:
            raise CallRefused("connection refused", reason="NotConnected")
        if name not in self.boots:
            raise NotFound(f"no node {name}")
        return {"status": {"nodeInfo": {"bootID": self.boots[name]}}}


class Rebooting(Cloud):
    """A cluster whose reboots go as told."""

    failed: Iterable[dict[str, str]] = ()

    def mutate(self, service: str, operation: str, /, *, op: str, **params: Any) -> dict[str, Any]:
        self.calls.append((operation, params))
        return {"Successful": [], "Failed": [*self.failed]}


def bench(boots: dict[str, str] | None, *, status: str = "Running") -> tuple[Bench, Kube]:
    cloud = Rebooting()
    cloud.__dict__ |= running({"a": {}}).__dict__
    cloud.nodes = [{"InstanceGroupName": "a", "InstanceId": NODE, "InstanceStatus": {"Status": status}}]
    made, kube = Bench(cloud, ["a"]), Kube(boots)
    made.world.kube = lambda: cast(KubeCluster, kube)
    look(made)
    return made, kube


def look(made: Bench) -> Observed:
    made.look()
    (seen,) = Reboots().look(made.world, [REBOOT])
    made.world.observed[KEY] = seen
    return seen


def test_a_reboot_is_one_call_with_evidence_of_before() -> None:
    made, _ = bench({f"hyperpod-{NODE}": "boot-1"}, status="Failure")
    (call,) = Reboots().calls(made.world, [action(Verb.RUN, REBOOT)])
    assert (call.cls.value, call.before) == ("once", {"bootId": "boot-1", "status": "Failure"})
    assert Reboots().send(made.world, call, "01NEW").failures == {}
    assert made.cloud.calls == [("BatchRebootClusterNodes", {"ClusterName": "prod", "NodeIds": [NODE]})]


@pytest.mark.parametrize("phase", [Phase.INTENT, Phase.SUBMITTED])
@pytest.mark.parametrize(
    ("reason", "boots", "there", "verdict"),
    [
        ("a new boot id", {f"hyperpod-{NODE}": "boot-2"}, True, Verdict.HAPPENED),
        ("the old one: not yet, and never a second reboot", {f"hyperpod-{NODE}": "boot-1"}, True, Verdict.PENDING),
        ("not in Kubernetes for the moment", {}, True, Verdict.PENDING),
        ("nobody answers", None, True, Verdict.UNREADABLE),
        ("the instance is gone", {}, False, Verdict.SUBJECT_GONE),
    ],
)
def test_the_boot_id_tells_whatever_became_of_the_reply(
    phase: Phase, reason: str, boots: dict[str, str] | None, there: bool, verdict: Verdict
) -> None:
    made, kube = bench({f"hyperpod-{NODE}": "boot-1"})
    (call,) = Reboots().calls(made.world, [action(Verb.RUN, REBOOT)])
    kube.boots = boots
    made.cloud.nodes = made.cloud.nodes if there else []
    look(made)
    found = Reboots().settled(made.world, record(call, phase))
    assert found.verdict is verdict, reason


def test_an_error_inside_a_200_is_the_nodes_own_outcome() -> None:
    made, _ = bench({f"hyperpod-{NODE}": "boot-1"})
    cast(Rebooting, made.cloud).failed = [{"NodeId": NODE, "ErrorCode": "InvalidInstanceStatus", "Message": "Pending"}]
    (call,) = Reboots().calls(made.world, [action(Verb.RUN, REBOOT)])
    assert Reboots().send(made.world, call, "01NEW").failures == {NODE: ("InvalidInstanceStatus", "Pending")}


def test_without_evidence_or_node_nothing_is_sent() -> None:
    for made, _ in (bench({}), bench(None)):
        assert not Reboots().calls(made.world, [action(Verb.RUN, REBOOT)])
    made, _ = bench({f"hyperpod-{NODE}": "boot-1"})
    made.cloud.nodes = []
    assert look(made).presence is Presence.ABSENT
    assert not Reboots().calls(made.world, [action(Verb.RUN, REBOOT)])
