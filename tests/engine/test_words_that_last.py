"""What must not be lost or shrink on the way: replies that the journal could not take, the size of a revision while
it is applied, what a stage list promises, how long nobody is asked again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.journal import Condition, Phase, StageState
from tests.engine.fakes import POLICY, Rig, cluster_yaml, group_yaml, reboot_yaml

NODES = [f"i-{number:017x}" for number in range(1, 31)]
DOCS: dict[str, str | None] = {"cluster": cluster_yaml(), "system": group_yaml("system")}
NARROW = POLICY + "  blastRadius:\n    maxNodes: 3\n    maxDeletes: 2\n  pruneGuard:\n    maxDeletes: 50\n"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(path=tmp_path / "repository", state=tmp_path / "state")
    yield made
    made.close()


def ready(rig: Rig, **more: str | None) -> Rig:
    rig.commit({**DOCS, **more})
    assert rig.settle().condition is Condition.READY
    return rig


def phases(rig: Rig, op: str) -> list[str]:
    return [str(line["phase"]) for line in rig.lines() if line["t"] == "op" and line["op"] == op]


# Replies wait for the journal ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("trouble", ["away", "unconfirmed", "rejected"])
@pytest.mark.parametrize(("kind", "phase"), [("failed", Phase.FAILED), ("refused", Phase.REFUSED)])
def test_a_reboot_that_certainly_did_not_happen_needs_nobody(rig: Rig, trouble: str, kind: str, phase: Phase) -> None:
    """The reply was clear; that the journal could not take it at that moment makes nothing unknown."""
    rig.cloud.boots[NODES[0]] = 1
    ready(rig)
    rig.commit({"reboot": reboot_yaml("reboot", NODES[0])})
    rig.cloud.faults.append(("hyperpod.Reboot:run", kind))
    rig.trouble += ["ok", trouble]  # the intent is published, the reply is not
    rig.tick()
    (op,) = {line["op"] for line in rig.lines() if line["t"] == "op" and "reboot" in str(line.get("key"))}
    rig.tick(30)
    rig.settle(seconds=150)
    assert phases(rig, op)[:2] == ["intent", phase.value]
    assert "unknown" not in phases(rig, op)
    assert rig.cloud.boots[NODES[0]] == (1 if kind == "failed" else 2)


def test_a_reply_that_waits_does_not_contradict_what_a_person_said(rig: Rig) -> None:
    """The journal is away for so long that the reboot becomes unknown by another process, and a person resolves it."""
    rig.cloud.boots[NODES[0]] = 1
    ready(rig)
    rig.commit({"reboot": reboot_yaml("reboot", NODES[0])})
    rig.cloud.faults.append(("hyperpod.Reboot:run", "failed"))
    rig.trouble += ["ok", "away"]
    rig.tick()
    (op,) = {line["op"] for line in rig.lines() if line["t"] == "op" and "reboot" in str(line.get("key"))}
    other = Rig.beside(rig)
    try:
        other.settle(seconds=150)
        assert phases(rig, op)[-1] == "unknown"
        other.order("resolve", op, **{"as": "not-happened"})
        other.settle()
    finally:
        other.close()
    rig.settle()
    assert phases(rig, op)[-2:] == ["unknown", "resolved"]
    assert rig.status().broken is None


# A revision keeps its size -------------------------------------------------------------------------------------------


def four_reboots(rig: Rig) -> None:
    """One more than the limit: all of them are held."""
    rig.cloud.boots |= dict.fromkeys(NODES[:4], 1)
    ready(rig)
    rig.commit({"reboot": reboot_yaml("reboot", *NODES[:4])})
    rig.settle()
    held = {key: hold.reason for key, hold in rig.status().holds.items() if hold.state == "held"}
    assert held == {f"Operation/reboot#{node}": "BlastRadius" for node in NODES[:4]}


def test_a_plan_that_shrinks_while_it_is_applied_is_still_too_wide(tmp_path: Path) -> None:
    """Four reboots under a limit of three: two are approved and done, and the other two stay held."""
    rig = Rig(path=tmp_path / "repository", state=tmp_path / "state", policy=NARROW)
    try:
        four_reboots(rig)
        keys = [f"Operation/reboot#{node}" for node in NODES[:4]]
        for key in keys[:2]:
            rig.order("approve", key)
        rig.settle()
        rig.restart()
        rig.settle()
        assert [rig.cloud.boots[node] for node in NODES[:4]] == [2, 2, 1, 1]
        assert {rig.status().holds[key].state for key in keys[2:]} == {"held"}
    finally:
        rig.close()


@pytest.mark.parametrize("kind", ["lost", "lost_effect"])
def test_a_lost_reply_makes_the_revision_no_smaller(tmp_path: Path, kind: str) -> None:
    """Four reboots under a limit of three, one approved: whether it happened is not known, and it counts."""
    rig = Rig(path=tmp_path / "repository", state=tmp_path / "state", policy=NARROW)
    try:
        four_reboots(rig)
        rig.order("approve", f"Operation/reboot#{NODES[0]}")
        rig.cloud.faults.append(("hyperpod.Reboot:run", kind))
        rig.settle()
        assert rig.cloud.faults == [], "the approved one was sent"
        assert [rig.cloud.boots[node] for node in NODES[:4]] == [1 if kind == "lost" else 2, 1, 1, 1]
    finally:
        rig.close()


def test_a_cluster_that_is_through_counts_until_all_are(tmp_path: Path) -> None:
    """One commit reboots two nodes in each of two clusters, under a limit of three. One cluster is approved and gets
    Ready; the other does not slip under the limit."""
    rig = Rig(path=tmp_path / "repository", state=tmp_path / "state", policy=NARROW)
    try:
        rig.cloud.boots |= dict.fromkeys(NODES[:4], 1)
        rig.commit_paths(
            {
                f"clusters/{name}/{file}.yaml": text
                for name in ("prod", "test")
                for file, text in (("cluster", cluster_yaml(name)), ("system", group_yaml("system")))
            }
        )
        rig.settle()
        whose = {"prod": NODES[:2], "test": NODES[2:4]}
        rig.commit_paths({f"clusters/{c}/reboot.yaml": reboot_yaml("reboot", *nodes) for c, nodes in whose.items()})
        rig.settle()
        for node in whose["prod"]:
            rig.order("approve", f"Operation/reboot#{node}")
        rig.settle()
        assert rig.status("prod").condition is Condition.READY
        assert rig.status("test").reason == "BlastRadius"
        rig.restart()
        rig.settle()
        assert [rig.cloud.boots[node] for node in NODES[:4]] == [2, 2, 1, 1]
        for node in whose["test"]:
            rig.order("approve", f"Operation/reboot#{node}", "test")
        rig.settle()
        assert rig.status("test").condition is Condition.READY
    finally:
        rig.close()


@pytest.mark.parametrize("limit", [1, 2])
def test_clusters_that_were_changed_count_as_changed(tmp_path: Path, limit: int) -> None:
    """One commit changes two clusters, and one was approved and is done."""
    policy = POLICY + f"  blastRadius:\n    maxClusters: {limit}\n"
    rig = Rig(path=tmp_path / "repository", state=tmp_path / "state", policy=policy)
    try:
        files = {f"clusters/{name}/cluster.yaml": cluster_yaml(name) for name in ("prod", "test")}
        groups = [f"clusters/{name}/system.yaml" for name in ("prod", "test")]
        rig.commit_paths({**files, **dict.fromkeys(groups, group_yaml("system", 2))})
        assert {rig.settle().condition, rig.status("test").condition} == {Condition.READY}
        rig.commit_paths(dict.fromkeys(groups, group_yaml("system", 3)))
        rig.settle()
        rig.order("approve", "hyperpod.InstanceGroup/prod/system")
        rig.settle()
        assert rig.status("prod").condition is Condition.READY
        assert rig.status("test").condition is (Condition.STALLED if limit == 1 else Condition.READY)
    finally:
        rig.close()


def test_what_was_taken_before_a_revision_was_ready_does_not_count_for_ever(tmp_path: Path) -> None:
    """Three nodes, Ready; later three more by another commit, and by drift: each is within the limit."""
    rig = Rig(path=tmp_path / "repository", state=tmp_path / "state", policy=NARROW)
    try:
        rig.cloud.boots |= dict.fromkeys(NODES[:6], 1)
        ready(rig)
        for name, nodes in (("first", NODES[:3]), ("second", NODES[3:6])):
            rig.commit({name: reboot_yaml(name, *nodes)})
            assert rig.settle().condition is Condition.READY
        assert {rig.cloud.boots[node] for node in NODES[:6]} == {2}
    finally:
        rig.close()


# Ready is a promise about every stage --------------------------------------------------------------------------------


def test_a_revision_is_ready_only_when_every_stage_of_its_list_is(rig: Rig) -> None:
    ready(rig)
    (rollout,) = (line for line in rig.lines() if line["t"] == "rollout")
    assert {"validate", "network", "control-plane", "dependencies", "compute"} <= set(rollout["stages"])
    assert set(rollout["stages"]) == rig.status().stages.keys()


# Once for ever, and in one line --------------------------------------------------------------------------------------


def test_many_nodes_that_had_their_turn_are_one_word(rig: Rig) -> None:
    rig.cloud.boots |= dict.fromkeys(NODES, 1)
    rig.commit_paths({"clusters/policy.yaml": POLICY + "  blastRadius:\n    maxNodes: 100\n"})
    ready(rig)
    rig.commit({"all": reboot_yaml("all", *NODES)})
    assert rig.settle().condition is Condition.READY
    rig.commit({"system": group_yaml("system", 3)})
    assert rig.settle().condition is Condition.READY
    rollout = [line for line in rig.lines() if line["t"] == "rollout"][-1]
    assert list(rollout["done"].values()) == ["succeeded"]
    rig.restart()
    rig.commit({"all": reboot_yaml("all", *NODES[:2])})
    assert (rig.settle().condition, rig.status().reason) == (Condition.STALLED, "OperationEdited")
    assert set(rig.cloud.boots.values()) == {2}


# Told and asked in measure -------------------------------------------------------------------------------------------


def test_a_remote_that_refuses_is_asked_less_and_less(rig: Rig) -> None:
    rig.commit(DOCS)
    rig.trouble += ["rejected"] * 8
    pauses: list[float] = []
    for _ in range(8):
        result = rig.engine.tick()
        assert result.problems.keys() == {"prod"}
        pauses.append(result.wake)
        rig.clock.advance(result.wake)
    assert pauses == sorted(pauses) and pauses[0] == 5.0 and pauses[-1] == rig.engine.poll
    assert rig.settle().condition is Condition.READY
    assert rig.engine.memories["prod"].problems == 0


def test_a_teardown_that_waits_for_a_person_says_so(rig: Rig) -> None:
    ready(rig)
    rig.commit({"cluster": None, "system": None})
    status = rig.settle()
    assert (status.condition, status.reason) == (Condition.STALLED, "DeletionProtected")
    states = {name: stage.state for name, stage in status.stages.items() if name != "validate"}
    assert set(states.values()) == {StageState.WAITING}
    assert status.stages["compute"].reason == "DeletionProtected"


def test_an_order_is_told_by_what_it_is_about(rig: Rig) -> None:
    """A digest says nothing to whoever reads the log."""
    ready(rig)
    rig.commit({"cluster": None, "system": None})
    held = rig.settle().holds["hyperpod.Cluster/prod"]
    rig.order("approve", held.action)
    rig.tick()
    (line,) = (line for line in rig.lines() if line["t"] == "order")
    assert line["say"] == "engineer@example.com orders: approve hyperpod.Cluster/prod"


# What a person said --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("later", [False, True], ids=["at once", "in a later rollout"])
@pytest.mark.parametrize(
    ("answer", "subject", "boots"),
    [
        ("not-happened", "Operation/reboot", 2),
        ("not-happened", "operations", 2),
        ("happened", "Operation/reboot", 1),
        ("happened", f"Operation/reboot#{NODES[0]}", 2),
    ],
)
def test_a_retry_of_a_whole_operation_means_what_did_not_happen(
    rig: Rig, answer: str, subject: str, boots: int, later: bool
) -> None:
    """The op's own key repeats it whatever came of it."""
    rig.cloud.boots[NODES[0]] = 1
    ready(rig)
    rig.commit({"reboot": reboot_yaml("reboot", NODES[0])})
    rig.cloud.faults.append(("hyperpod.Reboot:run", "lost"))
    (op,) = rig.settle(seconds=150).open_ops()
    rig.order("resolve", op.op, **{"as": answer})
    rig.settle()
    if later:
        rig.commit({"system": group_yaml("system", 3)})
        rig.settle()
        rig.restart()
    rig.order("retry", subject)
    rig.settle()
    assert rig.cloud.boots[NODES[0]] == boots


# Once for ever -------------------------------------------------------------------------------------------------------


def test_an_operation_that_is_taken_out_and_put_back_before_anything_was_ready_is_no_new_one(rig: Rig) -> None:
    """A revert and its revert, while something else stalls."""
    rig.cloud.boots[NODES[0]] = 1
    ready(rig)
    rig.cloud.faults.append(("hyperpod.InstanceGroup:create", "failed"))
    reboot = {"reboot": reboot_yaml("reboot", NODES[0])}
    rig.commit({**reboot, "extra": group_yaml("extra")})
    assert rig.settle().condition is Condition.STALLED
    assert rig.cloud.boots[NODES[0]] == 2
    rig.cloud.faults.append(("hyperpod.InstanceGroup:create", "failed"))
    rig.commit({"reboot": None})
    assert rig.settle().condition is Condition.STALLED
    rig.commit(reboot)
    assert rig.settle().condition is Condition.READY
    assert rig.cloud.boots[NODES[0]] == 2
