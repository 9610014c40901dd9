"""The kubelet of every node, and the collector of pods whose node is gone.

A bound pod starts after a while and becomes ready. One that may end
(restartPolicy Never or OnFailure) ends after its run time, with the exit
code that its annotations ask for; both annotations are ours alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reconciler.sandbox.kubernetes.objects import Object, dig, items, mapping, name_of, namespace_of, rfc3339
from reconciler.sandbox.kubernetes.simulators import placement
from reconciler.sandbox.kubernetes.simulators.cache import NODES, PODS, Key, Resource
from reconciler.sandbox.kubernetes.simulators.client import Refused
from reconciler.sandbox.kubernetes.simulators.world import World

RUN_SECONDS = "sandbox.instantstart.dev/run-seconds"
EXIT_CODE = "sandbox.instantstart.dev/exit-code"


@dataclass(frozen=True, kw_only=True)
class PodTimes:
    """Simulated seconds."""

    start: float = 3.0  # from bound to running
    run: float = 30.0  # of a pod that ends by itself
    stop: float = 1.0  # from deleted to gone


class Kubelet:
    name = "kubelet"

    def __init__(self, world: World, times: PodTimes) -> None:
        self._world = world
        self._times = times
        self._due: dict[tuple[str, str], float] = {}  # (uid, step) → simulated time
        self._booted: dict[str, str] = {}  # pod uid → boot id of the node it runs on
        self._addresses = 0

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]:
        if resource == PODS:
            if now is None:
                self._forget(before)
                return ()
            return [key] if now["spec"].get("nodeName") else ()
        if resource == NODES and (before is None or now is None or _state(before) != _state(now)):
            return [
                (namespace_of(pod), name_of(pod))
                for pod in self._world.all(PODS)
                if pod["spec"].get("nodeName") == key[1]
            ]
        return ()

    def sync(self, key: Key) -> None:
        pod = self._world.get(PODS, key)
        if pod is None or not pod["spec"].get("nodeName"):
            return
        node = self._world.get(NODES, ("", pod["spec"]["nodeName"]))
        if node is None:
            # the pod collector's work: nobody is left to stop it gently
            self._world.client.delete(PODS.path(key), grace=0, uid=pod["metadata"]["uid"])
            return
        ready = placement.is_ready(node)
        if not ready:
            self._mark_unready(key, pod)
            return
        if pod["metadata"].get("deletionTimestamp"):
            if self._reached(key, pod, "stop", self._times.stop):
                self._world.client.delete(PODS.path(key), grace=0, uid=pod["metadata"]["uid"])
            return
        match dig(pod, "status", "phase"):
            case "Pending":
                if self._reached(key, pod, "start", self._times.start):
                    self._run(key, pod, node)
            case "Running":
                self._go_on(key, pod, node)
            case _:
                pass

    def _go_on(self, key: Key, pod: Object, node: Object) -> None:
        uid, boot_id = pod["metadata"]["uid"], dig(node, "status", "nodeInfo", "bootID")
        if self._booted.setdefault(uid, boot_id) != boot_id or not _is_ready(pod):
            self._run(key, pod, node, restarted=self._booted[uid] != boot_id)
            return
        if pod["spec"].get("restartPolicy") == "Always":
            return
        annotations: dict[str, str] = mapping(pod["metadata"], "annotations")
        seconds = float(annotations.get(RUN_SECONDS) or self._times.run)
        if self._reached(key, pod, "run", seconds):
            self._end(key, pod, int(annotations.get(EXIT_CODE) or 0))

    def _reached(self, key: Key, pod: Object, step: str, seconds: float) -> bool:
        """Whether that many simulated seconds have passed since this was first asked; if not, a timer is set."""
        at = (pod["metadata"]["uid"], step)
        now = self._world.clock.now()
        due = self._due.get(at)
        if due is None:
            due = self._due[at] = now + seconds
        if now >= due:
            self._due.pop(at, None)
            return True
        self._world.later(self, key, due - now)
        return False

    def _run(self, key: Key, pod: Object, node: Object, *, restarted: bool = False) -> None:
        self._addresses += 1
        now = rfc3339(self._world.clock.now())
        old = {each["name"]: each for each in items(pod, "status", "containerStatuses")}
        statuses: list[Object] = []
        for container in pod["spec"]["containers"]:
            count = old.get(container["name"], {}).get("restartCount", 0) + (1 if restarted else 0)
            statuses.append(_container_status(container, {"running": {"startedAt": now}}, ready=True, restarts=count))
        status: Object = {
            "phase": "Running",
            "hostIP": _address(node),
            "podIP": dig(pod, "status", "podIP") or f"10.1.{self._addresses // 250 % 250}.{self._addresses % 250 + 1}",
            "startTime": dig(pod, "status", "startTime") or now,
            "conditions": [_condition(kind, "True", now) for kind in _READY_CONDITIONS],
            "containerStatuses": statuses,
        }
        status["podIPs"] = [{"ip": status["podIP"]}]
        status["hostIPs"] = [{"ip": status["hostIP"]}]
        self._booted[pod["metadata"]["uid"]] = dig(node, "status", "nodeInfo", "bootID")
        self._write(key, status)

    def _end(self, key: Key, pod: Object, exit_code: int) -> None:
        now = rfc3339(self._world.clock.now())
        reason = "Completed" if exit_code == 0 else "Error"
        ended = {"terminated": {"exitCode": exit_code, "reason": reason, "finishedAt": now}}
        old = {each["name"]: each for each in items(pod, "status", "containerStatuses")}
        statuses = [
            _container_status(each, ended, ready=False, restarts=old.get(each["name"], {}).get("restartCount", 0))
            for each in pod["spec"]["containers"]
        ]
        conditions = [_condition(kind, "False", now, reason="PodCompleted") for kind in ("Ready", "ContainersReady")]
        phase = "Succeeded" if exit_code == 0 else "Failed"
        self._write(key, {"phase": phase, "conditions": conditions, "containerStatuses": statuses})

    def _mark_unready(self, key: Key, pod: Object) -> None:
        if dig(pod, "status", "phase") != "Running" or not _is_ready(pod):
            return
        now = rfc3339(self._world.clock.now())
        self._write(key, {"conditions": [_condition("Ready", "False", now, reason="NodeNotReady")]})

    def _write(self, key: Key, status: Object) -> None:
        try:
            written = self._world.client.strategic(f"{PODS.path(key)}/status", {"status": status})
        except Refused as refused:
            if refused.code != 404:
                raise
            return
        self._world.write(PODS, written)

    def _forget(self, pod: Object | None) -> None:
        if pod is None:
            return
        uid = pod["metadata"]["uid"]
        self._booted.pop(uid, None)
        for step in ("start", "run", "stop"):
            self._due.pop((uid, step), None)


_READY_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


def _is_ready(pod: Object) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in items(pod, "status", "conditions"))


def _state(node: Object) -> tuple[bool, Any]:
    return placement.is_ready(node), dig(node, "status", "nodeInfo", "bootID")


def _address(node: Object) -> str:
    return next((each["address"] for each in items(node, "status", "addresses") if each["type"] == "InternalIP"), "")


def _condition(kind: str, status: str, now: str, *, reason: str | None = None) -> Object:
    return {"type": kind, "status": status, "lastTransitionTime": now, "lastProbeTime": None, "reason": reason}


def _container_status(container: Object, state: Object, *, ready: bool, restarts: int) -> Object:
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": f"sandbox://{container['image']}",
        "containerID": f"containerd://{container['name']}",
        "ready": ready,
        "started": ready,
        "restartCount": restarts,
        "state": state,
    }
