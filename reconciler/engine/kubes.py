"""Connections to the Kubernetes API of each cluster, made from what the look at EKS saw."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable

from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.tokens import EksTokens
from reconciler.resources.handler import World
from schemas.errors import Refused
from schemas.resource import Presence


class Kubes:
    """One connection per cluster; a cluster made again under its name gets a new one, and the old one is closed."""

    def __init__(self, accounts: AwsAccounts, *, pause: Callable[[float], None] = time.sleep) -> None:
        """`pause` waits between the tries of a read."""
        self._accounts = accounts
        self._pause = pause
        self._lock = threading.Lock()
        self._open: dict[str, tuple[tuple[str, str], KubeCluster]] = {}

    def of(self, world: World) -> KubeCluster:
        """Raises Refused while there is no control plane to talk to, or nobody can tell."""
        key = f"eks.Cluster/{world.cluster}"
        seen = world.observed.get(key)
        if seen is None or seen.presence is Presence.UNKNOWN:
            why, reason = (seen.message, seen.reason) if seen is not None else ("not looked at", "NotLooked")
            raise Refused(f"{key} cannot be seen: {why}", reason=reason)
        endpoint, ca = world.attr(key, "endpoint"), world.attr(key, "ca")
        if not endpoint or not ca:
            raise Refused(f"{key} has no endpoint yet", reason="NoControlPlane")
        name = seen.name
        with self._lock:
            at, found = self._open.get(world.cluster, (None, None))
            if found is not None and at == (endpoint, ca):
                return found
            pem = base64.b64decode(ca).decode("ascii")
            made = KubeCluster(endpoint, pem, EksTokens(world.aws, name), pause=self._pause)
            self._open[world.cluster] = (endpoint, ca), made
        if found is not None:
            found.close()
        return made

    def forget(self, cluster: str) -> None:
        """Close what is open to a cluster that is gone."""
        with self._lock:
            _, found = self._open.pop(cluster, (None, None))
        if found is not None:
            found.close()

    def close(self) -> None:
        with self._lock:
            for _, cluster in self._open.values():
                cluster.close()
            self._open.clear()
