"""The same machine under tight limits, with a journal that is lost now and then.

The judge counts for itself: without an approval a revision takes away no more nodes than the blast radius says and no
larger part of the groups than the prune guard says; and from the moment at which the journal lost lines until a person
has spoken, nothing is taken away at all.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from reconciler.engine.doubt import is_held
from reconciler.journal.fold import JOURNAL
from tests.laws.hyperpod_machine import NAMES, HyperPodMachine, Wish, name_of

MOST_NODES, MOST_SHARE = 3, 0.4
# One or the other: where both hold nobody sees that one of them does not.
NODES = f"  blastRadius:\n    maxNodes: {MOST_NODES}\n  pruneGuard:\n    maxDeleteShare: 1\n"
SHARE = f"  pruneGuard:\n    maxDeleteShare: {MOST_SHARE}\n"
REF = "refs/notes/instantstart/status/prod"


class GuardedMachine(HyperPodMachine):
    def __init__(self) -> None:
        super().__init__()
        self.losses = 0
        self.in_doubt = False
        self.taken: dict[Any, dict[str, int]] = {}  # nodes by group, by what they count for
        self.deleted: dict[Any, set[str]] = {}
        self.on_its_way: tuple[Any, dict[str, int], set[str]] | None = None
        self.rig.sagemaker.landed = self.lands

    @initialize(limits=st.sampled_from([NODES, SHARE]))
    def begins(self, limits: str) -> None:
        head = self.rig.repo.head()
        assert head is not None
        self.wishes[head] = self.wish
        self.commits(replace(self.wish, limits=limits))
        self.rig.settle()

    def begin(self, holds: bool, asks: bool) -> None:
        """Not here: see `begins`."""

    def changes_the_policy(self) -> None:
        """Not here: what is drift and what is not, a lost journal cannot tell."""

    @rule(back=st.sampled_from([None, 1, 2, 4, 8]))
    def loses_the_journal(self, back: int | None) -> None:
        """The ref is deleted, or set back by some commits."""
        if self.rig.repo.journal_tip("prod") is None:
            return
        commits = self._git("rev-list", "--first-parent", REF).split()
        if back is None:
            self._git("update-ref", "-d", REF)
        elif len(commits) > 1:
            self._git("update-ref", REF, commits[min(back, len(commits) - 1)])
        else:
            return
        self.losses += 1
        self.in_doubt = True
        self.forgotten = set(NAMES)

    @rule(count=st.integers(0, 1))
    def removes_all_but_one(self, count: int) -> None:
        """Groups that nobody works on, and so small that only their number counts."""
        self.rig.busy.clear()
        groups = {name: replace(group, count=count, minimum=0) for name, group in self.wish.groups.items()}
        self.commits(replace(self.wish, groups={**groups, "system": self.wish.groups["system"]}))
        self.ticks(3, 60.0)
        self.commits(replace(self.wish, groups={"system": self.wish.groups["system"]}))
        self.ticks(3, 60.0)

    @precondition(lambda self: self.is_told_of_the_doubt())
    @rule()
    def says_that_it_goes_on(self) -> None:
        self.rig.order("release", JOURNAL)
        self.in_doubt = False

    def orders_everything_again(self) -> None:
        super().orders_everything_again()
        if self.is_told_of_the_doubt():
            self.says_that_it_goes_on()

    def is_told_of_the_doubt(self) -> bool:
        memory = self.rig.engine.memories.get("prod")
        known = memory is not None and memory.tip == self.rig.repo.journal_tip("prod")
        return memory is not None and known and is_held(memory.status())

    # The judge

    def _judges(self, op: str, operation: str, params: Mapping[str, Any]) -> None:
        super()._judges(op, operation, params)
        status = self.rig.status()
        wish = self.wishes[str(status.rev)]
        nodes, deleted = self._takes(wish, params), set(params.get("InstanceGroupsToDelete", []))
        if self.in_doubt and (nodes or deleted):
            self.wrong.append(f"{operation} {params}: takes nodes away while the journal is in doubt")
        free = {name for name in nodes if (name, wish.groups.get(name)) in self.approved}
        nodes = {name: count for name, count in nodes.items() if name not in free}
        deleted -= free
        key = (status.rev, status.since, self.losses)
        taken = {**self.taken.get(key, {}), **nodes}
        if wish.limits == NODES and nodes and sum(taken.values()) > MOST_NODES:
            self.wrong.append(f"{operation} {params}: {taken} nodes without a word, at most {MOST_NODES}")
        gone = self.deleted.get(key, set()) | deleted
        share = len(gone) / max(1, len(gone | self.rig.sagemaker.groups.keys()))
        if wish.limits == SHARE and deleted and len(gone) > 1 and share > MOST_SHARE:
            self.wrong.append(f"{operation} {params}: {share:.0%} of the groups without a word")
        self.on_its_way = (key, nodes, deleted)

    def _takes(self, wish: Wish, params: Mapping[str, Any]) -> dict[str, int]:
        """Nodes that a request takes away, by group."""
        live = {name: int(body["InstanceCount"]) for name, body in self.rig.sagemaker.groups.items()}
        found = {name: live.get(name, 0) for name in params.get("InstanceGroupsToDelete", [])}
        for body in params.get("InstanceGroups", []):
            found[name_of(body)] = live.get(name_of(body), 0) - int(body["InstanceCount"])
        return {name: count for name, count in found.items() if count > 0}

    def lands(self) -> None:
        """The request that was judged last has its effect. Of one group what several drifts cost is not added up."""
        if self.on_its_way is not None:
            key, nodes, deleted = self.on_its_way
            known = self.taken.setdefault(key, {})
            known |= {name: max(count, known.get(name, 0)) for name, count in nodes.items()}
            self.deleted.setdefault(key, set()).update(deleted)

    def _git(self, *command: str) -> str:
        words = ["git", f"--git-dir={self.rig.path}", *command]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
