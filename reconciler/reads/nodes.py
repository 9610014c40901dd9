"""Nodes and groups as people see them: HyperPod's machine and Kubernetes' node are one row. Pure.

Where one of the two sources is out of sight its half of a row is null: what was green a while ago is not shown green.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from reconciler.engine.sight import Sight
from reconciler.reads.clusters import CountsView, GpusView
from reconciler.reads.parts import PartView, View, told
from reconciler.reads.trimmed import MachineFacts, NodeFacts, PodFacts
from reconciler.reads.wishes import DesiredView, GroupWish
from schemas import instance_types

GROUP = "hyperpod.InstanceGroup"


class ConditionView(View):
    type: str
    status: str
    reason: str
    message: str
    since: str


class KubeNodeView(View):
    """`ready` null: its kubelet is silent. `takes_pods`: ready, not cordoned, and HyperPod calls it schedulable."""

    name: str
    ready: bool | None
    ready_since: str
    takes_pods: bool
    cordoned: bool
    health: str
    deep_check: str
    faults: tuple[str, ...]
    taints: tuple[str, ...]
    conditions: tuple[ConditionView, ...]
    boot_id: str
    kubelet: str
    address: str
    created: str


class MachineView(View):
    """What HyperPod says. `image_status`: whether newer software is there."""

    status: str
    message: str
    launched: str
    updated: str
    image: str
    image_status: str


class NodeView(View):
    """One node. `instance` empty: HyperPod still provisions it (`logical` names it then). `machine` null: HyperPod does
    not list it, or cannot be seen; `node` null: Kubernetes does not have it, or cannot be seen; `parts` tell which.
    `gpus`: GPUs or Trainium chips, as the node offers them, or as its type has them."""

    id: str
    instance: str
    logical: str = ""
    group: str
    instance_type: str
    zone: str = ""
    zone_id: str = ""
    machine: MachineView | None = None
    node: KubeNodeView | None = None
    gpus: int | None = None
    gpus_used: int | None = None
    efa_interfaces: int | None = None
    pods: int | None = None


class GroupView(View):
    """One instance group. `desired` null: no document asks for it. `current`, `target`: HyperPod's counts as of the
    newest look; `planned`: verbs of what the plan would do to it now, `held` whether that waits for a person."""

    name: str
    desired: GroupWish | None = None
    instance_type: str = ""
    zone: str = ""
    status: str | None = None
    health: str = ""
    reason: str = ""
    message: str = ""
    current: int | None = None
    target: int | None = None
    nodes: CountsView
    gpus: GpusView
    planned: tuple[str, ...] = ()
    held: bool = False


def joined(
    machines: tuple[Sequence[MachineFacts], PartView],
    nodes: tuple[Sequence[NodeFacts], PartView],
    pods: tuple[Sequence[PodFacts], PartView],
) -> tuple[NodeView, ...]:
    """One row per instance, by group and instance. Nodes that HyperPod does not have come too."""
    by_instance = {node.instance or node.name: node for node in nodes[0]}
    busy = _busy(pods[0])
    rows = [
        _row(machine, by_instance.pop(machine.instance, None), busy, machines[1], nodes[1], pods[1])
        for machine in machines[0]
    ]
    rows += [_row(None, node, busy, machines[1], nodes[1], pods[1]) for node in by_instance.values()]
    return tuple(sorted(rows, key=lambda row: (row.group, row.id)))


def gpus(
    desired: int | None,
    nodes: tuple[Sequence[NodeFacts], PartView] | None,
    pods: tuple[Sequence[PodFacts], PartView] | None,
) -> GpusView:
    """Over these nodes, and the pods on them."""
    if nodes is None or pods is None or not nodes[1].known:
        return GpusView(desired=desired)
    there = sum(node.gpus for node in nodes[0])
    taking = {node.name: node.usable for node in nodes[0] if node.takes_pods}
    ready = sum(taking.values())
    if not pods[1].known:
        return GpusView(desired=desired, there=there, ready=ready)
    names = {node.name for node in nodes[0]}
    holding = [pod for pod in pods[0] if pod.gpus and pod.holds_devices and pod.node in names]
    busy = sum(pod.gpus for pod in holding if pod.node in taking)
    return GpusView(
        desired=desired,
        there=there,
        ready=ready,
        used=sum(pod.gpus for pod in holding),
        idle=max(0, ready - busy),
    )


def instances(
    desired: int, sight: Sight | None, nodes: tuple[Sequence[NodeFacts], PartView] | None, group: str | None = None
) -> CountsView:
    """`there`: HyperPod's own count in the newest look; `ready`: nodes that take pods now."""
    ready = None
    if nodes is not None and nodes[1].known:
        ready = sum(1 for node in nodes[0] if node.takes_pods and node.group and group in (None, node.group))
    seen = [] if sight is None else [one for one in sight.observed.values() if one.type == GROUP and one.present]
    counts = [one.attrs.get("current") for one in seen if group in (None, one.name)]
    there = sum(count for count in counts if isinstance(count, int)) if counts else None
    return CountsView(desired=desired, there=there, ready=ready)


def groups(
    desired: DesiredView,
    sight: Sight | None,
    nodes: tuple[Sequence[NodeFacts], PartView],
    pods: tuple[Sequence[PodFacts], PartView],
) -> tuple[GroupView, ...]:
    """Every group that a document asks for, or that HyperPod has."""
    wishes = {group.name: group for group in desired.groups}
    live = {} if sight is None else {one.name: one for one in sight.observed.values() if one.type == GROUP}
    names = sorted({*wishes, *(name for name, one in live.items() if one.present)})
    return tuple(_group(name, wishes.get(name), sight, nodes, pods) for name in names)


def _group(
    name: str,
    wish: GroupWish | None,
    sight: Sight | None,
    nodes: tuple[Sequence[NodeFacts], PartView],
    pods: tuple[Sequence[PodFacts], PartView],
) -> GroupView:
    seen = None
    if sight is not None:
        seen = next((one for one in sight.observed.values() if one.type == GROUP and one.name == name), None)
    inside = [node for node in nodes[0] if node.group == name]
    planned = sight.plan.actions if sight is not None and sight.plan is not None else ()
    actions = [action for action in planned if seen is not None and action.key == seen.key]
    live = seen.spec if seen is not None and seen.present else {}
    attrs = seen.attrs if seen is not None and seen.present else {}
    return GroupView(
        name=name,
        desired=wish,
        instance_type=wish.instance_type if wish is not None else str(live.get("instanceType") or ""),
        zone=str((wish.zone if wish is not None else None) or live.get("zone") or ""),
        status=str(attrs["status"]) if attrs.get("status") else None,
        health=seen.health.value if seen is not None and seen.present else "",
        reason=seen.reason if seen is not None else "NotLooked",
        message=told(seen.message) if seen is not None else "",
        current=_count(attrs.get("current")),
        target=_count(attrs.get("target")),
        nodes=instances(wish.count if wish is not None else 0, sight, nodes, name),
        gpus=gpus(wish.gpus if wish is not None else 0, (inside, nodes[1]), pods),
        planned=tuple(action.verb.value for action in actions),
        held=sight is not None and any(action.digest in sight.held for action in actions),
    )


def _row(
    machine: MachineFacts | None,
    node: NodeFacts | None,
    busy: dict[str, tuple[int, int]],
    machines: PartView,
    nodes: PartView,
    pods: PartView,
) -> NodeView:
    kind = machine.type if machine is not None else node.type if node is not None else ""
    used, count = busy.get(node.name, (0, 0)) if node is not None else (0, 0)
    counted = node is not None and pods.known
    instance = machine.instance if machine is not None else node.instance if node is not None else ""
    logical = machine.logical if machine is not None else ""
    return NodeView(
        id=instance or logical or (node.name if node is not None else ""),
        instance=instance,
        logical=logical,
        group=machine.group if machine is not None else node.group if node is not None else "",
        instance_type=kind,
        zone=node.zone if node is not None else "",
        zone_id=node.zone_id if node is not None else "",
        machine=_machine(machine) if machine is not None and machines.known else None,
        node=_node(node) if node is not None and nodes.known else None,
        gpus=node.gpus if node is not None else instance_types.accelerators(kind),
        gpus_used=used if counted else None,
        efa_interfaces=node.efa if node is not None else instance_types.efa_interfaces(kind),
        pods=count if counted else None,
    )


def _machine(machine: MachineFacts) -> MachineView:
    return MachineView(
        status=machine.status,
        message=machine.message,
        launched=machine.launched,
        updated=machine.updated,
        image=machine.image,
        image_status=machine.image_status,
    )


def _node(node: NodeFacts) -> KubeNodeView:
    return KubeNodeView(
        name=node.name,
        ready=node.ready,
        ready_since=next((c.since for c in node.conditions if c.type == "Ready"), ""),
        takes_pods=node.takes_pods,
        cordoned=node.cordoned,
        health=node.health,
        deep_check=node.deep_check,
        faults=node.faults,
        taints=node.taints,
        conditions=tuple(ConditionView(**asdict(condition)) for condition in node.conditions),
        boot_id=node.booted,
        kubelet=node.version,
        address=node.address,
        created=node.created,
    )


def _busy(pods: Iterable[PodFacts]) -> dict[str, tuple[int, int]]:
    """GPUs used and pods, by node."""
    found: dict[str, tuple[int, int]] = {}
    for pod in pods:
        if pod.holds_devices:
            used, count = found.get(pod.node, (0, 0))
            found[pod.node] = used + pod.gpus, count + 1
    return found


def _count(value: object) -> int | None:
    return value if isinstance(value, int) else None
