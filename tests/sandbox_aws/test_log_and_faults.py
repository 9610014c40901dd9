"""What the sandbox remembers, and how it fails on order."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectionError,
    ReadTimeoutError,
)
from botocore.parsers import ResponseParserError

from reconciler.sandbox.embedded import Sandbox, code_of, status_of

OP = "01JABCDEFGHJKMNPQRSTVWXYZ0"


def code(raised: pytest.ExceptionInfo[ClientError]) -> str:
    return code_of(raised.value)


def test_a_request_is_logged_with_its_op_and_effect(sandbox: Sandbox, role: Callable[..., str]) -> None:
    name = role("r", "eks.amazonaws.com").rpartition("/")[2]
    iam = sandbox.client("iam", user_agent_extra=f"instantstart-op/{OP}")
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    for _ in range(2):
        iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=document)
    iam.get_role(RoleName=name)
    entries = [entry for entry in sandbox.log() if entry["op"] == OP]
    assert [(e["operation"], e["mutating"], bool(e["effect"])) for e in entries] == [
        ("PutRolePolicy", True, True),
        ("PutRolePolicy", True, False),  # the same again changes nothing
        ("GetRole", False, False),
    ]
    assert entries[0]["service"] == "iam"


def test_a_second_object_with_one_mark_is_a_duplicate(sandbox: Sandbox) -> None:
    ec2 = sandbox.client("ec2")
    tags = [{"Key": "instantstart:cluster", "Value": sandbox.account}, {"Key": "instantstart:key", "Value": "Vpc/main"}]
    made = [
        ec2.create_vpc(CidrBlock="10.9.0.0/16", TagSpecifications=[{"ResourceType": "vpc", "Tags": tags}])["Vpc"][
            "VpcId"
        ]
        for _ in range(2)
    ]

    def duplicates() -> list[Any]:
        return [d for d in sandbox.get("/effects")["duplicates"] if d.get("cluster") == sandbox.account]

    assert [d["identities"] for d in duplicates()] == [sorted(made)]
    ec2.delete_vpc(VpcId=made[0])
    assert duplicates() == []
    assert sandbox.get("/effects")["byKind"]["created ec2.vpc"] >= 2


@pytest.mark.parametrize(
    ("fault", "service", "operation", "expected"),
    [
        pytest.param("throttle", "sagemaker", "ListClusters", "ThrottlingException", id="throttled"),
        pytest.param("throttle", "ec2", "DescribeVpcs", "RequestLimitExceeded", id="throttled in EC2's words"),
        pytest.param("error500", "eks", "ListClusters", "InternalFailure", id="5xx"),
        pytest.param("access_denied", "eks", "ListClusters", "AccessDeniedException", id="denied"),
        pytest.param("expired_token", "iam", "ListRoles", "ExpiredToken", id="E03: expired"),
        pytest.param("conflict", "eks", "ListClusters", "ResourceInUseException", id="E10: busy"),
        pytest.param("quota", "sagemaker", "ListClusters", "ResourceLimitExceeded", id="quota"),
        pytest.param("invalid", "ec2", "DescribeVpcs", "InvalidParameterValue", id="not valid"),
        pytest.param("conflict", "eks", "ListClusters", "ResourceInUseException", id="E10: busy"),
        pytest.param("quota", "sagemaker", "ListClusters", "ResourceLimitExceeded", id="quota"),
        pytest.param("invalid", "ec2", "DescribeVpcs", "InvalidParameterValue", id="not valid"),
    ],
)
def test_errors_on_order(sandbox: Sandbox, fault: str, service: str, operation: str, expected: str) -> None:
    calls = {
        "ListClusters": "list_clusters",
        "DescribeVpcs": "describe_vpcs",
        "ListRoles": "list_roles",
    }
    call = getattr(sandbox.client(service), calls[operation])
    sandbox.post("/faults", {"match": {"service": service, "operation": operation, "nth": 2}, "fault": fault})
    call()
    with pytest.raises(ClientError) as told:
        call()
    assert code(told) == expected
    call()
    assert [entry["fault"] for entry in sandbox.log() if entry["operation"] == operation] == [None, fault, None]


def test_a_lost_reply_has_happened(sandbox: Sandbox, role: Callable[..., str]) -> None:
    sandbox.post("/faults", {"match": {"service": "iam", "operation": "CreateRole"}, "fault": "lost_reply"})
    with pytest.raises((ConnectionClosedError, ConnectionError)):
        role("lost", "eks.amazonaws.com", wait=False)
    assert any("lost" in one["RoleName"] for one in sandbox.client("iam").list_roles(PathPrefix="/")["Roles"])
    (entry,) = [entry for entry in sandbox.log() if entry["operation"] == "CreateRole"]
    assert entry["effect"]
    assert entry["fault"] == "lost_reply"


def test_a_timeout_has_not_happened(sandbox: Sandbox) -> None:
    sandbox.post("/faults", {"match": {"service": "ec2", "operation": "CreateVpc"}, "fault": "timeout:0.4"})
    with pytest.raises((ReadTimeoutError, ConnectionError)):
        sandbox.client("ec2", read_timeout=0.2).create_vpc(CidrBlock="10.77.0.0/16")
    found = sandbox.client("ec2").describe_vpcs(Filters=[{"Name": "cidr", "Values": ["10.77.0.0/16"]}])["Vpcs"]
    assert found == []


def test_strangers_and_wrong_secrets_are_refused(sandbox: Sandbox) -> None:
    with pytest.raises(ClientError) as stranger:
        sandbox.with_key("AKIA" + "0" * 16, "x").client("sagemaker").list_clusters()
    assert code(stranger) == "UnrecognizedClientException"
    with pytest.raises(ClientError) as forged:
        sandbox.with_key(sandbox.access_key, "x").client("sagemaker").list_clusters()
    assert code(forged) == "SignatureDoesNotMatch"


def test_what_is_not_simulated_says_so(sandbox: Sandbox) -> None:
    for service, call in (("sqs", "list_queues"), ("sagemaker", "list_models")):
        with pytest.raises(ClientError, match="not supported here") as refused:
            getattr(sandbox.client(service), call)()
        assert 400 <= status_of(refused.value) < 500


def client_of(sandbox: Sandbox) -> subprocess.Popen[bytes]:
    """A process of its own that makes one VPC, as the engine would: its op id in the user agent."""
    script = f"""
import boto3
from botocore.config import Config
config = Config(retries={{"total_max_attempts": 1}}, user_agent_extra="instantstart-op/{OP}")
keys = dict(aws_access_key_id={sandbox.access_key!r}, aws_secret_access_key={sandbox.secret_key!r})
client = boto3.client("ec2", endpoint_url={sandbox.endpoint!r}, region_name={sandbox.region!r}, config=config, **keys)
input()
client.create_vpc(CidrBlock="10.78.0.0/16")
"""
    return subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize(("fault", "made"), [("kill_before", 0), ("kill_after", 1)])
def test_a_client_is_killed_before_or_after_the_effect(sandbox: Sandbox, fault: str, made: int) -> None:
    with client_of(sandbox) as client:
        sandbox.post("/faults", {"match": {"op": OP, "mutating": True}, "fault": fault, "pid": client.pid})
        client.communicate(b"\n", timeout=120)
    assert client.returncode == -signal.SIGKILL
    found = sandbox.client("ec2").describe_vpcs(Filters=[{"Name": "cidr", "Values": ["10.78.0.0/16"]}])["Vpcs"]
    assert len(found) == made
    (entry,) = [entry for entry in sandbox.log() if entry["fault"] == fault]
    assert (entry["op"], bool(entry["effect"])) == (OP, bool(made))


@pytest.mark.parametrize("pid", [-1, 0, 1])
def test_nobody_else_is_killed(sandbox: Sandbox, pid: int) -> None:
    """To kill(2) these are everybody, oneself, and the first of all processes."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        sandbox.post("/faults", {"match": {}, "fault": "kill_after", "pid": pid})
    assert refused.value.code == 400
    refused.value.close()


def test_a_page_is_as_short_as_it_is_told_to_be(sandbox: Sandbox) -> None:
    """A service may give less than it was asked for; whoever reads on has everything all the same."""
    quotas = sandbox.client("service-quotas")
    whole = [q["QuotaName"] for q in quotas.list_service_quotas(ServiceCode="sagemaker", MaxResults=100)["Quotas"]]
    sandbox.post("/pages", {"most": 2})
    try:
        assert len(quotas.list_service_quotas(ServiceCode="sagemaker", MaxResults=100)["Quotas"]) == 2
        pages = list(quotas.get_paginator("list_service_quotas").paginate(ServiceCode="sagemaker"))
    finally:
        sandbox.post("/pages", {"most": None})
    assert [q["QuotaName"] for page in pages for q in page["Quotas"]][: len(whole)] == whole


def test_an_answer_is_cut_in_the_middle(sandbox: Sandbox) -> None:
    sandbox.post("/faults", {"match": {"service": "iam", "operation": "ListRoles"}, "fault": "cut"})
    iam = sandbox.client("iam")
    with pytest.raises((ConnectionError, ResponseParserError)):
        iam.list_roles()
    iam.list_roles()


def test_a_clock_that_is_off_is_seen_in_the_date(sandbox: Sandbox) -> None:
    """E09."""
    sandbox.post("/faults", {"match": {"service": "eks", "operation": "ListClusters"}, "fault": "skewed"})
    with pytest.raises(ClientError) as told:
        sandbox.client("eks").list_clusters()
    said = parsedate_to_datetime(cast("Any", told.value).response["ResponseMetadata"]["HTTPHeaders"]["date"])
    assert code(told) == "InvalidSignatureException"
    assert abs((said - datetime.now(UTC)).total_seconds() - 1200) < 60


@pytest.mark.parametrize(
    ("headers", "body", "logged"),
    [
        pytest.param("Content-Length: 40", "Action=CreateVpc", False, id="the client died in the middle"),
        pytest.param("Content-Length: 16\r\nExpect: 100-continue", "", False, id="and before the first byte"),
        pytest.param("Transfer-Encoding: chunked", "10\r\nAction=CreateVpc\r\n", False, id="between two chunks"),
        pytest.param("Content-Length: 16", "Action=CreateVpc", True, id="it came whole"),
    ],
)
def test_a_request_that_never_came_whole_has_not_come(
    sandbox: Sandbox, headers: str, body: str, *, logged: bool
) -> None:
    """A killed client leaves half a request. Taken for a whole one it would be an empty object in S3."""
    agent = f"cut-short-{uuid.uuid4()}"
    host, port = sandbox.endpoint.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        head = f"POST /?Action= HTTP/1.1\r\nHost: ec2\r\nUser-Agent: {agent}\r\n{headers}\r\n\r\n{body}"
        connection.sendall(head.encode())
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass  # until the server has seen the end
    assert [entry["userAgent"] for entry in sandbox.get("/log") if entry["userAgent"] == agent] == [agent] * logged
