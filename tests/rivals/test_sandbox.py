"""The same against the sandbox: real calls, real marks, real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.journal import Condition
from tests.engine_support import Sandbox, Site, group_yaml, make_site
from tests.rivals.rivalry import JOURNAL, deletes_wait, git, journal, journal_is_right
from tests.waiting import PATIENCE

SYSTEM = group_yaml("system", count=1)
SLOW = 20.0  # a settle time of two minutes is six seconds of a busy machine


def until(site: Site, call: str, phase: str) -> dict[str, Any]:
    """Tick until the first op of this call is in this phase."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        ops = [line["op"] for line in site.lines if line.get("call") == call]
        found = [line for line in site.lines if ops and line.get("op") == ops[0] and line.get("phase") == phase]
        if found:
            return found[0]
        site.idle(1)
        time.sleep(0.01)
    raise AssertionError([line["say"] for line in site.lines[-20:]])


def deletes(site: Site) -> list[str]:
    return [
        m["operation"] for m in site.mutations() if m["operation"].startswith(("Delete", "Release", "Disassociate"))
    ]


def test_the_folder_goes_while_eks_is_made(site: Site) -> None:
    """journal.md: the create still ends, under the new revision; nothing is deleted, and why is told."""
    site.commit("cluster", cluster=site.cluster_yaml(), groups=SYSTEM)
    until(site, "eks:CreateCluster", "submitted")
    site.remove_folder()
    until(site, "eks:CreateCluster", "succeeded")
    site.idle(3)
    assert (site.status.condition, site.status.reason) == (Condition.STALLED, "DeletionProtected"), site.status.msg
    assert deletes(site) == []
    journal_is_right(site.lines)
    deletes_wait(site.lines)


def test_the_branch_is_set_back_while_eks_is_made_and_the_journal_goes_with_it(site: Site) -> None:
    """A reset, then a deleted ref under a running engine: in doubt, no delete, and it goes on with a person's word."""
    site.commit("cluster", cluster=site.cluster_yaml(), groups=SYSTEM)
    site.commit("more", groups=group_yaml("system", count=2))
    until(site, "eks:CreateCluster", "submitted")
    git(site.path, "update-ref", "refs/heads/main", "main~1")
    site.idle(2)
    assert [line for line in site.lines if line["t"] == "rollout" and line.get("rewritten")]
    newest = git(site.path, "rev-parse", JOURNAL)
    git(site.path, "update-ref", "-d", JOURNAL)
    site.idle(3)
    assert site.status.reason == "JournalIncomplete" and newest in site.status.msg
    site.order("release", "journal")
    site.idle(3)
    assert site.status.reason != "JournalIncomplete"
    created = Counter((m["service"], m["operation"]) for m in site.mutations())
    once = [("ec2", "CreateVpc"), ("ec2", "CreateNatGateway"), ("eks", "CreateCluster")]
    assert [created[call] for call in once] == [1, 1, 1]
    assert deletes(site) == []


def test_marks_that_a_person_copied_are_told_and_nothing_is_deleted(site: Site) -> None:
    """Two things with one key: nobody knows which is ours, so neither is touched, and the message names both."""
    site.commit("cluster", cluster=site.cluster_yaml(), groups=SYSTEM)
    until(site, "ec2:CreateVpc", "succeeded")
    ec2 = site.client("ec2")
    (ours,) = ec2.describe_vpcs(Filters=[{"Name": "tag:instantstart:cluster", "Values": ["prod"]}])["Vpcs"]
    copy = ec2.create_vpc(CidrBlock="10.99.0.0/16")["Vpc"]["VpcId"]
    ec2.create_tags(Resources=[copy], Tags=ours["Tags"])
    before = len(site.mutations())
    site.idle(5)
    plan = site.engine.observe("prod").plan
    assert plan is not None and "ec2.Vpc/prod" in plan.unknown
    said = " ".join(stage.msg for stage in site.status.stages.values())
    assert copy in said and ours["VpcId"] in said and "remove the tags from all but one" in said
    assert not [m for m in site.mutations()[before:] if "Vpc" in m["operation"]]
    assert deletes(site) == []
    ec2.delete_vpc(VpcId=copy)
    until(site, "ec2:CreateInternetGateway", "succeeded")


@pytest.fixture
def slow_site(chart: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    command = [sys.executable, "-m", "reconciler.sandbox", "--port", "0", "--rate", str(SLOW)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        yield make_site(Sandbox(endpoint=told["endpoint"], origin=told["origin"]), chart, tmp_path, monkeypatch)
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()


def test_two_processes_serve_one_repository(slow_site: Site, tmp_path: Path) -> None:
    """Two of `instantstart serve`, own mirrors, one account: until EKS is on its way, nothing is made twice."""
    site = slow_site
    site.commit("cluster", cluster=site.cluster_yaml(), groups=SYSTEM)
    site.close()
    settings = {"INSTANTSTART_CLOCK_RATE": str(SLOW), "INSTANTSTART_CLOCK_ORIGIN": str(site.sandbox.origin)}
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "web",
                "serve",
                "--port",
                "0",
                "-r",
                f"file://{site.path}",
                "--state-dir",
                str(tmp_path / name),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **settings, "INSTANTSTART_WRITER": name, "INSTANTSTART_POLL_INTERVAL": "20"},
        )
        for name in ("one", "two")
    ]
    try:
        end = time.monotonic() + 600
        while not any(m["operation"] == "CreateCluster" for m in site.mutations()):
            assert time.monotonic() < end and all(p.poll() is None for p in processes)
            time.sleep(0.3)
        time.sleep(1.0)
        for process in processes:
            process.send_signal(signal.SIGTERM)
        said = [process.communicate(timeout=300) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [(p.returncode, "Traceback" in err) for p, (_, err) in zip(processes, said, strict=True)] == [(0, False)] * 2
    lines = journal(site.path)
    journal_is_right(lines)
    writers = {line["writer"] for line in lines if line["t"] == "rollout"}
    assert writers and writers <= {"one", "two"}
    intents = {line["op"] for line in lines if line["t"] == "op" and line["phase"] == "intent"}
    assert {m["op"] for m in site.mutations()} <= intents, "what was sent had been published"
    ec2 = site.client("ec2")
    mine = [{"Name": "tag:instantstart:cluster", "Values": ["prod"]}]
    made = set[str]()
    for operation, result in (
        ("describe_vpcs", "Vpcs"),
        ("describe_subnets", "Subnets"),
        ("describe_addresses", "Addresses"),
        ("describe_nat_gateways", "NatGateways"),
        ("describe_internet_gateways", "InternetGateways"),
        ("describe_route_tables", "RouteTables"),
    ):
        found = getattr(ec2, operation)(Filters=mine)[result]
        keys = Counter(tag["Value"] for thing in found for tag in thing["Tags"] if tag["Key"] == "instantstart:key")
        assert set(keys.values()) <= {1}, keys
        made |= set(keys)
    assert "ec2.Vpc/prod" in made and any(key.startswith("ec2.Subnet/prod/") for key in made), made
