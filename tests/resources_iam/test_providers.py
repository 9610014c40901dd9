"""Audiences of an identity provider: moto has no calls for them, so the steps themselves are looked at."""

from __future__ import annotations

from typing import Any, cast

from reconciler.plan.make import PlanInput, make
from reconciler.resources.handler import World
from reconciler.resources.iam.providers import ProviderHandler
from schemas.resource import Health, Mark, Observed, Presence, Resource
from tests.resources_support import resource

KEY = "iam.OpenIDConnectProvider/prod"
ARN = "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/A"


def provider(*audiences: str) -> Resource:
    return resource(KEY, {"url": "https://oidc.example", "audiences": list(audiences)})


def test_new_audiences_come_before_old_ones_go_and_those_of_others_stay() -> None:
    seen = Observed(
        key=KEY,
        type="iam.OpenIDConnectProvider",
        name="prod",
        presence=Presence.PRESENT,
        spec={"url": "https://oidc.example", "audiences": ["former", "theirs"]},
        attrs={"arn": ARN},
        health=Health.HEALTHY,
        mark=Mark.OURS,
    )
    wanted, before = provider("new"), provider("former")
    given = PlanInput(
        cluster="prod", revision=None, desired={KEY: wanted}, previous={KEY: before}, observed={KEY: seen}
    )
    (action,) = make(given).actions
    draft = ProviderHandler().update(cast("World", None), action, seen)
    assert draft is not None
    sent: list[tuple[str, Any]] = [(each.operation, each.params["ClientID"]) for each in draft.steps]
    assert sent == [
        ("AddClientIDToOpenIDConnectProvider", "new"),
        ("RemoveClientIDFromOpenIDConnectProvider", "former"),
    ]
