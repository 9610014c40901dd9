"""A Storage on a served Kubernetes, with binding simulated by an ordinary client."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from reconciler.desired.storage_manifests import storage_manifests
from reconciler.live.errors import CallRefused
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.tokens import EksTokens
from reconciler.resources.storage.volume_health import condition
from reconciler.resources.storage.volumes import Volumes, authored
from reconciler.sandbox.clock import Clock
from reconciler.sandbox.kubernetes.simulators.cluster import Simulators
from schemas.plan import Verb
from schemas.resource import Health, Mark, Observed, Presence, Resource, Stage
from tests.resources_support import Place, clouds, place, resource, trust

__all__ = ["clouds", "place"]
pytestmark = [pytest.mark.sandbox, pytest.mark.behaviour("Product: volumes and claims of a Storage")]

KEY = "Storage/prod/data"
VOLUME = (Gvk("v1", "PersistentVolume"), None, "prod.default.data")
CLAIM = (Gvk("v1", "PersistentVolumeClaim"), "default", "data")
RATE = 2000.0  # of the controllers, which run by themselves
WAIT = 60.0  # real seconds; every wait here ends in a fraction of one


@pytest.fixture
def kube(place: Place) -> Iterator[KubeCluster]:
    """An ACTIVE EKS cluster whose controllers bind volumes."""
    sandbox = place.sandbox
    ec2, iam, eks = (sandbox.client(service) for service in ("ec2", "iam", "eks"))
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets: list[str] = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=block, AvailabilityZone=f"{sandbox.region}{zone}")["Subnet"]["SubnetId"]
        for zone, block in (("a", "10.0.0.0/20"), ("b", "10.0.16.0/20"))
    ]
    role: str = iam.create_role(RoleName="eks", AssumeRolePolicyDocument=trust("eks.amazonaws.com"))["Role"]["Arn"]
    sandbox.pass_time(sandbox.cloud.world.pace.role_usable * 2)
    eks.create_cluster(
        name="prod",
        roleArn=role,
        resourcesVpcConfig={"subnetIds": subnets},
        accessConfig={"authenticationMode": "API"},
        version="1.34",
    )
    look: Callable[[], dict[str, Any]] = lambda: eks.describe_cluster(name="prod")["cluster"]  # noqa: E731
    made = sandbox.until(look, lambda cluster: cluster["status"] == "ACTIVE")
    authority = base64.b64decode(made["certificateAuthority"]["data"]).decode()
    tokens = EksTokens(place.aws, "prod")
    simulators = Simulators(made["endpoint"], authority, tokens.current, clock=Clock(RATE))
    with KubeCluster(made["endpoint"], authority, tokens) as opened:
        place.kube = lambda: opened
        simulators.start()
        yield opened
        simulators.stop()


def storage(**more: Any) -> Resource:
    manifests = storage_manifests(
        cluster="prod", name="data", bucket="a-bucket", region="us-west-2", prefix="sets/", **more
    )
    spec = {
        "bucket": "a-bucket",
        "prefix": "sets/",
        "readOnly": False,
        "namespace": "default",
        "manifests": manifests,
    }
    # The key's kind is the document's, the type that of the handler.
    made = resource("k8s.Storage/prod/data", spec, name="data", lane="k8s/prod/data", stage=Stage.STORAGE)
    return replace(made, key=KEY)


def seen_when(place: Place, wanted: Callable[[Observed], bool]) -> Observed:
    end = time.monotonic() + WAIT
    while not wanted(seen := place.look(Volumes())[KEY]):
        assert time.monotonic() < end, seen
        time.sleep(0.02)
    return seen


def test_from_nothing_to_gone(place: Place, kube: KubeCluster) -> None:
    handler = Volumes()
    place.want(storage())
    place.converge(handler)
    seen = place.observed[KEY]
    assert (seen.mark, seen.health, seen.spec) == (Mark.OURS, Health.HEALTHY, storage().spec)
    assert kube.get(*VOLUME)["spec"]["claimRef"]["uid"] == kube.get(*CLAIM)["metadata"]["uid"]

    # The claim is deleted by hand: its volume is Released and would never bind again.
    kube.delete(*CLAIM, op="01HAND")
    seen_when(place, lambda seen: seen.reason == "VolumeReleased")
    place.converge(handler)
    assert place.observed[KEY].health is Health.HEALTHY

    place.want(storage(mount_options=["uid=1000"]))
    place.converge(handler)
    assert "uid=1000" in kube.get(*VOLUME)["spec"]["mountOptions"]

    place.want()
    place.converge(handler)
    assert kube.list(VOLUME[0]) == kube.list(CLAIM[0]) == []


def test_a_claim_in_use_stays_and_says_who_uses_it(place: Place, kube: KubeCluster) -> None:
    handler = Volumes()
    place.want(storage())
    place.converge(handler)
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "trainer", "namespace": "default"},
        "spec": {
            "containers": [{"name": "c", "image": "i:1"}],
            "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}],
        },
    }
    kube.create(pod, op="01POD")
    place.want()
    place.look(handler)
    (call,) = handler.calls(place.world(), place.plan().actions)
    op = place.send(handler, call)
    seen = seen_when(place, lambda seen: seen.health is Health.DELETING)
    assert (seen.reason, seen.message) == ("InUse", "the claim goes when these pods have: trainer")
    assert place.settle(handler, op).verdict.value == "pending"
    kube.delete(Gvk("v1", "Pod"), "default", "trainer", op="01POD")
    seen_when(place, lambda seen: seen.presence is Presence.ABSENT)
    assert place.settle(handler, op).verdict.value == "happened"


def test_a_claim_of_others_under_the_name_is_not_touched(place: Place, kube: KubeCluster) -> None:
    theirs = storage_manifests(cluster="prod", name="data", bucket="theirs", region="us-west-2", key="Storage/prod/x")
    kube.apply([*theirs.values()], op="01HAND", field_manager="kubectl")
    place.want(storage())
    seen = place.look(Volumes())[KEY]
    assert seen.mark is Mark.FOREIGN
    assert [refusal.reason for refusal in place.plan().refusals] == ["NotOurs"]
    place.observed.clear()
    assert not [a for a in place.plan().actions if a.verb is not Verb.CREATE]


def test_no_control_plane_is_absence_an_unreachable_one_is_not(place: Place) -> None:
    place.want(storage())

    def unreachable() -> KubeCluster:
        raise CallRefused("connection refused", reason="NotConnected")

    place.kube = unreachable
    with pytest.raises(CallRefused):
        place.look(Volumes())
    gone = Observed(key="eks.Cluster/prod", type="eks.Cluster", name="prod", presence=Presence.ABSENT)
    place.observed = {gone.key: gone}
    (seen,) = Volumes().look(place.world(), [storage()])
    assert seen.presence is Presence.ABSENT


@pytest.mark.parametrize(
    ("reason", "volume", "claim", "want"),
    [
        ("both bound", "Bound", "Bound", ("healthy", "")),
        ("binding", "Available", "Pending", ("progressing", "Binding")),
        ("its volume went away", "Bound", "Lost", ("failed", "ClaimLost")),
        ("the volume is broken", "Failed", "Pending", ("failed", "VolumeFailed")),
        ("the claim is not there yet", "Available", None, ("progressing", "ClaimMissing")),
        ("the volume is not there", None, "Pending", ("progressing", "VolumeMissing")),
    ],
)
def test_health(reason: str, volume: str | None, claim: str | None, want: tuple[str, str]) -> None:
    def of(phase: str | None) -> dict[str, Any] | None:
        return None if phase is None else {"status": {"phase": phase}}

    found = condition(of(volume), of(claim))
    assert (found.health.value, found.reason) == want, reason


def test_what_others_add_is_left_out_and_amounts_are_amounts() -> None:
    wanted = {"spec": {"capacity": {"storage": "1024Gi"}, "mountOptions": ["uid=1"]}}
    live = {
        "spec": {"capacity": {"storage": "1Ti"}, "mountOptions": ["uid=2"], "volumeMode": "Filesystem"},
        "status": {},
    }
    assert authored(wanted, live) == {"spec": {"capacity": {"storage": "1024Gi"}, "mountOptions": ["uid=2"]}}
