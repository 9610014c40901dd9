"""What the cloud is told to do wrong: which calls, which fault, how many times.

throttle error500 access_denied expired_token conflict quota invalid skewed   an answer instead of the effect
timeout:s                held for s real seconds, then cut; nothing happened
slow:s                   held for s real seconds, then answered
lost_reply               it happened, and the connection is cut without a word
cut                      it happened, and the connection is cut in the middle of the answer
partial                  a 200 in which the first item failed (calls with an outcome per item)
fails                    accepted, and what it began fails later
kill_before, kill_after  the client dies when its request has come, or when the effect is there
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from dataclasses import dataclass

from reconciler.sandbox.aws.calls import Json, mutates, op_of, part
from reconciler.sandbox.aws.fault_answers import ANSWERS

KILLS = ("kill_before", "kill_after")  # the client, when its request has come, or when the effect is there
KINDS = (*ANSWERS, "timeout", "slow", "lost_reply", "cut", "partial", "fails", *KILLS)


@dataclass(kw_only=True)
class Fault:
    service: str | None
    operation: str | None
    op: str | None  # the product's op id, in the user agent
    agent: str  # how the user agent begins
    mutating: bool  # calls that change something only
    skip: int  # matching calls still let pass
    kind: str
    seconds: float  # real seconds, for slow and timeout
    pid: int  # the process that a kill is for; negative: its group
    left: int

    def matches(self, service: str, operation: str, user_agent: str) -> bool:
        # The Kubernetes side is meant only where it is named: a fault "of everything" is one of AWS.
        named = self.service == service or (self.service is None and (service != "kubernetes" or self.op is not None))
        if not named or self.operation not in (None, operation) or not user_agent.startswith(self.agent):
            return False
        return self.op in (None, op_of(user_agent)) and (mutates(service, operation) or not self.mutating)

    def loses_reply(self) -> bool:
        """Called when the effect is there: whether nobody is to hear of it."""
        if self.kind == "kill_after":
            self.kill()
        return self.kind in ("lost_reply", "kill_after")

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class Faults:
    """`page`: the longest page that a listing gives, whatever it is asked for; None = as long as allowed."""

    def __init__(self) -> None:
        self.page: int | None = None
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, order: Json) -> None:
        """`{match: {service, operation, op, agent, mutating, nth}, fault: kind or kind:seconds, times, pid}`; raises
        ValueError."""
        match: Json = part(order, "match")
        kind, _, seconds = str(order.get("fault", "")).partition(":")
        if kind not in KINDS:
            raise ValueError(f"unknown fault {kind!r}; known are {', '.join(KINDS)}")
        pid = int(order.get("pid", 0))
        if kind in KILLS and abs(pid) <= 1:
            raise ValueError(f"{kind} needs the pid of a process, or its group as a negative number")
        fault = Fault(
            service=match.get("service"),
            operation=match.get("operation"),
            op=match.get("op"),
            agent=str(match.get("agent", "")),
            mutating=bool(match.get("mutating", False)),
            skip=int(match.get("nth", 1)) - 1,
            kind=kind,
            seconds=float(seconds or 1),
            pid=pid,
            left=int(order.get("times", 1)),
        )
        with self._lock:
            self._faults.append(fault)

    def take(self, service: str, operation: str, user_agent: str) -> Fault | None:
        """The fault this call meets; it is used up by being met."""
        with self._lock:
            for fault in self._faults:
                if not fault.matches(service, operation, user_agent):
                    continue
                if fault.skip > 0:
                    fault.skip -= 1
                    continue
                fault.left -= 1
                if fault.left <= 0:
                    self._faults.remove(fault)
                return fault
        return None

    def limited(self, asked: int) -> int:
        """How long a page becomes that was asked to be `asked` long."""
        return asked if self.page is None else min(asked, self.page)

    def clear(self) -> None:
        self.page = None
        with self._lock:
            self._faults.clear()
