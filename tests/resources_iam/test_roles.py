"""Roles and the identity provider against the sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest

from reconciler.live.errors import NotFound
from reconciler.resources.iam.providers import ProviderHandler
from reconciler.resources.iam.roles import RoleHandler
from schemas.plan import Verb
from schemas.resource import Health, Mark, Observed, Presence, Resource
from tests.resources_support import Place, by_key, operations, ref, resource, trust

KEY = "iam.Role/prod/execution"
NAME = "prod-execution"
MANAGED = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
OTHER = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
READ = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": "*"}],
}
PROVIDER = "iam.OpenIDConnectProvider/prod"
NEW_ISSUER = "oidc.eks.us-west-2.amazonaws.com/id/NEW"
ISSUER = "oidc.eks.us-west-2.amazonaws.com/id/ABCDEF"


def role(**spec: Any) -> Resource:
    body = {"trust": {"services": ["sagemaker.amazonaws.com"]}, "managed": [MANAGED], "inline": {"read": READ}}
    return resource(KEY, {**body, **spec}, name=NAME)


def provider() -> Resource:
    spec = {"url": ref("eks.Cluster/prod", "issuer"), "audiences": ["sts.amazonaws.com"]}
    return resource("iam.OpenIDConnectProvider/prod", spec)


def eks(issuer: str) -> Observed:
    attrs = {"issuer": f"https://{issuer}", "issuerHost": issuer}
    return Observed(
        key="eks.Cluster/prod", type="eks.Cluster", name="prod", presence=Presence.PRESENT, attrs=attrs, ready=True
    )


def test_a_role_is_made_then_given_its_policies(place: Place) -> None:
    place.want(role())
    handler = RoleHandler()
    place.look(handler)
    (create,) = handler.calls(place.world(), place.plan().actions)
    op = place.send(handler, create)
    seen = place.look(handler)[KEY]
    assert (seen.op, seen.mark, seen.ready, seen.reason) == (op.op, Mark.OURS, False, "Unfinished")
    assert place.converge(handler).empty
    assert operations(place, "Create", "Attach", "Put") == ["CreateRole", "AttachRolePolicy", "PutRolePolicy"]
    assert place.observed[KEY].attrs["arn"].endswith(f"role/instantstart/prod/{NAME}")


def test_drift_of_a_role_is_put_back(place: Place) -> None:
    place.want(role())
    handler = RoleHandler()
    place.converge(handler)
    iam = place.sandbox.client("iam")
    iam.detach_role_policy(RoleName=NAME, PolicyArn=MANAGED)
    iam.attach_role_policy(RoleName=NAME, PolicyArn=OTHER)
    iam.put_role_policy(RoleName=NAME, PolicyName="hand-made", PolicyDocument=json.dumps(READ))
    iam.update_assume_role_policy(RoleName=NAME, PolicyDocument=trust("ec2.amazonaws.com"))
    place.look(handler)
    (action,) = place.plan().actions
    assert action.fields == ("inline", "managed", "trust")
    assert place.converge(handler).empty
    assert place.observed[KEY].detail == {"managed": [MANAGED], "inline": ["read"]}


def test_the_same_policy_in_other_words_is_no_change(place: Place) -> None:
    handler = RoleHandler()
    place.want(role())
    place.converge(handler)
    statement = {"Effect": "Allow", "Action": ["s3:ListBucket", "s3:GetObject"], "Resource": ["*"]}
    place.want(role(inline={"read": {"Version": "2012-10-17", "Statement": statement}}))
    place.look(handler)
    assert place.plan().empty


def test_a_role_goes_with_all_it_carries(place: Place) -> None:
    handler = RoleHandler()
    place.want(role())
    place.converge(handler)
    place.sandbox.client("iam").attach_role_policy(RoleName=NAME, PolicyArn=OTHER)
    place.want()
    place.converge(handler, until=lambda plan: plan.empty)
    assert place.sandbox.client("iam").list_roles(PathPrefix="/instantstart/prod/")["Roles"] == []


def test_a_role_that_git_has_forgotten_is_found_by_its_path(place: Place) -> None:
    handler = RoleHandler()
    place.want(role())
    place.converge(handler)
    place.desired, place.previous = {}, {}
    seen = place.look(handler)
    assert {key: each.mark for key, each in seen.items()} == {KEY: Mark.OURS}


def test_a_role_of_that_name_that_is_not_ours_is_left_alone(place: Place) -> None:
    place.sandbox.client("iam").create_role(RoleName=NAME, AssumeRolePolicyDocument=trust("ec2.amazonaws.com"))
    place.want(role())
    handler = RoleHandler()
    seen = place.look(handler)[KEY]
    assert seen.present and seen.mark is Mark.FOREIGN
    plan = place.plan()
    assert not plan.actions and [r.reason for r in plan.refusals] == ["NotOurs"]


def test_an_adopted_role_keeps_what_it_had(place: Place) -> None:
    iam = place.sandbox.client("iam")
    iam.create_role(RoleName="theirs", AssumeRolePolicyDocument=trust("sagemaker.amazonaws.com"))
    iam.attach_role_policy(RoleName="theirs", PolicyArn=OTHER)
    spec = {"trust": {"services": ["sagemaker.amazonaws.com"]}, "managed": [MANAGED]}
    place.want(resource(KEY, spec, name="theirs", adopt="theirs"))
    handler = RoleHandler()
    assert place.converge(handler).empty
    attached = iam.list_attached_role_policies(RoleName="theirs")["AttachedPolicies"]
    assert {each["PolicyArn"] for each in attached} == {MANAGED, OTHER}
    place.want()
    place.converge(handler, until=lambda plan: plan.empty)
    assert not [t for t in iam.list_role_tags(RoleName="theirs")["Tags"] if t["Key"].startswith("instantstart:")]


def test_the_provider_waits_for_the_issuer_and_follows_it(place: Place) -> None:
    """A31: a new control plane has a new issuer; the former provider is told apart."""
    handler = ProviderHandler()
    place.want(provider())

    def look(issuer: str | None) -> Observed:
        place.observed = {} if issuer is None else {"eks.Cluster/prod": eks(issuer)}
        (seen,) = handler.look(place.world(), list(place.desired.values()))
        place.observed[seen.key] = seen
        return seen

    assert look(None).presence is Presence.ABSENT
    assert not handler.calls(place.world(), place.plan().actions), "the issuer is not known yet"
    look(ISSUER)
    (create,) = handler.calls(place.world(), place.plan().actions)
    op = place.send(handler, create)
    seen = look(ISSUER)
    assert (seen.op, seen.mark, seen.health) == (op.op, Mark.OURS, Health.HEALTHY)
    assert seen.spec == {"url": f"https://{ISSUER}", "audiences": ["sts.amazonaws.com"]}
    assert place.plan().empty
    place.observed = {"eks.Cluster/prod": eks(NEW_ISSUER)}
    place.observed |= by_key(handler.look(place.world(), list(place.desired.values())))
    verbs = {a.key: a.verb for a in place.plan().actions}
    assert verbs == {PROVIDER: Verb.CREATE, f"{PROVIDER}/ABCDEF": Verb.DELETE}


def test_a_provider_without_its_cluster_is_found_by_its_tags_and_removed(place: Place) -> None:
    handler = ProviderHandler()
    place.want(provider())
    place.observed = {"eks.Cluster/prod": eks(ISSUER)}
    place.observed.update({s.key: s for s in handler.look(place.world(), list(place.desired.values()))})
    (create,) = handler.calls(place.world(), place.plan().actions)
    place.send(handler, create)
    place.want()
    place.look(handler)
    assert [a.verb for a in place.plan().actions] == [Verb.DELETE]
    place.converge(handler, until=lambda plan: plan.empty)
    assert place.sandbox.client("iam").list_open_id_connect_providers()["OpenIDConnectProviderList"] == []


class Racing:
    """The account, in which somebody does something just before one of our reads."""

    def __init__(self, inner: Any, before: str, act: Callable[[], Any]) -> None:
        self._inner = inner
        self._waiting = {before: act}

    def read(self, service: str, operation: str, /, **params: Any) -> Any:
        self._waiting.pop(operation, lambda: None)()
        return self._inner.read(service, operation, **params)

    def pages(self, service: str, operation: str, key: str, /, **params: Any) -> Any:
        self._waiting.pop(operation, lambda: None)()
        return self._inner.pages(service, operation, key, **params)


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("before", ["ListAttachedRolePolicies", "ListRolePolicies", "GetRolePolicy"])
def test_a_role_that_goes_while_it_is_looked_at_is_absent(place: Place, wanted: bool, before: str) -> None:
    """Roles are deleted side by side, and each delete looks once more."""
    place.want(role())
    handler = RoleHandler()
    place.converge(handler)
    iam = place.sandbox.client("iam")

    def goes() -> None:
        iam.detach_role_policy(RoleName=NAME, PolicyArn=MANAGED)
        iam.delete_role_policy(RoleName=NAME, PolicyName="read")
        iam.delete_role(RoleName=NAME)

    world = replace(place.world(), aws=cast("Any", Racing(place.world().aws, before, goes)))
    seen = by_key(handler.look(world, [role()] if wanted else []))
    assert [one.presence for one in seen.values()] == ([Presence.ABSENT] if wanted else [])


def test_a_role_of_which_a_policy_goes_while_it_is_looked_at_is_no_absent_one(place: Place) -> None:
    place.want(role())
    handler = RoleHandler()
    place.converge(handler)
    iam = place.sandbox.client("iam")
    goes = partial(iam.delete_role_policy, RoleName=NAME, PolicyName="read")
    world = replace(place.world(), aws=cast("Any", Racing(place.world().aws, "GetRolePolicy", goes)))
    with pytest.raises(NotFound):  # nobody can say what it is like: the look fails
        list(handler.look(world, [role()]))
