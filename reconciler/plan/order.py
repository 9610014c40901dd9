"""Actions in an order in which they can be executed: what is needed first comes first, ties by stage and key."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from schemas.plan import Action, Verb
from schemas.resource import STAGES


def arrange(actions: Sequence[Action]) -> tuple[Action, ...]:
    """Topological, stable. A circle (a mistake of ours) is broken by stage order, never by dropping an action."""
    by_key: dict[str, list[int]] = {}
    for index, action in enumerate(actions):
        by_key.setdefault(action.key, []).append(index)
    waits: dict[int, set[int]] = {
        i: {j for need in a.needs for j in by_key.get(need, ()) if j != i} for i, a in enumerate(actions)
    }
    rank = [_rank(action) for action in actions]
    followers: dict[int, list[int]] = {}
    for index, needed in waits.items():
        for other in needed:
            followers.setdefault(other, []).append(index)

    ready = [(rank[i], i) for i, needed in waits.items() if not needed]
    heapq.heapify(ready)
    done: list[int] = []
    left = {i: len(needed) for i, needed in waits.items()}
    while ready:
        _, index = heapq.heappop(ready)
        done.append(index)
        for other in followers.get(index, ()):
            left[other] -= 1
            if left[other] == 0:
                heapq.heappush(ready, (rank[other], other))
    stuck = sorted(set(range(len(actions))) - set(done), key=lambda i: rank[i])
    return tuple(actions[i] for i in (*done, *stuck))


def _rank(action: Action) -> tuple[int, int, str]:
    """Removals come after everything that builds, in the reverse order of stages."""
    stage = STAGES.index(action.stage)
    removal = action.verb in (Verb.DELETE, Verb.RELEASE)
    return (1, -stage, action.key) if removal else (0, stage, action.key)
