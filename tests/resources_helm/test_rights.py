"""Helm on the role that we ship for it: enough for the chart, and what is missing is named."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from reconciler.live.kube import rights
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.rights import Rule
from reconciler.resources.control_plane.clusters import ClusterHandler
from reconciler.resources.helm.handler import STALE, ReleaseHandler
from reconciler.sandbox.embedded import Sandbox
from schemas.errors import StopUntilChange
from schemas.resource import Health
from tests.resources_helm.test_releases import pending
from tests.resources_support import Place, resource
from tests.rights.cutting import without

pytestmark = pytest.mark.behaviour("RBAC on Helm: installing a chart with roles, changing it, removing it")

KEY = "helm.Release/prod/hyperpod-dependencies"
HANDLERS = (ClusterHandler(), ReleaseHandler())
RBAC = "rbac.authorization.k8s.io"
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
ADMIN_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
Chart = dict[str, str]


@dataclass(frozen=True)
class Keeper:
    """A `TokenProvider` of an administrator from another account."""

    sandbox: Sandbox

    def current(self) -> str:
        return self.sandbox.eks_token("prod")

    def renewed(self, rejected: str) -> str:
        return self.current()


@dataclass(frozen=True, kw_only=True)
class Lowered:
    place: Place
    admin: KubeCluster

    def allow(self, ours: Sequence[Rule], helm: Sequence[Rule], *probe: str, allowed: bool = True) -> None:
        """Have those rules and no others; `probe` (verb, resource, group) tells when the server knows."""
        bodies = [*rights.role(rights.RECONCILER, ours), *rights.role(rights.INSTALLER, helm)]
        self.admin.apply(bodies, op="by-hand")
        verb, what, group = probe
        attributes = {"verb": verb, "resource": what, "group": group, "namespace": rights.RELEASES}
        kube = self.place.real_kube()
        for _ in range(6000):
            body = {"spec": {"resourceAttributes": attributes}}
            if kube.transport.change("POST", REVIEW, op="test", body=body)["status"]["allowed"] is allowed:
                return
            time.sleep(0.02)
        raise AssertionError(probe)

    def take(self, verb: str, what: str, group: str) -> None:
        ours, helm = (without(rules, verb, what, group) for rules in (rights.OURS, rights.HELM))
        self.allow(ours, helm, verb, what, group, allowed=False)


@pytest.fixture
def lowered(eks: Place) -> Iterator[Lowered]:
    """The place's own principal has our roles alone."""
    keeper = eks.sandbox.of_account("999900002222")
    client: Any = eks.sandbox.client("eks")
    principal = str(keeper.client("sts").get_caller_identity()["Arn"])
    client.create_access_entry(clusterName="prod", principalArn=principal)
    scope = {"type": "cluster"}
    client.associate_access_policy(
        clusterName="prod", principalArn=principal, policyArn=ADMIN_POLICY, accessScope=scope
    )
    cluster = client.describe_cluster(name="prod")["cluster"]
    authority = base64.b64decode(cluster["certificateAuthority"]["data"]).decode()
    me = str(eks.sandbox.client("sts").get_caller_identity()["Arn"])
    with KubeCluster(cluster["endpoint"], authority, Keeper(keeper)) as admin:
        made = Lowered(place=eks, admin=admin)
        client.update_access_entry(clusterName="prod", principalArn=me, kubernetesGroups=[rights.GROUP])
        client.disassociate_access_policy(clusterName="prod", principalArn=me, policyArn=ADMIN_POLICY)
        made.allow(rights.OURS, rights.HELM, "list", "nodes", "")
        yield made


def want(place: Place, *wanted: Any) -> None:
    place.want(resource("eks.Cluster/prod", {}, adopt="prod", reference=True), *wanted)
    place.look(*HANDLERS)


def release(chart: Chart, values: dict[str, Any] | None = None) -> Any:
    spec = {"chart": chart, "namespace": "kube-system", "values": values or {}}
    return resource(KEY, spec, name="hyperpod-dependencies", lane="helm/prod/hyperpod-dependencies")


def step(place: Place) -> None:
    first = next(a for a in place.plan().actions if a.key == KEY)
    (call,) = HANDLERS[1].calls(place.world(), [first])
    place.send(HANDLERS[1], call)
    place.look(*HANDLERS)


def install(lowered: Lowered, chart: Chart) -> None:
    want(lowered.place, release(chart))
    step(lowered.place)


def installed(lowered: Lowered, chart: Chart) -> None:
    install(lowered, chart)
    assert lowered.place.observed[KEY].health is Health.HEALTHY


def remove(lowered: Lowered, chart: Chart) -> None:
    want(lowered.place)
    step(lowered.place)


def nothing(lowered: Lowered, chart: Chart) -> None:
    pass


def test_the_chart_comes_changes_and_goes(lowered: Lowered, chart: Chart) -> None:
    installed(lowered, chart)
    want(lowered.place, release(chart, {"hyperpod-patching": {"enabled": False}}))
    step(lowered.place)
    roles = {r["metadata"]["name"] for r in lowered.admin.list(Gvk(f"{RBAC}/v1", "ClusterRole"))}
    assert "job-auto-restart" in roles and "hyperpod-patching" not in roles
    remove(lowered, chart)
    assert lowered.admin.list(Gvk("apps/v1", "DaemonSet")) == []


Do = Callable[[Lowered, Chart], None]


@pytest.mark.parametrize(
    ("verb", "what", "group", "before", "do"),
    [
        pytest.param("create", "secrets", "", nothing, install, id="where Helm keeps releases"),
        pytest.param("patch", "namespaces", "", nothing, install, id="a namespace"),
        pytest.param("create", "serviceaccounts", "", nothing, install, id="an account"),
        pytest.param("create", "daemonsets", "apps", nothing, install, id="an agent"),
        pytest.param("create", "clusterroles", RBAC, nothing, install, id="a role"),
        pytest.param("create", "clusterrolebindings", RBAC, nothing, install, id="a binding"),
        pytest.param("escalate", "clusterroles", RBAC, nothing, install, id="a role with more than we have"),
        pytest.param("bind", "clusterroles", RBAC, nothing, install, id="who gets such a role"),
        pytest.param("delete", "daemonsets", "apps", installed, remove, id="taking an agent away"),
    ],
)
def test_a_right_that_is_missing(
    lowered: Lowered, chart: Chart, verb: str, what: str, group: str, before: Do, do: Do
) -> None:
    """The call fails for good with words that tell who can help, and succeeds when that was done."""
    before(lowered, chart)
    lowered.take(verb, what, group)
    with pytest.raises(StopUntilChange) as caught:
        do(lowered, chart)
    assert caught.value.reason == "AccessDenied", caught.value.message
    said = caught.value.message
    lacks = "not currently held" if verb in ("escalate", "bind") else f'cannot {verb} resource "{what}"'
    assert lacks in said, said
    assert said.endswith(rights.WAY_OUT)
    lowered.allow(rights.OURS, rights.HELM, verb, what, group)
    lowered.place.look(*HANDLERS)
    step(lowered.place)
    seen = lowered.place.observed.get(KEY)
    assert seen is not None
    assert seen.health is Health.HEALTHY if do is install else not seen.present, f"{seen.reason} {seen.message}"


def test_the_lock_of_a_helm_that_was_killed_cannot_be_taken_away(lowered: Lowered, chart: Chart) -> None:
    """The one right of ours that only an interrupted installation asks for."""
    pending(lowered.place, "pending-install", age=STALE + timedelta(minutes=1))
    lowered.take("delete", "secrets", "")
    with pytest.raises(StopUntilChange, match='cannot delete resource "secrets"') as caught:
        install(lowered, chart)
    assert caught.value.message.endswith(rights.WAY_OUT)
    lowered.allow(rights.OURS, rights.HELM, "delete", "secrets", "")
    install(lowered, chart)
    assert lowered.place.observed[KEY].health is Health.HEALTHY
