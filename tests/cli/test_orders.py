"""Orders: what a person types becomes a commit that the engine takes up."""

from __future__ import annotations

import pytest

from reconciler.engine.signing import Signing
from reconciler.journal import subjects
from schemas.errors import InvalidInput
from schemas.journal import ClusterStatus, Hold, OpRecord, Phase, StageState, StageStatus
from tests.cli.clibox import CLUSTER, CliBox, hold, intent, op, rollout, stage

FAILED, LOST = "01JAZ5Q8T3W4X5Y6Z7A8B9C0D1", "01JAZ5Q8T3W4X5Y6Z7A8B9C0D2"
ONE, TWO = "1" * 64, "12" * 32
NODE = "Operation/reboot-a#i-0abc"


def stalled(box: CliBox) -> None:
    box.journal(
        [
            rollout(box.first),
            intent(FAILED, "eks.Cluster/demo", "eks:CreateCluster"),
            op(FAILED, "failed", "failed", reason="ValidationException"),
            intent(LOST, NODE, "sagemaker:BatchRebootClusterNodes", **{"class": "once"}),
            op(LOST, "unknown", "cannot tell", reason="OutcomeUnknown"),
            stage("control-plane", "Failed", "ValidationException"),
            hold("a/demo/one", ONE, "NeedsApproval", "one"),
            hold("a/demo/two", TWO, "PruneGuard", "two"),
        ]
    )


def given(box: CliBox) -> list[dict[str, str]]:
    """All are signed with the key in the state directory, which a strict policy wants."""
    signing = Signing(box.state)
    with box.repo() as repo:
        orders = repo.orders()
    assert all(signing.is_signed_order(order.ulid, dict(order.body)) for order in orders)
    return [{name: value for name, value in order.body.items() if name != "sig"} for order in orders]


@pytest.mark.parametrize(
    ("words", "bodies"),
    [
        (["retry", CLUSTER, "control-plane"], [{"do": "retry", "subject": "control-plane"}]),
        (["retry", CLUSTER, "eks.Cluster/demo"], [{"do": "retry", "subject": "eks.Cluster/demo"}]),
        (
            ["resolve", CLUSTER, NODE, "--as", "not-happened"],
            [{"do": "resolve", "subject": LOST, "as": "not-happened"}],
        ),
        (["approve", CLUSTER, "a/demo/one"], [{"do": "approve", "subject": ONE}]),
        (["approve", CLUSTER, "1212"], [{"do": "approve", "subject": TWO}]),
        (["approve", CLUSTER, "--all"], [{"do": "approve", "subject": ONE}, {"do": "approve", "subject": TWO}]),
        (["release", CLUSTER, "journal"], [{"do": "release", "subject": "journal"}]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value[0], str) else "",
)
def test_an_order_is_given(box: CliBox, words: list[str], bodies: list[dict[str, str]]) -> None:
    stalled(box)
    said = box.call(*words, "--why", "we looked", "--json")
    assert said.code == 0, said.err
    common = {"cluster": CLUSTER, "principal": "alice@example.com", "why": "we looked"}
    assert given(box) == [{**common, **body} for body in bodies]
    assert [{k: v for k, v in order.items() if k != "id"} for order in said.json["orders"]] == given(box)


def test_the_engine_takes_it_up(box: CliBox) -> None:
    """The body is what the engine reads: an order given here is folded there."""
    stalled(box)
    assert box.call("approve", CLUSTER, "a/demo/one", "--why", "we looked").code == 0
    box.call("reconcile", "--once")
    assert given(box) == []
    assert "alice@example.com orders: approve" in box.call("log", CLUSTER).out


def test_approve_without_a_subject_shows_what_is_held(box: CliBox) -> None:
    box.journal([rollout(box.first)])
    said = box.call("approve", CLUSTER)
    assert (said.code, said.out) == (0, f"Nothing is held in {CLUSTER}.\n")
    box.journal([hold("a/demo/one", ONE, "NeedsApproval", "one")])
    said = box.call("approve", CLUSTER)
    assert said.code == 0 and ONE[:12] in said.out and "--all" in said.err
    assert box.call("approve", CLUSTER, "--json").json["held"][0]["action"] == ONE
    assert given(box) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["retry", CLUSTER, "network"], "control-plane"),
        (["resolve", CLUSTER, FAILED, "--as", "happened"], LOST),
        (["approve", CLUSTER, "nothing"], "a/demo/one"),
        (["release", CLUSTER, "nothing"], "a/demo/two"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(box: CliBox, words: list[str], told: str) -> None:
    stalled(box)
    said = box.call(*words, "--why", "x")
    assert said.code == 1 and told in said.err
    assert given(box) == []


def test_an_order_without_a_journal_or_a_person(box: CliBox) -> None:
    assert "nothing was ever applied" in box.call("retry", CLUSTER, "x", "--why", "y").err
    said = box.call("retry", CLUSTER, "x", "--why", "y", env={"GIT_AUTHOR_EMAIL": ""})
    assert said.code == 1 and "git config --global user.email" in said.err
    assert box.call("retry", CLUSTER, "x", "--why", " ").code == 64


def status_of(**fields: object) -> ClusterStatus:
    return ClusterStatus.model_validate({"cluster": CLUSTER, **fields})


def test_a_short_digest_must_be_clear() -> None:
    holds = {
        key: Hold(key=key, action=digest, reason="x")
        for key, digest in (("a", "abcd" + "0" * 60), ("b", "abcd1" * 12 + "0000"))
    }
    status = status_of(holds=holds)
    with pytest.raises(InvalidInput, match="begins 2"):
        subjects.to_approve(status, ["abcd"])
    assert subjects.to_approve(status, ["abcd0"]) == ["abcd" + "0" * 60]
    assert subjects.to_approve(status, ["f" * 64]) == ["f" * 64], "before it is held, by its whole digest"
    with pytest.raises(InvalidInput, match="nothing held"):
        subjects.to_approve(status, ["ab"])


def test_a_suspended_cluster_is_resumed_not_approved() -> None:
    status = status_of(holds={"*": Hold(key="*", action="", reason="Suspended")})
    with pytest.raises(InvalidInput, match="instantstart resume demo"):
        subjects.to_approve(status, ["x"])
    with pytest.raises(InvalidInput, match="nothing is held"):
        subjects.all_held(status, [])


def test_retry_knows_stages_that_are_not_ready() -> None:
    record = OpRecord(op=FAILED, phase=Phase.FAILED, key="k")
    stages = {"compute": StageStatus(state=StageState.FAILED), "network": StageStatus(state=StageState.READY)}
    status = status_of(ops={FAILED: record}, stages=stages)
    assert subjects.to_retry(status, ["compute", "k", FAILED[:12]]) == ["compute", "k", FAILED]
    with pytest.raises(InvalidInput):
        subjects.to_retry(status, ["network"])
