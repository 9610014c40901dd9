"""Every kind of read fails in every way while a commit waits that adds some things and takes others away. Run by
`make faults`.

What could not be seen is neither made nor deleted, the others go on, a blink writes no line, what lasts is told once;
and when reads work again the commit becomes true, each effect once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from schemas.journal import Condition
from tests.engine_support import STORAGE, Site, group_yaml
from tests.faults.campaign import HELD, Entry, Kind, Life, kept, kind_of, kinds, mutating, table

FAULTS = ("throttle", "error500", f"timeout:{HELD}", "cut", "expired_token", "access_denied")
PAGE = 2
SYSTEM = group_yaml("system", count=PAGE + 1)  # so that the nodes have a second page, whatever else is on its way
LEFT = SYSTEM + group_yaml("left", "ml.m5.xlarge", 1)
RIGHT = SYSTEM + group_yaml("right", "ml.m5.xlarge", 1).replace("usw2-az2", "usw2-az1")
ENTRY = "  access:\n    - principal: arn:aws:iam::{}:role/reader\n      policy: AmazonEKSViewPolicy\n"
EXPLAINS = ("ListClusterEvents",)  # asked while a group is short: no look fails with it
PAGED = ("ListClusterNodes", "ListAddons")  # what has more than one page here
TRUST = (
    '{"Version": "2012-10-17", "Statement":'
    ' [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]}'
)


@pytest.fixture(scope="module")
def swing(make: Callable[[], Site]) -> Swing:
    return Swing(Life(site=make()))


class Swing:
    """A cluster with two faces: each has what the other has not, in every family."""

    def __init__(self, life: Life) -> None:
        self.life, self.site = life, life.site
        self.left = False
        self.site.client("iam").create_role(RoleName="reader", AssumeRolePolicyDocument=TRUST)
        self.swing()
        self.rest()
        self.site.sandbox.post("/pages", {"most": PAGE})
        self.there = self._counted()
        self.back = self._counted()

    def swing(self) -> str:
        self.left = not self.left
        entry = "" if self.left else ENTRY.format(self.site.sandbox.account)
        return self.site.commit(
            "swing",
            cluster=self.site.cluster_yaml(entry),
            groups=LEFT if self.left else RIGHT,
            storage=STORAGE if self.left else STORAGE.replace("shared", "other"),
        )

    def rest(self) -> None:
        """To the end of the commit; what a guard holds is approved."""
        head = self.site.repo.head()
        assert head is not None
        revision = self.site.repo.revision_of(head, self.site.cluster)
        for _ in range(4):
            status = self.life.step([Condition.READY, Condition.STALLED], revision)
            if status.condition is Condition.READY:
                return
            held = [hold for hold in status.holds.values() if hold.state == "held"]
            assert held, self.life.story("it stopped")
            for hold in held:
                self.site.order("approve", hold.action)
            self.site.idle(1)
        raise AssertionError(self.life.story("held for ever"))

    def effects(self, since: int) -> Counter[str]:
        """What was made and what was taken away, by kind."""
        told = [str(entry["effect"]).split("; ") for entry in mutating(self.life.log()[since:]) if entry["effect"]]
        words = [" ".join(one.split()[:2]) for effects in told for one in effects]
        return Counter(word for word in words if word.startswith(("created", "deleted")))

    def _counted(self) -> Counter[str]:
        since = len(self.life.log())
        self.swing()
        self.rest()
        return self.effects(since)


def reads(entries: Iterable[Entry]) -> dict[Kind, int]:
    """What the product reads of the cloud; left aside discovery, helm's own reads, and what only explains."""
    found = kinds(entry for entry in entries if not entry["mutating"])
    told = {kind: n for kind, n in found.items() if kind.operation not in EXPLAINS}
    return {kind: n for kind, n in told.items() if not kind.agent and " /" not in kind.operation}


def test_reads_that_fail(swing: Swing) -> None:
    life, site = swing.life, swing.site
    since = len(life.log())
    swing.swing()
    site.idle(1)
    swing.rest()
    counted = reads(life.log()[since:])
    cells: dict[tuple[str, str], str] = {}
    for kind in sorted(counted):
        for page in ["", "page 2"] if kind.operation in PAGED else [""]:
            row = f"{kind} {page}".strip()
            outcomes = failing(swing, kind, page)
            life.expect(bool(outcomes), f"{row} met no fault")
            usual = max(set(outcomes.values()), key=list(outcomes.values()).count, default=".")
            cells[row, "unknown"] = usual
            cells[row, "but"] = " ".join(f"{fault}:{what}" for fault, what in outcomes.items() if what != usual)
    found = table(cells, ["unknown", "but"])
    print(found)
    assert not life.problems, "\n".join(life.problems)
    kept("reads", found)


def failing(swing: Swing, kind: Kind, page: str) -> dict[str, str]:
    """The outcome of each fault that was met: how much was unknown, while everything else went on."""
    life, site = swing.life, swing.site
    since, line = len(life.log()), len(site.lines)
    expected = swing.there if swing.left else swing.back
    swing.swing()
    cells: dict[str, str] = {}
    for fault in FAULTS:
        life.plan(kind, [fault], nth=2 if page else 1, times=200)
        before, lines = len(life.log()), len(site.lines)
        site.idle(1)
        site.sandbox.delete("/faults")
        site.sandbox.post("/pages", {"most": PAGE})
        met = [entry for entry in life.log()[before:] if entry["fault"] and kind_of(entry) == kind]
        plan = site.engine.memories[site.cluster].plan
        unknown = set(plan.unknown) if plan is not None else set[str]()
        for said in site.lines[lines:]:
            if said["t"] == "op" and said["phase"] == "intent":
                life.expect(said["key"] not in unknown, f"{kind} {fault}: {said['say']} on what nobody could see")
        families = sorted({key.partition("/")[0] for key in unknown})
        if met:
            cells[fault.partition(":")[0]] = ",".join(families) or "nothing"
    swing.rest()
    effects = swing.effects(since)
    life.expect(effects == expected, f"{kind} {page}: {effects} instead of {expected}")
    told = Counter((x["stage"], x["reason"]) for x in site.lines[line:] if x.get("state") == "Unknown")
    life.expect(not told or max(told.values()) == 1, f"{kind} {page}: told more than once: {told}")
    return cells
