"""Why pods do not run, in the words of the scheduler, of kubelets and of quotas: which mean what, and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reconciler.reads.diagnosis.findings import Step


@dataclass(frozen=True, kw_only=True)
class Why:
    reason: str
    words: re.Pattern[str]
    says: str
    next_step: str
    step: Step = "investigate"


def _why(reason: str, words: str, says: str, next_step: str, step: Step = "investigate") -> Why:
    return Why(reason=reason, words=re.compile(words, re.IGNORECASE), says=says, next_step=next_step, step=step)


SCHEDULER: Final = (
    _why(
        "NotEnoughDevices",
        r"Insufficient (?:nvidia\.com/gpu|aws\.amazon\.com/neuron|vpc\.amazonaws\.com/efa)",
        "no node has enough free GPUs or EFA interfaces",
        "wait for others to end, scale the group up by a change, or ask for fewer",
        "decide",
    ),
    _why(
        "NotEnoughResources",
        r"Insufficient (?:cpu|memory|ephemeral-storage|hugepages)",
        "no node has enough free CPU, memory or disk",
        "ask for less, or scale up by a change",
        "decide",
    ),
    _why(
        "TooManyPods",
        r"Too many pods",
        "nodes take no more pods",
        "scale up by a change, or use larger nodes",
        "decide",
    ),
    _why(
        "Cordoned",
        r"were unschedulable",
        "nodes are cordoned",
        "diagnose the nodes: whoever cordoned them knows why",
    ),
    _why(
        "NodesNotReady",
        r"node\.kubernetes\.io/(?:not-ready|unreachable)",
        "nodes are not ready",
        "diagnose the nodes",
    ),
    _why(
        "Taint",
        r"(?:untolerated|had) taint(?!s? \{node\.kubernetes\.io/(?:not-ready|unreachable))",
        "nodes have a taint that the pod does not tolerate",
        "add the toleration to the pod, if it belongs there; a node's health taint goes when the node is well",
    ),
    _why(
        "NoMatchingNode",
        r"node affinity|node selector|nodeSelector|didn't match(?! pod topology spread)",
        "no node has the labels that the pod asks for",
        "compare its nodeSelector and affinity with the labels of nodes",
    ),
    _why(
        "TopologySpread",
        r"topology spread constraints(?! \(missing)",
        "on every node that could take it, it would stand too close to others of its kind",
        "free or add nodes in the zones that have too few of them, or raise maxSkew, or let whenUnsatisfiable be "
        "ScheduleAnyway",
    ),
    _why(
        "TopologyLabelMissing",
        r"topology spread constraints \(missing required label\)",
        "nodes do not have the label by which it is to be spread",
        "compare the topologyKey of its topologySpreadConstraints with the labels of nodes",
    ),
    _why(
        "VolumeNotBound",
        r"unbound immediate PersistentVolumeClaims|persistentvolumeclaim .* not found|volume node affinity",
        "a volume claim is not bound, or not there",
        "look at the claim; a Storage of the documents makes one of its name in its namespace",
    ),
)
CONTAINERS: Final = (
    _why(
        "ImageNotPulled",
        r"ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull",
        "its image cannot be pulled",
        "check the image's name, and that the node's role may read the repository",
    ),
    _why(
        "ConfigMissing",
        r"CreateContainerConfigError|CreateContainerError",
        "a ConfigMap or Secret that it names is not there",
        "make what it names, or correct the name",
    ),
    _why(
        "Crashes",
        r"CrashLoopBackOff|RunContainerError",
        "its container ends again and again",
        "read its log, of the life before too (previous)",
    ),
)


# Of pods that have a node: why their containers do not begin, in the kubelet's words.
STARTING: Final = (
    _why(
        "NoPodAddress",
        r"failed to assign an IP address|no available IP|InsufficientFreeAddresses",
        "its node has no address left for it",
        "scale down what runs in its subnet, or put the group into a larger one",
    ),
    _why(
        "VolumeNotMounted",
        r"FailedMount|FailedAttachVolume|MountVolume|Unable to attach or mount",
        "a volume of it cannot be mounted",
        "the message says why; for S3, compare the role of the S3 driver with the bucket (cluster_drift)",
    ),
    _why(
        "SandboxNotMade",
        r"FailedCreatePodSandBox",
        "its network cannot be made",
        "look at the VPC CNI's pods on its node",
    ),
)
QUOTA: Final = _why(
    "QuotaOfNamespace",
    r"exceeded quota|forbidden: .*quota",
    "a quota of the namespace lets no more pods be made",
    "wait for others to end, ask for less, or have the quota raised",
    "decide",
)
NEVER: Final = _why(
    "NeverFits",
    r"",
    "no node could ever hold it",
    "ask for fewer devices in each pod, or add a group of larger nodes by a change",
    "decide",
)
UNKNOWN: Final = _why("Unschedulable", r"", "the scheduler finds no node", "read what it says")
QUEUED: Final = _why(
    "Queued",
    r"",
    "it waits for its queue to admit it",
    "look at the workload in its queue: what runs before it, and whether it could ever fit the quota",
)


def match(table: tuple[Why, ...], text: str) -> Why | None:
    return next((why for why in table if text and why.words.search(text)), None)
