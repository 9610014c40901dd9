"""How machines come, fail, reboot and go, and what that makes of their group and cluster.

Continuous clusters take what they get and go on trying, group by group. Classic ones take all or nothing and roll back.
"""

from __future__ import annotations

import ipaddress
import random
import uuid
from collections.abc import Callable
from typing import Any

from reconciler.sandbox.aws.calls import Json, each, part
from reconciler.sandbox.aws.hyperpod import kube_nodes
from reconciler.sandbox.aws.hyperpod.machines import machine
from reconciler.sandbox.aws.hyperpod.records import Group, HyperPodCluster, Node, instance_id
from reconciler.sandbox.aws.world import World, random_id

_SCRIPT_FAILED = (
    "Instance group {group}: Lifecycle scripts did not run successfully. "
    "Ensure the scripts exist in provided S3 path, are accessible, and run without errors."
)


class Shortage(Exception):
    """No machine to be had: capacity or addresses."""


class Provisioning:
    def __init__(self, world: World) -> None:
        self._world = world

    # ---- counts

    def scale(self, cluster: HyperPodCluster, group: Group) -> None:
        """Start or stop machines until the group has as many as its target, or no more are to be had."""
        mine = cluster.of_group(group.name)
        for node in _surplus(group, mine):
            self.terminate(cluster, node)
        try:
            for _ in range(group.target - len(mine)):
                self._launch(cluster, group, f"hp-{random_id(17)}")
        except Shortage as shortage:
            self._short(cluster, group, str(shortage))
        self.judge(cluster, group)

    def retry_all(self) -> None:
        """Capacity has changed: whoever waits tries again now."""
        for clusters in self._world.hyperpod.values():
            for cluster in clusters.values():
                for group in list(cluster.groups.values()):
                    if cluster.continuous and cluster.status == "InService":
                        self.scale(cluster, group)

    def watch_minimum(self, cluster: HyperPodCluster, group: Group) -> None:
        """Give the group three hours to reach its minimum; each change starts them anew."""
        group.minimum_round += 1
        if group.minimum is None or len(cluster.running(group.name)) >= group.minimum:
            return
        watched = group.minimum_round

        def too_late() -> None:
            if group.minimum_round != watched or self.minimum_reached(cluster, group):
                return
            text = f"Instance group {group.name} did not reach its minimum of {group.minimum} instances in time"
            cluster.event(self._world.now(), text, group=group.name, level="Error")
            group.target, group.minimum = group.last_good
            group.message = text
            self.scale(cluster, group)

        self._world.agenda.after(self._world.pace.min_count_timeout, too_late)

    @staticmethod
    def minimum_reached(cluster: HyperPodCluster, group: Group) -> bool:
        return len(cluster.running(group.name)) >= (group.minimum or 0)

    def judge(self, cluster: HyperPodCluster, group: Group) -> None:
        """The status of a group, and of a classic cluster, as its machines stand."""
        if "Deleting" in (group.status, cluster.status):
            return  # nothing brings these back
        running = len(cluster.running(group.name))
        if group.script_failed:
            group.status = "Failed"
            group.message = _SCRIPT_FAILED.format(group=group.name)
        elif cluster.continuous and cluster.status != "Creating":
            if self.minimum_reached(cluster, group):
                group.status = "InService"
                group.last_good = (group.target, group.minimum)
        elif not cluster.continuous and running == group.target == len(cluster.of_group(group.name)):
            group.status = "InService"
        if not cluster.continuous:
            self._judge_classic(cluster)

    # ---- acts on single machines

    def terminate(self, cluster: HyperPodCluster, node: Node) -> None:
        if node.leaving:
            return
        node.status, node.life = "ShuttingDown", node.life + 1
        cluster.event(self._world.now(), f"Instance {node.id} is being terminated", group=node.group, node=node.id)

        def gone() -> None:
            kube_nodes.remove(self._world, cluster, node)
            cluster.nodes.pop(node.id, None)
            self._world.capacity.give_back(node.type, node.zone)
            self._world.agenda.after(self._world.pace.interfaces_linger, lambda: self._drop_interface(cluster, node))
            if node.group in cluster.groups:
                self.judge(cluster, cluster.groups[node.group])

        self._world.agenda.after(self._world.pace.node_delete, gone)

    def reboot(self, cluster: HyperPodCluster, node: Node) -> None:
        node.status, node.life, life = "Pending", node.life + 1, node.life + 1
        node.message = "Instance is being rebooted"
        kube_nodes.push(self._world, cluster, node)

        def back() -> None:
            node.boot = str(uuid.uuid4())
            self._run(cluster, node)
            cluster.event(self._world.now(), f"Instance {node.id} was rebooted", group=node.group, node=node.id)

        self._later(self._world.pace.node_reboot, node, life, back)

    def replace(self, cluster: HyperPodCluster, node: Node) -> None:
        """Another machine under the same logical id."""
        self.terminate(cluster, node)
        group = cluster.groups[node.group]

        def fresh() -> None:
            alive = cluster.of_group(group.name)
            if len(alive) >= group.target or any(other.logical == node.logical for other in alive):
                return
            try:
                self._launch(cluster, group, node.logical)
            except Shortage as shortage:
                self._short(cluster, group, str(shortage))

        self._world.agenda.after(self._world.pace.node_replace, fresh)

    def die(self, cluster: HyperPodCluster, node: Node) -> None:
        """A fault nobody asked for. With NodeRecovery Automatic the service replaces the machine."""
        node.status, node.life = "Failure", node.life + 1
        node.message = "Instance failed its health check"
        kube_nodes.push(self._world, cluster, node)
        text = f"Instance {node.id} has a hardware fault"
        cluster.event(self._world.now(), text, group=node.group, node=node.id, level="Error")
        if cluster.recovery == "Automatic" and machine(node.type).accelerated:
            life = node.life
            self._later(self._world.pace.node_replace, node, life, lambda: self.replace(cluster, node))

    # ---- a machine's way into service

    def _launch(self, cluster: HyperPodCluster, group: Group, logical: str) -> None:
        kind, subnet = self._place(cluster, group)
        interface = self._interface(cluster, group, kind, subnet)
        now = self._world.now()
        node = Node(
            id=instance_id(),
            logical=logical,
            group=group.name,
            type=kind,
            zone=str(subnet.availability_zone),
            zone_id=str(subnet.availability_zone_id),
            subnet=str(subnet.id),
            interface=str(interface.id),
            ip=str(interface.private_ip_address),
            launched=now,
            lifecycle=dict(part(group.spec, "LifeCycleConfig")),
        )
        self._world.capacity.take(node.type, node.zone)
        cluster.nodes[node.id] = node
        cluster.event(now, f"Instance {node.id} is being provisioned", group=group.name, node=node.id)
        self._later(self._world.pace.node_boot, node, node.life, lambda: self._script(cluster, node))

    def _script(self, cluster: HyperPodCluster, node: Node) -> None:
        group = cluster.groups[node.group]
        if self.script_exists(cluster, node.lifecycle) and not group.script_broken:
            group.script_failed = False
            self._later(self._world.pace.node_script, node, node.life, lambda: self._join(cluster, node))
            return
        node.status, node.message = "Failure", "Lifecycle scripts did not run successfully."
        text = _SCRIPT_FAILED.format(group=group.name)
        cluster.event(self._world.now(), text, group=group.name, node=node.id, level="Error")
        group.script_failed = group.target > 0
        if not cluster.continuous:
            self._roll_back(cluster, text)
            return
        self.judge(cluster, group)

        def again() -> None:
            # Continuous clusters retry for ever, and bill each try. The group may have got another script since.
            node.lifecycle = dict(part(group.spec, "LifeCycleConfig"))
            node.status, node.message = "Pending", ""
            self._script(cluster, node)

        self._later(self._world.pace.script_retry, node, node.life, again)

    def _join(self, cluster: HyperPodCluster, node: Node) -> None:
        group = cluster.groups[node.group]
        node.joined = True
        if not group.spec.get("OnStartDeepHealthChecks"):
            self._run(cluster, node)
            return
        node.status, node.message = "DeepHealthCheckInProgress", "Deep health checks are running"
        kube_nodes.push(self._world, cluster, node)
        self._later(self._world.pace.deep_health_check, node, node.life, lambda: self._run(cluster, node))

    def _run(self, cluster: HyperPodCluster, node: Node) -> None:
        node.joined, node.status, node.message = True, "Running", ""
        kube_nodes.push(self._world, cluster, node)
        text = f"Instance {node.id} is running"
        cluster.event(self._world.now(), text, group=node.group, node=node.id)
        self.judge(cluster, cluster.groups[node.group])

    def script_exists(self, cluster: HyperPodCluster, lifecycle: Json) -> bool:
        """Is the script in its bucket? A group without a script needs none."""
        entry = lifecycle.get("OnCreate") or lifecycle.get("OnInitComplete")
        if not entry:
            return True
        bucket, _, prefix = str(lifecycle.get("SourceS3Uri", "")).partition("://")[2].partition("/")
        key = "/".join(part for part in (prefix.strip("/"), str(entry)) if part)
        return self._world.moto.object_exists(cluster.account, bucket, key)

    # ---- places and addresses

    def _place(self, cluster: HyperPodCluster, group: Group) -> tuple[str, Any]:
        vpc: Json = group.spec.get("OverrideVpcConfig") or part(cluster.request, "VpcConfig")
        subnets = [self._world.moto.subnet(cluster.account, cluster.region, one) for one in vpc.get("Subnets", [])]
        known = [subnet for subnet in subnets if subnet is not None]
        full = False
        for kind in group.types:
            for subnet in known:
                left = self._world.capacity.left(kind, subnet.availability_zone, subnet.availability_zone_id)
                if left == 0:
                    continue
                if subnet.available_ip_address_count >= machine(kind).addresses:
                    return kind, subnet
                full = True
        if full:
            raise Shortage(
                f"Insufficient free addresses in the subnets {', '.join(s.id for s in known)} "
                f"for instance group {group.name}"
            )
        raise Shortage(
            "We currently do not have sufficient capacity to launch new "
            f"{', '.join(group.types)} instances in instance group {group.name}. Please try again."
        )

    def _interface(self, cluster: HyperPodCluster, group: Group, kind: str, subnet: Any) -> Any:
        vpc: Json = group.spec.get("OverrideVpcConfig") or part(cluster.request, "VpcConfig")
        count = machine(kind).addresses
        backend = self._world.moto.backend("ec2", cluster.account, cluster.region)
        return backend.create_network_interface(
            subnet,
            None,
            _addresses(backend, subnet, count),
            group_ids=list(each(vpc, "SecurityGroupIds")),
            description=f"[DO NOT DELETE] ENI managed by SageMaker HyperPod cluster {cluster.arn}",
        )

    def _drop_interface(self, cluster: HyperPodCluster, node: Node) -> None:
        self._world.moto.backend("ec2", cluster.account, cluster.region).enis.pop(node.interface, None)

    # ---- shortage and rollback

    def _short(self, cluster: HyperPodCluster, group: Group, why: str) -> None:
        if not cluster.continuous:
            self._roll_back(cluster, why)
            return
        if group.retry_due:
            return
        cluster.event(self._world.now(), why, group=group.name, level="Warn")
        group.message, group.retry_due = why, True

        def again() -> None:
            group.retry_due = False
            if cluster.groups.get(group.name) is group and cluster.status != "Deleting":
                self.scale(cluster, group)

        self._world.agenda.after(self._world.pace.capacity_retry, again)

    def _roll_back(self, cluster: HyperPodCluster, why: str) -> None:
        if cluster.status not in ("Creating", "Updating"):
            return
        creating = cluster.status == "Creating"
        cluster.status, cluster.message = "RollingBack", why
        counts: Json = cluster.before or {}
        for group in list(cluster.groups.values()):
            kept = int(counts.get(group.name, {}).get("count", 0))
            for node in cluster.of_group(group.name)[kept:]:
                self.terminate(cluster, node)

        def rolled_back() -> None:
            if creating:
                cluster.status = "Failed"
                for group in cluster.groups.values():
                    group.status = "Failed"
                return
            for group in list(cluster.groups.values()):
                if group.name not in counts:
                    del cluster.groups[group.name]
                    continue
                group.target, group.spec = counts[group.name]["count"], counts[group.name]["spec"]
                group.status, group.script_failed = "InService", False
            cluster.status = "InService"

        self._world.agenda.after(self._world.pace.rollback, rolled_back)

    def _judge_classic(self, cluster: HyperPodCluster) -> None:
        if cluster.status not in ("Creating", "Updating"):
            return
        leaving = any(node.leaving for node in cluster.nodes.values())
        if not leaving and all(group.status == "InService" for group in cluster.groups.values()):
            cluster.status, cluster.before = "InService", None

    def _later(self, seconds: float, node: Node, life: int, act: Callable[[], None]) -> None:
        def if_still() -> None:
            if node.life == life:
                act()

        self._world.agenda.after(seconds, if_still)


def _surplus(group: Group, mine: list[Node]) -> list[Node]:
    """Machines to go, without regard to work; of flexible groups the least wanted type first."""
    count = len(mine) - group.target
    if count <= 0:
        return []
    order = random.sample(mine, len(mine))
    rank = {kind: place for place, kind in enumerate(group.types)}
    return sorted(order, key=lambda node: (node.status == "Running", -rank.get(node.type, 99)))[:count]


def _addresses(backend: Any, subnet: Any, count: int) -> list[str]:
    taken = {
        str(address["PrivateIpAddress"])
        for eni in backend.get_all_network_interfaces()
        if eni.subnet.id == subnet.id
        for address in eni.private_ip_addresses
    }
    found: list[str] = []
    network = ipaddress.ip_network(str(subnet.cidr_block))
    for number in range(4, network.num_addresses - 1):
        address = str(network.network_address + number)
        if address not in taken:
            found.append(address)
        if len(found) == count:
            break
    return found
