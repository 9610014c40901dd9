"""Laws of everything that goes to HyperPod, under random commits, hands, holds, faults and restarts.

A judge reads every request before it has an effect, and knows only the documents, the policy, what a person approved
and what is live: no body lowers a count that git did not change or a person did not approve; what is held rides along
in no other call; a change of something else sends the count of this moment and everything that others set.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from schemas.journal import Condition
from schemas.journal import Phase as OpPhase
from tests.engine.fakes import POLICY, cluster_yaml, group_yaml
from tests.laws.hyperpod_rig import HyperPodRig, built

NAMES = ("system", "a", "b", "c")
FIRST = {"system": 2, "a": 3, "b": 1}


def policy(costs: str, drift: str) -> str:
    return POLICY.replace("[replace]", f"[{costs}]") + f"  drift:\n    counts: {drift}\n"


_GROUP = st.sampled_from(NAMES)
_TICKS = st.integers(0, 3)


@dataclass(frozen=True, kw_only=True)
class Group:
    count: int
    minimum: int = 0
    labels: tuple[tuple[str, str], ...] | None = None

    def yaml(self, name: str) -> str:
        extra = f"  minCount: {self.minimum}\n" if self.minimum else ""
        if self.labels is not None:
            extra += f"  labels: {{{', '.join(f'{k}: {v}' for k, v in self.labels)}}}\n"
        return group_yaml(name, self.count, extra)


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What one commit wants of the cluster. The policy beside it counts as it is at the branch's head."""

    groups: Mapping[str, Group]
    suspended: bool = False
    holds: bool = False
    asks: bool = False  # deletes wait for an approval
    limits: str = ""  # of the policy

    def files(self) -> dict[str, str | None]:
        extra = "  suspend: true\n" if self.suspended else ""
        costs, drift = "replace, delete" if self.asks else "replace", "hold" if self.holds else "restore"
        found: dict[str, str | None] = {
            "clusters/policy.yaml": policy(costs, drift) + self.limits,
            "clusters/prod/cluster.yaml": cluster_yaml(extra=extra),
        }
        return found | {f"clusters/prod/g-{n}.yaml": g.yaml(n) for n, g in self.groups.items()}


class _Template:
    """Built once, copied for every example."""

    rig: HyperPodRig | None = None

    @classmethod
    def copy(cls, where: Path) -> HyperPodRig:
        if cls.rig is None:
            home = Path(tempfile.mkdtemp(prefix="hyperpod-template-"))
            cls.rig = built(home, FIRST, policy("replace", "restore"))
            shutil.copytree(home / "repository", cls.rig.path.with_name("kept"))
        return cls.rig.copy_of(where)


class HyperPodMachine(RuleBasedStateMachine):
    """What people write, what others do to the account, and a judge."""

    def __init__(self) -> None:
        super().__init__()
        self.where = Path(tempfile.mkdtemp(prefix="hyperpod-"))
        self.rig = _Template.copy(self.where)
        self.wish = Wish(groups={name: Group(count=count) for name, count in FIRST.items()})
        self.wishes: dict[str, Wish] = {}
        self.approved: set[tuple[str, Group | None]] = set()
        self.wrong: list[str] = []
        self.forgotten: set[str] = set()  # groups of which the journal may have lost what documents once said
        self.rig.sagemaker.judge = self.judges

    @initialize(holds=st.sampled_from([True, True, False]), asks=st.booleans())
    def begin(self, holds: bool, asks: bool) -> None:
        head = self.rig.repo.head()
        assert head is not None
        self.wishes[head] = self.wish
        self.commits(replace(self.wish, holds=holds, asks=asks))
        self.rig.settle()

    # People

    def commits(self, wish: Wish) -> None:
        files = wish.files()
        gone = self.wish.groups.keys() - wish.groups.keys()
        files |= {f"clusters/prod/g-{name}.yaml": None for name in gone}
        self.wishes[self.rig.commit_paths(files)] = wish
        self.wish = wish

    @rule(
        name=_GROUP,
        count=st.integers(0, 4),
        minimum=st.sampled_from([0, 0, 1]),
        labels=st.sampled_from([None, (), (("t", "x"),), (("t", "y"),)]),
        ticks=_TICKS,
    )
    def writes_a_group(self, name: str, count: int, minimum: int, labels: Any, ticks: int) -> None:
        count = max(count, 1) if name == "system" else count
        minimum = min(minimum, count)
        wanted = Group(count=count, minimum=minimum, labels=labels)
        if self.wish.groups.get(name) != wanted:
            self.commits(replace(self.wish, groups={**self.wish.groups, name: wanted}))
        self.ticks(ticks, 30.0)

    @rule(name=_GROUP, count=st.integers(0, 6), reads=st.integers(0, 4), label=st.sampled_from("xyz"), ticks=_TICKS)
    def changes_only_a_label_while_somebody_scales(
        self, name: str, count: int, reads: int, label: str, ticks: int
    ) -> None:
        """Between the look of a tick, the one just before sending, and the one of the sending itself too."""
        group = self.wish.groups.get(name)
        if group is None:
            return
        self.rig.sagemaker.moves.append((reads, name, count))
        if group.labels != (("t", label),):
            wanted = replace(group, labels=(("t", label),))
            self.commits(replace(self.wish, groups={**self.wish.groups, name: wanted}))
        self.ticks(ticks, 30.0)

    @rule(names=st.sets(st.sampled_from(NAMES[1:]), min_size=1, max_size=3), works=st.booleans(), ticks=_TICKS)
    def removes_groups(self, names: set[str], works: bool, ticks: int) -> None:
        kept = {name: group for name, group in self.wish.groups.items() if name not in names}
        self.rig.busy |= names if works else set()
        if kept != self.wish.groups:
            self.commits(replace(self.wish, groups=kept))
        self.ticks(ticks, 30.0)

    @rule()
    def suspends_or_resumes(self) -> None:
        self.commits(replace(self.wish, suspended=not self.wish.suspended))

    @rule()
    def changes_the_policy(self) -> None:
        self.commits(replace(self.wish, holds=not self.wish.holds))

    @precondition(lambda self: bool(self.held()))
    @rule(number=st.integers(0, 3))
    def approves(self, number: int) -> None:
        held = self.held()
        self._approve(*held[number % len(held)])

    @rule()
    def orders_everything_again(self) -> None:
        for op in self.rig.status().ops.values() if "prod" in self.rig.engine.memories else ():
            if op.phase is OpPhase.FAILED:
                self.rig.order("retry", op.op)

    # Others

    @rule(name=_GROUP, count=st.integers(0, 6), ticks=_TICKS)
    def somebody_scales(self, name: str, count: int, ticks: int) -> None:
        self.rig.sagemaker.moves.append((0, name, count))
        self.ticks(ticks, 30.0)

    @rule(name=st.sampled_from(NAMES))
    def somebody_taints(self, name: str) -> None:
        if name in self.rig.sagemaker.groups:
            self.rig.sagemaker.taint(name)

    @rule(name=_GROUP)
    def pods_run_or_end(self, name: str) -> None:
        self.rig.busy ^= {name}

    @rule(name=_GROUP)
    def capacity_comes_and_goes(self, name: str) -> None:
        self.rig.sagemaker.scarce ^= {name}

    @rule(faults=st.lists(st.sampled_from(["ok", "refused", "lost", "lost_effect"]), min_size=1, max_size=3))
    def requests_will_fail(self, faults: list[str]) -> None:
        self.rig.sagemaker.faults = faults

    @rule(names=st.sets(st.sampled_from(NAMES), max_size=2))
    def groups_are_objected_to(self, names: set[str]) -> None:
        self.rig.sagemaker.objects = names

    @rule(ticks=_TICKS)
    def cannot_be_seen_for_a_while(self, ticks: int) -> None:
        self.rig.sagemaker.blind = True
        self.ticks(ticks, 30.0)
        self.rig.sagemaker.blind = False

    @rule()
    def restarts(self) -> None:
        self.rig.restart()

    @rule(count=st.integers(2, 6), seconds=st.sampled_from([2.0, 30.0, 200.0]))
    def ticks(self, count: int, seconds: float) -> None:
        for _ in range(count):
            self.rig.tick(seconds)

    # The judge

    def judges(self, op: str, operation: str, params: Mapping[str, Any]) -> None:
        try:
            self._judges(op, operation, params)
        except Exception as error:  # the engine would take it for a reply that was lost
            self.wrong.append(f"{operation} {params}: the judge broke: {error!r}")

    def _judges(self, op: str, operation: str, params: Mapping[str, Any]) -> None:
        status = self.rig.status()
        wish = self.wishes[str(status.rev)]
        told = f"{operation} {params}: "
        if not self.rig.cloud.published(op):
            self.wrong.append(f"{told}it left before its intent")
        if wish.suspended:
            self.wrong.append(f"{told}the cluster is suspended")
        held = {hold.action for hold in status.holds.values() if hold.state == "held" and hold.action}
        riding = [digest for digest in held if status.ops[op].serves(digest)]
        if riding:
            self.wrong.append(f"{told}{riding} is held and rides along")
        for body in params.get("InstanceGroups", []):
            self.wrong += [f"{told}{name_of(body)} {text}" for text in self._body(wish, body)]
        going = params.get("InstanceGroupsToDelete", [])
        self.wrong += [f"{told}{name} {text}" for name in going for text in self._removal(wish, name)]

    def _body(self, wish: Wish, body: Mapping[str, Any]) -> list[str]:
        name, count = name_of(body), body["InstanceCount"]
        group, live = wish.groups.get(name), self.rig.sagemaker.groups.get(name)
        if group is None:
            return ["is wanted by nobody"]
        if live is None:
            return [] if count == group.count else ["is made with another count than git's"]
        wrong: list[str] = []
        was = live["InstanceCount"]
        if count not in (was, group.count):
            wrong.append(f"gets {count}: neither live ({was}) nor git ({group.count})")
        free = (name, group) in self.approved
        if count < was and name in self.rig.busy and not free:
            wrong.append("loses nodes that somebody works on")
        if count != was and self.wish.holds and not self._asked(name, group.count) and not free:
            wrong.append(f"has its drift ({was}) put back to {count} although that is held")
        config, before = body.get("KubernetesConfig", {}), live.get("KubernetesConfig", {})
        if config.get("Taints", []) != before.get("Taints", []):
            wrong.append("loses a taint that was set by hand")
        known = {"InstanceCount", "MinInstanceCount", "KubernetesConfig", "LifeCycleConfig"}
        if {n: v for n, v in body.items() if n not in known} != {n: v for n, v in live.items() if n not in known}:
            wrong.append("changes what nobody changed")
        return wrong

    def _removal(self, wish: Wish, name: str) -> list[str]:
        if name in wish.groups:
            return ["is deleted while git wants it"]
        if (name, None) in self.approved:
            return []
        if self.wish.asks:
            return ["is deleted without the approval that the policy asks for"]
        if name in self.rig.busy:
            return ["is deleted while somebody works on it"]
        return []

    def _asked(self, name: str, count: int) -> bool:
        """Whether a revision that is not Ready yet changed this count."""
        status = self.rig.status()
        base = [self.wishes[revision].groups.get(name) for revision in status.base if revision in self.wishes]
        if status.last_ready == status.rev:
            base = [self.wishes[str(status.rev)].groups.get(name)]
        return any(group is None or group.count != count for group in base)

    def held(self) -> list[tuple[str, str]]:
        memory = self.rig.engine.memories.get("prod")
        holds = memory.status().holds if memory is not None else {}
        return [(key, hold.action) for key, hold in holds.items() if hold.state == "held" and hold.action]

    def _approve(self, key: str, action: str) -> None:
        self.rig.order("approve", action)
        name = key.split("/")[2] if key.startswith("hyperpod.InstanceGroup/") else ""
        wish = self.wishes[str(self.rig.status().rev)]
        self.approved.add((name, wish.groups.get(name)))

    @invariant()
    def the_judge_found_nothing(self) -> None:
        assert not self.wrong, "\n".join([*self.wrong, self.rig.story()])

    # The end

    def teardown(self) -> None:
        try:
            if self.wishes:
                self.ends_well()
        finally:
            self.rig.close()
            shutil.rmtree(self.where, ignore_errors=True)

    def ends_well(self) -> None:
        """No fault, no hold: what is live is what git says, and the next tick does nothing."""
        sagemaker = self.rig.sagemaker
        sagemaker.faults, sagemaker.objects, sagemaker.moves, sagemaker.blind = [], set(), [], False
        sagemaker.scarce.clear()
        self.rig.busy.clear()
        if self.wish.suspended:
            self.commits(replace(self.wish, suspended=False))
        status = self.rig.settle(200)
        for _ in range(8):
            if status.condition is Condition.READY:
                break
            self.orders_everything_again()
            for key, action in self.held():
                self._approve(key, action)
            status = self.rig.settle(200)
        self.the_judge_found_nothing()
        assert status.condition is Condition.READY, f"{status.reason} {status.msg}\n{self.rig.story()}"
        live = {name: body["InstanceCount"] for name, body in sagemaker.groups.items()}
        wanted = {name: group.count for name, group in self.wish.groups.items()}
        assert {name: count for name, count in live.items() if name in wanted or name not in self.forgotten} == wanted
        for name, group in self.wish.groups.items():
            if name in self.forgotten and (group.labels is None or not group.minimum):
                continue  # what is not written now may have been written before
            labels = sagemaker.groups[name].get("KubernetesConfig", {}).get("Labels", {})
            assert labels == dict(group.labels or ()), f"{name}\n{self.rig.story()}"
            assert sagemaker.groups[name].get("MinInstanceCount", 0) == group.minimum, self.rig.story()
        broke = [line for line in self.rig.lines() if line.get("reason") == "InternalError"]
        assert not broke, self.rig.story()
        lines, requests = len(self.rig.lines()), sagemaker.requests
        self.rig.tick(60)
        plan = self.rig.engine.memories["prod"].plan
        assert plan is not None and plan.empty
        assert (len(self.rig.lines()), sagemaker.requests) == (lines, requests), self.rig.story()


def name_of(body: Mapping[str, Any]) -> str:
    return str(body["InstanceGroupName"])
