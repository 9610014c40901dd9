"""Clusters whose creation fails after it was accepted. Run by `make faults`."""

from __future__ import annotations

import re
from collections.abc import Callable

from schemas.journal import Condition
from tests.engine_support import Site, group_yaml
from tests.faults.campaign import Kind, Life, mutating

NO_CAPACITY = "We currently do not have sufficient capacity for the requested instance type in the Availability Zone"
EKS, HYPERPOD, ADDON = Kind("eks", "CreateCluster"), Kind("sagemaker", "CreateCluster"), Kind("eks", "CreateAddon")


def test_what_fails_while_it_is_made_is_told_word_for_word_and_made_again_by_a_person_only(
    make: Callable[[], Site],
) -> None:
    """A17: no loop of creations; A34: no error leads to a delete; E13: the root reason first."""
    life = Life(site=make())
    site = life.site
    for kind in (EKS, HYPERPOD, ADDON):
        life.plan(kind, ["fails"])
    revision = site.commit("make", cluster=site.cluster_yaml(), groups=group_yaml("system"))

    _stops(life, revision, "InsufficientFreeAddresses", "does not have enough available IP addresses")
    site.client("eks").delete_cluster(name="prod")
    _again(life, "control-plane", EKS)

    _stops(life, revision, "ConfigurationConflict", "Conflicts found when trying to apply")
    failed = [e for e in life.log() if e["fault"] == "fails" and e["operation"] == "CreateAddon"]
    assert len(failed) == 1
    eks = site.client("eks")
    broken = [n for n in eks.list_addons(clusterName="prod")["addons"] if _status(site, n) == "CREATE_FAILED"]
    assert len(broken) == 1
    eks.delete_addon(clusterName="prod", addonName=broken[0])  # was made, and is made again when it is gone

    _stops(life, revision, "ClusterFailed", NO_CAPACITY)
    assert site.hyperpod()["FailureMessage"] in site.status.msg
    site.client("sagemaker").delete_cluster(ClusterName="prod")
    _again(life, "compute", HYPERPOD)

    assert life.step([Condition.READY], revision).condition is Condition.READY
    assert [e["operation"] for e in mutating(life.log()) if e["operation"].startswith("Delete")] == []


def _status(site: Site, addon: str) -> str:
    return str(site.client("eks").describe_addon(clusterName="prod", addonName=addon)["addon"]["status"])


def _stops(life: Life, revision: str, reason: str, words: str) -> None:
    status = life.step([Condition.STALLED, Condition.READY], revision)
    assert (status.reason, words in status.msg) == (reason, True), life.story("another end")
    lines = len(life.site.lines)
    life.site.idle(5)  # what does not need it goes on meanwhile
    found = re.search(r"\w+\.\w+/prod[\w/.-]*", status.msg)
    assert found is not None, status.msg
    key = found[0]
    assert [line for line in life.site.lines[lines:] if line["t"] == "op" and line.get("key") == key] == []


def _again(life: Life, stage: str, kind: Kind) -> None:
    """What failed was taken away by hand: it is made again when a person says so, and not before."""
    site = life.site
    before = len(mutating(life.log()))
    site.idle(5)
    assert kind.operation not in [e["operation"] for e in mutating(life.log())[before:]]
    site.order("retry", stage)
    site.idle(1)
