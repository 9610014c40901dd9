"""Whose account it is, whose credentials, and what a session costs."""

from __future__ import annotations

import gc
import time
from typing import Any

import botocore.session
import pytest

from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.aws.sessions import AwsSession
from reconciler.live.errors import CallRefused
from schemas.errors import StopUntilChange
from tests.live.aws_server import ACCOUNT, Answer, FakeAws

EXPIRED = b"<ErrorResponse><Error><Code>ExpiredToken</Code></Error></ErrorResponse>"


def test_another_account_stops_everything(accounts: AwsAccounts, aws: FakeAws) -> None:
    """Design rule 5: the identity is asked for before anything else, and nothing else is sent."""
    session = accounts.session("999988887777", "us-west-2")
    with pytest.raises(StopUntilChange, match="999988887777") as read:
        session.read("eks", "ListClusters")
    with pytest.raises(StopUntilChange) as changed:
        session.mutate("eks", "DeleteCluster", op="O", name="x")
    assert (read.value.reason, changed.value.reason) == ("WrongAccount", "WrongAccount")
    assert aws.calls() == []


def test_the_identity_is_asked_for_once_per_credentials(session: AwsSession, aws: FakeAws) -> None:
    for _ in range(3):
        session.read("eks", "ListClusters")
    assert [s.operation for s in aws.seen].count("GetCallerIdentity") == 1


@pytest.mark.parametrize(
    ("identity", "reason"),
    [
        (
            Answer(status=403, raw=b"<ErrorResponse><Error><Code>ExpiredToken</Code></Error></ErrorResponse>"),
            "ExpiredToken",
        ),
        (Answer(status=400, raw=b"not even XML"), "ReplyNotUnderstood"),
        (Answer(fate="reset"), "ConnectionLost"),
    ],
    ids=["expired", "garbage", "reset"],
)
def test_a_change_whose_account_cannot_be_checked_is_refused_not_lost(
    identity: Answer, reason: str, session: AwsSession, aws: FakeAws
) -> None:
    """Whatever becomes of the check, the change itself never left."""
    aws.identity = identity
    with pytest.raises(CallRefused) as caught:
        session.mutate("eks", "DeleteCluster", op="O", name="prod")
    assert caught.value.reason == reason and aws.calls() == []


def test_a_role_is_assumed_once_per_session(aws: FakeAws) -> None:
    with AwsAccounts(role="arn:aws:iam::{account}:role/InstantStart") as accounts:
        session = accounts.session(ACCOUNT, "us-west-2")
        session.read("eks", "ListClusters")
        session.read("sagemaker", "ListClusters")
    assert [s.operation for s in aws.seen].count("AssumeRole") == 1
    assert {s.access_key for s in aws.calls()} == {"ASIAROLE000000000001"}
    assert any(b"DurationSeconds=3600" in s.body for s in aws.seen)


def test_expired_credentials_are_taken_anew(aws: FakeAws) -> None:
    """E03: a describe after an hour gets ExpiredToken; the next call has new credentials and is checked again."""
    with AwsAccounts(role="arn:aws:iam::{account}:role/InstantStart") as accounts:
        session = accounts.session(ACCOUNT, "us-west-2")
        aws.script = lambda _: Answer(status=400, code="ExpiredTokenException")
        with pytest.raises(CallRefused) as caught:
            session.read("sagemaker", "DescribeCluster", ClusterName="prod")
        assert caught.value.reason == "ExpiredToken"
        aws.script = lambda _: Answer(json={"ClusterName": "prod"})
        assert session.read("sagemaker", "DescribeCluster", ClusterName="prod") == {"ClusterName": "prod"}
    assert [s.access_key[-1] for s in aws.calls()] == ["1", "2"]
    assert [s.operation for s in aws.seen].count("GetCallerIdentity") == 2


def test_no_credentials_is_later_and_sends_nothing(aws: FakeAws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with AwsAccounts() as accounts, pytest.raises(CallRefused) as caught:
        accounts.session(ACCOUNT, "us-west-2").read("eks", "ListClusters")
    assert caught.value.reason == "NoCredentials" and aws.seen == []


def test_one_more_account_is_cheap(aws: FakeAws) -> None:
    """The service models are shared: another session's client takes milliseconds, not 150 (design §12)."""
    aws.account = ACCOUNT
    with AwsAccounts() as accounts:
        accounts.session(ACCOUNT, "us-west-2").read("sagemaker", "ListClusters")
        took: list[float] = []
        gc.collect()
        for region in ("us-east-1", "us-east-2", "eu-west-1", "eu-west-2", "eu-central-1"):
            session = accounts.session(ACCOUNT, region)
            start = time.thread_time()
            session.has_operation("sagemaker", "ListClusters")
            session.read("sagemaker", "ListClusters")
            took.append(time.thread_time() - start)
    # Two clients (sts and sagemaker), two calls; the bound is loose because the machine is shared.
    assert min(took) < 0.08, took


def test_sessions_have_all_that_botocore_brings_and_nothing_of_each_other(aws: FakeAws) -> None:
    """They begin with a copy of the same handlers: what one hears, the others do not."""
    heard: dict[str, list[str]] = {"one": [], "two": [], "plain": []}
    aws.script = lambda _: Answer(raw=b"")

    def put(who: str, session: Any) -> None:
        def hear(request: Any, **_: Any) -> None:
            names = sorted({name.lower() for name in request.headers} - {"amz-sdk-invocation-id"})
            heard[who].append(f"{request.method} {request.url} {names}")

        session.register("before-send.s3", hear)
        client = session.create_client("s3", region_name="us-west-2")
        client.put_object(Bucket="dots.in.name", Key="a b", Body=b"x", Metadata={"k": "v"})
        client.delete_objects(Bucket="name", Delete={"Objects": [{"Key": "x"}]})

    with AwsAccounts() as accounts:
        put("one", accounts._botocore_session(ACCOUNT, "us-west-2"))  # pyright: ignore[reportPrivateUsage]
        put("two", accounts._botocore_session(ACCOUNT, "us-west-2"))  # pyright: ignore[reportPrivateUsage]
    put("plain", botocore.session.Session())
    assert heard["one"] == heard["two"] == heard["plain"] and len(heard["plain"]) == 2
