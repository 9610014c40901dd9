"""What the cloud says no to later, or only in part, and what a person does about it. One cluster serves all tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rich.text import Text

from reconciler.cli.render import statuses as render
from reconciler.reads import statuses
from schemas.journal import ClusterStatus, Condition, Phase
from tests.engine_support import Site, group_yaml
from tests.faults.campaign import Life, mutating
from tests.faults.life import reboot_yaml
from tests.waiting import until

SYSTEM = group_yaml("system", count=2)
TYPE = "ml.m5.xlarge"
QUOTA = f"{TYPE} for cluster usage"


@pytest.fixture(scope="module")
def up(make: Callable[[], Site]) -> Site:
    site = make()
    Life(site=site).step([Condition.READY], site.commit("a cluster", cluster=site.cluster_yaml(), groups=SYSTEM))
    return site


@pytest.fixture
def ready(up: Site) -> Iterator[Life]:
    """The cluster, Ready; afterwards brought back to what it was."""
    yield Life(site=up)
    up.sandbox.delete("/faults")
    head = up.repo.head()
    assert head is not None
    files = {f.path for f in up.repo.files(head, "clusters/prod")}
    more = {f"clusters/prod/{name}.yaml": None for name in ("more",) if f"clusters/prod/{name}.yaml" in files}
    base = {"clusters/prod/cluster.yaml": up.cluster_yaml().encode(), "clusters/prod/groups.yaml": SYSTEM.encode()}
    up.commit_paths({**base, **more}, "back")
    Life(site=up).step([Condition.READY], up.repo.revision_of(up.repo.head() or "", "prod"))


def stalled(life: Life, revision: str, reason: str, *words: str) -> ClusterStatus:
    """Stalled for this reason, told word for word, and nothing is sent again by itself."""
    status = life.step([Condition.STALLED], revision)
    assert (status.condition, status.reason) == (Condition.STALLED, reason), life.story("another reason")
    for word in words:
        assert word in status.msg, status.msg
    before = len(mutating(life.log()))
    until(lambda: under_way(life.site), lambda left: not left)  # the end of what went well beside it is a line, too
    lines = len(life.site.lines)
    life.site.idle(3)
    assert mutating(life.log())[before:] == []
    assert len(life.site.lines) == lines
    return status


def under_way(site: Site) -> list[str]:
    site.idle(1)
    return [op.op for op in site.status.open_ops() if op.phase is Phase.SUBMITTED]


def told(site: Site) -> str:
    """`instantstart status`."""
    view = statuses.status(site.repo, site.cluster)
    found: list[Text] = render.any_status(view)
    return "\n".join(line.plain for line in found)


def good(life: Life) -> None:
    life.site.idle(1)
    life.step([Condition.READY], life.site.status.rev or "")


def test_a_quota_is_told_and_a_retry_goes_on_when_it_was_raised(ready: Life) -> None:
    """Where preflight could not know: the quota is lowered after the plan was made."""
    ready.site.sandbox.post(
        "/faults", {"match": {"service": "sagemaker", "operation": "UpdateCluster"}, "fault": "quota"}
    )
    revision = ready.site.commit("more", groups=SYSTEM + group_yaml("more", TYPE, 1))
    stalled(ready, revision, "ResourceLimitExceeded", "You have reached a service quota of this account.")
    assert "instantstart retry prod" in told(ready.site)
    ready.site.order("retry", "compute")
    good(ready)
    assert ready.site.groups()["more"]["CurrentCount"] == 1


def test_no_capacity_is_progress_with_its_reason_and_nothing_is_sent_again(ready: Life) -> None:
    """8: Progressing CapacityPending with the text of the event; it goes on by itself when there are machines."""
    site = ready.site
    site.sandbox.post("/capacity", {"type": TYPE, "zone": "usw2-az2", "count": 0})
    revision = site.commit("more", groups=SYSTEM + group_yaml("more", TYPE, 1))
    try:
        for _ in range(300):
            site.idle(1)
            stage = site.status.stages.get("compute")
            if stage is not None and stage.reason == "CapacityPending":
                break
        status = site.status
        assert (status.rev, status.condition) == (revision, Condition.RECONCILING)
        assert status.stages["compute"].reason == "CapacityPending", status.stages
        assert "do not have sufficient capacity" in status.stages["compute"].msg
        before, lines = len(mutating(ready.log())), len(site.lines)
        site.idle(5)
        assert (mutating(ready.log())[before:], len(site.lines)) == ([], lines)
    finally:
        site.sandbox.post("/capacity", {"type": TYPE, "zone": "usw2-az2", "count": None})
    good(ready)


def test_scripts_that_keep_failing_stop_with_their_cost_and_a_commit_ends_it(ready: Life) -> None:
    """instance-groups.md, 8: every further try is billed; the engine does not scale by itself."""
    site = ready.site
    site.sandbox.post("/faults", {"match": {"service": "sagemaker", "operation": "UpdateCluster"}, "fault": "fails"})
    revision = site.commit("more", groups=SYSTEM + group_yaml("more", TYPE, 2))
    for _ in range(100):  # the first failure fails the group, and HyperPod goes on trying
        reason = ready.step([Condition.STALLED], revision).reason
        if reason == "LifecycleScriptFailed":
            break
        assert reason == "GroupFailed"
        site.idle(1)
    stalled(ready, revision, "LifecycleScriptFailed", "Lifecycle scripts did not run successfully", "count: 0")
    assert site.groups()["more"]["TargetCount"] == 2
    none = site.commit("stop the tries", groups=SYSTEM + group_yaml("more", TYPE, 0))
    status = ready.step([Condition.READY, Condition.STALLED], none)
    assert status.condition is Condition.READY, status.msg
    assert site.groups()["more"]["CurrentCount"] == 0


def test_an_error_inside_a_200_is_that_nodes_failure(ready: Life) -> None:
    """9: per-item errors are outcomes of the ops they are about."""
    site = ready.site
    nodes = sorted(n["InstanceId"] for n in _nodes(site))
    site.sandbox.post(
        "/faults", {"match": {"service": "sagemaker", "operation": "BatchRebootClusterNodes"}, "fault": "partial"}
    )
    revision = site.commit("reboot", more=reboot_yaml("both", *nodes))
    stalled(ready, revision, "InstanceIdRefused", "cannot be treated now")
    done = [e for e in mutating(ready.log()) if e["operation"] == "BatchRebootClusterNodes" and e["effect"]]
    assert len(done) == 1, "the other one had its turn"
    assert "instantstart retry prod" in told(site)
    site.order("retry", "Operation/both")
    good(ready)
    done = [e for e in mutating(ready.log()) if e["operation"] == "BatchRebootClusterNodes" and e["effect"]]
    assert len(done) == 2 and len({e["effect"] for e in done}) == 2


def test_an_update_that_fails_later_is_told_by_its_root_and_deletes_nothing(ready: Life) -> None:
    """A34, E13: the reason two levels down stands first."""
    site = ready.site
    site.sandbox.post("/faults", {"match": {"service": "eks", "operation": "UpdateClusterConfig"}, "fault": "fails"})
    revision = site.commit("audit", cluster=site.cluster_yaml("  logging: [audit]\n"))
    since = len(mutating(ready.log()))
    stalled(ready, revision, "InsufficientFreeAddresses", "does not have enough available IP addresses", "subnet-0a1b")
    assert [e for e in mutating(ready.log())[since:] if "Delete" in e["operation"]] == []
    site.order("retry", "control-plane")
    good(ready)


def test_a_clock_that_is_off_is_named_with_its_difference_and_floods_nobody(ready: Life) -> None:
    """E09."""
    site = ready.site
    for service, operation in (("sagemaker", "UpdateCluster"), ("sagemaker", "DescribeCluster")):
        match = {"service": service, "operation": operation}
        site.sandbox.post("/faults", {"match": match, "fault": "skewed", "times": 1000})
    site.commit("more", groups=SYSTEM + group_yaml("more", TYPE, 1))
    before = len(ready.log())
    site.idle(5)
    asked = [e for e in ready.log()[before:] if e["fault"] == "skewed"]
    assert 0 < len(asked) <= 10, "at most a look and a guard in each tick"
    stage = site.status.stages["compute"]
    assert stage.reason == "ClockSkew", stage
    seconds = re.search(r"clock is (\d+) s behind", stage.msg)
    assert seconds is not None and 1140 <= int(seconds[1]) <= 1260, stage.msg
    site.sandbox.delete("/faults")
    good(ready)


def test_what_nobody_could_see_is_neither_made_nor_taken_away(ready: Life) -> None:
    """E06, B11: node pages of one; the second one fails in each way, and the list is no shorter for it."""
    site = ready.site
    site.sandbox.post("/pages", {"most": 1})
    try:
        for fault in ("throttle", "error500", "cut", "access_denied", "expired_token", "timeout:0.05"):
            match: dict[str, Any] = {"service": "sagemaker", "operation": "ListClusterNodes", "nth": 2}
            site.sandbox.post("/faults", {"match": match, "fault": fault})
            lines = len(site.lines)
            site.idle(1)
            seen = site.engine.memories["prod"].plan
            assert seen is not None and "hyperpod.InstanceGroup/prod/system" in seen.unknown, fault
            assert len(site.lines) == lines, "a blink writes no line"
            site.idle(1)
        assert site.status.condition is Condition.READY
    finally:
        site.sandbox.post("/pages", {"most": None})


def _nodes(site: Site) -> list[dict[str, Any]]:
    return list(site.client("sagemaker").list_cluster_nodes(ClusterName="prod")["ClusterNodeSummaries"])
