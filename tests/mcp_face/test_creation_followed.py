"""The skill that diagnoses creations, followed literally: each cause is made in the sandbox's cloud by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mcp.client import Client

from tests.diagnosis import runnable
from tests.engine_support import Sandbox
from tests.mcp_face.facebox import Told
from tests.mcp_face.literal import Follower
from tests.mcp_face.sentence import IT, TYPE, applied, call, create, ended
from tests.mcp_face.town import Town, settled, until

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def town(
    engine_cloud: Sandbox, chart: tuple[str, str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Town]:
    with settled(engine_cloud, chart, tmp_path_factory.mktemp("town")) as town:
        town.run(lambda tools: create(town, tools))
        yield town


def written(town: Town, path: str) -> str:
    """A file as it stands on the branch."""
    head = town.site.repo.head()
    assert head is not None
    file = town.site.repo.file(head, path)
    assert file is not None
    return town.site.repo.blobs([file.blob])[file.blob].decode()


class TestCreation:
    """The cluster does not get where git wants it: each cause is told by what the skill looks at."""

    CONFIRM = (
        "document_list",
        "document_patch",
        "offerings_get",
        "cluster_resources",
        "cluster_drift",
        "cluster_events",
        "node_list",
        "cluster_timeline",
    )

    async def diagnosed(
        self, tools: Client, reasons: set[str], confirm: dict[str, dict[str, Any]]
    ) -> tuple[dict[str, Any], dict[str, Told]]:
        """Findings by reason, and what confirmed the surest."""
        agent = Follower(tools=tools, skill="diagnose-cluster-creation")
        async with agent.step(1) as do:
            await do("cluster_get", **IT)
        async with agent.step(2) as do:
            told = await until(
                lambda: do("diagnose_cluster_creation", **IT),
                lambda told: {one["reason"] for one in told["findings"]} >= reasons,
            )
        async with agent.step(3, {tool: "another cause" for tool in self.CONFIRM if tool not in confirm}) as do:
            for tool in self.CONFIRM:
                if tool in confirm:
                    await do(tool, **IT, **confirm[tool])
        async with agent.step(4, {"diagnose_stuck_deletion": "nothing is being deleted"}):
            pass
        agent.end()
        for one in told.data["findings"]:
            assert runnable.problem(one["command_untrusted"]) == "", one["command_untrusted"]
        return {one["reason"]: one for one in told.data["findings"]}, agent.told

    def test_a_quota(self, town: Town) -> None:
        quota = {"account": town.site.sandbox.account, "name": f"{TYPE} for cluster usage"}
        town.site.sandbox.post("/quota", {**quota, "value": 2})

        async def script(tools: Client) -> None:
            change = await applied(town, tools, "group_scale", **IT, group="workers", count=3, outcome="failed")
            confirm = {"offerings_get": {"instance_type": TYPE}, "cluster_timeline": {"kind": "op"}}
            found, told = await self.diagnosed(tools, {"QuotaTooSmall"}, confirm)
            assert found["QuotaTooSmall"]["step"] == "decide"
            assert "ResourceLimit" in told["cluster_timeline"].text
            town.site.sandbox.post("/quota", {**quota, "value": 1000})
            town.order("retry", "compute")
            await ended(tools, change)

        town.run(script)

    def test_a_right_that_lacks(self, town: Town) -> None:
        match = {"service": "sagemaker", "operation": "UpdateCluster"}
        town.site.sandbox.post("/faults", {"match": match, "fault": "access_denied", "times": 1})

        async def script(tools: Client) -> None:
            change = await applied(town, tools, "group_scale", **IT, group="workers", count=2, outcome="failed")
            found, _ = await self.diagnosed(tools, {"RoleNotUsable"}, {"cluster_resources": {"stage": "compute"}})
            assert "not authorized" in found["RoleNotUsable"]["evidence"][0]["text_untrusted"]
            town.order("retry", "compute")
            await ended(tools, change)

        town.run(script)

    def test_a_subnet_that_others_have_filled(self, town: Town) -> None:
        """EC2 itself says how many addresses are left."""
        subnets = town.site.client("ec2").describe_subnets(
            Filters=[{"Name": "tag:instantstart:cluster", "Values": ["train"]}]
        )["Subnets"]
        account = {"account": town.site.sandbox.account}
        for one in subnets:
            town.site.sandbox.post("/addresses", {**account, "subnet": one["SubnetId"], "free": 3})
        path = "clusters/train/instance-group-workers.yaml"
        text = written(town, path)
        assert "count: 2" in text
        town.site.commit_paths({path: text.replace("count: 2", "count: 3").encode()})

        async def script(tools: Client) -> None:
            found, _ = await self.diagnosed(tools, {"NoAddresses"}, {"cluster_resources": {"stage": "network"}})
            told = found["NoAddresses"]
            assert told["step"] in ("investigate", "decide") and "describe-subnets" in told["command_untrusted"]
            assert "3 free" in told["evidence"][0]["text_untrusted"], told
            for one in subnets:
                town.site.sandbox.post("/addresses", {**account, "subnet": one["SubnetId"], "free": None})
            town.site.commit_paths({path: text.encode()})
            well = await until(
                lambda: call(tools, "cluster_get", **IT),
                lambda told: told["condition"] == "Ready" and told.get("up_to_date"),
            )
            after = await call(tools, "diagnose_cluster_creation", **IT)
            assert after.data["findings"] == [], (well.text, after.text)

        town.run(script)

    def test_what_somebody_took_away_below_the_nodes(self, town: Town) -> None:
        async def script(tools: Client) -> None:
            await applied(town, tools, "cluster_suspend", **IT, outcome="held")
            ec2, iam = town.site.client("ec2"), town.site.client("iam")
            ours = [{"Name": "tag:instantstart:cluster", "Values": ["train"]}]
            (endpoint,) = ec2.describe_vpc_endpoints(Filters=ours)["VpcEndpoints"]
            ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint["VpcEndpointId"]])
            roles = iam.list_roles(PathPrefix="/instantstart/train/")["Roles"]
            (role,) = [one["RoleName"] for one in roles if "execution" in one["RoleName"]]
            inline = iam.list_role_policies(RoleName=role)["PolicyNames"]
            iam.delete_role_policy(RoleName=role, PolicyName=inline[0])
            confirm: dict[str, dict[str, Any]] = {"cluster_resources": {"stage": "network"}, "cluster_drift": {}}
            found, _ = await self.diagnosed(tools, {"EndpointMissing", "RoleChanged"}, confirm)
            assert found["EndpointMissing"]["subject_untrusted"] == "ec2.VpcEndpoint/train/s3"
            assert found["RoleChanged"]["subject_untrusted"] == "iam.Role/train/execution"
            await applied(town, tools, "cluster_suspend", **IT, suspend=False)

        town.run(script)

    def test_a_document(self, town: Town) -> None:
        path = "clusters/train/instance-group-workers.yaml"
        text = written(town, path)
        town.site.commit_paths({path: text.replace("count: 2", "count: -1").encode()})

        async def script(tools: Client) -> None:
            patch = [{"op": "replace", "path": "/spec/count", "value": 2}]
            asked: dict[str, Any] = {
                "kind": "InstanceGroup",
                "name": "workers",
                "patch": patch,
                "title": "Mend the count",
            }
            confirm = {"document_list": dict[str, Any](), "document_patch": asked}
            found, told = await self.diagnosed(tools, {"DocumentsInvalid"}, confirm)
            assert path in found["DocumentsInvalid"]["evidence"][0]["about_untrusted"]
            assert path in told["document_list"].text
            change = told["document_patch"].data["change"]
            town.merge(change)
            await ended(tools, change)

        town.run(script)

    def test_a_lifecycle_script(self, town: Town) -> None:
        """The last one: the group stays as it is until somebody mends the script."""
        match = {"service": "sagemaker", "operation": "UpdateCluster"}
        town.site.sandbox.post("/faults", {"match": match, "fault": "fails", "times": 1})

        async def script(tools: Client) -> None:
            await applied(town, tools, "group_scale", **IT, group="workers", count=4, outcome="failed")
            confirm: dict[str, dict[str, Any]] = {"cluster_events": {"source": "hyperpod"}, "node_list": {}}
            found, told = await self.diagnosed(tools, {"LifecycleScriptFailed"}, confirm)
            assert "LifecycleConfig/" in found["LifecycleScriptFailed"]["next_step"]
            assert "Lifecycle scripts did not run" in told["cluster_events"].text

        town.run(script)
