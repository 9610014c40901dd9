"""What a plan without changes costs on Kubernetes, and whether it says the truth: ours against `kubectl diff`."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reconciler.live.errors import NotFound
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import gvk_of
from schemas.values import JsonObject
from tests.bench.kube_objects import Api, api_server, mixed, written
from tests.bench.measuring import Run, median, python
from tests.bench.rows import Goal, Row, Size


def main(size: Size = Size.NORMAL) -> list[Row]:
    counts = {Size.TINY: [8], Size.NORMAL: [1000], Size.FULL: [1000, 4000]}[size]
    rows: list[Row] = []
    for latency in (0.0,) if size is Size.TINY else (0.010, 0.0):
        with tempfile.TemporaryDirectory() as folder, api_server(Path(folder), latency=latency) as api:
            if not latency:
                rows.append(verdicts(api, 24 if size is Size.TINY else 600))
            for count in counts:
                rows += measured(api, count, latency, 1 if latency or size is Size.TINY else 3)
    return rows


def measured(api: Api, count: int, latency: float, times: int) -> list[Row]:
    space = api.namespace(f"same-{count}")
    objects = mixed(count, space)
    with api.open() as cluster:
        cluster.apply(objects, op="bench")
    file = written(objects, api.home / space)
    many: list[Run] = []
    ours: list[Run] = []
    whole: list[Run] = []
    for _ in range(times):
        run, told = python("kube_client", "compare", str(api.described()), str(file), where=api.home)
        assert told["verdicts"] == {"same": count}, told
        ours.append(Run(wall=told["wall"], cpu=told["cpu"], peak=told["peak"]))
        whole.append(run)
        many.append(kubectl_diff(api, file, 16))
    warm, parallel, single = median(ours), median(many), kubectl_diff(api, file, 1)
    what = f"no-change compare of {count} objects, {api.about}"
    return [
        Row(
            bench=what,
            measured=warm.wall,
            unit="s",
            reference=parallel.wall,
            against="kubectl diff --concurrency=16",
            goal=Goal.FASTER,
            limit=10,
            note=f"median of {times} × 5 on a client that runs already; client CPU {warm.cpu:.2f} s to "
            f"{parallel.cpu:.2f} s",
        ),
        Row(
            bench=f"{what}, beside the default",
            measured=warm.wall,
            unit="s",
            reference=single.wall,
            against="kubectl diff",
            goal=Goal.FASTER,
            limit=100 if latency else 20,
        ),
        Row(
            bench=f"{what}: memory of the process",
            measured=warm.peak,
            unit="MiB",
            reference=parallel.peak,
            against="kubectl diff --concurrency=16",
            goal=Goal.AT_MOST,
            limit=200,
        ),
    ]


def kubectl_diff(api: Api, file: Path, concurrency: int) -> Run:
    """Nothing differs, so it must end with 0; it would end with 1 if anything did.

    Without `--server-side`, which takes a third longer.
    """
    return api.kubectl("diff", f"--concurrency={concurrency}", "-f", str(file))


# Truth ---------------------------------------------------------------------------------------------------------------


def verdicts(api: Api, count: int) -> Row:
    """Every kind of drift there is, judged by `compare` and by a dry run of each object."""
    space = api.namespace("drift")
    objects = mixed(count, space)
    with api.open() as cluster:
        cluster.apply(objects, op="bench")
        wanted = [_drifted(cluster, number, body) for number, body in enumerate(objects)]
        ours = [found.state.value for found in cluster.compare(wanted)]
        server = [_dry_run(cluster, body) for body in wanted]
    wrong = [(w["kind"], n, o, s) for n, (w, o, s) in enumerate(zip(wanted, ours, server, strict=True)) if o != s]
    assert not wrong, f"compare says something else than the server: {wrong[:5]}"
    different = sum(state != "same" for state in server)
    assert 0 < different < count
    return Row(
        bench=f"drift among {count} objects, {api.about}: found",
        measured=different,
        unit="objects",
        reference=sum(state != "same" for state in ours),
        against="a dry run of every object",
        goal=Goal.SAME,
        note=f"{len(DRIFTS)} kinds of drift, additions of others among them; each verdict is the same",
    )


def _drifted(cluster: KubeCluster, number: int, body: JsonObject) -> JsonObject:
    """Every third object drifts, each in another way; returns what is wanted now."""
    if number % 3:
        return body
    return DRIFTS[(number // 3) % len(DRIFTS)](cluster, copy.deepcopy(body))


def _by_hand(cluster: KubeCluster, body: JsonObject, change: JsonObject) -> None:
    """Another writer applies a part, by force."""
    meta = {"name": body["metadata"]["name"], "namespace": body["metadata"]["namespace"]}
    part = {"apiVersion": body["apiVersion"], "kind": body["kind"], **change}
    part["metadata"] = {**meta, **change.get("metadata", {})}
    cluster.apply([part], op="bench", field_manager="kubectl-edit")


def _owned_label_changed(cluster: KubeCluster, body: JsonObject) -> JsonObject:
    _by_hand(cluster, body, {"metadata": {"labels": {"team": "somebody-else"}}})
    return body


def _gone(cluster: KubeCluster, body: JsonObject) -> JsonObject:
    meta = body["metadata"]
    cluster.delete(gvk_of(body), meta["namespace"], meta["name"], op="bench")
    return body


def _label_added_by_others(cluster: KubeCluster, body: JsonObject) -> JsonObject:
    _by_hand(cluster, body, {"metadata": {"labels": {"theirs": "yes"}}})
    return body


def _wanted_grew(_cluster: KubeCluster, body: JsonObject) -> JsonObject:
    body["metadata"]["labels"]["more"] = "wanted"
    return body


def _wanted_shrank(_cluster: KubeCluster, body: JsonObject) -> JsonObject:
    del body["metadata"]["annotations"]["example.com/owner"]
    return body


def _content_wanted_otherwise(_cluster: KubeCluster, body: JsonObject) -> JsonObject:
    match body["kind"]:
        case "ConfigMap":
            body["data"]["key-0"] = "other"
        case "Service":
            body["spec"]["ports"][0]["targetPort"] = 8081
        case "Deployment":
            body["spec"]["replicas"] = 3
        case _:
            body["metadata"]["annotations"]["example.com/owner"] = "other@example.com"
    return body


def _content_moved_by_others(cluster: KubeCluster, body: JsonObject) -> JsonObject:
    match body["kind"]:
        case "ConfigMap":
            _by_hand(cluster, body, {"data": {"key-1": "theirs"}})
        case "Deployment":
            _by_hand(cluster, body, {"spec": {"replicas": 7}})
        case _:
            _by_hand(cluster, body, {"metadata": {"annotations": {"example.com/why": "theirs"}}})
    return body


def _content_added_by_others(cluster: KubeCluster, body: JsonObject) -> JsonObject:
    change: JsonObject = {"data": {"theirs": "yes"}} if body["kind"] == "ConfigMap" else {}
    _by_hand(cluster, body, {**change, "metadata": {"annotations": {"example.com/theirs": "yes"}}})
    return body


def _written_otherwise(_cluster: KubeCluster, body: JsonObject) -> JsonObject:
    """Equal by meaning, in other words."""
    if body["kind"] == "Deployment":
        body["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "0.1"
    return body


Drift = Callable[[KubeCluster, JsonObject], JsonObject]
DRIFTS: tuple[Drift, ...] = (
    _owned_label_changed,
    _gone,
    _label_added_by_others,
    _wanted_grew,
    _wanted_shrank,
    _content_wanted_otherwise,
    _content_moved_by_others,
    _content_added_by_others,
    _written_otherwise,
)


def _dry_run(cluster: KubeCluster, body: JsonObject) -> str:
    """The server's word: would applying change anything that is not bookkeeping?"""
    meta = body["metadata"]
    try:
        live = cluster.get(gvk_of(body), meta["namespace"], meta["name"])
    except NotFound:
        return "absent"
    after = cluster.apply_one(body, op="bench", dry_run=True)
    return "same" if _told(live) == _told(after) else "differs"


def _told(body: Mapping[str, Any]) -> JsonObject:
    meta = {k: v for k, v in body["metadata"].items() if k not in ("managedFields", "resourceVersion", "generation")}
    return {**{k: v for k, v in body.items() if k != "status"}, "metadata": meta}


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
