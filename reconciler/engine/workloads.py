"""Step 4b: who works on the nodes that a plan takes away. Looked at only when a plan takes nodes away."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from reconciler.engine.scope import Scope
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from reconciler.plan.gates import REMOVALS, lowers_count
from schemas.errors import InstantStartError, StopUntilChange
from schemas.plan import Action
from schemas.values import JsonObject

GROUP_LABEL = "sagemaker.amazonaws.com/instance-group-name"
NODE, POD = Gvk("v1", "Node"), Gvk("v1", "Pod")
# Controllers of the cluster itself: they are moved by Kubernetes and nobody's work is lost.
SYSTEM = frozenset({"kube-system", "kube-public", "kube-node-lease", "cert-manager", "aws-hyperpod"})


def see_work(scope: Scope) -> None:
    """Put `detail["pods"]` and `detail["jobs"]` on every group that the plan shrinks: pods that are not of daemons and
    not the cluster's own, as `namespace/name`, and what they belong to. Where they cannot be listed, that stands there
    instead and holds the action."""
    if scope.plan is None or scope.world is None:
        return
    shrinking = [action for action in scope.plan.actions if _shrinks(scope, action)]
    if not shrinking:
        return
    try:
        kube = scope.world.kube()
        pods = kube.list(POD)
        found = {action.key: _working(kube, action.name, pods) for action in shrinking}
    except InstantStartError as error:
        why = error.message if isinstance(error, StopUntilChange) else error.reason
        unseen = {f"pods that cannot be listed ({why})": ""}
        found = {action.key: unseen for action in shrinking}
    for key, work in found.items():
        seen = scope.observed[key]
        jobs = sorted({job for job in work.values() if job})
        scope.observed[key] = dataclasses.replace(seen, detail={**seen.detail, "pods": sorted(work), "jobs": jobs})


def _shrinks(scope: Scope, action: Action) -> bool:
    seen = scope.observed.get(action.key)
    if action.type != "hyperpod.InstanceGroup" or seen is None or not seen.present:
        return False
    return action.verb in REMOVALS or lowers_count(action, seen)


def _working(kube: KubeCluster, group: str, pods: Iterable[JsonObject]) -> dict[str, str]:
    """Pods at work on the nodes of a group → the job each belongs to."""
    nodes = {str(node["metadata"]["name"]) for node in kube.list(NODE, label_selector=f"{GROUP_LABEL}={group}")}
    work = [pod for pod in pods if pod.get("spec", {}).get("nodeName") in nodes and _is_work(pod)]
    return {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": _job(pod) for pod in work}


def _job(pod: Mapping[str, Any]) -> str:
    """What controls the pod; the pod itself where nothing does."""
    told = pod["metadata"]
    owner = next((one for one in told.get("ownerReferences") or () if one.get("controller")), None)
    what = f"{owner.get('kind')}/{owner.get('name')}" if owner is not None else f"Pod/{told['name']}"
    return f"{told['namespace']}/{what}"


def _is_work(pod: Mapping[str, Any]) -> bool:
    owners = [str(owner.get("kind")) for owner in pod["metadata"].get("ownerReferences") or ()]
    ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
    return not ended and "DaemonSet" not in owners and pod["metadata"].get("namespace") not in SYSTEM
