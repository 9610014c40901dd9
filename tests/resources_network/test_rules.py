"""Security group rules between our spelling and EC2's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.resources.network.rules import normal_rules, permission_of, rules_of

GROUP = "sg-0123"
ALL = {"protocol": "-1", "peer": "self"}


@pytest.mark.parametrize(
    ("why", "permissions", "expected"),
    [
        (
            "a group that names itself is self (EFA)",
            [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": GROUP, "UserId": "111122223333"}]}],
            [ALL],
        ),
        (
            "one permission with two peers is two rules",
            [
                {
                    "IpProtocol": "tcp",
                    "FromPort": 988,
                    "ToPort": 988,
                    "IpRanges": [{"CidrIp": "10.0.0.0/16"}],
                    "UserIdGroupPairs": [{"GroupId": "sg-9"}],
                }
            ],
            [
                {"protocol": "tcp", "from": 988, "to": 988, "peer": "10.0.0.0/16"},
                {"protocol": "tcp", "from": 988, "to": 988, "peer": "sg-9"},
            ],
        ),
        (
            "the default egress",
            [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}],
            [{"protocol": "-1", "peer": "0.0.0.0/0"}],
        ),
        (
            "ports mean nothing when everything is allowed",
            [{"IpProtocol": "-1", "FromPort": -1, "ToPort": -1, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}],
            [{"protocol": "-1", "peer": "0.0.0.0/0"}],
        ),
        (
            "rules that the load balancer controller keeps are not ours to see",
            [
                {
                    "IpProtocol": "tcp",
                    "FromPort": 80,
                    "ToPort": 80,
                    "UserIdGroupPairs": [{"GroupId": "sg-9", "Description": "elbv2.k8s.aws/targetGroupBinding=shared"}],
                }
            ],
            [],
        ),
        (
            "IPv6 and prefix lists keep their peers",
            [{"IpProtocol": "-1", "Ipv6Ranges": [{"CidrIpv6": "::/0"}], "PrefixListIds": [{"PrefixListId": "pl-1"}]}],
            [{"protocol": "-1", "peer": "::/0"}, {"protocol": "-1", "peer": "pl-1"}],
        ),
    ],
)
def test_permissions_become_rules(why: str, permissions: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert sorted(map(str, rules_of(permissions, GROUP))) == sorted(map(str, expected)), why


_rule = st.fixed_dictionaries(
    {
        "protocol": st.sampled_from(["-1", "tcp", "udp"]),
        "peer": st.sampled_from(["self", "10.0.0.0/16", "0.0.0.0/0", "::/0", "sg-9", "pl-1"]),
    },
    optional={"from": st.just(443), "to": st.just(443)},
)


@given(rules=st.lists(_rule, max_size=6, unique_by=str))
def test_there_and_back_is_a_normal_form(rules: list[dict[str, Any]]) -> None:
    """The normal form of a normal form is itself, and order does not matter."""
    once = normal_rules(rules, GROUP)
    assert normal_rules(once, GROUP) == once
    assert normal_rules(list(reversed(rules)), GROUP) == once


def test_self_is_written_with_the_groups_id() -> None:
    assert permission_of(ALL, GROUP) == {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": GROUP}]}
