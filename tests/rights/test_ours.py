"""The reconciler lives on the role that it ships, and misses each right of it in plain words."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from reconciler.live.errors import CallRejected
from reconciler.live.kube import rights
from reconciler.live.kube.kinds import Gvk
from reconciler.reads import happenings, logs
from reconciler.reads.following import Follow
from reconciler.reads.worlds import world_of
from reconciler.resources.helm.stored import LABEL_CLUSTER
from schemas.errors import InstantStartError
from schemas.journal import ClusterStatus, Condition
from tests.engine_support import STORAGE, Site, group_yaml
from tests.rights.cutting import pairs
from tests.rights.lowered import SYSTEM, Lowered
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.behaviour("RBAC on the reconciler's own role, one right after the other")

MORE = STORAGE.replace("name: shared", "name: more")
VOLUME, CLAIM = Gvk("v1", "PersistentVolume"), Gvk("v1", "PersistentVolumeClaim")
Provoke = Callable[[Lowered], None]


@dataclass(frozen=True, kw_only=True)
class Miss:
    """How a right is missed, and what ends it once it is back."""

    provoke: Provoke
    after: Provoke = lambda lowered: None
    hurry: str = ""  # the stage whose failed call is tried again by an order
    reason: str = "AccessDenied"


def nothing(lowered: Lowered) -> None:
    """The next look misses it."""


def add_storage(lowered: Lowered) -> None:
    lowered.site.commit("more", more=MORE)


def remove_storage(lowered: Lowered) -> None:
    lowered.site.commit("fewer", more=None)


def shrink(lowered: Lowered) -> None:
    lowered.site.commit("shrink", groups=group_yaml("system", count=1))


def add_addon(name: str) -> Provoke:
    def provoke(lowered: Lowered) -> None:
        site = lowered.site
        wanted = site.cluster_yaml().replace("  dependencies:\n", f"  dependencies:\n    addons:\n      {name}: {{}}\n")
        site.commit(name, cluster=wanted)

    return provoke


def lose_addon(lowered: Lowered) -> None:
    """It is made again, after a look whether somebody put it there by hand."""
    lowered.site.client("eks").delete_addon(clusterName="prod", addonName="kube-proxy")


def take_mark_off(lowered: Lowered) -> None:
    secrets = lowered.admin.list(Gvk("v1", "Secret"), rights.RELEASES, "owner=helm,status=deployed")
    path = "/metadata/labels/" + LABEL_CLUSTER.replace("/", "~1")
    for secret in secrets:
        name = secret["metadata"]["name"]
        patch = [{"op": "remove", "path": path}]
        lowered.admin.patch_json(Gvk("v1", "Secret"), rights.RELEASES, name, patch, op="by-hand")


def reboot(lowered: Lowered) -> None:
    site = lowered.site
    nodes = site.client("sagemaker").list_cluster_nodes(ClusterName="prod")["ClusterNodeSummaries"]
    node = nodes[0]["InstanceId"]
    site.commit(
        "reboot",
        more=f"""apiVersion: instantstart/v1
kind: Operation
metadata:
  name: reboot-{node[-6:]}
spec:
  expires: "2036-01-01T00:00:00Z"
  reboot:
    nodes: [{node}]
""",
    )


MISSED: dict[tuple[str, str, str], Miss] = {
    ("get", "nodes", ""): Miss(provoke=reboot),
    ("list", "nodes", ""): Miss(provoke=shrink, reason="RunningPods"),
    ("list", "pods", ""): Miss(provoke=shrink, reason="RunningPods"),
    ("get", "daemonsets", "apps"): Miss(provoke=lose_addon),
    ("get", "deployments", "apps"): Miss(provoke=add_addon("metrics-server")),
    ("get", "persistentvolumes", ""): Miss(provoke=nothing),
    ("create", "persistentvolumes", ""): Miss(provoke=add_storage, hurry="storage"),
    ("patch", "persistentvolumes", ""): Miss(provoke=add_storage, hurry="storage"),
    ("delete", "persistentvolumes", ""): Miss(provoke=remove_storage, hurry="storage"),
    ("get", "persistentvolumeclaims", ""): Miss(provoke=nothing),
    ("create", "persistentvolumeclaims", ""): Miss(provoke=add_storage, hurry="storage"),
    ("patch", "persistentvolumeclaims", ""): Miss(provoke=add_storage, hurry="storage"),
    ("delete", "persistentvolumeclaims", ""): Miss(provoke=remove_storage, hurry="storage"),
    ("list", "secrets", ""): Miss(provoke=nothing),
    ("patch", "secrets", ""): Miss(provoke=take_mark_off, hurry="dependencies"),
}
# Only a helm that was killed leaves a lock, which is certainly of nobody minutes later: see resources_helm.
ELSEWHERE = {("delete", "secrets", "")}


def test_everything_that_the_role_gives_is_missed_somewhere() -> None:
    assert set(MISSED) | ELSEWHERE == set(pairs(rights.OURS))


def test_a_cluster_comes_up_with_these_rights(lowered: Lowered) -> None:
    site = lowered.ready()
    before = len(site.lines)
    site.idle()
    assert len(site.lines) == before, "and nothing is left to do"


@pytest.mark.parametrize(("verb", "resource", "group"), list(MISSED), ids=lambda part: part or "core")
def test_a_right_that_is_missing(lowered: Lowered, verb: str, resource: str, group: str) -> None:
    """Stalled, with the verb, the resource and who can help; nothing is deleted; it goes on when the right is back."""
    miss = MISSED[verb, resource, group]
    site = lowered.ready()
    if verb == "delete":
        add_storage(lowered)
        assert site.settle(Condition.READY).condition is Condition.READY
    since, groups = lowered.newest(), {name: g["CurrentCount"] for name, g in site.groups().items()}
    lowered.take(verb, resource, group)
    try:
        miss.provoke(lowered)
        status = lowered.stalled()
        says_so(status, miss.reason, verb, resource)
        if verb != "delete":
            assert lowered.deletes(since) == [], "a right that is missing takes nothing away"
        assert {name: g["CurrentCount"] for name, g in site.groups().items()} == groups
    finally:
        lowered.give_back(verb, resource, group)
    if miss.hurry:
        site.order("retry", miss.hurry)
    goes_on(site)


def says_so(status: ClusterStatus, reason: str, verb: str, resource: str) -> None:
    told = f"{status.msg} {' '.join(stage.msg for stage in status.stages.values())}"
    assert status.reason == reason, f"{status.reason}: {told}"
    assert f'cannot {verb} resource "{resource}"' in told, told
    assert "instantstart rbac" in status.msg, status.msg


def goes_on(site: Site) -> None:
    site.idle(2)
    status = site.settle(Condition.READY)
    assert status.condition is Condition.READY, f"{status.reason}: {status.msg}"


def first_pod(lowered: Lowered) -> tuple[str, str]:
    meta = lowered.admin.list(Gvk("v1", "Pod"))[0]["metadata"]
    return meta["namespace"], meta["name"]


def read_events(lowered: Lowered) -> str:
    _, parts = happenings.events(world_of(lowered.site.engine, "prod"))
    return next(part.message or "" for part in parts if part.name == "kubernetes-events")


def read_log(lowered: Lowered) -> str:
    kube = world_of(lowered.site.engine, "prod").kube()
    namespace, pod = first_pod(lowered)
    try:
        logs.page(kube, namespace, pod, container=None, since=None, tail=5, limit=5, search="", previous=False)
    except InstantStartError as error:  # a real server has no kubelet to ask here
        return error.message
    return ""


def follow(lowered: Lowered) -> str:
    site = lowered.site
    following = Follow("prod", lambda: world_of(site.engine, "prod"), site.clock)
    try:
        following.wait(PATIENCE)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            told = [part.message for part in (following.nodes.part(), following.pods.part()) if part.message]
            if told:
                return told[0]
            time.sleep(0.05)
        return ""
    finally:
        following.close()


Look = Callable[[Lowered], str]
LOOKS: dict[tuple[str, str, str], Look] = {
    ("list", "nodes", ""): follow,
    ("watch", "nodes", ""): follow,
    ("list", "pods", ""): follow,
    ("watch", "pods", ""): follow,
    ("get", "pods", ""): read_log,
    ("get", "pods/log", ""): read_log,
    ("list", "events", ""): read_events,
}


def test_everything_that_the_readers_role_gives_is_missed_somewhere() -> None:
    assert set(LOOKS) == set(pairs(rights.READS))


@pytest.mark.parametrize(("verb", "resource", "group"), list(LOOKS), ids=lambda part: part or "core")
def test_a_right_to_look_that_is_missing(lowered: Lowered, verb: str, resource: str, group: str) -> None:
    """Told to who looks; what is shown stays unknown."""
    lowered.ready()
    look = LOOKS[verb, resource, group]
    assert "cannot" not in look(lowered)
    lowered.take(verb, resource, group)
    try:
        said = until(lambda: look(lowered), lambda said: "cannot" in said)  # a watch begins after its list
    finally:
        lowered.give_back(verb, resource, group)
    assert f'cannot {verb} resource "{resource}"' in said, said
    assert said.endswith(rights.WAY_OUT)


@pytest.mark.real("no role but cluster-admin is there")
def test_what_else_people_look_at_is_in_the_role_view(lowered: Lowered) -> None:
    kube = world_of(lowered.ready().engine, "prod").kube()
    agents = Gvk("apps/v1", "DaemonSet")
    with pytest.raises(CallRejected, match='cannot list resource "daemonsets"'):
        kube.list(agents, "aws-hyperpod")
    lowered.admin.apply([lowered.view], op="by-hand")
    lowered.until("list", "daemonsets", "apps", allowed=True)
    assert kube.list(agents, "aws-hyperpod")
    with pytest.raises(CallRejected, match='cannot list resource "secrets"'):
        kube.list(Gvk("v1", "Secret"), "default")


def test_and_goes_with_them(lowered: Lowered) -> None:
    """The chart too: its objects and its roles."""
    site = lowered.ready()
    site.applied("let go", cluster=site.cluster_yaml("  deletionProtection: false\n"), groups=SYSTEM)
    gone = site.settle(Condition.GONE, revision=site.remove_folder())
    assert gone.condition is Condition.GONE, f"{gone.reason}: {gone.msg}"
