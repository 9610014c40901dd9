"""How many machines of a type a zone has. Nothing said = as many as asked."""

from __future__ import annotations

from collections import Counter

from reconciler.sandbox.aws.calls import Json


class Capacity:
    def __init__(self) -> None:
        self._limits: dict[tuple[str, str], int] = {}  # (type, zone) → machines in all
        self._taken: Counter[tuple[str, str]] = Counter()

    def limit(self, instance_type: str, zone: str, count: int | None) -> None:
        """Set or (None) lift the limit of a zone, named or by id."""
        if count is None:
            self._limits.pop((instance_type, zone), None)
        else:
            self._limits[instance_type, zone] = count

    def left(self, instance_type: str, zone: str, zone_id: str) -> int | None:
        """Machines still to be had; None = no limit."""
        for name in (zone, zone_id):
            if (instance_type, name) in self._limits:
                return max(self._limits[instance_type, name] - self._taken[instance_type, zone], 0)
        return None

    def take(self, instance_type: str, zone: str) -> None:
        self._taken[instance_type, zone] += 1

    def give_back(self, instance_type: str, zone: str) -> None:
        self._taken[instance_type, zone] -= 1

    def shown(self) -> list[Json]:
        return [{"type": kind, "zone": zone, "count": count} for (kind, zone), count in sorted(self._limits.items())]

    def clear(self) -> None:
        self._limits.clear()
        self._taken.clear()
