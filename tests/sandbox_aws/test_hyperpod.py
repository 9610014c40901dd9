"""HyperPod: what must be there before, how groups grow, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from reconciler.sandbox.embedded import Sandbox, code_of

Role = Callable[..., str]
Net = dict[str, str]

SCRIPTS = "s3://sagemaker-prod-scripts/lifecycle"


class Cluster:
    """A cluster under test, with short words for long requests."""

    def __init__(self, sandbox: Sandbox, eks: str, network: Net, role: Role) -> None:
        self.sandbox, self.eks, self.network = sandbox, eks, network
        self.client = sandbox.client("sagemaker")
        self.execution_role = role("node", "sagemaker.amazonaws.com")
        self.bucket = f"sagemaker-{network['vpc']}"
        s3 = sandbox.client("s3")
        s3.create_bucket(Bucket=self.bucket, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        s3.put_object(Bucket=self.bucket, Key="lifecycle/on_create.sh", Body=b"#!/bin/bash\n")

    def group(self, name: str, count: int, **more: Any) -> dict[str, Any]:
        spec: dict[str, Any] = {
            "InstanceGroupName": name,
            "InstanceCount": count,
            "ExecutionRole": self.execution_role,
            "LifeCycleConfig": {"SourceS3Uri": f"s3://{self.bucket}/lifecycle", "OnCreate": "on_create.sh"},
            **more,
        }
        if "InstanceRequirements" not in spec:
            spec.setdefault("InstanceType", "ml.m5.xlarge")
        return {key: value for key, value in spec.items() if value is not None}

    def create(self, *groups: dict[str, Any], continuous: bool = True, **more: Any) -> None:
        request: dict[str, Any] = {
            "ClusterName": "prod",
            "InstanceGroups": list(groups),
            "VpcConfig": {"Subnets": [self.network["a"]], "SecurityGroupIds": [self.network["group"]]},
            "Orchestrator": {"Eks": {"ClusterArn": self.eks}},
            **more,
        }
        if continuous:
            request["NodeProvisioningMode"] = "Continuous"
        self.client.create_cluster(**request)

    def update(self, *groups: dict[str, Any], **more: Any) -> None:
        self.client.update_cluster(ClusterName="prod", **({"InstanceGroups": list(groups)} if groups else {}), **more)

    def seen(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.describe_cluster(ClusterName="prod")
        return found

    def groups(self) -> dict[str, Any]:
        return {group["InstanceGroupName"]: group for group in self.seen()["InstanceGroups"]}

    def nodes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.list_cluster_nodes(ClusterName="prod")["ClusterNodeSummaries"]
        return found

    def ready(self, **counts: int) -> None:
        def as_wanted(groups: dict[str, Any]) -> bool:
            return all(
                name in groups and groups[name]["CurrentCount"] == count and groups[name]["Status"] == "InService"
                for name, count in counts.items()
            )

        self.sandbox.until(self.groups, as_wanted)
        self.sandbox.until(self.seen, lambda cluster: cluster["ClusterStatus"] == "InService")


@pytest.fixture
def cluster(sandbox: Sandbox, chart: str, network: Net, role: Role) -> Cluster:
    return Cluster(sandbox, chart, network, role)


def code(raised: pytest.ExceptionInfo[ClientError]) -> str:
    return code_of(raised.value)


def test_the_chart_comes_first(sandbox: Sandbox, eks: str, network: Net, role: Role) -> None:
    cluster = Cluster(sandbox, eks, network, role)
    with pytest.raises(ClientError, match="missing required dependencies"):
        cluster.create(cluster.group("a", 1))


def test_a_continuous_cluster_comes_and_grows_in_service(cluster: Cluster) -> None:
    cluster.create(cluster.group("a", 1), cluster.group("b", 2), Tags=[{"Key": "SageMaker", "Value": "true"}])
    cluster.ready(a=1, b=2)
    arn = cluster.seen()["ClusterArn"]
    assert len(arn.rpartition("/")[2]) == 12
    assert cluster.client.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "SageMaker", "Value": "true"}]
    cluster.update(cluster.group("a", 3))
    seen = cluster.seen()
    assert seen["ClusterStatus"] == "InService"
    assert cluster.groups()["a"]["TargetCount"] == 3
    cluster.ready(a=3, b=2)
    cluster.update(cluster.group("a", 0))
    cluster.ready(a=0, b=2)
    texts = [event["Description"] for event in cluster.client.list_cluster_events(ClusterName="prod")["Events"]]
    assert any("is running" in text for text in texts)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param({"InstanceType": "ml.nope"}, "enum value set", id="no such type"),
        pytest.param({"InstanceGroupName": "a_b"}, "must match pattern", id="a name with an underscore"),
        pytest.param({"InstanceCount": 7000}, "less than or equal to 6758", id="over the maximum"),
        pytest.param(
            {"InstanceRequirements": {"InstanceTypes": ["ml.m5.xlarge"]}, "InstanceType": "ml.m5.xlarge"},
            "exactly one of InstanceType",
            id="type and requirements",
        ),
        pytest.param({"MinInstanceCount": 2}, "must not exceed", id="minimum above count"),
        pytest.param(
            {"KubernetesConfig": {"Labels": {"kubernetes.io/x": "y"}}}, "is reserved", id="a reserved label prefix"
        ),
        pytest.param({"OnStartDeepHealthChecks": ["InstanceStress"]}, "GPU or Trainium", id="deep checks on a CPU"),
        pytest.param({"SlurmConfig": {"NodeType": "Compute"}}, "SlurmConfig", id="a Slurm field"),
        pytest.param({"ExecutionRole": "arn:aws:iam::111122223333:role/none"}, "could not be assumed", id="no role"),
        pytest.param(
            {"OverrideVpcConfig": {"Subnets": ["subnet-0"], "SecurityGroupIds": ["sg-0"]}},
            "does not exist",
            id="subnet",
        ),
    ],
)
def test_what_no_group_may_say(cluster: Cluster, change: dict[str, Any], says: str) -> None:
    with pytest.raises(ClientError, match=says) as refused:
        cluster.create({**cluster.group("a", 1), **change})
    assert code(refused) == "ValidationException"
    assert cluster.client.list_clusters()["ClusterSummaries"] == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param({"InstanceType": "ml.m5.2xlarge"}, "InstanceType cannot be changed", id="type"),
        pytest.param({"ThreadsPerCore": 2}, "ThreadsPerCore cannot be changed", id="threads"),
        pytest.param({"CapacityRequirements": {"Spot": {}}}, "CapacityRequirements cannot", id="capacity"),
        pytest.param(
            {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["ml.m5.xlarge"]}}, "replace", id="form"
        ),
    ],
)
def test_what_no_group_may_change(cluster: Cluster, change: dict[str, Any], says: str) -> None:
    cluster.create(cluster.group("a", 0), cluster.group("b", 0))
    cluster.ready(a=0)
    with pytest.raises(ClientError, match=says):
        cluster.update(cluster.group("a", 0, **change))
    with pytest.raises(ClientError, match="at least one"):
        cluster.update(InstanceGroupsToDelete=["a", "b"])
    with pytest.raises(ClientError, match="must not be in both"):
        cluster.update(cluster.group("a", 0), InstanceGroupsToDelete=["a"])


def test_a_listed_group_is_written_anew(cluster: Cluster) -> None:
    """Labels that the request lacks go; the read form differs from the write form."""
    config = {"Labels": {"team": "a"}, "Taints": [{"Key": "k", "Value": "v", "Effect": "NoSchedule"}]}
    cluster.create(cluster.group("a", 1, KubernetesConfig=config))
    cluster.ready(a=1)
    kubernetes = cluster.sandbox.cloud.world.eks[cluster.sandbox.account, "us-west-2"]["prod"].kubernetes
    assert kubernetes is not None
    (node,) = kubernetes.listing("v1", "Node")
    assert node["metadata"]["labels"]["team"] == "a"
    assert node["metadata"]["name"].startswith("hyperpod-i-")
    assert {"key": "k", "value": "v", "effect": "NoSchedule"} in node["spec"]["taints"]
    assert cluster.groups()["a"]["KubernetesConfig"]["DesiredLabels"] == {"team": "a"}
    cluster.update(cluster.group("a", 1))
    (node,) = kubernetes.listing("v1", "Node")
    assert "team" not in node["metadata"]["labels"]
    assert node["spec"]["taints"] == []


def test_no_capacity_is_waited_for_on_a_continuous_cluster(cluster: Cluster) -> None:
    """A17: the reason stands in the events, and the cluster goes on as soon as there are machines."""
    cluster.sandbox.post("/capacity", {"type": "ml.p5.48xlarge", "zone": "us-west-2a", "count": 1})
    cluster.create(cluster.group("gpu", 2, InstanceType="ml.p5.48xlarge"), cluster.group("cpu", 1))
    cluster.ready(cpu=1)
    cluster.sandbox.until(lambda: cluster.groups()["gpu"]["CurrentCount"], lambda count: count == 1)
    assert cluster.groups()["gpu"]["TargetCount"] == 2
    warnings = [
        e for e in cluster.client.list_cluster_events(ClusterName="prod")["Events"] if e["EventLevel"] == "Warn"
    ]
    assert "sufficient capacity" in warnings[0]["Description"]
    cluster.sandbox.post("/capacity", {"type": "ml.p5.48xlarge", "zone": "us-west-2a", "count": None})
    cluster.ready(gpu=2)
    free = cluster.sandbox.client("ec2").describe_subnets(SubnetIds=[cluster.network["a"]])["Subnets"][0]
    assert 4091 - free["AvailableIpAddressCount"] == 2 * 81 + 15 + 1  # two p5, one m5.xlarge, EKS's own


def test_a_classic_cluster_takes_all_or_nothing(cluster: Cluster) -> None:
    """A17."""
    cluster.create(cluster.group("a", 1), continuous=False)
    cluster.ready(a=1)
    cluster.sandbox.post("/capacity", {"type": "ml.c5.4xlarge", "zone": "usw2-az2", "count": 1})
    cluster.update(cluster.group("b", 2, InstanceType="ml.c5.4xlarge"))
    with pytest.raises(ClientError) as busy:
        cluster.update(cluster.group("a", 2))
    assert code(busy) == "ConflictException"
    after = cluster.sandbox.until(cluster.seen, lambda seen: seen["ClusterStatus"] == "InService")
    cluster.sandbox.post("/capacity", {"type": "ml.c5.4xlarge", "zone": "usw2-az2", "count": None})
    assert "sufficient capacity" in after["FailureMessage"]
    assert list(cluster.groups()) == ["a"]


def test_a_missing_script_fails_the_group_until_it_is_there(cluster: Cluster) -> None:
    lost = {"SourceS3Uri": f"s3://{cluster.bucket}/lifecycle", "OnCreate": "lost.sh"}
    cluster.create(cluster.group("a", 1, LifeCycleConfig=lost))
    cluster.sandbox.until(lambda: cluster.groups()["a"]["Status"], lambda status: status == "Failed")
    events = cluster.client.list_cluster_events(ClusterName="prod")["Events"]
    assert any("Lifecycle scripts did not run successfully" in event["Description"] for event in events)
    cluster.sandbox.client("s3").put_object(Bucket=cluster.bucket, Key="lifecycle/lost.sh", Body=b"#!/bin/bash\n")
    cluster.ready(a=1)


def test_quota_is_checked_at_the_door(cluster: Cluster) -> None:
    cluster.sandbox.post(
        "/quota", {"account": cluster.sandbox.account, "name": "ml.m5.xlarge for cluster usage", "value": 2}
    )
    quotas = cluster.sandbox.client("service-quotas").get_paginator("list_service_quotas")
    shown = {q["QuotaName"]: q["Value"] for page in quotas.paginate(ServiceCode="sagemaker") for q in page["Quotas"]}
    assert shown["ml.m5.xlarge for cluster usage"] == 2
    with pytest.raises(ClientError) as refused:
        cluster.create(cluster.group("a", 3))
    assert code(refused) == "ResourceLimitExceeded"


def test_updates_wait_for_deep_health_checks(cluster: Cluster) -> None:
    """A13, A14."""
    cluster.create(
        cluster.group("gpu", 1, InstanceType="ml.g5.8xlarge", OnStartDeepHealthChecks=["InstanceStress"]),
        cluster.group("cpu", 1),
    )
    cluster.sandbox.until(
        lambda: {n["InstanceStatus"]["Status"] for n in cluster.nodes()}, lambda s: "DeepHealthCheckInProgress" in s
    )
    with pytest.raises(ClientError, match="deep health checks") as refused:
        cluster.update(cluster.group("cpu", 2))
    assert code(refused) == "ConflictException"
    cluster.ready(gpu=1)
    cluster.update(cluster.group("cpu", 2))


def test_named_deletes_lower_the_target(cluster: Cluster) -> None:
    """A16: the named node goes, and no other comes."""
    cluster.create(cluster.group("a", 3))
    cluster.ready(a=3)
    victim = cluster.nodes()[1]["InstanceId"]
    answer = cluster.client.batch_delete_cluster_nodes(ClusterName="prod", NodeIds=[victim, "i-" + "0" * 17])
    assert answer["Successful"] == [victim]
    assert answer["Failed"][0]["Code"] == "NodeIdNotFound"
    cluster.ready(a=2)
    assert cluster.groups()["a"]["TargetCount"] == 2
    left = cluster.sandbox.until(cluster.nodes, lambda nodes: len(nodes) == 2)
    assert victim not in {node["InstanceId"] for node in left}
    with pytest.raises(ClientError, match="failed for all"):
        cluster.client.batch_delete_cluster_nodes(ClusterName="prod", NodeIds=[victim])


def test_a_reboot_changes_the_boot_and_a_replacement_the_instance(cluster: Cluster) -> None:
    cluster.create(cluster.group("a", 1))
    cluster.ready(a=1)
    kubernetes = cluster.sandbox.cloud.world.eks[cluster.sandbox.account, "us-west-2"]["prod"].kubernetes
    assert kubernetes is not None

    def boot() -> str:
        (node,) = kubernetes.listing("v1", "Node")
        return str(node["status"]["nodeInfo"]["bootID"])

    first, before = cluster.nodes()[0]["InstanceId"], boot()
    cluster.client.batch_reboot_cluster_nodes(ClusterName="prod", NodeIds=[first])
    with pytest.raises(ClientError, match="InvalidInstanceStatus"):
        cluster.client.batch_reboot_cluster_nodes(ClusterName="prod", NodeIds=[first])
    cluster.ready(a=1)
    assert boot() != before
    logical = cluster.client.describe_cluster_node(ClusterName="prod", NodeId=first)["NodeDetails"]["NodeLogicalId"]
    cluster.client.batch_replace_cluster_nodes(ClusterName="prod", NodeLogicalIds=[logical])
    fresh = cluster.sandbox.until(
        cluster.nodes, lambda nodes: [n["InstanceId"] for n in nodes] not in ([first], []) and len(nodes) == 1
    )
    details = cluster.client.describe_cluster_node(ClusterName="prod", NodeId=fresh[0]["InstanceId"])["NodeDetails"]
    assert details["NodeLogicalId"] == logical


def test_a_dead_gpu_node_is_replaced_by_the_service(cluster: Cluster) -> None:
    cluster.create(cluster.group("gpu", 1, InstanceType="ml.g5.8xlarge"))
    cluster.ready(gpu=1)
    first = cluster.nodes()[0]["InstanceId"]
    cluster.sandbox.post(f"/node/{first}/die")
    cluster.sandbox.until(cluster.nodes, lambda nodes: len(nodes) == 1 and nodes[0]["InstanceId"] != first)
    cluster.ready(gpu=1)


def test_nodes_come_in_pages(cluster: Cluster) -> None:
    """E06."""
    cluster.create(cluster.group("a", 101, InstanceType="ml.t3.medium"))
    cluster.ready(a=101)
    assert len(cluster.nodes()) == 100
    pages = cluster.client.get_paginator("list_cluster_nodes").paginate(ClusterName="prod")
    assert len({node["InstanceId"] for page in pages for node in page["ClusterNodeSummaries"]}) == 101
    with pytest.raises(ClientError, match="less than or equal to 100"):
        cluster.client.list_cluster_nodes(ClusterName="prod", MaxResults=101)


def test_autoscaling_needs_its_role_and_keeps_it(cluster: Cluster, role: Role) -> None:
    """A37."""
    cluster.create(cluster.group("a", 1), cluster.group("auto", 0))
    cluster.ready(a=1)
    with pytest.raises(ClientError, match="ClusterRole"):
        cluster.update(AutoScaling={"Mode": "Enable", "AutoScalerType": "Karpenter"})
    arn = role("scaler", "hyperpod.sagemaker.amazonaws.com")
    cluster.update(AutoScaling={"Mode": "Enable", "AutoScalerType": "Karpenter"}, ClusterRole=arn)
    cluster.sandbox.until(lambda: cluster.seen()["AutoScaling"]["Status"], lambda status: status == "InService")
    with pytest.raises(ClientError, match="while AutoScaling is enabled"):
        cluster.update(ClusterRole=role("other", "hyperpod.sagemaker.amazonaws.com"))


def test_deletion_goes_first_and_interfaces_linger(cluster: Cluster) -> None:
    """B48: EKS holds until HyperPod is gone, the subnet until the last interface is."""
    cluster.create(cluster.group("a", 1))
    cluster.ready(a=1)
    eks, ec2 = cluster.sandbox.client("eks"), cluster.sandbox.client("ec2")
    entries = eks.list_access_entries(clusterName="prod")["accessEntries"]
    assert cluster.execution_role in entries
    with pytest.raises(ClientError, match="HyperPod"):
        eks.delete_cluster(name="prod")
    cluster.client.delete_cluster(ClusterName="prod")
    with pytest.raises(ClientError) as twice:
        cluster.client.delete_cluster(ClusterName="prod")
    assert code(twice) == "ConflictException"
    cluster.sandbox.until(lambda: cluster.client.list_clusters()["ClusterSummaries"], lambda found: not found)
    eks.delete_cluster(name="prod")
    with pytest.raises(ClientError) as held:
        ec2.delete_subnet(SubnetId=cluster.network["a"])
    assert code(held) == "DependencyViolation"

    def interfaces() -> list[Any]:
        filters = [{"Name": "subnet-id", "Values": [cluster.network["a"]]}]
        found: list[Any] = ec2.describe_network_interfaces(Filters=filters)["NetworkInterfaces"]
        return found

    cluster.sandbox.until(interfaces, lambda found: not found)
    ec2.delete_subnet(SubnetId=cluster.network["a"])


def test_a_group_is_deleted_by_name_and_does_not_come_back(cluster: Cluster) -> None:
    cluster.create(cluster.group("a", 1), cluster.group("b", 2))
    cluster.ready(a=1, b=2)
    cluster.update(InstanceGroupsToDelete=["b"])
    with pytest.raises(ClientError, match="being deleted") as busy:
        cluster.update(cluster.group("b", 1))
    assert code(busy) == "ConflictException"
    seen: set[str | None] = set()

    def status() -> str | None:
        found: str | None = cluster.groups().get("b", {}).get("Status")
        seen.add(found)
        return found

    cluster.sandbox.until(status, lambda found: found is None)
    assert seen == {"Deleting", None}
    with pytest.raises(ClientError) as gone:
        cluster.update(InstanceGroupsToDelete=["b"])
    assert code(gone) == "ResourceNotFound"


def test_a_minimum_that_is_not_reached_is_taken_back(cluster: Cluster) -> None:
    """The counts go back to those last in service; a new group ends at nothing."""
    cluster.sandbox.post("/capacity", {"type": "ml.c6i.4xlarge", "zone": "us-west-2a", "count": 1})
    cluster.create(cluster.group("a", 1), cluster.group("new", 3, InstanceType="ml.c6i.4xlarge", MinInstanceCount=2))
    cluster.ready(a=1)
    assert cluster.groups()["new"]["Status"] == "Creating"
    assert cluster.groups()["new"]["MinCount"] == 2
    after = cluster.sandbox.until(lambda: cluster.groups()["new"], lambda group: group["TargetCount"] == 0)
    assert after["MinCount"] == 0
    texts = [event["Description"] for event in cluster.client.list_cluster_events(ClusterName="prod")["Events"]]
    assert any("did not reach its minimum" in text for text in texts)


def test_order_of_groups_is_the_services_own(cluster: Cluster) -> None:
    names = [f"g{number}" for number in range(12)]
    cluster.create(*(cluster.group(name, 0) for name in names))
    seen = [group["InstanceGroupName"] for group in cluster.seen()["InstanceGroups"]]
    assert sorted(seen) == sorted(names)
    assert seen != names
