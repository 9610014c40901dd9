"""Intent before effect: lost replies, refusals, restarts, a journal that cannot be published, a branch that moves."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.config_repo.repo import ConfigRepo
from schemas.journal import Condition
from tests.engine_support import Site, group_yaml

SYSTEM = group_yaml("system", count=1)


@pytest.fixture(autouse=True)
def no_faults(site: Site) -> Iterator[None]:
    yield
    site.sandbox.delete("/faults")


def fault(site: Site, service: str, operation: str, kind: str, times: int = 1) -> None:
    match = {"service": service, "operation": operation}
    site.sandbox.post("/faults", {"match": match, "fault": kind, "times": times})


def count(site: Site, operation: str) -> int:
    return sum(1 for m in site.mutations() if m["operation"] == operation)


def ours(site: Site, service: str, operation: str, result: str) -> list[Any]:
    mine = [{"Name": "tag:instantstart:cluster", "Values": ["prod"]}]
    return list(getattr(site.client(service), operation)(Filters=mine)[result])


def network_only(site: Site) -> None:
    """Commit a cluster and tick until its control plane is on its way."""
    site.commit("cluster", cluster=site.cluster_yaml(), groups=SYSTEM)


def ticks(site: Site, until: Any, limit: int = 200) -> None:
    for _ in range(limit):
        if until():
            return
        site.idle(1)
    raise AssertionError(site.lines[-10:])


def op_of(site: Site, call: str) -> list[dict[str, Any]]:
    """The lines of the first op of this call."""
    first = next(line for line in site.lines if line["t"] == "op" and line.get("call") == call)
    return [line for line in site.lines if line["t"] == "op" and line["op"] == first["op"]]


def vpcs(site: Site) -> list[Any]:
    return ours(site, "ec2", "describe_vpcs", "Vpcs")


def addresses(site: Site) -> list[Any]:
    return ours(site, "ec2", "describe_addresses", "Addresses")


def control_planes(site: Site) -> list[Any]:
    return list(site.client("eks").list_clusters()["clusters"])


def roles(site: Site) -> list[Any]:
    return [role for role in site.client("iam").list_roles()["Roles"] if role["RoleName"] == "prod-control-plane"]


@pytest.mark.parametrize(
    ("service", "operation", "call", "alive"),
    [
        ("ec2", "CreateVpc", "ec2:CreateVpc", vpcs),
        ("ec2", "AllocateAddress", "ec2:AllocateAddress", addresses),
        ("eks", "CreateCluster", "eks:CreateCluster", control_planes),
        ("iam", "CreateRole", "iam:CreateRole", roles),
    ],
)
def test_a_lost_reply_makes_one_thing_even_across_a_restart(
    site: Site, service: str, operation: str, call: str, alive: Any
) -> None:
    """Classes tag, token and name: the effect happened, the reply did not arrive, the process died."""
    fault(site, service, operation, "lost_reply")
    network_only(site)
    ticks(site, lambda: any(line.get("call") == call for line in site.lines) and alive(site))
    site.restart()
    ticks(site, lambda: any(line["phase"] in ("submitted", "succeeded") for line in op_of(site, call)))
    assert len(alive(site)) == 1
    found = next(line for line in op_of(site, call) if line["phase"] in ("submitted", "succeeded"))
    assert found["how"] in ("found", "reply")


@pytest.mark.parametrize(
    ("kind", "phases", "reason"),
    [
        ("throttle", ["intent", "refused", "succeeded"], "certainly nothing happened: the same op again, later"),
        ("error500", ["intent", "succeeded"], "nobody knew; the look found nothing; the same op again"),
        ("access_denied", ["intent", "failed"], "certainly nothing, and it will not pass"),
    ],
)
def test_faults_of_a_create(site: Site, kind: str, phases: list[str], reason: str) -> None:
    fault(site, "s3", "CreateBucket", kind)
    network_only(site)
    ticks(
        site,
        lambda: (
            op_of(site, "s3:CreateBucket")[-1]["phase"] == phases[-1]
            if any(line.get("call") == "s3:CreateBucket" for line in site.lines)
            else False
        ),
    )
    assert [line["phase"] for line in op_of(site, "s3:CreateBucket")] == phases, reason
    if phases[-1] == "failed":
        before = count(site, "CreateBucket")
        site.idle(3)
        assert count(site, "CreateBucket") == before, "a failed call is not sent again by itself"
        assert site.status.condition is Condition.STALLED
        site.order("retry", "compute")
        ticks(site, lambda: count(site, "CreateBucket") > before)


def test_nothing_is_sent_when_the_journal_is_not_accepted(site: Site, tmp_path: Path) -> None:
    """The push is the fence: a remote that refuses the notes stops every mutation, and lets go when it takes them."""
    bare = tmp_path / "remote.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(site.path), str(bare)], check=True)
    hook = bare / "hooks" / "update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/notes/*) echo "no notes here" >&2; exit 1;; esac\n')
    hook.chmod(0o755)
    site.close()
    site.path = bare
    site.location = f"file://{bare}"
    site.repo.fetch()
    network_only(site)
    site.idle(4)
    assert site.mutations() == []
    hook.unlink()
    ticks(site, lambda: count(site, "CreateVpc") == 1)
    with ConfigRepo.open(str(bare), state_dir=tmp_path / "other", writer="reader") as reader:
        texts = b"".join(reader.notes("prod").entries.values())
    assert b"ec2:CreateVpc" in texts


def test_main_moves_while_eks_is_made_and_the_op_is_carried(site: Site) -> None:
    """journal.md, first example: the old revision is never green, the op is followed to its end under the new one."""
    network_only(site)
    ticks(site, lambda: any(line.get("call") == "eks:CreateCluster" for line in site.lines))
    old = site.status.rev
    new = site.commit("scale meanwhile", groups=group_yaml("system", count=2))
    ticks(site, lambda: op_of(site, "eks:CreateCluster")[-1]["phase"] == "succeeded")
    assert site.status.rev == new
    ends = [line for line in site.lines if line["t"] == "end"]
    assert [end["by"] for end in ends] == [new]
    assert op_of(site, "eks:CreateCluster")[0]["asked"] == old
    assert count(site, "CreateCluster") == 1


def test_our_things_without_a_journal_are_not_deleted_until_a_person_says_so(site: Site) -> None:
    """A lost journal: look and mend, no delete, no Operation."""
    network_only(site)
    ticks(site, lambda: count(site, "CreateVpc") == 1)
    site.close()
    subprocess.run(["git", "-C", str(site.path), "update-ref", "-d", "refs/notes/instantstart/status/prod"], check=True)
    site.restart()
    site.commit_paths({f"clusters/prod/{n}.yaml": None for n in ("cluster", "groups")}, "gone")
    before = len(site.mutations())
    site.idle(3)
    assert len(site.mutations()) == before
    assert len(ours(site, "ec2", "describe_vpcs", "Vpcs")) == 1


def test_a_read_that_fails_is_unknown_and_nothing_is_made_or_deleted(site: Site) -> None:
    """E04, rule 1: a read error never deletes; and it is told once it lasts."""
    network_only(site)
    ticks(site, lambda: count(site, "CreateVpc") == 1)
    before = len(site.mutations())
    fault(site, "ec2", "DescribeVpcs", "access_denied", times=1000)
    site.idle(4)
    made = [m["operation"] for m in site.mutations()[before:]]
    assert not [name for name in made if name.startswith("Create") and name not in ("CreateBucket", "CreateRole")]
    assert not [name for name in made if name.startswith("Delete")]
    assert site.status.stages["network"].state.value == "Unknown"
