"""Taking rights from the reconciler, by somebody who stays an administrator: from another account, as on real EKS."""

from __future__ import annotations

import base64
import time
from contextlib import suppress
from typing import Any, cast

from reconciler.live.errors import NotFound
from reconciler.live.kube import rights
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.rights import Rule
from reconciler.sandbox import embedded
from schemas.journal import ClusterStatus, Condition
from tests.engine_support import STORAGE, Sandbox, Site, group_yaml
from tests.rights.cutting import without
from tests.waiting import PATIENCE, until

ADMIN_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
KEEPER_ACCOUNT = "999900001111"
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
SYSTEM = group_yaml("system", count=2)
ROLE, CLUSTER_ROLE = Gvk("rbac.authorization.k8s.io/v1", "Role"), Gvk("rbac.authorization.k8s.io/v1", "ClusterRole")
PARTS = {rights.RECONCILER: rights.OURS, rights.READER: rights.READS, rights.INSTALLER: rights.HELM}


class Keeper:
    """A `TokenProvider` of the administrator."""

    def __init__(self, sandbox: Sandbox) -> None:
        keys = {name: getattr(sandbox, name) for name in ("endpoint", "account", "access_key", "secret_key", "region")}
        self._sandbox = embedded.Sandbox(cloud=cast("Any", None), **keys)
        self.principal = str(sandbox.client("sts").get_caller_identity()["Arn"])

    def current(self) -> str:
        return self._sandbox.eks_token("prod")

    def renewed(self, rejected: str) -> str:
        return self.current()


class Lowered:
    """A site whose cluster is Ready, with the rights of `rights` in its own Kubernetes API."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.keeper = Keeper(site.sandbox.of_account(KEEPER_ACCOUNT))
        site.commit("cluster", cluster=site.cluster_yaml(), groups=SYSTEM, storage=STORAGE)
        eks = site.client("eks")
        while not any(line.get("call") == "eks:CreateCluster" and line["phase"] == "succeeded" for line in self._ops()):
            site.idle(1)
            time.sleep(0.01)
        cluster = eks.describe_cluster(name="prod")["cluster"]
        eks.create_access_entry(clusterName="prod", principalArn=self.keeper.principal)
        eks.associate_access_policy(
            clusterName="prod",
            principalArn=self.keeper.principal,
            policyArn=ADMIN_POLICY,
            accessScope={"type": "cluster"},
        )
        authority = base64.b64decode(cluster["certificateAuthority"]["data"]).decode()
        self.admin = KubeCluster(cluster["endpoint"], authority, self.keeper)
        # Without the role `view`, which gives much of this once more.
        self.view = next(body for body in rights.manifests() if body["metadata"]["name"].endswith(":view"))
        self.admin.apply([body for body in rights.manifests() if body != self.view], op="by-hand")
        me = str(site.client("sts").get_caller_identity()["Arn"])
        eks.update_access_entry(clusterName="prod", principalArn=me, kubernetesGroups=[rights.GROUP])
        eks.disassociate_access_policy(clusterName="prod", principalArn=me, policyArn=ADMIN_POLICY)

    def ready(self) -> Site:
        """Bring it back to what every test begins with."""
        site = self.site
        status = site.settle(
            Condition.READY,
            revision=site.commit("begin", cluster=site.cluster_yaml(), groups=SYSTEM, storage=STORAGE, more=None),
        )
        assert status.condition is Condition.READY, f"{status.reason}: {status.msg}"
        return site

    def take(self, verb: str, resource: str, group: str = "") -> None:
        """From every rule; then it is certainly gone."""
        self._write({name: without(rules, verb, resource, group) for name, rules in PARTS.items()})
        self.until(verb, resource, group, allowed=False)

    def give_back(self, verb: str, resource: str, group: str = "") -> None:
        self._write({name: list(rules) for name, rules in PARTS.items()})
        self.until(verb, resource, group, allowed=True)

    def stalled(self, limit: float = PATIENCE) -> ClusterStatus:
        """Tick, everything due, until it says that it stalls."""
        end = time.monotonic() + limit
        while (status := self.site.status).condition is not Condition.STALLED:
            assert time.monotonic() < end, f"not Stalled but {status.condition}: {status.reason} {status.msg}"
            self.site.idle(1)
            time.sleep(0.02)
        return status

    def close(self) -> None:
        self.admin.close()
        self.site.close()

    def deletes(self, since: int) -> list[str]:
        """What the reconciler and its helm took out of Kubernetes since that entry of the log."""
        log = self.site.sandbox.get(f"/log?since={since}")
        return [
            entry["operation"]
            for entry in log
            if entry["service"] == "kubernetes"
            and str(entry["cluster"]).startswith(self.site.sandbox.account)
            and entry["operation"].startswith("delete")
            and entry["status"] < 400
        ]

    def newest(self) -> int:
        return int(self.site.sandbox.get("/log")[-1]["seq"])

    def get(self, kind: str, namespace: str | None, name: str) -> dict[str, Any] | None:
        with suppress(NotFound):
            return self.admin.get(Gvk("v1", kind), namespace, name)
        return None

    def _ops(self) -> list[dict[str, Any]]:
        memory = self.site.engine.memories.get("prod")
        return self._calls() if memory is not None else []

    def _calls(self) -> list[dict[str, Any]]:
        lines = self.site.lines
        calls = {line["op"]: line["call"] for line in lines if line["t"] == "op" and "call" in line}
        return [{**line, "call": calls[line["op"]]} for line in lines if line["t"] == "op" and line["op"] in calls]

    def _write(self, parts: dict[str, list[Rule]]) -> None:
        bodies = [body for name, rules in parts.items() for body in rights.role(name, rules)]
        self.admin.apply(bodies, op="by-hand")

    def until(self, verb: str, resource: str, group: str, *, allowed: bool) -> None:
        """Wait until the reconciler may that, or not: a server hears of new rights a moment after they were stored."""
        what, _, sub = resource.partition("/")
        wanted = {"verb": verb, "resource": what, "subresource": sub, "group": group, "namespace": rights.RELEASES}
        body = {"spec": {"resourceAttributes": wanted}}
        scope = self.site.engine.observe("prod")
        assert scope.world is not None
        kube = scope.world.kube()
        review = lambda: kube.transport.change("POST", REVIEW, op="test", body=body)["status"]  # noqa: E731
        until(review, lambda status: bool(status["allowed"]) is allowed)
