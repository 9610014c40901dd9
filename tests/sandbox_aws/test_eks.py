"""EKS: slow to come, one change at a time, safe to ask twice."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from reconciler.sandbox.aws.eks import authentication
from reconciler.sandbox.embedded import Sandbox, code_of


def code(raised: pytest.ExceptionInfo[ClientError]) -> str:
    return code_of(raised.value)


def test_a_cluster_comes_after_minutes_with_endpoint_and_issuer(sandbox: Sandbox, eks: str) -> None:
    seen = sandbox.client("eks").describe_cluster(name="prod")["cluster"]
    assert seen["endpoint"].startswith("https://")
    assert base64.b64decode(seen["certificateAuthority"]["data"]).startswith(b"-----BEGIN")
    assert seen["identity"]["oidc"]["issuer"].startswith("https://oidc.eks.us-west-2.amazonaws.com/id/")
    assert seen["resourcesVpcConfig"]["clusterSecurityGroupId"].startswith("sg-")


def test_a_token_makes_a_repeated_create_harmless(
    sandbox: Sandbox, network: dict[str, str], role: Callable[..., str]
) -> None:
    client = sandbox.client("eks")
    wanted: dict[str, Any] = {
        "name": "c",
        "roleArn": role("eks", "eks.amazonaws.com"),
        "resourcesVpcConfig": {"subnetIds": [network["a"], network["b"]]},
        "clientRequestToken": "t" * 36,
    }
    first = client.create_cluster(**wanted)["cluster"]
    assert client.create_cluster(**wanted)["cluster"]["arn"] == first["arn"]
    with pytest.raises(ClientError) as other:
        client.create_cluster(**{**wanted, "version": "1.33"})
    assert code(other) == "InvalidParameterException"
    with pytest.raises(ClientError) as again:
        client.create_cluster(**{**wanted, "clientRequestToken": "u" * 36})
    assert code(again) == "ResourceInUseException"
    effects = [entry["effect"] for entry in sandbox.log() if entry["operation"] == "CreateCluster"]
    assert effects == ["created eks.cluster c", None, None, None]


def test_a_new_role_cannot_be_used_yet(sandbox: Sandbox, network: dict[str, str], role: Callable[..., str]) -> None:
    """E07."""
    client = sandbox.client("eks")
    wanted = {"name": "c", "resourcesVpcConfig": {"subnetIds": [network["a"], network["b"]]}}
    arn = role("young", "eks.amazonaws.com", wait=False)
    with pytest.raises(ClientError, match="could not be assumed"):
        client.create_cluster(roleArn=arn, **wanted)
    sandbox.pass_time(9)
    with pytest.raises(ClientError, match="could not be assumed"):
        client.create_cluster(roleArn=arn, **wanted)
    sandbox.pass_time(2)
    assert client.create_cluster(roleArn=arn, **wanted)["cluster"]["status"] == "CREATING"


def test_one_kind_of_update_per_call_and_one_update_at_a_time(sandbox: Sandbox, eks: str) -> None:
    """E10, E12."""
    client = sandbox.client("eks")
    logging = {"clusterLogging": [{"types": ["api"], "enabled": True}]}
    with pytest.raises(ClientError, match="Only one type of update"):
        client.update_cluster_config(name="prod", logging=logging, resourcesVpcConfig={"endpointPrivateAccess": True})
    update = client.update_cluster_config(name="prod", logging=logging)["update"]
    with pytest.raises(ClientError) as busy:
        client.update_cluster_version(name="prod", version="1.35")
    assert code(busy) == "ResourceInUseException"
    done = sandbox.until(
        lambda: client.describe_update(name="prod", updateId=update["id"])["update"]["status"],
        lambda s: s != "InProgress",
    )
    assert done == "Successful"
    assert client.describe_cluster(name="prod")["cluster"]["logging"] == logging
    with pytest.raises(ClientError, match="No changes needed"):
        client.update_cluster_config(name="prod", logging=logging)
    with pytest.raises(ClientError, match="minor version"):
        client.update_cluster_version(name="prod", version="1.32")


def test_add_ons_wait_for_nodes_and_hold_the_cluster(sandbox: Sandbox, eks: str) -> None:
    client = sandbox.client("eks")

    def status(name: str) -> Any:
        return client.describe_addon(clusterName="prod", addonName=name)["addon"]

    with pytest.raises(ClientError, match="PRESERVE"):
        client.create_addon(clusterName="prod", addonName="vpc-cni", resolveConflicts="PRESERVE")
    for name in ("vpc-cni", "coredns"):
        client.create_addon(clusterName="prod", addonName=name)
    sandbox.until(lambda: status("vpc-cni")["status"], lambda s: s == "ACTIVE", within=200)
    waiting = status("coredns")
    assert waiting["status"] == "CREATING"
    assert waiting["health"]["issues"][0]["code"] == "InsufficientNumberOfReplicas"
    with pytest.raises(ClientError) as held:
        client.delete_cluster(name="prod")
    assert code(held) == "ResourceInUseException"
    for name in ("vpc-cni", "coredns"):
        client.delete_addon(clusterName="prod", addonName=name)
    sandbox.until(lambda: client.list_addons(clusterName="prod")["addons"], lambda names: not names)
    client.delete_cluster(name="prod")
    sandbox.until(lambda: client.list_clusters()["clusters"], lambda names: not names)


def test_add_on_versions_say_what_they_require(sandbox: Sandbox) -> None:
    client = sandbox.client("eks")
    (found,) = client.describe_addon_versions(addonName="vpc-cni", kubernetesVersion="1.34")["addons"]
    defaults = [v["addonVersion"] for v in found["addonVersions"] if v["compatibilities"][0]["defaultVersion"]]
    assert len(found["addonVersions"]) == 3
    assert len(defaults) == 1
    assert all(v["requiresIamPermissions"] for v in found["addonVersions"])


def test_pod_identity_is_one_per_service_account(sandbox: Sandbox, eks: str, role: Callable[..., str]) -> None:
    client = sandbox.client("eks")
    wanted = {"clusterName": "prod", "namespace": "a", "serviceAccount": "s"}
    arn = role("pods", "pods.eks.amazonaws.com")
    made = client.create_pod_identity_association(roleArn=arn, **wanted, clientRequestToken="x")["association"]
    same = client.create_pod_identity_association(roleArn=arn, **wanted, clientRequestToken="x")["association"]
    assert same["associationId"] == made["associationId"]
    with pytest.raises(ClientError) as twice:
        client.create_pod_identity_association(roleArn=arn, **wanted, clientRequestToken="y")
    assert code(twice) == "ResourceInUseException"
    assert client.list_pod_identity_associations(clusterName="prod", namespace="b")["associations"] == []


def test_tokens_are_checked_for_real(sandbox: Sandbox, eks: str) -> None:
    """E01: a token is a signature of real time, for one cluster, by a known key with an access entry."""
    cluster = sandbox.cloud.world.eks[sandbox.account, "us-west-2"]["prod"]
    credentials = sandbox.cloud.world.credentials
    good = sandbox.eks_token("prod")
    now = datetime.now(UTC)
    user = authentication.of(cluster, credentials)(good)
    assert user is not None
    assert "system:masters" in user.groups
    assert authentication.caller(good, "other", credentials, now) is None  # the cluster's name is signed
    assert authentication.caller(good, "prod", credentials, now + timedelta(minutes=14)) is not None
    assert authentication.caller(good, "prod", credentials, now + timedelta(minutes=16)) is None
    assert authentication.caller(good[:-4] + "AAAA", "prod", credentials, now) is None
    assert authentication.caller("k8s-aws-v1.!", "prod", credentials, now) is None
    sandbox.client("eks").delete_access_entry(clusterName="prod", principalArn=cluster.creator)
    assert authentication.of(cluster, credentials)(good) is None  # known, but no longer let in


def test_a_node_group_hosts_the_add_ons(
    sandbox: Sandbox, eks: str, network: dict[str, str], role: Callable[..., str]
) -> None:
    """C28: numbers in order; and pods of add-ons run as soon as there is a node."""
    client = sandbox.client("eks")
    wanted: dict[str, Any] = {
        "clusterName": "prod",
        "nodegroupName": "system",
        "subnets": [network["a"]],
        "nodeRole": role("workers", "ec2.amazonaws.com"),
    }
    with pytest.raises(ClientError, match="not in order"):
        client.create_nodegroup(**wanted, scalingConfig={"minSize": 2, "maxSize": 3, "desiredSize": 1})
    client.create_addon(clusterName="prod", addonName="cert-manager")
    client.create_nodegroup(**wanted, scalingConfig={"minSize": 0, "maxSize": 3, "desiredSize": 2})
    sandbox.until(
        lambda: client.describe_nodegroup(clusterName="prod", nodegroupName="system")["nodegroup"]["status"],
        lambda status: status == "ACTIVE",
    )
    sandbox.until(
        lambda: client.describe_addon(clusterName="prod", addonName="cert-manager")["addon"]["status"],
        lambda status: status == "ACTIVE",
        within=600,
    )
    client.delete_nodegroup(clusterName="prod", nodegroupName="system")
    with pytest.raises(ClientError, match="nodegroups attached"):
        client.delete_cluster(name="prod")
    sandbox.until(lambda: client.list_nodegroups(clusterName="prod")["nodegroups"], lambda names: not names)
    kubernetes = sandbox.cloud.world.eks[sandbox.account, sandbox.region]["prod"].kubernetes
    assert kubernetes is not None
    assert kubernetes.listing("v1", "Node") == []
