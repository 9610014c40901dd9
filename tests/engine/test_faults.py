"""What goes wrong in the middle of a tick: the journal's remote, handlers with mistakes, looks that fail, replies that
are lost twice. Every test runs the whole engine over an invented cloud."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schemas.journal import Condition
from tests.engine.fakes import POLICY, Rig, cluster_yaml, group_yaml, reboot_yaml
from tests.engine.invented_cloud import Died

NODE = "i-0123456789abcdef0"
EVERYWHERE = {"ec2.Vpc", "iam.Role", "eks.Cluster", "s3.Bucket", "hyperpod.Cluster", "helm.Release"}
DOCS: dict[str, str | None] = {"cluster": cluster_yaml(), "system": group_yaml("system")}


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(path=tmp_path / "repository", state=tmp_path / "state")
    yield made
    made.close()


@pytest.fixture
def ready(rig: Rig) -> Rig:
    rig.commit(DOCS)
    assert rig.settle().condition is Condition.READY
    return rig


def once_each(rig: Rig) -> None:
    """No key was made twice, and nothing is there twice."""
    made = [key for _, verb, key in rig.cloud.effects if verb == "create"]
    assert sorted(made) == sorted(set(made))
    keys = [thing.key for thing in rig.cloud.things]
    assert sorted(keys) == sorted(set(keys))


def runs(rig: Rig) -> list[str]:
    return [key for _, verb, key in rig.cloud.effects if verb == "run"]


# The journal's remote ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trouble", ["away", "unconfirmed", "rejected"])
@pytest.mark.parametrize("publish", [0, 1, 4])
def test_a_journal_that_cannot_be_written_costs_time_and_nothing_else(rig: Rig, trouble: str, publish: int) -> None:
    """Before the intents and after the outcomes: memory never runs ahead of the journal, nothing leaves unseen."""
    rig.commit(DOCS)
    rig.trouble += ["ok"] * publish + [trouble]
    assert rig.settle().condition is Condition.READY
    assert rig.status().broken is None
    once_each(rig)


def test_what_was_not_published_is_not_sent(rig: Rig) -> None:
    rig.commit(DOCS)
    rig.trouble.append("away")
    result = rig.tick()
    assert result.problems.keys() == {"prod"}
    assert rig.cloud.sends == []
    assert rig.repo.notes("prod").entries == {}


def test_an_order_whose_ref_cannot_be_removed_is_folded_once(ready: Rig) -> None:
    """The ref stays, the process dies and the rollout changes: the order is not a new one."""
    ready.order("retry", "compute")
    orders = ready.repo.orders()
    ready.tick()
    assert ready.repo.orders() == []
    ready.repo.put_order(orders[0].ulid, orders[0].body)
    ready.commit({"system": group_yaml("system", 3)})
    ready.tick()
    ready.restart()
    ready.repo.put_order(orders[0].ulid, orders[0].body)
    ready.settle()
    assert sum(1 for line in ready.lines() if line["t"] == "order") == 1


# Mistakes of ours ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bug", "bug_effect"])
def test_a_handler_that_breaks_while_sending_lost_its_reply(rig: Rig, kind: str) -> None:
    """Nobody knows whether it happened, the others go on, and the look tells."""
    rig.commit(DOCS)
    rig.cloud.faults.append(("ec2.Vpc:create", kind))
    rig.tick()
    assert [t.key for t in rig.cloud.of("iam.Role")]
    assert rig.settle().condition is Condition.READY
    once_each(rig)


@pytest.mark.parametrize("what", ["draft eks.Cluster", "settle eks.Cluster/prod"])
def test_a_handler_that_breaks_stops_only_itself(rig: Rig, what: str) -> None:
    rig.commit(DOCS)
    rig.commit({"cluster": cluster_yaml("other"), "system": group_yaml("system")}, "other")
    rig.cloud.faults += [(what, "bug")] * 5
    rig.settle()
    assert (rig.status().condition, rig.status("other").condition) == (Condition.READY, Condition.READY)
    once_each(rig)


def test_a_cluster_that_cannot_be_worked_on_does_not_stop_the_others(rig: Rig) -> None:
    rig.commit(DOCS)
    rig.commit({"cluster": cluster_yaml("other"), "system": group_yaml("system")}, "other")
    rig.settle()
    broken, other = "prod", "other"
    rig.cloud.strange.add(broken)
    rig.commit({"system": group_yaml("system", 3)}, other)
    for _ in range(6):
        assert rig.tick(30).problems.keys() == {broken}
    assert rig.status(other).condition is Condition.READY
    assert rig.status(broken).broken is None


@pytest.mark.parametrize("kind", ["died", "died_effect"])
def test_a_process_that_dies_while_sending(rig: Rig, kind: str) -> None:
    rig.commit(DOCS)
    rig.cloud.faults.append(("ec2.Vpc:create", kind))
    with pytest.raises(Died):
        rig.tick()
    rig.restart()
    assert rig.settle().condition is Condition.READY
    once_each(rig)


# Looks ---------------------------------------------------------------------------------------------------------------


def test_nothing_is_ready_that_was_not_seen(rig: Rig) -> None:
    """The first look of a rollout fails: that is no green."""
    rig.commit(DOCS)
    rig.cloud.blind |= EVERYWHERE
    rig.tick()
    assert rig.status().condition is Condition.RECONCILING
    assert rig.status().last_ready is None
    rig.cloud.blind.clear()
    assert rig.settle().condition is Condition.READY


def test_a_cluster_is_not_gone_because_nobody_could_look(rig: Rig) -> None:
    """Rule 1 for a whole cluster: taking it down begins with a look that fails."""
    rig.commit({**DOCS, "cluster": cluster_yaml(extra="  deletionProtection: false\n")})
    rig.settle()
    rig.commit({"cluster": None, "system": None})
    rig.cloud.blind |= EVERYWHERE
    rig.tick()
    assert rig.status().condition is not Condition.GONE
    rig.cloud.blind.clear()
    assert rig.settle().condition is Condition.GONE
    assert rig.cloud.things == []


def test_a_revision_with_a_refused_change_never_was_ready(ready: Rig) -> None:
    good = ready.status().rev
    text = group_yaml("system").replace("ml.m5.2xlarge", "ml.m5.4xlarge")
    ready.commit({"system": text})
    status = ready.settle()
    assert (status.condition, status.last_ready) == (Condition.STALLED, good)


def test_a_blink_releases_no_hold(ready: Rig) -> None:
    ready.commit_paths({"clusters/policy.yaml": POLICY.replace("[replace]", "[replace, inPlace]")})
    ready.commit({"system": group_yaml("system", 3)})
    ready.settle()
    before = len(ready.lines())
    for blind in (True, False, True, False):
        ready.cloud.blind = {"hyperpod.Cluster"} if blind else set()
        ready.tick(5)
    assert len(ready.lines()) == before
    assert ready.status().condition is Condition.STALLED


def test_a_cloud_that_fails_in_turns_is_told_once_of_each_kind(ready: Rig) -> None:
    """What lasts is told, and no line is written in every turn."""
    before = len(ready.lines())
    for turn in range(20):
        ready.cloud.blind, ready.cloud.why_blind = {"hyperpod.Cluster"}, ("Throttled", "ServerError")[turn % 2]
        ready.tick(60)
    said = [line["say"] for line in ready.lines()[before:]]
    assert said == ["compute Unknown: Throttled", "compute Unknown: ServerError"]
    ready.cloud.blind.clear()
    assert ready.settle().condition is Condition.READY


# Replies -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize(
    "faults",
    [["lost_effect"], ["refused", "lost_effect"], ["refused", "lost", "lost_effect"]],
)
@pytest.mark.parametrize("what", ["ec2.Vpc", "iam.Role", "eks.Cluster"])
def test_a_reply_lost_late_makes_one_thing(rig: Rig, what: str, faults: list[str], restart: bool) -> None:
    """The cloud shows what was made only after a while; the reply that was lost was not the first one."""
    rig.cloud.lag = 90.0
    rig.commit(DOCS)
    rig.cloud.faults += [(f"{what}:create", kind) for kind in faults]
    for _ in range(400):
        if not rig.cloud.faults:
            break
        rig.tick(5)
    if restart:
        rig.restart()
    for _ in range(60):
        rig.tick(5)
    once_each(rig)
    assert rig.settle(200).condition is Condition.READY
    once_each(rig)


@pytest.mark.parametrize(
    "faults", [["lost"], ["refused", "lost"], ["lost", "refused", "lost"], ["refused", "lost_effect"]]
)
@pytest.mark.parametrize(
    "what", ["ec2.Vpc", "iam.Role", "eks.Cluster", "hyperpod.Cluster", "helm.Release", "s3.Bucket"]
)
def test_a_removal_whose_reply_was_lost_is_sent_again(rig: Rig, what: str, faults: list[str]) -> None:
    """Also after a sending that was refused: what stands and was not taken up left no trace."""
    rig.commit({**DOCS, "cluster": cluster_yaml(extra="  deletionProtection: false\n")})
    rig.settle()
    rig.cloud.faults += [(f"{what}:delete", kind) for kind in faults]
    rig.commit({"cluster": None, "system": None})
    for _ in range(120):
        if not rig.cloud.faults:
            break
        rig.tick(60)
    assert rig.settle(200).condition is Condition.GONE, rig.story()
    assert rig.cloud.things == []


# Operations ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "faults", [["refused"], ["refused", "refused", "lost_effect"], ["lost_effect"], ["refused", "died_effect"]]
)
def test_a_reboot_that_was_refused_has_its_turn_once(ready: Rig, faults: list[str]) -> None:
    ready.cloud.boots[NODE] = 1
    ready.cloud.faults += [("Reboot:run", kind) for kind in faults]
    ready.commit({"reboot": reboot_yaml("a", NODE)})
    for _ in range(40):
        try:
            ready.tick(20)
        except Died:
            ready.restart()
    assert len(runs(ready)) == 1
    assert ready.status().condition is Condition.READY


def test_a_refused_reboot_that_nobody_wants_any_more_is_cancelled(ready: Rig) -> None:
    ready.cloud.boots[NODE] = 1
    ready.cloud.faults += [("Reboot:run", "refused")] * 3
    ready.commit({"reboot": reboot_yaml("a", NODE)})
    ready.tick()
    ready.commit({"reboot": None})
    assert ready.settle().condition is Condition.READY
    assert runs(ready) == []


def test_a_broken_document_in_between_does_not_run_an_operation_again(ready: Rig) -> None:
    """What had its turn is remembered by a rollout that could not read its documents."""
    ready.cloud.boots[NODE] = 1
    ready.commit({"reboot": reboot_yaml("a", NODE), "bad": group_yaml("x").replace("ml.m5.2xlarge", "ml.m5.4xlarge")})
    ready.cloud.faults += [("hyperpod.InstanceGroup:create", "failed")]
    ready.settle()
    assert len(runs(ready)) == 1
    ready.commit({"system": "kind: [\n"})
    ready.settle()
    ready.commit({"system": group_yaml("system"), "bad": None})
    assert ready.settle().condition is Condition.READY
    assert len(runs(ready)) == 1


def test_an_operation_that_had_its_turn_does_not_keep_the_cluster_standing(ready: Rig) -> None:
    """It is no object: nothing waits for it to go."""
    ready.cloud.boots[NODE] = 1
    ready.commit({"reboot": reboot_yaml("a", NODE), "cluster": cluster_yaml(extra="  deletionProtection: false\n")})
    assert ready.settle().condition is Condition.READY
    ready.commit({"cluster": None, "system": None, "reboot": None})
    assert ready.settle().condition is Condition.GONE
    assert ready.cloud.things == []


def test_an_operation_older_than_the_journal_stays_undone(rig: Rig) -> None:
    """It stood in the parent of the first revision: its turn is over, also when that revision has reached Ready."""
    rig.cloud.boots[NODE] = 1
    rig.commit({**DOCS, "reboot": reboot_yaml("a", NODE)})
    rig.commit({"system": group_yaml("system", 3)})
    assert rig.settle().condition is Condition.READY
    for _ in range(3):
        rig.tick(30)
    assert runs(rig) == []


def test_retry_repeats_what_failed_and_nothing_else(ready: Rig) -> None:
    """Also in a later rollout."""
    nodes = [f"i-0123456789abcdef{n}" for n in range(3)]
    ready.cloud.boots |= dict.fromkeys(nodes, 1)
    ready.cloud.faults.append((f"Reboot:run Operation/a#{nodes[1]}", "failed"))
    ready.commit({"reboot": reboot_yaml("a", *nodes)})
    assert ready.settle().condition is Condition.STALLED
    ready.commit({"system": group_yaml("system", 3)})
    ready.settle()
    assert len(runs(ready)) == 2
    ready.order("retry", "Operation/a")
    ready.settle()
    assert sorted(runs(ready)) == [f"Operation/a#{node}" for node in nodes]


def test_a_retry_that_was_ordered_is_not_ready_before_its_turn(ready: Rig) -> None:
    """The order is taken in one tick and planned in the next: in between the reboot is still to come."""
    ready.cloud.boots[NODE] = 1
    ready.cloud.faults.append(("Reboot:run", "failed"))
    ready.commit({"reboot": reboot_yaml("a", NODE)})
    assert ready.settle().condition is Condition.STALLED
    ready.order("retry", "Operation/a")
    ready.tick()
    stage = ready.status().stages["operations"]
    assert (ready.status().condition, stage.reason) == (Condition.RECONCILING, "Retrying")
    assert ready.settle().condition is Condition.READY
    assert len(runs(ready)) == 1


# Git -----------------------------------------------------------------------------------------------------------------


def test_a_history_that_never_held_the_cluster_deletes_nothing(ready: Rig) -> None:
    """A force push to another beginning: the folder has vanished, and the engine goes on."""
    git = ["git", "-C", str(ready.path)]
    tree = subprocess.run([*git, "mktree"], input=b"", capture_output=True, check=True).stdout.decode().strip()
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
    commit = (
        subprocess.run([*git, *identity, "commit-tree", "-m", "anew", tree], capture_output=True, check=True)
        .stdout.decode()
        .strip()
    )
    subprocess.run([*git, "update-ref", "refs/heads/main", commit], check=True)
    things = len(ready.cloud.things)
    status = ready.settle()
    assert (status.condition, status.reason) == (Condition.STALLED, "DeletionProtected")
    ready.commit({"cluster": cluster_yaml("other"), "system": group_yaml("system")}, "other")
    ready.settle()
    assert len(ready.cloud.things) == 2 * things
    assert ready.status("other").condition is Condition.READY


def test_protection_that_was_put_back_holds_even_if_it_was_never_ready(rig: Rig) -> None:
    """`deletionProtection: false` was Ready once; the newest word before the folder went says true."""
    rig.commit({**DOCS, "cluster": cluster_yaml(extra="  deletionProtection: false\n")})
    rig.settle()
    rig.commit({"cluster": cluster_yaml()})
    rig.commit({"cluster": None, "system": None})
    things = len(rig.cloud.things)
    assert rig.settle().reason == "DeletionProtected"
    assert len(rig.cloud.things) == things


# Gates and orders ----------------------------------------------------------------------------------------------------


def test_a_lost_journal_stays_in_doubt_until_a_person_says_so(ready: Rig) -> None:
    """Mending writes ops and commits make rollouts: neither makes the journal trustworthy."""
    ready.commit({"extra": group_yaml("extra")})
    ready.settle()
    ready.restart()
    subprocess.run(
        ["git", "-C", str(ready.path), "update-ref", "-d", "refs/notes/instantstart/status/prod"], check=True
    )
    ready.commit({"extra": None, "system": group_yaml("system", 5)})
    status = ready.settle()
    assert (status.condition, status.reason) == (Condition.STALLED, "JournalIncomplete")
    ready.commit({"system": group_yaml("system", 6)})
    assert ready.settle().condition is Condition.STALLED
    assert "hyperpod.InstanceGroup/prod/extra" in [t.key for t in ready.cloud.things]
    ready.order("release", "journal")
    assert ready.settle().condition is Condition.READY
    assert "hyperpod.InstanceGroup/prod/extra" not in [t.key for t in ready.cloud.things]


def held(rig: Rig) -> str:
    """A change that waits for an approval; its key."""
    rig.commit_paths({"clusters/policy.yaml": POLICY.replace("[replace]", "[replace, inPlace]")})
    rig.commit({"system": group_yaml("system", 3)})
    assert rig.settle().condition is Condition.STALLED
    return "hyperpod.InstanceGroup/prod/system"


def test_an_approval_given_while_main_moves_counts(ready: Rig) -> None:
    """The action is the same under the new revision, so the word given for it stands."""
    key = held(ready)
    ready.order("approve", key)
    ready.commit({"unrelated": group_yaml("unrelated")})
    assert ready.settle().condition is Condition.READY


def test_an_approval_survives_a_rollout_that_could_not_look(ready: Rig) -> None:
    key = held(ready)
    ready.cloud.blind.add("hyperpod.Cluster")
    ready.order("approve", key)
    ready.tick()
    ready.commit({"unrelated": group_yaml("unrelated")})
    ready.tick()
    ready.cloud.blind.clear()
    assert ready.settle().condition is Condition.READY


def test_blast_radius_is_summed_over_clusters_that_are_not_due_now(rig: Rig) -> None:
    names = [f"c{n}" for n in range(6)]
    for name in names:
        rig.commit({"cluster": cluster_yaml(name), "system": group_yaml("system")}, name)
    rig.settle()
    rig.commit_paths({f"clusters/{name}/system.yaml": group_yaml("system", 3) for name in names})
    rig.tick()
    for memory in rig.engine.memories.values():
        memory.wake = rig.cloud.now() + 1000.0
    for name in names:
        rig.engine.memories[name].wake = 0.0
        rig.engine.tick()
    assert {rig.status(name).reason for name in names} == {"BlastRadius"}


def poison(rig: Rig, what: str) -> None:
    if what == "order":
        rig.order("retry", "x" * 4000)
        rig.order("y" * 4000, "compute")
    elif what == "secret":
        rig.commit({"secret": group_yaml("x").replace("ml.m5.2xlarge", "AKIAABCDEFGHIJKLMNOP")})
    elif what == "unicode":
        rig.commit({"unicode": group_yaml("x").replace("ml.m5.2xlarge", "\U0001f600" * 400)})
    elif what == "base":
        for n in range(3):
            rig.commit({"system": group_yaml("system", n)})


@pytest.mark.parametrize("what", ["order", "secret", "unicode"])
def test_what_does_not_fit_the_journal_stops_nobody(rig: Rig, what: str) -> None:
    rig.commit(DOCS)
    rig.tick()
    poison(rig, what)
    rig.commit({"cluster": cluster_yaml("other"), "system": group_yaml("system")}, "other")
    rig.settle()
    assert rig.status("other").condition is Condition.READY
    assert rig.repo.orders() == []
    assert rig.status().rev == rig.repo.revision_of(str(rig.repo.head()), "prod")


def test_many_groups_in_one_create(rig: Rig) -> None:
    """CreateCluster with a hundred groups: the line of its op still fits."""
    groups = "---\n".join(group_yaml(f"group-{n:02d}") for n in range(99))
    rig.commit({**DOCS, "groups": groups})
    assert rig.settle().condition is Condition.READY
    for lines in rig.repo.notes("prod").entries.values():
        assert max(len(x) for x in lines.splitlines() if b'"t":"rollout"' not in x) <= 2048


def test_main_moves_over_a_hundred_open_ops(ready: Rig) -> None:
    ready.commit_paths({"clusters/policy.yaml": POLICY + "  blastRadius:\n    maxNodes: 1000\n"})
    nodes = [f"i-0123456789abcd{n:03d}" for n in range(100)]
    ready.cloud.boots |= dict.fromkeys(nodes, 1)
    ready.cloud.faults += [("Reboot:run", "lost")] * 100
    ready.commit({"reboot": reboot_yaml("many", *nodes)})
    ready.tick()
    ready.commit({"system": group_yaml("system", 3)})
    ready.tick()
    assert ready.status().rev == ready.repo.revision_of(str(ready.repo.head()), "prod")
    ready.settle()


def test_a_broken_journal_does_not_keep_the_engine_busy(ready: Rig) -> None:
    lines = ready.lines()
    forged = json.dumps({**lines[-1], "say": "forged"})
    git = ["git", "-C", str(ready.path), "-c", "user.name=x", "-c", "user.email=x@example.com"]
    rev = str(ready.status().rev)
    notes = ["notes", "--ref=instantstart/status/prod", "append", "-m", forged, rev]
    subprocess.run([*git, *notes], check=True, capture_output=True)
    result = ready.tick()
    result = ready.engine.tick()
    assert ready.status().broken is not None
    assert result.wake >= 1.0


def test_a_line_is_written_at_transitions_only(ready: Rig) -> None:
    ends: Callable[[], int] = lambda: len(ready.lines())  # noqa: E731
    before = ends()
    for _ in range(5):
        ready.tick(120)
    assert ends() == before
