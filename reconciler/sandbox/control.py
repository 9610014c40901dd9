"""The sandbox's own door, `/_sandbox`: what happened, and what shall go wrong.

Not part of any simulated API. The product never calls it; tests and the demo do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from reconciler.sandbox.aws.calls import Json
from reconciler.sandbox.aws.cloud import Cloud
from reconciler.sandbox.aws.errors import Reply
from reconciler.sandbox.aws.hyperpod.records import HyperPodCluster, Node
from reconciler.sandbox.aws.kubernetes_seam import KubernetesCluster
from reconciler.sandbox.aws.wire import Request

CONTROL = "/_sandbox"

Answer = Callable[[Json], Any]


class Control:
    def __init__(self, cloud: Cloud, region: str) -> None:
        self._cloud, self._region = cloud, region
        self._doors: dict[tuple[str, str], Answer] = {
            ("GET", "/log"): lambda order: cloud.log.since(int(order.get("since", 0))),
            ("GET", "/effects"): lambda order: cloud.log.summary(cloud.marked()),
            ("POST", "/faults"): self._fault,
            ("DELETE", "/faults"): lambda order: cloud.faults.clear(),
            ("POST", "/pages"): self._pages,
            ("GET", "/capacity"): lambda order: cloud.world.capacity.shown(),
            ("POST", "/capacity"): self._capacity,
            ("POST", "/addresses"): self._addresses,
            ("POST", "/quota"): self._quota,
            ("GET", "/clock"): self._clock,
            ("POST", "/accounts"): self._account,
            ("GET", "/pod-logs"): self._read_log,
            ("POST", "/pod-logs"): self._write_log,
            ("POST", "/reset"): lambda order: cloud.reset(),
        }

    def answer(self, request: Request) -> Reply:
        path = request.path.removeprefix(CONTROL)
        try:
            order: Any = json.loads(request.body) if request.body.strip() else dict(parse_qsl(request.query))
            door = self._doors.get((request.method, path)) or self._node(request.method, path)
            if door is None:
                return _json(404, {"error": f"no {request.method} {path} here"})
            return _json(200, door(order))
        except (KeyError, TypeError, ValueError) as wrong:
            return _json(400, {"error": f"{type(wrong).__name__}: {wrong}"})

    def _fault(self, order: Json) -> None:
        self._cloud.faults.add(order)

    def _pages(self, order: Json) -> None:
        """`{most}`: no page of a listing is longer, whatever is asked for; null = as before."""
        most = order.get("most")
        self._cloud.faults.page = None if most is None else int(most)

    def _capacity(self, order: Json) -> None:
        count = order.get("count")
        with self._cloud.agenda.lock:
            self._cloud.world.capacity.limit(
                str(order["type"]), str(order["zone"]), None if count is None else int(count)
            )
            self._cloud.provisioning.retry_all()

    def _addresses(self, order: Json) -> None:
        """`{subnet, free}`: so many addresses are left in it; null = as if nobody else had taken any."""
        free = order.get("free")
        account = str(order.get("account") or self._cloud.world.credentials.accounts()[0])
        place = account, str(order.get("region", self._region))
        with self._cloud.agenda.lock:
            self._cloud.world.moto.leave_addresses(*place, str(order["subnet"]), None if free is None else int(free))
            self._cloud.provisioning.retry_all()

    def _quota(self, order: Json) -> None:
        account = order.get("account") or self._cloud.world.credentials.accounts()[0]
        self._cloud.world.quotas.put(
            str(account), str(order.get("region", self._region)), str(order["name"]), float(order["value"])
        )

    def _clock(self, _order: Json) -> Json:
        clock = self._cloud.agenda.clock
        return {"now": clock.now(), "rate": clock.rate, "origin": clock.origin}

    def _account(self, order: Json) -> Json:
        identity = self._cloud.world.credentials.account(str(order["account"]))
        return {"account": identity.account, "access_key": identity.access_key, "secret_key": identity.secret}

    def _read_log(self, order: Json) -> list[str]:
        kubernetes = self._kubernetes(order)
        return kubernetes.read_log(str(order["namespace"]), str(order["pod"]), str(order["container"]))

    def _write_log(self, order: Json) -> None:
        kubernetes = self._kubernetes(order)
        for line in order["lines"]:
            kubernetes.write_log(str(order["namespace"]), str(order["pod"]), str(order["container"]), str(line))

    def _kubernetes(self, order: Json) -> KubernetesCluster:
        account = str(order.get("account") or self._cloud.world.credentials.accounts()[0])
        place = account, str(order.get("region", self._region))
        cluster = self._cloud.world.eks.get(place, {})[str(order["cluster"])]
        if cluster.kubernetes is None:
            raise ValueError(f"{cluster.name} is {cluster.status}")
        return cluster.kubernetes

    def _node(self, method: str, path: str) -> Answer | None:
        """`POST /node/<instance id>/die`."""
        parts = path.strip("/").split("/")
        if method != "POST" or len(parts) != 3 or (parts[0], parts[2]) != ("node", "die"):
            return None

        def die(_order: Json) -> None:
            with self._cloud.agenda.lock:
                cluster, node = self._find(parts[1])
                self._cloud.provisioning.die(cluster, node)

        return die

    def _find(self, instance: str) -> tuple[HyperPodCluster, Node]:
        for clusters in self._cloud.world.hyperpod.values():
            for cluster in clusters.values():
                if instance in cluster.nodes:
                    return cluster, cluster.nodes[instance]
        raise KeyError(f"no node {instance}")


def _json(status: int, body: Any) -> Reply:
    return Reply(status=status, body=json.dumps(body).encode(), headers={"content-type": "application/json"})
