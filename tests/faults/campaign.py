"""What went over the wire, told apart by kind of call, and faults given out to every kind in turn."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.journal import ClusterStatus, Condition
from tests import golden
from tests.engine_support import RATE, Site
from tests.faults.life import LIFE

OUTCOMES = Path(__file__).parent / "outcomes"
TICKS = 1000  # most of a step of a life
SECONDS = 1200  # most of a whole life
HELD = 0.05  # real seconds for which a connection is held before it is cut
Entry = Mapping[str, Any]


@dataclass(frozen=True, order=True)
class Kind:
    """One kind of call: "ec2" "CreateVpc", or "kubernetes" "patch daemonsets"; by whom it is sent, if that matters."""

    service: str
    operation: str
    agent: str = ""

    def __str__(self) -> str:
        return f"{self.agent.lower() or self.service}:{self.operation}"


def read_kind(text: str) -> Kind:
    """The kind that was written as this."""
    service, _, operation = text.partition(":")
    return Kind("kubernetes", operation, "Helm") if service == "helm" else Kind(service, operation)


def kind_of(entry: Entry) -> Kind:
    agent = "Helm" if str(entry["userAgent"]).startswith("Helm") else ""
    return Kind(str(entry["service"]), str(entry["operation"]), agent)


def kinds(entries: Iterable[Entry]) -> dict[Kind, int]:
    """Each kind of call with how often it was made, in the order in which they came first."""
    found: dict[Kind, int] = {}
    for entry in entries:
        kind = kind_of(entry)
        found[kind] = found.get(kind, 0) + 1
    return found


def mutating(entries: Iterable[Entry]) -> list[Entry]:
    """Requests of the product that change something."""
    return [entry for entry in entries if entry["mutating"] and (entry.get("op") or kind_of(entry).agent)]


@dataclass(kw_only=True)
class Life:
    """A cluster's life, driven tick by tick. `handled`: failed ops that a person has acted on; `problems`: what should
    not have been, told at the end, all of it."""

    site: Site
    handled: set[str] = field(default_factory=set[str])
    problems: list[str] = field(default_factory=list[str])
    seen: int = 0
    entries: list[Entry] = field(default_factory=list[Entry])
    ends: float = field(default_factory=lambda: time.monotonic() + SECONDS)

    def log(self) -> list[Entry]:
        """All requests to AWS in this account and to its clusters, so far."""
        new: list[Entry] = self.site.sandbox.get(f"/log?since={self.seen}")
        if new:
            self.seen = int(new[-1]["seq"])
            self.entries += [one for one in new if one["account"] in (None, self.site.sandbox.account)]
        return self.entries

    def plan(self, kind: Kind, faults: Sequence[str], *, nth: int = 1, times: int = 1) -> None:
        """The next calls of this kind meet these faults, one after the other."""
        match: dict[str, Any] = {"service": kind.service, "operation": kind.operation, "nth": nth}
        if kind.agent:
            match["agent"] = kind.agent
        for fault in faults:
            self.site.sandbox.post("/faults", {"match": match, "fault": fault, "times": times})

    def met(self) -> dict[tuple[Kind, str], Entry]:
        """The first request of each kind that met each fault."""
        found: dict[tuple[Kind, str], Entry] = {}
        for entry in self.log():
            if entry["fault"]:
                found.setdefault((kind_of(entry), fault_of(entry)), entry)
        return found

    def step(self, until: Sequence[Condition], revision: str) -> ClusterStatus:
        """Tick until the cluster comes to rest in one of these conditions at this revision."""
        for _ in range(TICKS):
            assert time.monotonic() < self.ends, self.story(f"not over in {SECONDS} s")
            result = self.site.tick()
            status = self.site.status
            if status.rev == revision and status.condition in until and not _moving(status):
                return status
            time.sleep(max(0.002, min(result.wake, 30.0) / RATE))
        raise AssertionError(self.story(f"not {[str(c) for c in until]} in {TICKS} ticks"))

    def expect(self, holds: bool, what: str) -> None:
        if not holds:
            self.problems.append(what)

    def story(self, what: str) -> str:
        status = self.site.status
        told = [f"{x['seq']} {x['t']} {x.get('phase', x.get('state', ''))} {x['say']}" for x in self.site.lines[-40:]]
        faults = [f"{e['service']}:{e['operation']} {e['fault']}" for e in self.entries if e["fault"]][-20:]
        return "\n".join([f"{what}: {status.condition.value} {status.reason} {status.msg}", *told, *faults])


def _moving(status: ClusterStatus) -> bool:
    """Something is under way although a stage has failed: the others go on to their end first."""
    return status.condition is Condition.STALLED and any(op.phase.value != "unknown" for op in status.open_ops())


def fault_of(entry: Entry) -> str:
    """The name of the fault that a request met; Kubernetes' side of the sandbox names them by what it does."""
    fault = str(entry["fault"])
    return _NAMES.get(fault, fault.partition(":")[0])


_NAMES = {
    "drop before": "timeout",
    "drop after": "lost_reply",
    "drop middle": "cut",
    "status 429": "throttle",
    "status 500": "error500",
    "status 401": "expired_token",
    "status 403": "access_denied",
    "status 409": "conflict",
    "status 422": "invalid",
}


def recorded(site: Site) -> list[Entry]:
    """The requests of a whole life in which nothing goes wrong."""
    life = Life(site=site)
    for step in LIFE:
        life.step([step.end], step.commit(site))
    return list(life.log())


def kept(name: str, found: str) -> None:
    """Compare with what is written down in `outcomes/`."""
    golden.check(found, OUTCOMES / f"{name}.txt")


def table(cells: Mapping[tuple[str, str], str], columns: Sequence[str]) -> str:
    """Rows of calls, columns of faults; "." where a call never met that fault."""
    rows = sorted({row for row, _ in cells})
    lines = [["call", *columns]]
    lines += [[row, *(cells.get((row, column), ".") for column in columns)] for row in rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns) + 1)]
    texts = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join(texts) + "\n"
