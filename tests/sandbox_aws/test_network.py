"""EC2 and IAM where moto alone would be too kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from reconciler.sandbox.embedded import Sandbox, code_of

Net = dict[str, str]


def code(raised: pytest.ExceptionInfo[ClientError]) -> str:
    return code_of(raised.value)


def test_a_gateway_takes_time_and_holds_everything(sandbox: Sandbox, network: Net) -> None:
    ec2 = sandbox.client("ec2")
    igw = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=igw, VpcId=network["vpc"])
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    wanted = {"SubnetId": network["a"], "AllocationId": address, "ClientToken": f"nat-{network['a']}"}
    made = ec2.create_nat_gateway(**wanted)["NatGateway"]
    assert made["State"] == "pending"
    assert ec2.create_nat_gateway(**wanted)["NatGateway"]["NatGatewayId"] == made["NatGatewayId"]
    with pytest.raises(ClientError) as mismatch:
        ec2.create_nat_gateway(**{**wanted, "SubnetId": network["b"]})
    assert code(mismatch) == "IdempotentParameterMismatch"

    def state() -> Any:
        return ec2.describe_nat_gateways(NatGatewayIds=[made["NatGatewayId"]])["NatGateways"][0]["State"]

    sandbox.until(state, lambda seen: seen == "available", within=2000)
    held: list[tuple[Any, dict[str, str]]] = [
        (ec2.delete_subnet, {"SubnetId": network["a"]}),
        (ec2.detach_internet_gateway, {"InternetGatewayId": igw, "VpcId": network["vpc"]}),
        (ec2.delete_vpc, {"VpcId": network["vpc"]}),
    ]
    for call, wanted in held:
        with pytest.raises(ClientError) as refused:
            call(**wanted)
        assert code(refused) == "DependencyViolation"
    with pytest.raises(ClientError) as taken:
        ec2.release_address(AllocationId=address)
    assert code(taken) == "InvalidIPAddress.InUse"
    ec2.delete_nat_gateway(NatGatewayId=made["NatGatewayId"])
    assert state() == "deleting"
    sandbox.until(state, lambda seen: seen == "deleted", within=2000)
    ec2.release_address(AllocationId=address)
    ec2.detach_internet_gateway(InternetGatewayId=igw, VpcId=network["vpc"])
    ec2.delete_internet_gateway(InternetGatewayId=igw)
    for zone in "ab":
        ec2.delete_subnet(SubnetId=network[zone])
    ec2.delete_security_group(GroupId=network["group"])
    ec2.delete_vpc(VpcId=network["vpc"])


def test_blocks_of_a_vpc(sandbox: Sandbox, network: Net) -> None:
    ec2 = sandbox.client("ec2")
    with pytest.raises(ClientError) as overlap:
        ec2.create_subnet(VpcId=network["vpc"], CidrBlock="10.0.8.0/24")
    assert code(overlap) == "InvalidSubnet.Conflict"
    ec2.associate_vpc_cidr_block(VpcId=network["vpc"], CidrBlock="10.1.0.0/16")
    made = ec2.create_subnet(VpcId=network["vpc"], CidrBlock="10.1.0.0/20", AvailabilityZoneId="usw2-az2")["Subnet"]
    assert made["AvailabilityZoneId"] == "usw2-az2"
    vpc = ec2.describe_vpcs(VpcIds=[network["vpc"]])["Vpcs"][0]
    second = next(b for b in vpc["CidrBlockAssociationSet"] if b["CidrBlock"] == "10.1.0.0/16")
    with pytest.raises(ClientError) as used:
        ec2.disassociate_vpc_cidr_block(AssociationId=second["AssociationId"])
    assert code(used) == "InvalidCidrBlock.InUse"


def test_a_group_named_by_another_stays(sandbox: Sandbox, network: Net) -> None:
    ec2 = sandbox.client("ec2")
    other = ec2.create_security_group(GroupName="other", Description="other", VpcId=network["vpc"])["GroupId"]
    rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": other}]}]
    ec2.authorize_security_group_ingress(GroupId=network["group"], IpPermissions=rule)
    with pytest.raises(ClientError) as named:
        ec2.delete_security_group(GroupId=other)
    assert code(named) == "DependencyViolation"
    own = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": network["group"]}]}]
    ec2.authorize_security_group_ingress(GroupId=network["group"], IpPermissions=own)
    ec2.revoke_security_group_ingress(GroupId=network["group"], IpPermissions=rule)
    ec2.delete_security_group(GroupId=other)
    ec2.delete_security_group(GroupId=network["group"])  # its own rule does not hold it


def test_endpoints(sandbox: Sandbox, network: Net) -> None:
    ec2 = sandbox.client("ec2")
    table = ec2.create_route_table(VpcId=network["vpc"])["RouteTable"]["RouteTableId"]
    wanted = {"VpcId": network["vpc"], "ServiceName": "com.amazonaws.us-west-2.s3", "RouteTableIds": [table]}
    made = ec2.create_vpc_endpoint(**wanted)["VpcEndpoint"]["VpcEndpointId"]
    with pytest.raises(ClientError) as twice:
        ec2.create_vpc_endpoint(**wanted)
    assert code(twice) == "RouteAlreadyExists"
    ec2.delete_vpc_endpoints(VpcEndpointIds=[made])
    assert ec2.describe_vpc_endpoints(Filters=[{"Name": "vpc-id", "Values": [network["vpc"]]}])["VpcEndpoints"] == []
    again = ec2.create_vpc_endpoint(**wanted)["VpcEndpoint"]
    assert again["VpcEndpointType"] == "Gateway"


def test_roles_hold_their_policies(sandbox: Sandbox, role: Callable[..., str]) -> None:
    name = role("held", "eks.amazonaws.com").rpartition("/")[2]
    iam = sandbox.client("iam")
    for policy in ("AmazonEKSClusterPolicy", "AmazonSageMakerClusterInstanceRolePolicy", "AmazonEKS_CNI_Policy"):
        iam.attach_role_policy(RoleName=name, PolicyArn=f"arn:aws:iam::aws:policy/{policy}")
        with pytest.raises(ClientError) as refused:
            iam.delete_role(RoleName=name)
        assert code(refused) == "DeleteConflict"
        iam.detach_role_policy(RoleName=name, PolicyArn=f"arn:aws:iam::aws:policy/{policy}")
    iam.delete_role(RoleName=name)


def test_an_assumed_role_is_its_own_caller(sandbox: Sandbox, role: Callable[..., str]) -> None:
    sts = sandbox.client("sts")
    arn = role("deployer", "ec2.amazonaws.com")
    with pytest.raises(ClientError) as unknown:
        sts.assume_role(RoleArn=arn + "x", RoleSessionName="run")
    assert code(unknown) == "AccessDenied"
    given = sts.assume_role(RoleArn=arn, RoleSessionName="run")["Credentials"]
    as_role = sandbox.with_key(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"]).client("sts")
    name = arn.rpartition("/")[2]
    assert as_role.get_caller_identity()["Arn"] == f"arn:aws:sts::{sandbox.account}:assumed-role/{name}/run"
