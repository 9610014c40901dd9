"""Why a tick could do nothing for a cluster. It is not in the journal, which may be what cannot be written; a status
tells it before anything green, until a tick comes through."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.errors import InstantStartError, StopUntilChange
from schemas.journal import ClusterStatus, Condition

LASTS = 3  # ticks in a row that fail: by then a person should know


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """`stops`: it will not pass by itself, as far as one can tell."""

    reason: str
    msg: str
    stops: bool = False

    def __str__(self) -> str:
        return f"{self.reason}: {self.msg}"

    def over(self, told: ClusterStatus, times: int) -> ClusterStatus:
        """The status of a cluster that has had this trouble in so many ticks in a row. What waits for a person anyhow
        is told as it is."""
        if told.condition is Condition.STALLED:
            return told
        condition = Condition.STALLED if self.stops or times >= LASTS else Condition.RECONCILING
        return told.model_copy(update={"condition": condition, "reason": self.reason, "msg": self.msg})


def trouble_of(error: Exception) -> Trouble:
    if isinstance(error, InstantStartError):
        return Trouble(reason=error.reason, msg=error.message, stops=isinstance(error, StopUntilChange))
    return Trouble(reason="InternalError", msg=repr(error))
