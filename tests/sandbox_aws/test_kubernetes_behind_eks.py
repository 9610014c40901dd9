"""Both halves together: the endpoint, CA and token that EKS gives lead into the cluster's own Kubernetes API."""

from __future__ import annotations

import base64
import http.client
import json
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.sandbox import embedded
from reconciler.sandbox.embedded import Sandbox
from tests.kube_servers.assets import find

OP = "01JABCDEFGHJKMNPQRSTVWXYZ0"


pytestmark = pytest.mark.behaviour("EKS in front: tokens, access entries and policies, add-ons, one request log")


@pytest.fixture(scope="module")
def served(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """An EKS cluster named prod, reached over TLS."""
    programs = find() if request.config.getoption("--kubernetes") == "real" else None
    with embedded.running(programs=programs) as sandbox:
        ec2, iam, eks = sandbox.client("ec2"), sandbox.client("iam"), sandbox.client("eks")
        vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        subnets = [
            ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{i}.0/24", AvailabilityZone=f"us-west-2{z}")["Subnet"][
                "SubnetId"
            ]
            for i, z in enumerate("ab")
        ]
        statement = {"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        role = iam.create_role(RoleName="eks", AssumeRolePolicyDocument=document)["Role"]["Arn"]
        sandbox.pass_time(60)
        eks.create_cluster(
            name="prod",
            roleArn=role,
            resourcesVpcConfig={"subnetIds": subnets},
            accessConfig={"authenticationMode": "API"},
        )
        sandbox.until(lambda: eks.describe_cluster(name="prod")["cluster"]["status"], lambda s: s == "ACTIVE")
        yield sandbox


def call(sandbox: Sandbox, path: str, *, method: str = "GET", body: Any = None, bearer: str | None = None) -> Any:
    cluster = sandbox.client("eks").describe_cluster(name="prod")["cluster"]
    authority = base64.b64decode(cluster["certificateAuthority"]["data"]).decode()
    request = urllib.request.Request(
        cluster["endpoint"] + path, method=method, data=None if body is None else json.dumps(body).encode()
    )
    request.add_header("Authorization", f"Bearer {bearer or sandbox.eks_token('prod')}")
    request.add_header("User-Agent", f"test instantstart-op/{OP}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60, context=ssl.create_default_context(cadata=authority)) as answer:
        return json.loads(answer.read())


def test_the_creator_is_let_in_and_nobody_else(served: Sandbox) -> None:
    assert "default" in {item["metadata"]["name"] for item in call(served, "/api/v1/namespaces")["items"]}
    for wrong in ("k8s-aws-v1.AAAA", served.eks_token("other"), served.of_account("222233334444").eks_token("prod")):
        with pytest.raises(urllib.error.HTTPError) as refused:
            call(served, "/api/v1/namespaces", bearer=wrong)
        assert refused.value.code == 401
        refused.value.close()


def test_a_view_policy_looks_and_does_not_touch(served: Sandbox) -> None:
    eks = served.client("eks")
    stranger = served.of_account("333344445555")
    principal = stranger.client("sts").get_caller_identity()["Arn"]
    eks.create_access_entry(clusterName="prod", principalArn=principal)
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
    scope = {"type": "namespace", "namespaces": ["default"]}
    eks.associate_access_policy(clusterName="prod", principalArn=principal, policyArn=policy, accessScope=scope)
    bearer = stranger.eks_token("prod")
    assert call(served, "/api/v1/namespaces/default/pods", bearer=bearer)["items"] == []
    for path in ("/api/v1/namespaces/kube-system/pods", "/api/v1/namespaces/default/secrets"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            call(served, path, bearer=bearer)
        assert refused.value.code == 403
        refused.value.close()


def test_a_group_of_an_entry_is_a_group_in_kubernetes(served: Sandbox) -> None:
    """Without a policy: what its members may, roles in the cluster say."""
    eks = served.client("eks")
    stranger = served.of_account("555566667777")
    principal = stranger.client("sts").get_caller_identity()["Arn"]
    eks.create_access_entry(clusterName="prod", principalArn=principal, kubernetesGroups=["team-b"])
    bearer = stranger.eks_token("prod")
    review = call(served, "/apis/authentication.k8s.io/v1/selfsubjectreviews", method="POST", body={}, bearer=bearer)
    assert "team-b" in review["status"]["userInfo"]["groups"]
    with pytest.raises(urllib.error.HTTPError) as refused:
        call(served, "/api/v1/nodes", bearer=bearer)
    assert refused.value.code == 403
    refused.value.close()


def test_kubernetes_requests_stand_in_the_same_log(served: Sandbox) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    call(served, "/api/v1/namespaces/default/configmaps", method="POST", body=body)
    entry = logged(served, "create configmaps")
    assert entry["op"] == OP
    assert entry["mutating"]
    assert entry["effect"] == f"created kubernetes.configmaps {served.account}/us-west-2/prod/default/c"


def logged(sandbox: Sandbox, operation: str) -> dict[str, Any]:
    """The newest such request to Kubernetes; a real server's log is read a moment later."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = [one for one in sandbox.get("/log") if (one["service"], one["operation"]) == ("kubernetes", operation)]
        if found:
            return dict(found[-1])
        time.sleep(0.02)
    raise AssertionError(f"no {operation} in the log")


@pytest.mark.simulated("faults need a server of our own")
def test_kubernetes_fails_on_order_too(served: Sandbox) -> None:
    served.post("/faults", {"match": {"service": "kubernetes", "operation": "list nodes"}, "fault": "expired_token"})
    with pytest.raises(urllib.error.HTTPError) as told:
        call(served, "/api/v1/nodes")
    assert told.value.code == 401
    told.value.close()
    assert call(served, "/api/v1/nodes")["items"] == []


@pytest.mark.simulated("faults need a server of our own")
@pytest.mark.parametrize(("fault", "there"), [("kill_before", False), ("kill_after", True)])
def test_a_client_is_killed_before_or_after_the_effect(served: Sandbox, fault: str, there: bool) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": fault.replace("_", "-")}}
    with subprocess.Popen(["sleep", "600"]) as victim:
        served.post("/faults", {"match": {"op": OP, "mutating": True}, "fault": fault, "pid": victim.pid})
        with pytest.raises((OSError, http.client.HTTPException)):
            call(served, "/api/v1/namespaces/default/configmaps", method="POST", body=body)
        assert victim.wait(60) == -signal.SIGKILL
    entry = [one for one in served.get("/log") if one["op"] == OP][-1]
    assert bool(entry["effect"]) is there


def test_pod_logs_can_be_written_from_outside(served: Sandbox) -> None:
    where = {"cluster": "prod", "namespace": "default", "pod": "p", "container": "c"}
    served.post("/pod-logs", {**where, "lines": ["one", "two"]})
    query = "&".join(f"{name}={value}" for name, value in where.items())
    assert served.get(f"/pod-logs?{query}") == ["one", "two"]


def test_an_add_on_is_really_in_the_cluster(served: Sandbox) -> None:
    served.client("eks").create_addon(clusterName="prod", addonName="vpc-cni")
    daemons = call(served, "/apis/apps/v1/namespaces/kube-system/daemonsets")["items"]
    assert "aws-node" in {daemon["metadata"]["name"] for daemon in daemons}
