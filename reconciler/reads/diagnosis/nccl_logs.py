"""What NCCL, libfabric and torch write into logs when GPUs of several nodes do not talk, and variables that keep them
from it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reconciler.reads.diagnosis.findings import Confidence


@dataclass(frozen=True, kw_only=True)
class Pattern:
    reason: str
    words: re.Pattern[str]
    says: str
    next_step: str


@dataclass(frozen=True, kw_only=True)
class Variable:
    """`values`: which of its values do harm, in small letters."""

    name: str
    values: tuple[str, ...]
    why: str
    confidence: Confidence = "certain"


def _pattern(reason: str, words: str, says: str, next_step: str) -> Pattern:
    return Pattern(reason=reason, words=re.compile(words, re.IGNORECASE), says=says, next_step=next_step)


PATTERNS: Final = (
    _pattern(
        "EfaNotUsed",
        r"NET/Socket|No (?:EFA|eligible) (?:device|provider)|Failed to find.*efa|provider: tcp",
        "NCCL falls back to TCP sockets",
        "ask for vpc.amazonaws.com/efa in the pod, and use an image with libfabric and aws-ofi-nccl",
    ),
    _pattern(
        "PluginMissing",
        r"(?:libnccl-net|aws-ofi-nccl).*(?:not found|No plugin|cannot open)"
        r"|(?:No plugin found|Could not find).*libnccl-net",
        "NCCL's plugin for EFA is not in the image",
        "use an image with aws-ofi-nccl, and have it in LD_LIBRARY_PATH",
    ),
    _pattern(
        "CollectiveTimedOut",
        r"caught collective operation timeout|(?:NCCL|collective).*\btimed out|Timeout\(ms\)=\d+\) ran for",
        "a collective did not end in time: a rank hangs, died, or never came",
        "find the rank that wrote nothing last, and diagnose its node",
    ),
    _pattern(
        "RendezvousFailed",
        r"Rendezvous\w*(?:Error|Timeout)|TCPStore.*(?:timed? ?out|refused|failed)|Name or service not known"
        r"|failed to connect to .*master",
        "ranks did not find each other: the job never began together",
        "see that every rank's pod runs, and that its service and MASTER_ADDR name the first one",
    ),
    _pattern(
        "PeerGone",
        r"Connection (?:closed|reset) by (?:remote )?peer|ncclRemoteError|ncclSystemError.*socket",
        "another rank's process or node is gone",
        "look at the other pods of the job and their nodes first",
    ),
    _pattern(
        "DeviceError",
        r"\bXid\b|CUDA error(?!: out of memory)|ECC error (?:encountered|detected)|NVLink.*error"
        r"|ncclUnhandledCudaError",
        "a GPU reported an error",
        "diagnose the node; HyperPod's deep check tells hardware from software",
    ),
    _pattern(
        "OutOfMemory",
        r"CUDA out of memory|CUDA error: out of memory|\bOutOfMemoryError",
        "a rank ran out of GPU memory, and the others wait for it",
        "take a smaller batch, shard more, or use machines with more memory",
    ),
    _pattern(
        "SharedMemoryTooSmall",
        r"/dev/shm.*(?:No space|too small)|Error while creating shared memory|Bus error",
        "shared memory is too small",
        "mount an emptyDir with medium Memory at /dev/shm",
    ),
    _pattern(
        "MemoryLockLimit",
        r"RLIMIT_MEMLOCK|memlock r?limit|ibv_reg_mr.*failed|fi_mr_reg.*failed|Cannot allocate memory.*reg",
        "memory cannot be registered with the adapter",
        "ask for hugepages-2Mi in the pod, and lift the memlock limit",
    ),
)
VARIABLES: Final = (
    Variable(name="NCCL_NET", values=("socket",), why="it makes NCCL use TCP sockets"),
    Variable(name="NCCL_NET_PLUGIN", values=("none",), why="it keeps NCCL from loading the plugin for EFA"),
    Variable(name="FI_PROVIDER", values=("tcp", "sockets"), why="libfabric is told to use TCP"),
    Variable(name="NCCL_P2P_DISABLE", values=("1",), why="it switches traffic over NVLink off"),
    Variable(name="NCCL_SOCKET_IFNAME", values=("lo",), why="ranks of other nodes are not reached over loopback"),
    Variable(
        name="NCCL_IB_DISABLE",
        values=("1",),
        why="without the plugin for EFA, nothing is left to NCCL but TCP sockets",
        confidence="possible",
    ),
)
