"""Changes to a cluster that is up: what git changes, and what the world changes behind git's back.

One cluster serves all tests of this file. Each begins by bringing it back to the same documents.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reconciler.live.kube.kinds import Gvk
from schemas.journal import ClusterStatus, Condition
from tests.crash.checks import log_problems
from tests.engine_support import BY_HAND, GPU, POLICY, STORAGE, Sandbox, Site, group_yaml, make_site
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.behaviour("Product: drift, changes, prune, reboot on a living cluster")

SYSTEM = group_yaml("system", count=2)


@pytest.fixture(scope="module")
def up(engine_cloud: Sandbox, chart: tuple[str, str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with pytest.MonkeyPatch.context() as patch:
        site = make_site(engine_cloud, chart, tmp_path_factory.mktemp("changes"), patch)
        yield site
        site.close()


@pytest.fixture
def ready(up: Site) -> Site:
    """The cluster, Ready, at the documents every test starts from."""
    baseline(up)
    return up


def baseline(site: Site) -> None:
    changes: dict[str, bytes | None] = {
        "clusters/policy.yaml": POLICY.encode(),
        "clusters/prod/cluster.yaml": site.cluster_yaml().encode(),
        "clusters/prod/groups.yaml": (SYSTEM + GPU).encode(),
        "clusters/prod/storage.yaml": None,
        "clusters/prod/more.yaml": None,
    }
    head = site.repo.head()
    assert head is not None
    there = {f.path for f in site.repo.files(head, "clusters")}
    wanted = {path: data for path, data in changes.items() if data is not None or path in there}
    after = site.repo.commit(onto=head, changes=wanted, message="baseline", author=("E", "e@example.com"))
    revision = site.repo.revision_of(after, "prod")
    status = site.settle(Condition.READY, revision=revision)
    assert status.condition is Condition.READY


def good(status: ClusterStatus) -> None:
    assert status.condition is Condition.READY, f"{status.reason}: {status.msg}"


def kube(site: Site) -> Any:
    """The official client, with the engine's own connection data."""
    scope = site.engine.observe("prod")
    assert scope.world is not None
    return scope.world.kube()


def drift(site: Site, mended: Callable[[], bool], limit: float = PATIENCE) -> None:
    """Tick, everything due, until the world is as git says."""
    end = time.monotonic() + limit
    while not mended():
        assert time.monotonic() < end, site.lines[-5:]
        site.idle(1)
        time.sleep(0.02)
    site.settle(Condition.READY)


@pytest.mark.parametrize("count", [4, 1, 0])
def test_a_group_is_scaled_and_nothing_else_is_touched(ready: Site, count: int) -> None:
    good(ready.applied("scale", groups=group_yaml("system", count=count) + GPU))
    groups = ready.groups()
    assert (groups["system"]["TargetCount"], groups["system"]["CurrentCount"]) == (count, count)
    assert groups["gpu"]["TargetCount"] == 2


def test_nodes_with_work_on_them_are_not_taken_without_a_word(ready: Site) -> None:
    """6d: running pods that are not of daemons ask for an approval that names them."""
    api = kube(ready)
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train-0", "namespace": "default"},
        "spec": {
            "nodeSelector": {"sagemaker.amazonaws.com/instance-group-name": "gpu"},
            "containers": [{"name": "main", "image": "train", "resources": {"requests": {"cpu": "1"}}}],
        },
    }
    api.apply([pod], op=BY_HAND)
    until(lambda: api.get(Gvk("v1", "Pod"), "default", "train-0")["spec"].get("nodeName"))
    fewer = SYSTEM + GPU.replace("count: 2", "count: 1")
    held = ready.applied("fewer", groups=fewer)
    assert (held.condition, held.reason) == (Condition.STALLED, "RunningPods")
    assert "default/train-0" in held.msg
    assert ready.groups()["gpu"]["TargetCount"] == 2
    ready.order("approve", "hyperpod.InstanceGroup/prod/gpu")
    ready.idle(1)
    good(ready.settle(Condition.READY))
    assert ready.groups()["gpu"]["TargetCount"] == 1


def test_a_group_is_added_and_deleted(ready: Site) -> None:
    """A25: one addition, whatever the order of the documents."""
    good(ready.applied("add", groups=group_yaml("aaa", "ml.c5.2xlarge", 1) + SYSTEM + GPU))
    assert set(ready.groups()) == {"aaa", "system", "gpu"}
    good(ready.applied("delete", groups=SYSTEM + GPU))
    assert set(ready.groups()) == {"system", "gpu"}


def test_a_label_is_set_changed_and_removed(ready: Site) -> None:
    def labels() -> Any:
        return ready.groups()["system"].get("KubernetesConfig", {}).get("DesiredLabels", {})

    for value in ("a", "b"):
        good(ready.applied("label", groups=group_yaml("system", extra=f"  labels:\n    team: {value}\n") + GPU))
        assert labels() == {"team": value}
    good(ready.applied("no label", groups=SYSTEM + GPU))
    assert labels() == {}
    assert ready.groups()["system"]["TargetCount"] == 2


def test_an_addon_version_moves(ready: Site) -> None:
    eks = ready.client("eks")
    live = eks.describe_addon(clusterName="prod", addonName="kube-proxy")["addon"]["addonVersion"]
    offered = eks.describe_addon_versions(addonName="kube-proxy", kubernetesVersion="1.33")["addons"][0]
    other = next(v["addonVersion"] for v in offered["addonVersions"] if v["addonVersion"] != live)
    wanted = ready.cluster_yaml().replace(
        "  dependencies:\n", f"  dependencies:\n    addons:\n      kube-proxy:\n        version: {other}\n"
    )
    good(ready.applied("version", cluster=wanted))
    assert eks.describe_addon(clusterName="prod", addonName="kube-proxy")["addon"]["addonVersion"] == other


def test_a_storage_is_added_healed_and_removed(ready: Site) -> None:
    """A claim deleted by hand leaves a Released volume, which nobody else could bind: it is healed."""
    good(ready.applied("storage", storage=STORAGE))
    api = kube(ready)
    claim = ("v1", "PersistentVolumeClaim")
    before = api.get(Gvk(*claim), "default", "shared")
    assert before["status"]["phase"] == "Bound"
    api.delete(Gvk(*claim), "default", "shared", op=BY_HAND)

    def bound_again() -> bool:
        try:
            now = api.get(Gvk(*claim), "default", "shared")
        except Exception:
            return False
        return bool(now["metadata"]["uid"] != before["metadata"]["uid"] and now["status"].get("phase") == "Bound")

    drift(ready, bound_again)
    good(ready.applied("no storage", storage=None))
    assert [v for v in api.list(Gvk("v1", "PersistentVolume")) if v["metadata"]["name"].startswith("prod.")] == []


def test_a_group_that_nobody_wrote_is_shown_and_never_touched(ready: Site) -> None:
    groups = ready.hyperpod()["InstanceGroups"]
    model = next(g for g in groups if g["InstanceGroupName"] == "system")
    ready.client("sagemaker").update_cluster(
        ClusterName="prod",
        InstanceGroups=[
            {
                "InstanceGroupName": "handmade",
                "InstanceType": "ml.c5.large",
                "InstanceCount": 1,
                "LifeCycleConfig": model["LifeCycleConfig"],
                "ExecutionRole": model["ExecutionRole"],
                "OverrideVpcConfig": model["OverrideVpcConfig"],
            }
        ],
    )
    before = len(ready.mutations())
    ready.idle()
    scope = ready.engine.observe("prod")
    assert scope.plan is not None
    groups_not_ours = [u.key for u in scope.plan.unmanaged if u.key.startswith("hyperpod.")]
    assert groups_not_ours == ["hyperpod.InstanceGroup/prod/handmade"]
    good(ready.applied("scale beside it", groups=group_yaml("system", count=3) + GPU))
    assert "handmade" in ready.groups()
    assert len(ready.mutations()) == before + 1
    ready.client("sagemaker").update_cluster(ClusterName="prod", InstanceGroupsToDelete=["handmade"])


def scale_by_hand(site: Site, name: str, count: int) -> None:
    """What a person in a hurry does in the console."""
    group = site.groups()[name]
    keep = (
        "InstanceGroupName", "InstanceType", "LifeCycleConfig", "ExecutionRole", "ThreadsPerCore",
        "InstanceStorageConfigs", "OverrideVpcConfig", "CapacityRequirements", "NetworkInterface",
    )  # fmt: skip
    body = {key: group[key] for key in keep if group.get(key)}
    site.client("sagemaker").update_cluster(ClusterName="prod", InstanceGroups=[{**body, "InstanceCount": count}])


def test_a_count_changed_by_hand_is_put_back_and_told(ready: Site) -> None:
    """A26, policy restore."""
    scale_by_hand(ready, "system", 4)
    lines = len(ready.lines)
    drift(ready, lambda: ready.groups()["system"]["TargetCount"] == 2)
    told = [line for line in ready.lines[lines:] if line["t"] == "op" and line["phase"] == "intent"]
    assert [line["call"] for line in told] == ["sagemaker:UpdateCluster"]


def test_a_count_changed_by_hand_is_held_where_the_policy_says_so(ready: Site) -> None:
    """A26, policy hold: shown, and a label change sends the live count."""
    policy = POLICY + "  drift:\n    counts: hold\n"
    ready.commit_paths({"clusters/policy.yaml": policy.encode()}, "hold drift")
    scale_by_hand(ready, "system", 4)
    ready.idle()
    status = ready.status
    assert (status.condition, status.reason) == (Condition.STALLED, "CountDrift")
    assert ready.groups()["system"]["TargetCount"] == 4
    ready.commit("label", groups=group_yaml("system", extra="  labels:\n    team: a\n") + GPU)
    drift_free = time.monotonic() + PATIENCE
    while ready.groups()["system"].get("KubernetesConfig", {}).get("DesiredLabels") != {"team": "a"}:
        assert time.monotonic() < drift_free
        ready.idle(1)
    assert ready.groups()["system"]["TargetCount"] == 4, "the label change sent the live count"
    ready.order("approve", "hyperpod.InstanceGroup/prod/system")
    ready.idle(1)
    ready.settle(Condition.READY)
    assert ready.groups()["system"]["TargetCount"] == 2


def test_a_mark_taken_off_is_put_back_and_nothing_is_made_twice(ready: Site) -> None:
    """A32: a tag change is no dead end; and what lost its tag is not mistaken for absent."""
    ec2 = ready.client("ec2")
    (vpc,) = ec2.describe_vpcs(Filters=[{"Name": "tag:instantstart:cluster", "Values": ["prod"]}])["Vpcs"]
    vpcs = len(ec2.describe_vpcs()["Vpcs"])
    ec2.delete_tags(Resources=[vpc["VpcId"]], Tags=[{"Key": "instantstart:key"}, {"Key": "instantstart:cluster"}])
    arn = ready.hyperpod()["ClusterArn"]
    ready.client("sagemaker").delete_tags(ResourceArn=arn, TagKeys=["instantstart:key"])

    def marked() -> bool:
        tags = ready.client("sagemaker").list_tags(ResourceArn=arn)["Tags"]
        mine = ec2.describe_vpcs(Filters=[{"Name": "tag:instantstart:key", "Values": ["ec2.Vpc/prod"]}])["Vpcs"]
        return any(t["Key"] == "instantstart:key" for t in tags) and [v["VpcId"] for v in mine] == [vpc["VpcId"]]

    drift(ready, marked)
    assert len(ec2.describe_vpcs()["Vpcs"]) == vpcs


def test_tags_follow_the_document_and_leave_those_of_others(ready: Site) -> None:
    """A32: set, changed and taken away on what runs, without a call that touches a node."""
    arn, eks = ready.hyperpod()["ClusterArn"], ready.client("eks").describe_cluster(name="prod")["cluster"]["arn"]
    ready.client("sagemaker").add_tags(ResourceArn=arn, Tags=[{"Key": "scanner", "Value": "seen"}])
    before = len(ready.mutations())

    def tags() -> list[dict[str, str]]:
        hyperpod = {t["Key"]: t["Value"] for t in ready.client("sagemaker").list_tags(ResourceArn=arn)["Tags"]}
        on_eks = ready.client("eks").list_tags_for_resource(resourceArn=eks)["tags"]
        known = ("cost", "team", "scanner")
        return [{k: v for k, v in found.items() if k in known} for found in (hyperpod, on_eks)]

    written = "  hyperpod:\n    tags: {{{}}}\n"
    good(ready.applied("tags", cluster=ready.cluster_yaml(written.format("cost: a, team: t"))))
    assert tags() == [{"cost": "a", "team": "t", "scanner": "seen"}, {"cost": "a", "team": "t"}]
    good(ready.applied("another", cluster=ready.cluster_yaml(written.format("cost: b"))))
    assert tags() == [{"cost": "b", "scanner": "seen"}, {"cost": "b"}]
    good(ready.applied("none", cluster=ready.cluster_yaml()))
    assert tags() == [{"scanner": "seen"}, {}]
    sent = {m["operation"] for m in ready.mutations()[before:]}
    assert sent == {"AddTags", "DeleteTags", "TagResource", "UntagResource"}


def test_an_immutable_field_is_refused_with_the_way_out_and_going_back_heals(ready: Site) -> None:
    changed = ready.applied("another type", groups=group_yaml("system", "ml.m5.4xlarge") + GPU)
    assert (changed.condition, changed.reason) == (Condition.STALLED, "Immutable")
    assert "new" in changed.stages["compute"].msg
    assert ready.groups()["system"]["InstanceType"] == "ml.m5.2xlarge"
    good(ready.applied("back", groups=SYSTEM + GPU))


def test_a_bad_document_stops_its_own_cluster_and_says_where(ready: Site) -> None:
    """B45: nothing is planned, nothing is deleted, and the next good commit goes on."""
    before = len(ready.mutations())
    bad = ready.applied("a slip", groups=SYSTEM + GPU.replace("count: 2", "count: many"))
    assert (bad.condition, bad.reason) == (Condition.STALLED, "Invalid")
    assert "clusters/prod/groups.yaml:" in bad.stages["validate"].msg
    assert bad.plan is None
    assert len(ready.mutations()) == before
    good(ready.applied("mended", groups=SYSTEM + GPU))


def test_a_reboot_happens_once(ready: Site) -> None:
    """The class once, through the whole machine: intent, probe by boot id, and never again."""
    nodes = ready.client("sagemaker").list_cluster_nodes(ClusterName="prod")["ClusterNodeSummaries"]
    node = next(n["InstanceId"] for n in nodes if n["InstanceGroupName"] == "system")
    operation = f"""apiVersion: instantstart/v1
kind: Operation
metadata:
  name: reboot-{node[-6:]}
spec:
  expires: "2036-01-01T00:00:00Z"
  reboot:
    nodes: [{node}]
"""
    good(ready.applied("reboot", more=operation))
    rebooted = [m for m in ready.mutations() if m["operation"] == "BatchRebootClusterNodes"]
    (op,) = {m["op"] for m in rebooted}
    outcome = [line for line in ready.lines if line["t"] == "op" and line["op"] == op][-1]
    assert (outcome["phase"], outcome["how"]) == ("succeeded", "probe")
    ready.idle()
    ready.restart()
    ready.idle()
    good(ready.applied("something else", groups=group_yaml("system", count=3) + GPU))
    again = [m for m in ready.mutations() if m["operation"] == "BatchRebootClusterNodes"]
    assert len(again) == len(rebooted) == 1


def test_suspend_holds_everything_and_resume_goes_on(ready: Site) -> None:
    before = len(ready.mutations())
    ready.commit("suspend", cluster=ready.cluster_yaml("  suspend: true\n"), groups=group_yaml("system", count=5) + GPU)
    ready.idle()
    assert (ready.status.condition, ready.status.reason) == (Condition.STALLED, "Suspended")
    assert len(ready.mutations()) == before
    good(ready.applied("resume", cluster=ready.cluster_yaml()))
    assert ready.groups()["system"]["TargetCount"] == 5
    idle = ready.applied("suspend what has nothing to do", cluster=ready.cluster_yaml("  suspend: true\n"))
    assert (idle.condition, idle.reason) == (Condition.STALLED, "Suspended")


def test_a_vanished_folder_deletes_nothing(ready: Site) -> None:
    """2.3, deletion takes two commits: a folder that is gone while protected is held, with the way out."""
    before = len(ready.mutations())
    ready.remove_folder()
    ready.idle()
    status = ready.status
    assert (status.condition, status.reason) == (Condition.STALLED, "DeletionProtected")
    assert len(ready.mutations()) == before
    good(ready.applied("put it back", cluster=ready.cluster_yaml(), groups=SYSTEM + GPU))


def test_every_effect_joins_with_a_line(ready: Site) -> None:
    """Whatever changed this account or its cluster, with an op id or without, has an older intent in the journal; what
    the tests of this file did by hand says so itself."""
    log = [entry for entry in ready.sandbox.whole_log() if BY_HAND not in entry["userAgent"]]
    assert {entry["service"] for entry in log if entry["effect"]} >= {"ec2", "iam", "eks", "sagemaker", "kubernetes"}
    assert log_problems(log, ready.lines) == []
