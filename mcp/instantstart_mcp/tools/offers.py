"""What an account can have in a Region, before anything is chosen."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from instantstart_mcp.api import Json, part, rows
from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import reads
from instantstart_mcp.words import Answer, Part, Word, unseen

_MOST = 40


class Offer(Answer):
    instance_type: str
    zones: tuple[str, ...] = ()
    gpus: int | None = None
    gpu: str = ""
    efa_interfaces: int | None = None
    on_demand_quota: int | None = None
    on_demand_left: int | None = None
    spot_left: int | None = None
    training_plans_untrusted: tuple[str, ...] = ()
    reservations_untrusted: tuple[str, ...] = ()


class TrainingPlan(Answer):
    arn: str
    name_untrusted: str = ""
    status: Word = ""
    start: str = ""
    end: str = ""
    available: int | None = None
    instance_types: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()


class OfferingsAnswer(Answer):
    account: str
    region: str
    zones: tuple[str, ...] = ()
    kubernetes_default: str = ""
    kubernetes_versions: tuple[str, ...] = ()
    instance_types: tuple[Offer, ...] = ()
    instance_types_left_out: int = 0
    training_plans: tuple[TrainingPlan, ...] = ()
    instances_left: int | None = None
    unseen: tuple[Part, ...] = ()


async def offerings_get(
    call: Call,
    region: Annotated[str, Field(max_length=30, description="Such as us-west-2; or name a cluster")] = "",
    cluster: Annotated[str, Field(max_length=40, description="The account and Region of this cluster")] = "",
    account: Annotated[str, Field(max_length=12, description="Without it that of the service's credentials")] = "",
    instance_type: Annotated[str, Field(max_length=40, description="Only this type")] = "",
    zone: Annotated[str, Field(max_length=30, description="Only types offered in this zone (name or id)")] = "",
    accelerated: Annotated[bool, Field(description="Only types with GPUs or Trainium chips")] = True,
) -> OfferingsAnswer:
    """What can be had before anything is chosen: zones, instance types with GPUs and EFA, quota headroom, training
    plans, Kubernetes versions. What is missing is not known (unseen says why): do not make it up."""
    told = await call.api.get(
        "offerings",
        region=region,
        cluster=cluster,
        account=account,
        type=instance_type,
        zone=zone,
        accelerated=True if accelerated and not instance_type else None,
    )
    types = rows(told, "instance_types")
    versions = rows(told, "kubernetes_versions")
    return OfferingsAnswer(
        account=told["account"],
        region=told["region"],
        zones=tuple(f"{one['name']} = {one['id']}" for one in rows(told, "zones")),
        kubernetes_default=next((one["version"] for one in versions if one["default"]), ""),
        kubernetes_versions=tuple(one["version"] for one in versions),
        instance_types=tuple(_offer(one) for one in types[:_MOST]),
        instance_types_left_out=max(0, len(types) - _MOST),
        training_plans=tuple(TrainingPlan.model_validate(one) for one in rows(told, "training_plans")[:20]),
        instances_left=part(told, "instances").get("left"),
        unseen=unseen(told.get("parts")),
    )


def _offer(one: Json) -> Offer:
    on_demand, spot = part(one, "on_demand"), part(one, "spot")
    return Offer(
        instance_type=one["instance_type"],
        zones=tuple(one.get("zones") or ()),
        gpus=one.get("gpus"),
        gpu=one.get("gpu") or "",
        efa_interfaces=one.get("efa_interfaces"),
        on_demand_quota=on_demand.get("limit"),
        on_demand_left=on_demand.get("left"),
        spot_left=spot.get("left"),
        training_plans_untrusted=tuple(one.get("training_plans") or ()),
        reservations_untrusted=tuple(one.get("reservations") or ()),
    )


TOOLS = (reads(offerings_get),)
