"""From a commit to a Ready cluster, beside the time that AWS itself takes for it.

Simulated seconds. What the engine and the sandbox need in real seconds (ticks, calls, git, helm) counts `rate` times,
so a fast clock makes us look bad; the goal is meant for a clock of rate 1, and the slower the clock the nearer we are.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from reconciler.sandbox.aws.pace import Pace
from tests.bench.bench_tick import group
from tests.bench.rows import Goal, Row, Size
from tests.bench.site import Site, site

RATES = {Size.TINY: (600.0,), Size.NORMAL: (60.0, 20.0), Size.FULL: (20.0, 5.0)}
NODES = 2


def main(size: Size = Size.NORMAL) -> list[Row]:
    path = critical_path(Pace())
    return [row(rate, simulated_seconds(rate), path) for rate in RATES[size]]


def row(rate: float, seconds: float, path: float) -> Row:
    real = (seconds - path) / rate
    return Row(
        bench=f"commit to Ready, clock of rate {rate:g}",
        measured=seconds,
        unit="s",
        reference=path,
        against="the critical path of simulated durations: role, EKS, HyperPod, nodes, last add-on",
        goal=Goal.SHARE,
        limit=1.02,
        note=f"{seconds / path:.3f} × the path; {real:.1f} real seconds more than it, "
        f"which were {1 + real / path:.3f} × at rate 1 if all of them are work and calls",
    )


def critical_path(pace: Pace) -> float:
    """What has to follow what, each as long as the sandbox makes it. The NAT gateway comes up beside EKS; charts, the
    other roles and add-ons beside all of it."""
    control_plane = max(pace.role_usable + pace.eks_create, pace.nat_create)
    nodes = pace.hyperpod_create + pace.node_boot + pace.node_script
    return control_plane + nodes + pace.addon_settle


def simulated_seconds(rate: float) -> float:
    with tempfile.TemporaryDirectory() as folder, site(Path(folder), rate) as place:
        warm(place)
        revision = place.commit(cluster=place.cluster_document(), groups=group("workers", NODES))
        start = time.monotonic()
        place.settle(revision, limit=2400 / rate + 300)
        return (time.monotonic() - start) * rate


def warm(place: Site) -> None:
    """The sandbox loads a service when it is first asked; a cloud has done so long ago."""
    place.client("ec2").describe_vpcs()
    place.client("ec2").describe_availability_zones()
    place.client("iam").list_roles()
    place.client("s3").list_buckets()
    place.client("sts").get_caller_identity()
    place.client("eks").list_clusters()
    place.client("sagemaker").list_clusters()


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
