"""Tags of HyperPod clusters: never part of Describe, always by ARN."""

from __future__ import annotations

from reconciler.sandbox.aws.calls import Call, Handler, Json
from reconciler.sandbox.aws.hyperpod.records import HyperPodCluster, cluster_of
from reconciler.sandbox.aws.world import World


class Tags:
    def __init__(self, world: World) -> None:
        self._world = world

    def handlers(self) -> dict[str, Handler]:
        return {"AddTags": self.add, "DeleteTags": self.delete, "ListTags": self.list}

    def add(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        wanted = {tag["Key"]: tag["Value"] for tag in params["Tags"]}
        if not wanted.items() <= cluster.tags.items():
            cluster.tags |= wanted
            call.changed("updated", "hyperpod.cluster", cluster.name, "tags")
        return {"Tags": _shown(cluster)}

    def delete(self, call: Call, params: Json) -> Json:
        cluster = self._cluster(call, params)
        gone = [cluster.tags.pop(key) for key in params["TagKeys"] if key in cluster.tags]
        if gone:
            call.changed("updated", "hyperpod.cluster", cluster.name, "tags")
        return {}

    def list(self, call: Call, params: Json) -> Json:
        return {"Tags": _shown(self._cluster(call, params))}

    def _cluster(self, call: Call, params: Json) -> HyperPodCluster:
        return cluster_of(self._world, call.account, call.region, params["ResourceArn"])


def _shown(cluster: HyperPodCluster) -> list[Json]:
    return [{"Key": key, "Value": value} for key, value in cluster.tags.items()]
