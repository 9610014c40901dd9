"""A run over what somebody made by hand: adopted, and let go of again. Nothing is made and nothing deleted, every mark
is written once and taken off once, and at the end everything is as it was before."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from schemas.journal import Condition
from tests.adoption.byhand import EKS, ByHand
from tests.adoption.documents import cluster, group
from tests.crash.run import Run, Scene
from tests.engine_support import BY_HAND

GROUPS = group("plain", "ml.m5.2xlarge", 2) + group("labelled", "ml.c5.2xlarge", 1)
VERBS = {"adopt": "marked", "release": "let go of"}


@dataclass(kw_only=True)
class AdoptionRun(Run):
    eks: str = EKS
    hand: ByHand = field(init=False)
    _groups: Any = None
    _tags: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.hand = ByHand(self.sandbox)
        self.hand.all(classic=True)
        self._groups, self._tags = self.hand.groups(), self.hand.tags()

    def _scenes(self) -> list[Scene]:
        return [("adopt", Condition.READY, self._adopt), ("release", Condition.GONE, self._let_go)]

    def _adopt(self) -> str:
        opened = cluster(self.hand, vpc="adopt", extra="  deletionProtection: false\n")
        return self._commit({"cluster": opened, "groups": GROUPS})

    def _let_go(self) -> str:
        return self._commit(dict.fromkeys(("cluster", "groups")))

    def _log(self) -> list[dict[str, Any]]:
        """Without what was done by hand."""
        return [entry for entry in super()._log() if BY_HAND not in str(entry["userAgent"])]

    def _more_wrong(self, lines: list[dict[str, Any]], log: list[dict[str, Any]]) -> list[str]:
        wrong = [f"{what}: adopting makes and deletes nothing" for what in self.report.effects]
        intents = {line["op"]: line for line in lines if line["t"] == "op" and line["phase"] == "intent"}
        touched = [intents[entry["op"]] for entry in log if entry["effect"] and entry["op"] in intents]
        done = Counter((intent["verb"], intent["key"]) for intent in touched)
        wrong += [f"{key} was {VERBS.get(verb, verb)} {n} times" for (verb, key), n in done.items() if n > 1]
        marked, let_go = ({key for verb, key in done if verb == name} for name in VERBS)
        if not marked or marked != let_go:
            wrong.append(f"marked were {sorted(marked)}, let go of {sorted(let_go)}")
        if self.hand.groups() != self._groups:
            wrong.append("the groups are not as they were")
        if self.hand.tags() != self._tags:
            wrong.append(f"the tags are not as they were: {self.hand.tags()} instead of {self._tags}")
        return wrong
