"""Tags of everything EKS has, by ARN."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.sandbox.aws.calls import Call, Handler, Json
from reconciler.sandbox.aws.eks.records import EksCluster, missing
from reconciler.sandbox.aws.world import World


class Tags:
    def __init__(self, world: World) -> None:
        self._world = world

    def handlers(self) -> dict[str, Handler]:
        return {"TagResource": self.tag, "UntagResource": self.untag, "ListTagsForResource": self.list}

    def tag(self, call: Call, params: Json) -> Json:
        tags = self._tags(call, params)
        if not params["tags"].items() <= tags.items():
            tags |= params["tags"]
            call.changed("updated", "eks.tags", params["resourceArn"])
        return {}

    def untag(self, call: Call, params: Json) -> Json:
        tags = self._tags(call, params)
        gone = [tags.pop(key) for key in params["tagKeys"] if key in tags]
        if gone:
            call.changed("updated", "eks.tags", params["resourceArn"])
        return {}

    def list(self, call: Call, params: Json) -> Json:
        return {"tags": self._tags(call, params)}

    def _tags(self, call: Call, params: Json) -> dict[str, str]:
        for cluster in self._world.eks.get((call.account, call.region), {}).values():
            for _, arn, tags in tagged(cluster):
                if arn == params["resourceArn"]:
                    return tags
        raise missing(f"No resource found for ARN: {params['resourceArn']}")


def tagged(cluster: EksCluster) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Kind, ARN and tags of the cluster and all that hangs on it."""
    yield "eks.cluster", cluster.arn, cluster.tags
    yield from (("eks.addon", addon.arn, addon.tags) for addon in cluster.addons.values())
    yield from (("eks.access-entry", entry.arn, entry.tags) for entry in cluster.entries.values())
    yield from (("eks.pod-identity-association", one.arn, one.tags) for one in cluster.associations.values())
    yield from (("eks.nodegroup", group.arn, group.tags) for group in cluster.nodegroups.values())
