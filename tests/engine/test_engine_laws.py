"""Laws of the whole engine under random commits, faults, restarts and ticks, over an invented cloud.

Nothing is made or run twice, nothing leaves before its intent, the journal never breaks, and when the faults end the
cloud is what git says and the next tick writes nothing.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from schemas.journal import Condition
from tests.engine.fakes import Rig, cluster_yaml, group_yaml, reboot_yaml
from tests.engine.invented_cloud import LAYERS, REBOOT, Died

NODES = ["i-0123456789abcdef0", "i-0123456789abcdef1"]
STORAGE = """apiVersion: instantstart/v1
kind: Storage
metadata:
  name: shared
spec:
  s3: {}
"""
MADE = ["ec2.Vpc", "ec2.Subnet", "ec2.NatGateway", "iam.Role", "eks.Cluster", "eks.Addon", "s3.Bucket", "k8s.Storage"]
WHERE = [*MADE, "hyperpod.Cluster", "hyperpod.InstanceGroup", ":update", ":delete", REBOOT]
KINDS = ["refused", "lost", "lost_effect", "bug", "bug_effect", "died", "died_effect"]


class Engine(RuleBasedStateMachine):
    """One cluster that is there from the beginning, and what people and the world do to it."""

    def __init__(self) -> None:
        super().__init__()
        self.where = Path(tempfile.mkdtemp(prefix="laws-"))
        self.rig = Rig(path=self.where / "repository", state=self.where / "state")
        self.groups: dict[str, int] = {}
        self.asked: dict[str, str] = {}

    @initialize(lag=st.sampled_from([0.0, 60.0]))
    def begin(self, lag: float) -> None:
        self.rig.cloud.lag = lag
        self.rig.cloud.boots |= dict.fromkeys(NODES, 1)
        self.groups = {"system": 2}
        self.rig.commit({"cluster": cluster_yaml(), "g-system": group_yaml("system")})

    @rule(name=st.sampled_from(["system", "a", "b"]), count=st.integers(1, 4))
    def commits_a_group(self, name: str, count: int) -> None:
        self.groups[name] = count
        self.rig.commit({f"g-{name}": group_yaml(name, count)})

    @rule(name=st.sampled_from(["a", "b"]))
    def removes_a_group(self, name: str) -> None:
        if self.groups.pop(name, None) is not None:
            self.rig.commit({f"g-{name}": None})

    @rule(there=st.booleans())
    def commits_a_storage(self, there: bool) -> None:
        if there != ("storage" in self.asked):
            self.rig.commit({"storage": STORAGE if there else None})
            self.asked.update(storage="") if there else self.asked.pop("storage")

    @precondition(lambda self: self.operations < 3)
    @rule(node=st.sampled_from(NODES))
    def commits_a_reboot(self, node: str) -> None:
        name = f"reboot-{self.operations}"
        self.asked[name] = node
        self.rig.commit({name: reboot_yaml(name, node)})

    @rule(bad=st.booleans())
    def breaks_a_document(self, bad: bool) -> None:
        if bad != ("bad" in self.asked):
            self.rig.commit({"bad": "kind: [\n" if bad else None})
            self.asked.update(bad="") if bad else self.asked.pop("bad")

    @rule(where=st.sampled_from(WHERE), kind=st.sampled_from(KINDS))
    def something_will_fail(self, where: str, kind: str) -> None:
        self.rig.cloud.faults.append((where, kind))

    @rule(what=st.sampled_from(["draft", "settle"]), where=st.sampled_from(WHERE))
    def a_handler_will_break(self, what: str, where: str) -> None:
        self.rig.cloud.faults.append((f"{what} {where}", "bug"))

    @rule(trouble=st.lists(st.sampled_from(["ok", "away", "unconfirmed", "rejected"]), min_size=1, max_size=3))
    def the_journal_will_not_be_written(self, trouble: list[str]) -> None:
        self.rig.trouble += trouble

    @rule(layers=st.sets(st.sampled_from([layer[-1] for layer in LAYERS])))
    def goes_blind(self, layers: set[str]) -> None:
        self.rig.cloud.blind = set(layers)

    @rule()
    def restarts(self) -> None:
        self.rig.restart()

    @rule(count=st.integers(1, 12), seconds=st.sampled_from([0.0, 2.0, 30.0, 150.0]))
    def ticks(self, count: int, seconds: float) -> None:
        for _ in range(count):
            try:
                self.rig.tick(seconds)
            except Died:
                self.rig.restart()

    @invariant()
    def nothing_happened_twice(self) -> None:
        keys = [thing.key for thing in self.rig.cloud.things]
        assert sorted(keys) == sorted(set(keys)), self.rig.story()
        runs = [key for _, verb, key in self.rig.cloud.effects if verb == "run"]
        assert sorted(runs) == sorted(set(runs)), self.rig.story()

    @invariant()
    def the_journal_is_whole(self) -> None:
        for memory in self.rig.engine.memories.values():
            assert memory.status().broken is None, memory.status().broken

    @property
    def operations(self) -> int:
        return sum(1 for name in self.asked if name.startswith("reboot-"))

    def teardown(self) -> None:
        try:
            if self.groups:
                self.ends_well()
        finally:
            self.rig.close()
            shutil.rmtree(self.where, ignore_errors=True)

    def ends_well(self) -> None:
        cloud = self.rig.cloud
        cloud.blind.clear()
        cloud.faults.clear()
        self.rig.trouble.clear()
        if "bad" in self.asked:
            self.rig.commit({"bad": None})
        status = self._settled()
        self.nothing_happened_twice()
        live: dict[str, Any] = {t.name: t.spec["count"] for t in cloud.of("hyperpod.InstanceGroup")}
        assert live == self.groups, self.rig.story()
        assert len(cloud.of("k8s.Storage")) == ("storage" in self.asked)
        assert status is Condition.READY, self.rig.status().reason + self.rig.story()
        before = len(self.rig.lines())
        self.rig.tick(60)
        assert len(self.rig.lines()) == before

    def _settled(self) -> Condition:
        """What a person must answer is answered: whether a reboot happened that nobody can tell."""
        for _ in range(5):
            status = self.rig.settle(150)
            unknown = [op for op in status.open_ops() if op.phase.value == "unknown"]
            if not unknown:
                return status.condition
            for op in unknown:
                self.rig.order("resolve", op.op, **{"as": "not-happened"})
        raise AssertionError(self.rig.story())


Engine.TestCase.settings = settings(
    max_examples=6,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
TestEngine = Engine.TestCase
