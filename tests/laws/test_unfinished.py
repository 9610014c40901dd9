"""Commits that come faster than they can be applied, over a whole engine: nothing of them is forgotten."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from schemas.journal import Condition
from tests.engine.fakes import POLICY, Rig, cluster_yaml, group_yaml

GROUP = "hyperpod.InstanceGroup/prod/system"
HOLD = POLICY + "  drift:\n    counts: hold\n"


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    where = tmp_path_factory.mktemp("unfinished")
    made = Rig(path=where / "repository", state=where / "state", policy=HOLD)
    made.commit({"cluster": cluster_yaml(), "g-system": group_yaml("system")})
    assert made.settle().condition is Condition.READY, made.story()
    yield made
    made.close()


def spec(rig: Rig) -> dict[str, object]:
    (group,) = [t for t in rig.cloud.of("hyperpod.InstanceGroup") if t.key == GROUP]
    return {name: value for name, value in group.spec.items() if value}


def test_the_last_group_of_a_zone_goes_with_its_subnet(rig: Rig) -> None:
    """The route table stays and is what the subnet was tied to; it lets go, and then nothing holds the subnet."""
    rig.commit({"g-b": group_yaml("b").replace("  zone: usw2-az2\n", "")})
    assert rig.settle().condition is Condition.READY, rig.story()
    assert any(t.key == "ec2.Subnet/prod/compute-1" for t in rig.cloud.things)
    rig.commit({"g-b": None})
    assert rig.settle().condition is Condition.READY, rig.story()
    assert not any(t.key == "ec2.Subnet/prod/compute-1" for t in rig.cloud.things)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_field_that_came_and_went_in_revisions_that_never_got_ready_is_taken_back(rig: Rig, restarts: bool) -> None:
    """One revision writes it and it comes true; the next takes it away and has no time; the one after has forgotten
    it. Something else keeps all of them from Ready."""
    rig.cloud.blind = {"k8s.Storage"}
    rig.commit({"g-system": group_yaml("system", extra="  minCount: 1\n")})
    for _ in range(3):
        rig.tick(30)
    assert spec(rig)["minCount"] == 1
    rig.cloud.faults.append(("hyperpod.InstanceGroup:update", "refused"))
    rig.commit({"g-system": group_yaml("system")})
    rig.tick(30)
    assert spec(rig)["minCount"] == 1
    if restarts:
        rig.restart()
    rig.commit({"cluster": cluster_yaml(extra="  hyperpod:\n    nodeRecovery: None\n")})
    rig.tick(30)
    rig.cloud.blind.clear()
    assert rig.settle().condition is Condition.READY, rig.story()
    assert "minCount" not in spec(rig)
    rig.commit({"cluster": cluster_yaml()})
    assert rig.settle().condition is Condition.READY, rig.story()


def test_a_count_that_a_revision_changed_and_the_next_repeats_is_no_drift(rig: Rig) -> None:
    """Under a policy that holds drift of counts: what git asked for goes, as soon as it can."""
    rig.cloud.faults.append(("hyperpod.InstanceGroup:update", "refused"))
    rig.commit({"g-system": group_yaml("system", 5)})
    rig.tick(30)
    assert spec(rig)["count"] == 2
    rig.commit({"g-system": group_yaml("system", 5, "  labels: {team: a}\n")})
    assert rig.settle().condition is Condition.READY, rig.story()
    assert (spec(rig)["count"], spec(rig)["labels"]) == (5, {"team": "a"})


def test_several_held_actions_on_one_thing_are_each_told_and_approved(rig: Rig) -> None:
    """E12 and holds: one place in the journal for each, and no line more while nothing changes."""
    policy = HOLD.replace("[replace]", "[replace, inPlace, rolling]")
    extra = "  logging: [api]\n  endpoint:\n    private: false\n"
    rig.commit_paths({"clusters/policy.yaml": policy, "clusters/prod/cluster.yaml": cluster_yaml(extra=extra)})
    assert rig.settle().condition is Condition.STALLED, rig.story()
    held = {key: hold.action for key, hold in rig.status().holds.items() if hold.state == "held"}
    assert set(held) == {"eks.Cluster/prod", "eks.Cluster/prod/logging"}
    (eks,) = rig.cloud.of("eks.Cluster")
    before = list(eks.spec["logging"])
    assert before != ["api"]
    rig.order("approve", held["eks.Cluster/prod"])
    assert rig.settle().condition is Condition.STALLED, rig.story()
    assert (eks.spec["endpoint"]["private"], eks.spec["logging"]) == (False, before)
    assert {k for k, h in rig.status().holds.items() if h.state == "held"} == {"eks.Cluster/prod/logging"}
    rig.order("approve", "eks.Cluster/prod/logging")
    assert rig.settle().condition is Condition.READY, rig.story()
    assert eks.spec["logging"] == ["api"]
