"""The Job controller: pods up to the parallelism until enough succeeded or too many failed; TTL afterwards."""

from collections.abc import Sequence
from datetime import datetime

from reconciler.sandbox.kubernetes.objects import Object, dig, items, mapping, rfc3339
from reconciler.sandbox.kubernetes.simulators import pods
from reconciler.sandbox.kubernetes.simulators.cache import JOBS, PODS, Key, Resource
from reconciler.sandbox.kubernetes.simulators.world import World

_INDEX = "batch.kubernetes.io/job-completion-index"


class Jobs:
    name = "jobs"

    def __init__(self, world: World) -> None:
        self._world = world

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]:
        if resource == JOBS:
            return [key] if now else ()
        return pods.owner_key(now or before, "Job") if resource == PODS else ()

    def sync(self, key: Key) -> None:
        job = self._world.get(JOBS, key)
        if job is None or pods.is_going(job):
            return
        if ended := _ended_at(job):
            self._expire(key, job, ended)
            return
        spec: Object = job["spec"]
        mine = pods.pods_of(self._world, job)
        failed = [pod for pod in mine if dig(pod, "status", "phase") == "Failed"]
        succeeded = [pod for pod in mine if dig(pod, "status", "phase") == "Succeeded"]
        active = [pod for pod in mine if not pods.is_over(pod) and not pods.is_going(pod)]
        wanted: int = spec.get("completions") or 1
        if len(failed) > spec["backoffLimit"]:
            self._end(
                job,
                active,
                len(succeeded),
                len(failed),
                "Failed",
                "BackoffLimitExceeded",
                "Job has reached the specified backoff limit",
            )
            return
        if len(succeeded) >= wanted:
            self._end(
                job,
                active,
                len(succeeded),
                len(failed),
                "Complete",
                "CompletionsReached",
                "Reached expected number of succeeded pods",
            )
            return
        if spec.get("suspend"):
            for pod in active:
                pods.delete_pod(self._world, pod)
            active = []
        else:
            self._start(job, active, succeeded, min(spec["parallelism"], wanted - len(succeeded)) - len(active))
        active = [pod for pod in pods.pods_of(self._world, job) if not pods.is_over(pod) and not pods.is_going(pod)]
        self._report(job, active, len(succeeded), len(failed), [])

    def _start(self, job: Object, active: list[Object], succeeded: list[Object], count: int) -> None:
        template: Object = job["spec"]["template"]
        taken = {_index(pod) for pod in [*active, *succeeded]}
        free = (number for number in range(job["spec"].get("completions") or 1) if number not in taken)
        for _ in range(count):
            if job["spec"].get("completionMode") != "Indexed":
                pods.create_pod(self._world, job, template)
                continue
            index = str(next(free))
            metadata: Object = mapping(template, "metadata")
            annotations = {**mapping(metadata, "annotations"), _INDEX: index}
            labelled = {**template, "metadata": {**metadata, "annotations": annotations}}
            pods.create_pod(self._world, job, labelled, labels={_INDEX: index})

    def _end(
        self, job: Object, active: list[Object], succeeded: int, failed: int, kind: str, reason: str, message: str
    ) -> None:
        for pod in active:
            pods.delete_pod(self._world, pod)
        now = rfc3339(self._world.clock.now())
        before: Object = mapping(job, "status")
        kinds = ("SuccessCriteriaMet", kind) if kind == "Complete" else ("FailureTarget", kind)
        conditions = [
            {**pods.condition(each, True, reason, message, before, now), "lastProbeTime": now} for each in kinds
        ]
        self._report(job, [], succeeded, failed, conditions, completed=now if kind == "Complete" else None)

    def _report(
        self,
        job: Object,
        active: list[Object],
        succeeded: int,
        failed: int,
        conditions: list[Object],
        *,
        completed: str | None = None,
    ) -> None:
        now = rfc3339(self._world.clock.now())
        suspended = job["spec"].get("suspend")
        before: Object = mapping(job, "status")
        pods.write_status(
            self._world,
            JOBS,
            job,
            {
                "startTime": before.get("startTime") or (None if suspended else now),
                "active": len(active),
                "ready": sum(pods.is_ready(pod) for pod in active),
                "succeeded": succeeded,
                "failed": failed,
                "completionTime": completed,
                "conditions": conditions or before.get("conditions"),
            },
        )

    def _expire(self, key: Key, job: Object, ended: float) -> None:
        ttl = job["spec"].get("ttlSecondsAfterFinished")
        if ttl is None:
            return
        left = ended + ttl - self._world.clock.now()
        if left > 0:
            self._world.later(self, key, left)
            return
        self._world.client.delete(JOBS.path(key), uid=job["metadata"]["uid"])


def _ended_at(job: Object) -> float | None:
    for each in items(job, "status", "conditions"):
        if each["type"] in ("Complete", "Failed") and each["status"] == "True":
            return datetime.fromisoformat(each["lastTransitionTime"].replace("Z", "+00:00")).timestamp()
    return None


def _index(pod: Object) -> int:
    annotations: dict[str, str] = mapping(pod["metadata"], "annotations")
    return int(annotations.get(_INDEX, -1))
