"""Documents about what was made by hand."""

from __future__ import annotations

from tests.adoption.byhand import EKS, HYPERPOD, ByHand
from tests.engine_support import group_yaml


def cluster(
    hand: ByHand,
    *,
    vpc: str = "use",
    eks: str | None = EKS,
    hyperpod: str | None = HYPERPOD,
    version: str = "1.33",
    extra: str = "",
    name: str = "prod",
) -> str:
    """The smallest document that adopts. `vpc`: use, adopt, or an id to use."""
    given = {"adopt": hand.made.vpc, "use": hand.made.vpc}.get(vpc, vpc)
    asked = {"vpc": given if vpc == "adopt" else None, "eks": eks, "hyperpod": hyperpod}
    adopt = [f"    {key}: {value}" for key, value in asked.items() if value is not None]
    lines = [
        "apiVersion: instantstart/v1",
        "kind: Cluster",
        "metadata:",
        f"  name: {name}",
        "spec:",
        f'  account: "{hand.sandbox.account}"',
        f"  region: {hand.sandbox.region}",
        f'  kubernetesVersion: "{version}"',
        *([f"  network:\n    vpc: {given}"] if vpc != "adopt" else []),
        *(["  adopt:", *adopt] if adopt else []),
    ]
    return "\n".join(lines) + f"\n{extra}"


def group(name: str, kind: str, count: int, extra: str = "") -> str:
    """A group with the required fields alone."""
    return group_yaml(name, kind, count).replace("  zone: usw2-az2\n", "") + extra


CLUSTER_ACCESS = """  access:
    - principal: {principal}
      policy: AmazonEKSViewPolicy
"""


def groups(*, plain: int = 2, team: str = "a", spot: bool = True) -> str:
    """Documents of the groups of odd shapes, with no more than their authors must write."""
    return "".join(
        (
            group("plain", "ml.m5.2xlarge", plain),
            group("labelled", "ml.c5.2xlarge", 1, f"  zone: usw2-az1\n  labels:\n    team: {team}\n"),
            group("gpu", "ml.g5.8xlarge", 1, "  interface: efa\n  volume:\n    sizeGiB: 500\n"),
            group("spot", "ml.g5.xlarge", 1) if spot else "",
            group("idle", "ml.t3.large", 0),
        )
    )


EXTRA = group("extra", "ml.m5.2xlarge", 1, "  zone: usw2-az2\n")
