"""Metrics for Prometheus. No label holds a name of a cluster, an object or a commit: their number has no bound."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from reconciler.engine.tick import Engine
from schemas.journal import Condition
from web.access.limits import Limits
from web.pulse import Pulse

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_TICKS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """`request` and `tick` count; everything else is read when somebody asks."""

    def __init__(self, engine: Engine, pulse: Pulse, limits: Limits) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._requests = Histogram(
            "instantstart_http_request_duration_seconds",
            "Seconds until an answer began, by the route's template.",
            ("method", "route", "status"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._ticks = Histogram(
            "instantstart_tick_duration_seconds", "Seconds of a tick.", buckets=_TICKS, registry=self._registry
        )
        self._registry.register(_State(engine, pulse, limits))

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        named = method if method in _METHODS else "other"
        self._requests.labels(named, route, f"{status // 100}xx").observe(seconds)

    def tick(self, seconds: float) -> None:
        self._ticks.observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self._registry)


class _State(Collector):
    def __init__(self, engine: Engine, pulse: Pulse, limits: Limits) -> None:
        self._engine = engine
        self._pulse = pulse
        self._limits = limits

    def collect(self) -> Iterable[Metric]:
        beat = self._pulse.beat
        clusters = GaugeMetricFamily("instantstart_clusters", "Clusters by condition.", labels=["condition"])
        found = Tally(memory.status().condition.value for memory in list(self._engine.memories.values()))
        for condition in Condition:
            clusters.add_metric([condition.value], found[condition.value])
        yield clusters
        yield CounterMetricFamily("instantstart_ticks", "Ticks.", value=beat.ticks)
        yield CounterMetricFamily("instantstart_sent", "Mutations sent to AWS and Kubernetes.", value=beat.sent)
        yield CounterMetricFamily("instantstart_journal_lines", "Journal lines written.", value=beat.lines)
        problems = CounterMetricFamily(
            "instantstart_problems", "What kept a tick, or a cluster in it, from its work.", labels=["reason"]
        )
        for reason, count in sorted(beat.problems.items()):
            problems.add_metric([reason], count)
        yield problems
        at = beat.at or 0.0
        yield GaugeMetricFamily("instantstart_last_tick_timestamp_seconds", "When the last tick ended.", value=at)
        up = float(beat.looked and beat.problem is None)
        yield GaugeMetricFamily("instantstart_repository_up", "Whether the last tick could read it.", value=up)
        yield GaugeMetricFamily("instantstart_open_streams", "Open streams.", value=self._limits.open_streams)
