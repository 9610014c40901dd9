"""A changing call leaves once, a reading one may be repeated, and a listing is whole or an error."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import botocore.session
import botocore.utils
import pytest

from reconciler.live.aws import operations
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.aws.plain import moment
from reconciler.live.aws.sessions import READ_ATTEMPTS, AwsSession, Patience, call_config
from reconciler.live.clock import iso
from reconciler.live.errors import AlreadyExists, CallRefused, CallRejected, NotFound, ReplyLost
from schemas.errors import InstantStartError
from tests.live.aws_server import ACCOUNT, OK, Answer, FakeAws, Seen
from tests.waiting import PATIENCE, until

OP = "01JA0000000000000000000000"
FATES = {
    "500": Answer(status=500, code="InternalFailure"),
    "503": Answer(status=503, code="ServiceUnavailable"),
    "throttled": Answer(status=400, code="ThrottlingException"),
    "reset": Answer(fate="reset"),
    "hang": Answer(fate="hang"),
}


def test_every_changing_call_is_known_to_botocore_and_no_read_is_among_them() -> None:
    session = _botocore()
    for service, operation in operations.mutating_calls():
        known = session.get_service_model(service).operation_names
        assert operation in known, f"{service}:{operation} is no operation of the service"
        assert not operation.startswith(operations.READ_PREFIXES), f"{service}:{operation} looks like a read"


def test_the_configs_differ_in_how_often_they_send() -> None:
    changing, reading = call_config(Patience(), mutating=True), call_config(Patience(), mutating=False)
    assert changing.retries == {"mode": "standard", "total_max_attempts": 1}
    assert reading.retries == {"mode": "standard", "total_max_attempts": READ_ATTEMPTS}


@pytest.mark.parametrize("service", sorted(operations.MUTATING))
def test_every_changing_call_leaves_once_on_a_server_error(service: str, session: AwsSession, aws: FakeAws) -> None:
    """All of the table, over real HTTP: one request each, whatever botocore would like to do after a 500."""
    aws.script = lambda _: FATES["500"]
    model = _botocore().get_service_model(service)
    for operation in sorted(operations.MUTATING[service]):
        before = len(aws.calls())
        with pytest.raises(ReplyLost) as caught:
            session.mutate(service, operation, op=OP, **_smallest(model.operation_model(operation).input_shape))
        sent = aws.calls()[before:]
        assert len(sent) == 1, f"{service}:{operation} left {len(sent)} times"
        assert f"instantstart-op/{OP}" in sent[0].user_agent, operation
        assert caught.value.operation == f"{service}:{operation}"


@pytest.mark.parametrize(
    ("fate", "expected"),
    [("503", ReplyLost), ("throttled", CallRefused), ("reset", ReplyLost), ("hang", ReplyLost)],
)
@pytest.mark.parametrize("call", [("sagemaker", "DeleteCluster", "ClusterName"), ("eks", "DeleteCluster", "name")])
def test_a_changing_call_leaves_once_however_it_ends(
    fate: str, expected: type[InstantStartError], call: tuple[str, str, str], aws: FakeAws
) -> None:
    aws.script = lambda _: FATES[fate]
    with AwsAccounts(patience=Patience(mutate=0.3 if fate == "hang" else PATIENCE)) as accounts:
        session = accounts.session(ACCOUNT, "us-west-2")
        with pytest.raises(expected):
            session.mutate(call[0], call[1], op=OP, **{call[2]: "prod"})
    assert len(until(aws.calls)) == 1


def test_a_redirect_does_not_carry_a_changing_call_to_another_region(session: AwsSession, aws: FakeAws) -> None:
    """botocore follows S3's redirects by itself: not with our changes."""

    def elsewhere(_: Seen) -> Answer:
        body = b"<Error><Code>PermanentRedirect</Code><Message>other region</Message></Error>"
        return Answer(status=301, raw=body, headers={"x-amz-bucket-region": "eu-west-1"})

    aws.script = elsewhere
    with pytest.raises(InstantStartError):
        session.mutate("s3", "PutBucketTagging", op=OP, Bucket="b-1", Tagging={"TagSet": []})
    assert [s.method for s in aws.calls() if s.method == "PUT"] == ["PUT"]


def test_nothing_listens_so_nothing_happened(session: AwsSession, aws: FakeAws) -> None:
    session.read("eks", "ListClusters")
    aws.close()
    with pytest.raises(CallRefused) as caught:
        session.mutate("eks", "DeleteCluster", op=OP, name="prod")
    assert caught.value.reason == "NotConnected"


@pytest.mark.parametrize("fate", ["500", "throttled", "reset"])
def test_a_reading_call_is_repeated(fate: str, session: AwsSession, aws: FakeAws) -> None:
    aws.script = _in_turn([FATES[fate], Answer(json={"ClusterName": "prod"})])
    assert session.read("sagemaker", "DescribeCluster", ClusterName="prod") == {"ClusterName": "prod"}
    assert len(aws.calls()) == 2


def test_op_ids_of_parallel_calls_do_not_mix(session: AwsSession, aws: FakeAws) -> None:
    def tag(number: int) -> None:
        session.mutate(
            "sagemaker",
            "AddTags",
            op=f"OP{number:02d}",
            ResourceArn=f"arn-{number:02d}",
            Tags=[{"Key": "k", "Value": "v"}],
        )

    threads = [threading.Thread(target=tag, args=(n,)) for n in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pairs = {
        s.body.split(b"arn-")[1][:2].decode(): s.user_agent.rpartition("instantstart-op/OP")[2] for s in aws.calls()
    }
    assert pairs == {f"{n:02d}": f"{n:02d}" for n in range(24)}


@pytest.mark.parametrize(
    ("service", "operation", "reason"),
    [
        ("eks", "DeleteCluster", "a change is no read"),
        ("sagemaker", "CreateTrainingPlan", "not in the table, and no read either"),
        ("ec2", "RunInstances", "not in the table, and no read either"),
        ("secretsmanager", "GetSecretValue", "brings a secret"),
    ],
)
def test_read_refuses(service: str, operation: str, reason: str, session: AwsSession, aws: FakeAws) -> None:
    with pytest.raises(CallRejected, match="is not sent"):
        session.read(service, operation)
    assert aws.seen == [], reason


@pytest.mark.parametrize(
    ("service", "operation"),
    [("eks", "DescribeCluster"), ("iam", "CreateAccessKey"), ("sagemaker", "BatchAddClusterNodes")],
)
def test_mutate_refuses_what_is_not_in_the_table(
    service: str, operation: str, session: AwsSession, aws: FakeAws
) -> None:
    """D05: nothing can make an access key."""
    with pytest.raises(CallRejected, match="is not sent"):
        session.mutate(service, operation, op=OP)
    assert aws.seen == []


def test_an_op_id_cannot_smuggle_a_header(session: AwsSession, aws: FakeAws) -> None:
    with pytest.raises(CallRejected):
        session.mutate("eks", "DeleteCluster", op="x\r\nEvil: 1", name="prod")
    assert aws.seen == []


def test_all_pages(session: AwsSession, aws: FakeAws) -> None:
    """E06: 250 nodes are three pages of a hundred, and node 101 is there."""
    aws.script = _pages_of_nodes(250)
    nodes = session.pages("sagemaker", "ListClusterNodes", "ClusterNodeSummaries", ClusterName="prod")
    assert [n["InstanceId"] for n in nodes] == [f"i-{n}" for n in range(250)]
    assert len(aws.calls()) == 3


def test_empty_pages_with_tokens_are_followed(session: AwsSession, aws: FakeAws) -> None:
    """E04: fifty empty pages, then one with something on it."""

    def script(_: Seen) -> Answer:
        asked = len(aws.calls())
        if asked <= 50:
            return Answer(json={"ClusterSummaries": [], "NextToken": f"t{asked}"})
        return Answer(json={"ClusterSummaries": [{"ClusterName": "late"}]})

    aws.script = script
    found = session.pages("sagemaker", "ListClusters", "ClusterSummaries")
    assert [c["ClusterName"] for c in found] == ["late"]


def test_a_throttled_page_is_an_error_and_never_a_short_list(session: AwsSession, aws: FakeAws) -> None:
    """E04: page 3 never comes."""
    first = _pages_of_nodes(500)
    aws.script = lambda seen: first(seen) if b'"200"' not in seen.body else FATES["throttled"]
    with pytest.raises(CallRefused) as caught:
        session.pages("sagemaker", "ListClusterNodes", "ClusterNodeSummaries", ClusterName="prod")
    assert caught.value.reason == "Throttled"
    assert len(aws.calls()) == 2 + READ_ATTEMPTS


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("keep", [0.0, 0.5, 0.99])
def test_a_page_cut_in_the_middle_is_an_error_and_never_an_empty_list(
    session: AwsSession, aws: FakeAws, keep: float, announced: bool
) -> None:
    """botocore reads a JSON answer that was cut off as an empty one. Rule 1: a read error never deletes."""
    first = _pages_of_nodes(250)
    aws.script = lambda seen: replace(first(seen), keep=keep if b'"100"' in seen.body else 1.0, announced=announced)
    with pytest.raises(ReplyLost):
        session.pages("sagemaker", "ListClusterNodes", "ClusterNodeSummaries", ClusterName="prod")


def test_a_page_of_a_proxy_is_no_answer(session: AwsSession, aws: FakeAws) -> None:
    aws.script = lambda _: Answer(raw=b"<html>Please log in</html>")
    with pytest.raises(ReplyLost):
        session.read("sagemaker", "ListClusterNodes", ClusterName="prod")


def test_a_change_whose_answer_was_cut_is_a_lost_reply(session: AwsSession, aws: FakeAws) -> None:
    aws.script = lambda _: Answer(json={"ClusterArn": "arn"}, keep=0.5)
    with pytest.raises(ReplyLost):
        session.mutate("sagemaker", "UpdateCluster", op="01J", ClusterName="prod")
    assert len(aws.calls()) == 1


def test_a_token_that_comes_back_is_an_error(session: AwsSession, aws: FakeAws) -> None:
    aws.script = lambda _: Answer(json={"ClusterSummaries": [], "NextToken": "again"})
    with pytest.raises(CallRefused) as caught:
        session.pages("sagemaker", "ListClusters", "ClusterSummaries")
    assert caught.value.reason == "PagingLoop"


def test_moments_become_text(session: AwsSession, aws: FakeAws) -> None:
    aws.script = lambda _: Answer(json={"ClusterName": "prod", "CreationTime": 1767225600.25})
    answer = session.read("sagemaker", "DescribeCluster", ClusterName="prod")
    assert answer == {"ClusterName": "prod", "CreationTime": "2026-01-01T00:00:00.250Z"}


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(1767225600.25, id="epoch seconds with a fraction"),
        pytest.param(1767225600, id="whole epoch seconds"),
        pytest.param("1767225600.25", id="epoch seconds as text"),
        pytest.param("2026-01-01T00:00:00.250Z", id="ISO in UTC"),
        pytest.param("2026-01-01T01:00:00+01:00", id="ISO in another zone"),
        pytest.param("2026-01-01T00:00:00", id="ISO without zone is UTC"),
        pytest.param("Thu, 01 Jan 2026 00:00:00 GMT", id="as in HTTP headers"),
        pytest.param(-62135596800, id="long ago: botocore knows a way"),
        pytest.param("20260101T000000Z", id="ISO without separators"),
    ],
)
def test_moments_mean_what_botocore_says_they_mean(sent: str | float) -> None:
    untyped: Any = botocore.utils
    assert moment(sent) == iso(untyped.parse_timestamp(sent))


def test_what_is_no_moment_is_an_error() -> None:
    with pytest.raises(ValueError, match="someday"):
        moment("someday")


def test_an_object_of_s3_is_bytes_up_to_a_limit(session: AwsSession, aws: FakeAws) -> None:
    aws.script = lambda _: Answer(raw=b"0123456789")
    assert session.object_bytes("b-1", "k") == b"0123456789"
    with pytest.raises(CallRejected, match="larger than 9"):
        session.object_bytes("b-1", "k", limit=9)


def test_errors_carry_code_operation_and_cause(session: AwsSession, aws: FakeAws) -> None:
    """E10: the text with the update's id stays readable."""
    aws.script = lambda _: Answer(status=409, code="ResourceInUseException", message="update 7f-1 is in progress")
    with pytest.raises(CallRefused) as caught:
        session.mutate("eks", "UpdateClusterVersion", op=OP, name="prod", version="1.34")
    error = caught.value
    assert (error.reason, error.code, error.operation, error.status) == (
        "Conflict",
        "ResourceInUseException",
        "eks:UpdateClusterVersion",
        409,
    )
    assert "7f-1" in error.message and error.__cause__ is not None and not isinstance(error, AlreadyExists)


def test_missing_and_taken(session: AwsSession, aws: FakeAws) -> None:
    aws.script = lambda _: Answer(status=400, code="ResourceNotFound")
    with pytest.raises(NotFound):
        session.read("sagemaker", "DescribeCluster", ClusterName="prod")
    aws.script = lambda _: Answer(status=400, code="ResourceInUse")
    with pytest.raises(AlreadyExists):
        session.mutate("sagemaker", "CreateCluster", op=OP, ClusterName="prod")


def _botocore() -> Any:
    return botocore.session.Session()


def _in_turn(answers: list[Answer]) -> Callable[[Seen], Answer]:
    left: Iterator[Answer] = iter(answers)
    return lambda _: next(left, OK)


def _pages_of_nodes(count: int) -> Callable[[Seen], Answer]:
    def script(seen: Seen) -> Answer:
        asked = json.loads(seen.body)
        start, size = int(asked.get("NextToken", 0)), int(asked.get("MaxResults", 10))
        nodes = [{"InstanceId": f"i-{n}"} for n in range(start, min(start + size, count))]
        more = {"NextToken": str(start + size)} if start + size < count else {}
        return Answer(json={"ClusterNodeSummaries": nodes, **more})

    return script


def _smallest(shape: Any) -> dict[str, Any]:
    """The smallest parameters that botocore lets through for an operation."""
    values: dict[str, Any] = {} if shape is None else {n: _value(shape.members[n]) for n in shape.required_members}
    return values


def _value(shape: Any) -> Any:
    match shape.type_name:
        case "structure":
            return _smallest(shape)
        case "list":
            return [_value(shape.member)]
        case "map":
            return {"key": _value(shape.value)}
        case "boolean":
            return True
        case "integer" | "long":
            return int(shape.metadata.get("min", 1))
        case "blob":
            return b"x"
        case _:
            return (shape.enum or ["x" * max(1, int(shape.metadata.get("min", 1)))])[0]
