"""The plan of a cluster with about 1,000 resources: pure work, no network."""

from __future__ import annotations

import dataclasses

from reconciler.desired.build import build
from reconciler.plan.make import PlanInput, make
from schemas.documents.load import load_cluster
from schemas.documents.records import SourceFile
from schemas.resource import Health, Mark, Observed, Presence, Resource, resolve
from tests.bench.config_documents import cluster_document, group_document
from tests.bench.measuring import repeated
from tests.bench.rows import Goal, Row, Size


def main(size: Size = Size.NORMAL) -> list[Row]:
    groups = 10 if size is Size.TINY else 960
    desired = resources(groups)
    observed = seen_as_wanted(desired)
    same = PlanInput(cluster="prod", revision="a" * 40, desired=desired, previous=desired, observed=observed)
    moved = dataclasses.replace(same, observed=drifted(observed))
    nothing = dataclasses.replace(same, previous={}, observed={k: absent(o) for k, o in observed.items()})
    assert make(same).empty, [a.key for a in make(same).actions][:5]
    changes, creations = len(make(moved).actions), len(make(nothing).actions)
    assert changes >= groups // 10 and creations >= groups
    return [
        plan_row(f"plan of {len(desired)} resources, nothing to do", same, ""),
        plan_row(f"plan of {len(desired)} resources, a tenth moved", moved, f"{changes} actions"),
        plan_row(f"plan of {len(desired)} resources, nothing there yet", nothing, f"{creations} actions"),
    ]


def plan_row(bench: str, given: PlanInput, note: str) -> Row:
    run = repeated(lambda: make(given), 7)
    return Row(bench=bench, measured=run.wall, unit="s", goal=Goal.AT_MOST, limit=1.0, note=note)


def resources(groups: int) -> dict[str, Resource]:
    """From documents, as always. HyperPod itself allows fewer groups; the plan does not care."""
    text = cluster_document("prod") + "".join(group_document(f"group-{n}", n) for n in range(groups))
    loaded = load_cluster("prod", [SourceFile(path="clusters/prod/all.yaml", data=text.encode())])
    assert not loaded.problems, loaded.problems[:3]
    return build(loaded, b"#!/bin/bash\n").resources


def seen_as_wanted(desired: dict[str, Resource]) -> dict[str, Observed]:
    observed = {
        key: Observed(
            key=key,
            type=resource.type,
            name=resource.name,
            presence=Presence.PRESENT,
            attrs={name: f"{name}-of-{key}" for name in ("id", "arn", "name", "url", "endpoint", "zones", "issuer")},
            health=Health.HEALTHY,
            mark=Mark.OURS,
            identity=f"id-{key}",
            guards={"count": resource.spec.get("count")},
        )
        for key, resource in desired.items()
    }
    return {key: dataclasses.replace(seen, spec=resolve(desired[key].spec, observed)) for key, seen in observed.items()}


def drifted(observed: dict[str, Observed]) -> dict[str, Observed]:
    groups = [key for key, seen in observed.items() if seen.type == "hyperpod.InstanceGroup"]
    moved = {
        key: dataclasses.replace(observed[key], spec={**observed[key].spec, "count": 1, "labels": {"team": "other"}})
        for key in groups[::10]
    }
    return {**observed, **moved}


def absent(seen: Observed) -> Observed:
    return Observed(key=seen.key, type=seen.type, name=seen.name, presence=Presence.ABSENT)


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
