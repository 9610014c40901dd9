"""Nodes and pods of Kubernetes and machines of HyperPod, cut down to what readers show. Pure.

Text in them comes from outside: messages are made one line, and what looks like a secret is taken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from reconciler.live.kube.quantities import parse_quantity
from reconciler.reads.parts import told
from schemas.values import JsonObject

GROUP_LABEL: Final = "sagemaker.amazonaws.com/instance-group-name"
HEALTH_LABEL: Final = "sagemaker.amazonaws.com/node-health-status"
DEEP_LABEL: Final = "sagemaker.amazonaws.com/deep-health-check-status"
FAULT_LABELS: Final = ("sagemaker.amazonaws.com/fault-type", "sagemaker.amazonaws.com/fault-reason")
EFA: Final = "vpc.amazonaws.com/efa"
# Whole devices: a node that offers slices (MIG) or cores of a device as well would count twice.
GPU_RESOURCES: Final = ("nvidia.com/gpu", "aws.amazon.com/neurondevice", "aws.amazon.com/neuron")
OVER: Final = ("Succeeded", "Failed")


@dataclass(frozen=True, kw_only=True, slots=True)
class ConditionFacts:
    type: str
    status: str
    reason: str
    message: str
    since: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeFacts:
    """`booted`: the boot id; `ready` None: its kubelet is silent. `gpus`: capacity, `usable`: allocatable ones."""

    name: str
    uid: str
    instance: str
    group: str
    zone: str
    zone_id: str
    type: str
    created: str
    booted: str
    version: str
    address: str
    ready: bool | None
    cordoned: bool
    health: str
    deep_check: str
    faults: tuple[str, ...]
    taints: tuple[str, ...]
    conditions: tuple[ConditionFacts, ...]
    gpus: int
    usable: int
    efa: int

    @property
    def takes_pods(self) -> bool:
        return self.ready is True and not self.cordoned and self.health in ("", "Schedulable")


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerFacts:
    name: str
    image: str
    init: bool
    ready: bool
    restarts: int
    state: str
    reason: str
    message: str
    exit_code: int | None
    since: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PodFacts:
    """`restarts`: the restart policy. `ends`: when it must be gone, if it was told to end; `gated`: what keeps the
    scheduler from looking at it."""

    namespace: str
    name: str
    uid: str
    node: str
    phase: str
    reason: str
    message: str
    created: str
    started: str
    deleting: bool
    ends: str
    finalizers: tuple[str, ...]
    gated: tuple[str, ...]
    owner: str
    gpus: int
    efa: int
    restarts: str
    containers: tuple[ContainerFacts, ...]

    @property
    def holds_devices(self) -> bool:
        """Its GPUs are nobody else's: it is bound to a node and not over."""
        return bool(self.node) and self.phase not in OVER


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineFacts:
    """One node of HyperPod. `instance` empty: it is still being provisioned."""

    instance: str
    logical: str
    group: str
    type: str
    status: str
    message: str
    launched: str
    updated: str
    host: str
    image: str
    image_status: str


def node(body: JsonObject) -> NodeFacts:
    meta, status = _map(body.get("metadata")), _map(body.get("status"))
    labels, info = _map(meta.get("labels")), _map(status.get("nodeInfo"))
    spec = _map(body.get("spec"))
    conditions = tuple(_conditions(status))
    ready = next((c.status for c in conditions if c.type == "Ready"), "Unknown")
    name = str(meta.get("name") or "")
    addresses = {str(a.get("type")): str(a.get("address")) for a in _maps(status.get("addresses"))}
    return NodeFacts(
        name=name,
        uid=str(meta.get("uid") or ""),
        instance=_instance(name, str(spec.get("providerID") or "")),
        group=str(labels.get(GROUP_LABEL) or ""),
        zone=str(labels.get("topology.kubernetes.io/zone") or ""),
        zone_id=str(labels.get("topology.k8s.aws/zone-id") or ""),
        type=str(labels.get("node.kubernetes.io/instance-type") or ""),
        created=str(meta.get("creationTimestamp") or ""),
        booted=str(info.get("bootID") or ""),
        version=str(info.get("kubeletVersion") or ""),
        address=addresses.get("InternalIP", ""),
        ready={"True": True, "False": False}.get(ready),
        cordoned=spec.get("unschedulable") is True,
        health=str(labels.get(HEALTH_LABEL) or ""),
        deep_check=str(labels.get(DEEP_LABEL) or ""),
        faults=tuple(told(str(labels[label]), 200) for label in FAULT_LABELS if labels.get(label)),
        taints=tuple(_taint(taint) for taint in _maps(spec.get("taints"))),
        conditions=conditions,
        gpus=_devices(_map(status.get("capacity")), GPU_RESOURCES),
        usable=_devices(_map(status.get("allocatable")), GPU_RESOURCES),
        efa=_devices(_map(status.get("allocatable")), (EFA,)),
    )


def pod(body: JsonObject) -> PodFacts:
    meta, spec, status = _map(body.get("metadata")), _map(body.get("spec")), _map(body.get("status"))
    owners = _maps(meta.get("ownerReferences"))
    owner = next((o for o in owners if o.get("controller")), owners[0] if owners else {})
    return PodFacts(
        namespace=str(meta.get("namespace") or ""),
        name=str(meta.get("name") or ""),
        uid=str(meta.get("uid") or ""),
        node=str(spec.get("nodeName") or ""),
        phase=str(status.get("phase") or "Unknown"),
        reason=told(str(status.get("reason") or ""), 100),
        message=told(str(status.get("message") or _unscheduled(status))),
        created=str(meta.get("creationTimestamp") or ""),
        started=str(status.get("startTime") or ""),
        deleting=bool(meta.get("deletionTimestamp")),
        ends=str(meta.get("deletionTimestamp") or ""),
        finalizers=tuple(told(str(name), 200) for name in meta.get("finalizers") or ()),
        gated=tuple(told(str(gate.get("name")), 200) for gate in _maps(spec.get("schedulingGates"))),
        owner=f"{owner.get('kind')}/{owner.get('name')}" if owner else "",
        gpus=_asked(spec, GPU_RESOURCES),
        efa=_asked(spec, (EFA,)),
        restarts=str(spec.get("restartPolicy") or "Always"),
        containers=tuple(_containers(spec, status)),
    )


def machine(summary: Mapping[str, Any]) -> MachineFacts:
    """An entry of ListClusterNodes."""
    status = _map(summary.get("InstanceStatus"))
    return MachineFacts(
        instance=str(summary.get("InstanceId") or ""),
        logical=str(summary.get("NodeLogicalId") or ""),
        group=str(summary.get("InstanceGroupName") or ""),
        type=str(summary.get("InstanceType") or ""),
        status=str(status.get("Status") or ""),
        message=told(str(status.get("Message") or "")),
        launched=str(summary.get("LaunchTime") or ""),
        updated=str(summary.get("LastSoftwareUpdateTime") or ""),
        host=str(summary.get("PrivateDnsHostname") or ""),
        image=str(summary.get("CurrentImageReleaseVersion") or ""),
        image_status=str(summary.get("ImageVersionStatus") or ""),
    )


def _instance(name: str, provider: str) -> str:
    """HyperPod nodes are named `hyperpod-i-…`; their provider id ends in the instance id too."""
    if name.startswith("hyperpod-i-"):
        return name.removeprefix("hyperpod-")
    last = provider.rpartition("/")[2]
    return last.removeprefix("hyperpod-") if last.startswith(("i-", "hyperpod-i-")) else ""


def _conditions(status: Mapping[str, Any]) -> Iterator[ConditionFacts]:
    for found in _maps(status.get("conditions")):
        yield ConditionFacts(
            type=str(found.get("type") or ""),
            status=str(found.get("status") or ""),
            reason=told(str(found.get("reason") or ""), 100),
            message=told(str(found.get("message") or "")),
            since=str(found.get("lastTransitionTime") or ""),
        )


def _taint(taint: Mapping[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key')}{value}:{taint.get('effect')}"


def _unscheduled(status: Mapping[str, Any]) -> str:
    for found in _maps(status.get("conditions")):
        if found.get("type") == "PodScheduled" and found.get("status") == "False":
            return str(found.get("message") or "")
    return ""


def _containers(spec: Mapping[str, Any], status: Mapping[str, Any]) -> Iterator[ContainerFacts]:
    for init, listed, states in (
        (True, "initContainers", "initContainerStatuses"),
        (False, "containers", "containerStatuses"),
    ):
        by_name = {str(s.get("name")): s for s in _maps(status.get(states))}
        for container in _maps(spec.get(listed)):
            yield _container(container, by_name.get(str(container.get("name")), {}), init)


def _container(container: Mapping[str, Any], status: Mapping[str, Any], init: bool) -> ContainerFacts:
    states = _map(status.get("state"))
    state = next(iter(states), "waiting")
    about = _map(states.get(state))
    code = about.get("exitCode")
    return ContainerFacts(
        name=str(container.get("name") or ""),
        image=told(str(container.get("image") or ""), 300),
        init=init,
        ready=status.get("ready") is True,
        restarts=_int(status.get("restartCount")),
        state=state,
        reason=told(str(about.get("reason") or ""), 100),
        message=told(str(about.get("message") or "")),
        exit_code=code if isinstance(code, int) else None,
        since=str(about.get("startedAt") or about.get("finishedAt") or ""),
    )


def _asked(spec: Mapping[str, Any], names: Sequence[str]) -> int:
    """Devices are asked for as limits; init containers run one after the other, before the others."""
    together = sum(_of_container(c, names) for c in _maps(spec.get("containers")))
    return max([together, *(_of_container(c, names) for c in _maps(spec.get("initContainers")))])


def _of_container(container: Mapping[str, Any], names: Sequence[str]) -> int:
    resources = _map(container.get("resources"))
    return _devices({**_map(resources.get("requests")), **_map(resources.get("limits"))}, names)


def _devices(amounts: Mapping[str, Any], names: Sequence[str]) -> int:
    """Of the first of these names that is there: the others are the same devices under another name."""
    for name in names:
        amount = parse_quantity(amounts.get(name))
        if amount is not None:
            return int(amount)
    return 0


def _int(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _map(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _maps(value: Any) -> list[Mapping[str, Any]]:
    return [_map(item) for item in cast("Sequence[Any]", value)] if isinstance(value, list) else []
