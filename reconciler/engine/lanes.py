"""Step 9, sending: the lanes of all clusters side by side, each lane in its order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor

from reconciler.engine import act
from reconciler.engine.scope import Scope


def send(
    scopes: Sequence[Scope], drafts: Mapping[str, Sequence[act.Draft]], pool: Executor
) -> Iterator[tuple[Scope, list[tuple[act.Draft, act.Answer]]]]:
    """`drafts`: by cluster. Each lane's answers as they are in, with the cluster that it is of."""
    jobs: list[tuple[Scope, list[act.Draft]]] = []
    for scope in scopes:
        lanes: dict[str, list[act.Draft]] = {}
        for item in drafts[scope.cluster]:
            lanes.setdefault(item.call.lane, []).append(item)
        jobs.extend((scope, items) for items in lanes.values())
    whose, what = [scope for scope, _ in jobs], [items for _, items in jobs]
    yield from zip(whose, pool.map(act.send, whose, what), strict=True)
