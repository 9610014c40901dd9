"""Two engines on one repository: own mirrors, one remote, one cloud. The push of the intents is the fence."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository
from reconciler.live.clock import SteppedClock
from schemas.journal import Condition
from tests.engine.fakes import AUTHOR, POLICY, group_yaml, reboot_yaml
from tests.engine.invented_cloud import REBOOT, Died
from tests.rivals.rivalry import (
    DOCS,
    NODE,
    STEPS,
    Hook,
    HookedCloud,
    Rival,
    git,
    journal,
    journal_is_right,
    nothing_twice,
    person,
    push,
)

TROUBLES = ["ok", "away", "unconfirmed", "rejected"]
WHERE = ["ec2.Vpc", "ec2.Subnet", "ec2.NatGateway", "iam.Role", "eks.Cluster", ":update", REBOOT]


@dataclass(kw_only=True)
class Pair:
    """`one` and `two` are the engines; `hooks` are called in whichever of them comes by."""

    root: Path
    bare: Path = field(init=False)
    cloud: HookedCloud = field(init=False)
    one: Rival = field(init=False)
    two: Rival = field(init=False)
    watcher: ConfigRepo = field(init=False)

    def __post_init__(self) -> None:
        self.bare = self.root / "config.git"
        init_repository(self.bare, {"clusters/policy.yaml": POLICY.encode()}, branch="main", author=AUTHOR)
        self.watcher = person(self.bare)
        clock = SteppedClock(datetime(2026, 3, 1, 10, tzinfo=UTC))
        hooks: dict[str, Hook] = {}
        self.cloud = HookedCloud(clock=clock, published=self._published, hooks=hooks)
        self.cloud.boots[NODE] = 1
        self.one, self.two = (
            Rival(
                path=self.bare,
                state=self.root / name,
                location=f"file://{self.bare}",
                writer=name,
                shared=self.cloud,
                hooks=hooks if name == "one" else {},
            )
            for name in ("one", "two")
        )

    def close(self) -> None:
        self.one.close()
        self.two.close()
        self.watcher.close()

    def both(self, ticks: int = 60, seconds: float = 30.0) -> None:
        """Turn by turn until neither writes any more."""
        quiet = 0
        for _ in range(ticks):
            results = [self.one.tick(seconds / 2), self.two.tick(seconds / 2)]
            quiet = quiet + 1 if not any(r.lines or r.sent for r in results) else 0
            if quiet >= 2 and all(r.status().condition in (Condition.READY, Condition.GONE) for r in self.rivals):
                return
        raise AssertionError("they do not come to rest\n" + self.one.story())

    def interrupt(self, seconds: float = 0.0) -> None:
        """A whole tick of two in the middle of one of one; not in the middle of its own."""
        if self.two.ticking:  # the cloud's hooks are met by both
            return
        try:
            self.two.tick(seconds)
        except Died:
            self.two.restart()

    @property
    def rivals(self) -> tuple[Rival, Rival]:
        return self.one, self.two

    def told(self) -> set[str]:
        """Every line that is on the remote or kept by the engine that lost it."""
        texts = [b"\n".join(self.watcher.notes("prod").entries.values()).decode()]
        for rival in self.rivals:
            for mirror in (rival.state / "mirrors").iterdir():
                for ref in git(mirror, "for-each-ref", "--format=%(refname)", "refs/instantstart/lost").split():
                    names = git(mirror, "rev-list", "--objects", "--in-commit-order", ref).splitlines()
                    blobs = [name.split()[0] for name in names if len(name.split()) == 2]
                    texts.append(git(mirror, "cat-file", "--batch", data="\n".join(blobs).encode() + b"\n"))
        return {line for text in texts for line in text.splitlines() if line.startswith("{")}

    def ends_well(self) -> None:
        self.both()
        lines = journal(self.bare)
        nothing_twice(self.cloud)
        journal_is_right(lines)
        handed = {text for rival in self.rivals for text in rival.handed}
        assert handed and handed - self.told() == set(), "a line is neither on the ref nor kept"

    def _published(self, op: str) -> bool:
        notes = self.watcher.notes("prod").entries.values()
        return any(f'"op":"{op}","phase":"intent"'.encode() in note for note in notes)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    made = Pair(root=tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("ticks", [0, 3])
@pytest.mark.parametrize("step", STEPS)
def test_the_other_ticks_in_the_middle_of_a_tick(pair: Pair, step: str, ticks: int) -> None:
    """Whatever one is doing, the other does its whole tick meanwhile: the fence holds and both end Ready."""
    push(pair.bare, DOCS)
    for _ in range(ticks):
        pair.one.tick(10)
    pair.one.hooks[step] = pair.interrupt
    for _ in range(8):
        pair.one.tick(10)
        if step not in pair.one.hooks:
            break
    assert step not in pair.one.hooks
    pair.ends_well()


@pytest.mark.parametrize(
    ("what", "kind", "lag"),
    [
        ("ec2.Vpc", "lost", 0.0),
        ("ec2.Vpc", "lost_effect", 60.0),
        ("ec2.Vpc", "refused", 60.0),
        ("ec2.NatGateway", "lost", 60.0),
        ("iam.Role", "lost_effect", 60.0),
        ("eks.Cluster", "lost", 0.0),
        ("hyperpod.Cluster", "lost", 60.0),
    ],
)
def test_both_would_send_a_lost_call_again(pair: Pair, what: str, kind: str, lag: float) -> None:
    """Both see that nothing came of it at the same time, and one does it again while the other is about to."""
    pair.cloud.lag = lag
    push(pair.bare, DOCS)
    pair.cloud.faults.append((f"{what}:create", kind))
    for _ in range(40):
        pair.one.tick(20)
        if not pair.cloud.faults:
            break
    assert not pair.cloud.faults
    for _ in range(8):
        pair.one.hooks["before the intents"] = pair.interrupt
        pair.one.hooks["while sending"] = pair.interrupt
        pair.one.tick(40)
    pair.one.hooks.clear()
    pair.ends_well()


@pytest.mark.parametrize("what", ["ec2.Vpc", "eks.Cluster"])
def test_one_that_slept_between_its_intent_and_the_call_does_not_send(pair: Pair, what: str) -> None:
    """The other has taken the op for lost by then, and done it again."""
    push(pair.bare, DOCS)

    def sleeps() -> None:
        for _ in range(10):
            pair.interrupt(60)

    while not any(key.startswith(what) for _, _, key in pair.cloud.sends):
        pair.one.hooks["after the intents"] = sleeps
        pair.one.tick(5)
        assert len(journal(pair.bare)) < 500
    pair.one.hooks.clear()
    pair.ends_well()


def test_an_operation_is_run_by_one(pair: Pair) -> None:
    push(pair.bare, DOCS)
    pair.both()
    push(pair.bare, {"reboot": reboot_yaml("a", NODE)})
    pair.one.hooks["before the intents"] = pair.interrupt
    pair.one.tick()
    pair.ends_well()
    assert pair.cloud.boots[NODE] == 2


def test_one_is_at_an_older_main_than_the_other(pair: Pair) -> None:
    """The slower one cannot write for a revision that is over, so it cannot act for it."""
    push(pair.bare, DOCS)
    pair.both()

    def moves() -> None:
        push(pair.bare, {"system": group_yaml("system", 5)})
        for _ in range(4):
            pair.two.tick(5)

    push(pair.bare, {"system": group_yaml("system", 4)})
    pair.one.hooks["while looking"] = moves
    pair.one.tick()
    pair.ends_well()
    assert [thing.spec["count"] for thing in pair.cloud.of("hyperpod.InstanceGroup")] == [5]
    counts = [key for _, verb, key in pair.cloud.effects if verb == "update"]
    assert counts == ["hyperpod.InstanceGroup/prod/system"]


class Writers(RuleBasedStateMachine):
    """Ticks, deaths, pushes that fail and commits, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.where = Path(tempfile.mkdtemp(prefix="rivals-"))
        self.pair = Pair(root=self.where)
        self.reboots = 0

    @initialize(lag=st.sampled_from([0.0, 60.0]))
    def begin(self, lag: float) -> None:
        self.pair.cloud.lag = lag
        push(self.pair.bare, DOCS)

    @rule(second=st.booleans(), count=st.integers(1, 6), seconds=st.sampled_from([0.0, 5.0, 70.0]))
    def ticks(self, second: bool, count: int, seconds: float) -> None:
        rival = self.pair.rivals[second]
        for _ in range(count):
            try:
                rival.tick(seconds)
            except Died:
                rival.restart()

    @rule(step=st.sampled_from(STEPS))
    def one_is_interrupted_by_the_other(self, step: str) -> None:
        self.pair.one.hooks[step] = self.pair.interrupt

    @rule(second=st.booleans())
    def dies(self, second: bool) -> None:
        self.pair.rivals[second].restart()

    @rule(second=st.booleans(), trouble=st.lists(st.sampled_from(TROUBLES), max_size=3))
    def pushes_will_fail(self, second: bool, trouble: list[str]) -> None:
        self.pair.rivals[second].trouble += trouble

    @rule(
        where=st.sampled_from(WHERE),
        kind=st.sampled_from(["refused", "lost", "lost_effect", "died", "died_effect"]),
    )
    def something_will_fail(self, where: str, kind: str) -> None:
        self.pair.cloud.faults.append((where, kind))

    @rule(count=st.integers(1, 4))
    def scales(self, count: int) -> None:
        push(self.pair.bare, {"system": group_yaml("system", count)})

    @rule()
    def asks_for_a_reboot(self) -> None:
        if self.reboots < 2:
            self.reboots += 1
            push(self.pair.bare, {f"reboot-{self.reboots}": reboot_yaml(f"reboot-{self.reboots}", NODE)})

    @invariant()
    def nothing_is_there_twice(self) -> None:
        nothing_twice(self.pair.cloud)

    def teardown(self) -> None:
        try:
            self.ends_well()
        finally:
            self.pair.close()
            shutil.rmtree(self.where, ignore_errors=True)

    def ends_well(self) -> None:
        pair = self.pair
        pair.cloud.faults.clear()
        pair.one.hooks.clear()
        for rival in pair.rivals:
            rival.trouble.clear()
        for _ in range(4):
            quiet = 0
            for _ in range(40):
                quiet = quiet + 1 if not any(rival.tick(60).lines for rival in pair.rivals) else 0
                if quiet > 5:
                    break
            unknown = [op for op in pair.one.status().open_ops() if op.phase.value == "unknown"]
            for op in unknown:
                pair.one.order("resolve", op.op, **{"as": "not-happened"})
            if not unknown:
                break
        assert {rival.status().condition for rival in pair.rivals} == {Condition.READY}, pair.one.story()
        lines = journal(pair.bare)
        nothing_twice(pair.cloud)
        journal_is_right(lines)


Writers.TestCase.settings = settings(
    max_examples=2,
    stateful_step_count=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
TestWriters = Writers.TestCase
