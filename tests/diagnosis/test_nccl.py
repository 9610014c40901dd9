"""Jobs over several nodes: EFA, placement, variables, logs and the security group, each planted, and each as it should
be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.api.livebox import LiveBox, pod
from tests.diagnosis.ward import Ward, gpu_node
from tests.engine.fakes import cluster_yaml
from tests.mcp_face.facebox import ask

A, B = "i-0000000000000000a", "i-0000000000000000b"
ELSEWHERE, OTHER_TYPE, BARE, SMALL, SMALL_TOO = (f"i-0000000000000001{letter}" for letter in "abcde")
EFA = 1


@dataclass(frozen=True, kw_only=True)
class Job:
    """`on`: the nodes of its two pods. `found`: reason → confidence."""

    why: str
    on: tuple[str, str] = (A, B)
    efa: int = EFA
    gpus: int = 1
    phase: str = "Running"
    found: Mapping[str, str] = field(default_factory=dict[str, str])


JOBS = {
    "well": Job(why="two nodes, one zone, one type, EFA asked for"),
    "small": Job(why="on one node nothing goes over EFA", on=(A, A), efa=0),
    "no-gpus": Job(why="no NCCL without GPUs", gpus=0, efa=0),
    "over": Job(why="it is over", phase="Succeeded", efa=0),
    "asks-not": Job(why="the pods do not ask", efa=0, found={"EfaNotRequested": "certain"}),
    "offers-not": Job(why="no plugin announces them", on=(A, BARE), found={"EfaNotAttached": "likely"}),
    "cannot": Job(why="the type has none", on=(SMALL, SMALL_TOO), efa=0, found={"NoEfaOnType": "certain"}),
    "far": Job(why="EFA does not cross zones", on=(A, ELSEWHERE), found={"AcrossZones": "certain"}),
    "mixed": Job(why="the slowest sets the pace", on=(A, OTHER_TYPE), found={"MixedTypes": "possible"}),
}
LOGS = {
    "EfaNotUsed": "job-0:12:34 [0] NCCL INFO Using network Socket NET/Socket : Using [0]eth0:10.0.0.1<0>",
    "PluginMissing": "NCCL INFO NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",
    "CollectiveTimedOut": "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE)",
    "RendezvousFailed": "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError",
    "PeerGone": "NCCL WARN Call to recv from 10.0.0.2 failed : Connection closed by remote peer",
    "DeviceError": "NVRM: Xid (PCI:0000:10:1c): 79, GPU has fallen off the bus.",
    "OutOfMemory": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "SharedMemoryTooSmall": "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-AbCdEf (size 9637888)",
    "MemoryLockLimit": "libfabric:efa: Unable to register memory, check RLIMIT_MEMLOCK",
}
# What NCCL, libfabric and torch write where all is well.
QUIET = (
    "NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>",
    "NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)",
    "NCCL INFO Using network AWS Libfabric",
    "NCCL INFO NET/Plugin: Failed to find ncclNetPlugin_v9 symbol, trying v8",
    "ProcessGroupNCCL initialization options: size: 16, global rank: 0, TIMEOUT(ms): 600000",
    "NCCL INFO comm 0x55 rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 101c0 commId 0x1 - Init COMPLETE",
    "ECC errors: 0 corrected, 0 uncorrectable",
    "ulimit: max locked memory unlimited, memlock unlimited",
    "step 100 loss 2.31 timeout of the data loader: 30 s",
)
VARIABLES = {
    ("NCCL_NET", "Socket"): "certain",
    ("NCCL_NET_PLUGIN", "none"): "certain",
    ("FI_PROVIDER", "tcp"): "certain",
    ("FI_PROVIDER", "sockets"): "certain",
    ("NCCL_P2P_DISABLE", "1"): "certain",
    ("NCCL_SOCKET_IFNAME", "lo"): "certain",
    ("NCCL_IB_DISABLE", "1"): "possible",
    # As they should be:
    ("FI_PROVIDER", "efa"): "",
    ("NCCL_P2P_DISABLE", "0"): "",
    ("NCCL_SOCKET_IFNAME", "eth0"): "",
    ("NCCL_DEBUG", "INFO"): "",
}


@pytest.fixture(scope="module", autouse=True)
def planted(ward: Ward) -> None:
    live = ward.live
    live.ready()
    live.apply(
        gpu_node(A),
        gpu_node(B),
        gpu_node(ELSEWHERE, zone="us-west-2c"),
        gpu_node(OTHER_TYPE, kind="ml.g5.24xlarge"),
        gpu_node(BARE, efa=0),
        gpu_node(SMALL, efa=0, kind="ml.g5.4xlarge"),
        gpu_node(SMALL_TOO, efa=0, kind="ml.g5.4xlarge"),
    )
    for namespace in ("env", "logs"):
        live.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    for name, job in JOBS.items():
        owner = ward.job(name, "jobs")
        live.apply(*(of_job(name, rank, job, owner) for rank in range(2)))
    for number, (variable, value) in enumerate(VARIABLES):
        live.apply(pod(f"env-{number}", namespace="env", on=A, gpus=1, env=[{"name": variable, "value": value}]))
    for reason, line in LOGS.items():
        live.apply(pod(f"log-{reason.lower()}", namespace="logs", on=A, gpus=1))
        live.server.log("logs", f"log-{reason.lower()}", "starting", line, "more")
    live.apply(pod("quiet", namespace="logs", on=A, gpus=1))
    live.server.log("logs", "quiet", *QUIET)


def of_job(name: str, rank: int, job: Job, owner: dict[str, Any]) -> dict[str, Any]:
    made = pod(f"{name}-{rank}", namespace="jobs", on=job.on[rank], gpus=job.gpus, phase=job.phase)
    made["metadata"]["ownerReferences"] = [owner]
    if job.efa:
        resources = made["spec"]["containers"][0].setdefault("resources", {})
        for kind in ("limits", "requests"):
            resources[kind] = {**resources.get(kind, {}), "vpc.amazonaws.com/efa": str(job.efa)}
    return made


@pytest.mark.parametrize(("name", "job"), JOBS.items(), ids=JOBS.keys())
def test_each_job(ward: Ward, name: str, job: Job) -> None:
    found = ward.of("nccl", f"Job/jobs/Job/{name}")
    assert {one["reason"]: one["confidence"] for one in found} == job.found, job.why
    assert all(name in one["command_untrusted"] for one in found)


def test_the_group_that_does_not_ask_for_efa_is_named(ward: Ward) -> None:
    (found,) = ward.of("nccl", "Job/jobs/Job/offers-not")
    assert "group gpu does not say interface: efa" in found["next_step"]


def test_who_asks_about_one_pod_hears_of_its_job(ward: Ward) -> None:
    found = ward.diagnosed("nccl", namespace="jobs", pod="far-1")
    assert [(one["reason"], one["subject_untrusted"]) for one in found] == [("AcrossZones", "Job/jobs/Job/far")]


@pytest.mark.parametrize(("reason", "line"), LOGS.items(), ids=LOGS.keys())
def test_each_pattern_of_logs(ward: Ward, reason: str, line: str) -> None:
    (found,) = ward.diagnosed("nccl", namespace="logs", pod=f"log-{reason.lower()}")
    assert (found["reason"], found["confidence"]) == (reason, "likely")
    assert [one["text_untrusted"] for one in found["evidence"]] == [line]


def test_a_log_that_is_well_says_nothing(ward: Ward) -> None:
    assert ward.diagnosed("nccl", namespace="logs", pod="quiet") == []


@pytest.mark.parametrize(
    ("number", "variable", "confidence"), [(n, v, c) for n, (v, c) in enumerate(VARIABLES.items())]
)
def test_each_variable(ward: Ward, number: int, variable: tuple[str, str], confidence: str) -> None:
    found = ward.diagnosed("nccl", namespace="env", pod=f"env-{number}")
    assert [(one["reason"], one["confidence"]) for one in found] == (
        [("Environment", confidence)] if confidence else []
    )
    assert all("=".join(variable) in one["says_untrusted"] for one in found)


def test_what_was_not_looked_at_is_told(ward: Ward) -> None:
    """Bodies and logs of eight pods are read; of the others no finding is no proof."""
    told = ward.told("nccl", namespace="env")
    (left,) = [one for one in told["unseen"] if "more pods" in one["source_untrusted"]]
    assert left["source_untrusted"] == f"logs of {len(VARIABLES) - 8} more pods" and left["reason"] == "NotLooked"


def test_the_life_before_of_a_container_that_crashes_is_read(live: LiveBox) -> None:
    """Its log of now is empty, or not there at all."""
    live.ready()
    crashed = pod("rank-0", on=A, gpus=1)
    (status,) = crashed["status"]["containerStatuses"]
    status |= {"restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    live.apply(gpu_node(A), crashed)
    live.server.log("default", "rank-0", LOGS["PeerGone"])
    told = ask(live.api, "diagnose_nccl", cluster="prod")
    assert [one["reason"] for one in told.data["findings"]] == ["PeerGone"], told.text


@pytest.mark.parametrize(
    ("way", "rules", "found", "why"),
    [
        ("ingress", [], True, "none at all"),
        ("egress", [{"protocol": "-1", "peer": "0.0.0.0/0"}], True, "a way out to everywhere is not enough for EFA"),
        ("ingress", [{"protocol": "tcp", "peer": "self", "from": 22, "to": 22}], True, "not all traffic"),
        (
            "ingress",
            [{"protocol": "-1", "peer": "self"}, {"protocol": "tcp", "peer": "10.0.0.0/8"}],
            False,
            "with others",
        ),
    ],
)
def test_the_security_group(live: LiveBox, way: str, rules: Sequence[Mapping[str, Any]], found: bool, why: str) -> None:
    """Somebody changed it, and the cluster is suspended: nothing puts it back."""
    live.ready()
    live.api.rig.commit({"cluster": cluster_yaml(extra="  suspend: true\n")})
    live.api.rig.settle()
    (group,) = live.api.rig.cloud.of("ec2.SecurityGroup")
    group.spec[way] = list(rules)
    live.api.rig.settle()
    told = ask(live.api, "diagnose_nccl", cluster="prod").data["findings"]
    assert [(one["reason"], one["subject_untrusted"]) for one in told] == [("NoSelfRule", group.key)] * found, why
    assert all(way in one["says_untrusted"] and group.id in one["command_untrusted"] for one in told)
