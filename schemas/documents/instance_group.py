"""InstanceGroup: machines of one type, in one zone, paid for in one way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from schemas import instance_types, limits
from schemas.documents import words
from schemas.documents.fields import documented, listed, shared
from schemas.documents.shapes import Broken, Metadata, Ruled, Shape
from schemas.plan import Cost

_NEW_GROUP: Final = "add a group under a new name, move the work, then delete this one"
_MOST_NODES: Final = limits.largest("instanceCount")

CapacityKind: TypeAlias = Literal["onDemand", "spot", "trainingPlan"]


class OnDemand(Shape):
    """Machines when there are some. Open capacity reservations in the zone are used by themselves."""


class Spot(Shape):
    """Cheap machines that may be taken back with two minutes' notice."""


class TrainingPlan(Shape):
    """Machines of a training plan that was bought before."""

    also_known: ClassVar[dict[str, str]] = {"trainingPlanArn": "arn", "planArn": "arn"}

    arn: words.TrainingPlanArn = documented(
        "The plan. Another plan may take its place; a group without one stays without.", cost=Cost.IN_PLACE
    )


class Capacity(Ruled):
    """How the machines are paid for: exactly one of the three. `spot: {}` is written with its empty braces."""

    also_known: ClassVar[dict[str, str]] = {"on-demand": "onDemand", "reservation": "onDemand", "odcr": "onDemand"}

    on_demand: OnDemand | None = documented("On demand.", cost=Cost.REFUSED, way_out=_NEW_GROUP, default=None)
    spot: Spot | None = documented("Spot.", cost=Cost.REFUSED, way_out=_NEW_GROUP, default=None)
    training_plan: TrainingPlan | None = documented(
        "A training plan.", cost=Cost.REFUSED, way_out=_NEW_GROUP, default=None
    )

    @property
    def kind(self) -> CapacityKind:
        """Which one it is."""
        if self.spot is not None:
            return "spot"
        return "trainingPlan" if self.training_plan is not None else "onDemand"

    def rules(self) -> Iterator[Broken]:
        given = [
            name
            for name, value in (
                ("onDemand", self.on_demand),
                ("spot", self.spot),
                ("trainingPlan", self.training_plan),
            )
            if value is not None
        ]
        if len(given) != 1:
            yield Broken(
                fields=((given[1],) if len(given) > 1 else (),),
                expected="exactly one of onDemand, spot and trainingPlan",
                found=" and ".join(given) or "none",
                hint="" if given else "write `spot: {}` or `onDemand: {}`, with the braces",
            )


class Volume(Shape):
    """A second disk on each node, mounted at /opt/sagemaker."""

    also_known: ClassVar[dict[str, str]] = {
        "size": "sizeGiB",
        "sizeGB": "sizeGiB",
        "sizeGi": "sizeGiB",
        "kmsKey": "kmsKeyId",
    }

    size_gib: int = documented(
        "Size in GiB. A change reaches new nodes only.",
        cost=Cost.IN_PLACE,
        alias="sizeGiB",
        ge=limits.smallest("volumeSizeInGB"),
        le=limits.largest("volumeSizeInGB"),
    )
    kms_key_id: words.KmsKeyId | None = documented(
        "The key it is encrypted with. Absent: the account's default.", cost=Cost.IN_PLACE, default=None
    )


class Taint(Shape):
    """Keeps pods away that do not tolerate it."""

    key: words.LabelKey = documented("The key.", cost=Cost.IN_PLACE)
    value: words.LabelValue | None = documented("The value.", cost=Cost.IN_PLACE, default=None)
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = documented(
        "What happens to pods that do not tolerate it.", cost=Cost.IN_PLACE
    )


class InstanceGroupSpec(Ruled):
    """Machines of one type, in one zone, paid for in one way."""

    also_known: ClassVar[dict[str, str]] = {
        "instanceCount": "count",
        "replicas": "count",
        "nodes": "count",
        "nodeCount": "count",
        "size": "count",
        "minInstanceCount": "minCount",
        "type": "instanceType",
        "instanceTypes": "instanceType",
        "availabilityZone": "zone",
        "availabilityZoneId": "zone",
        "az": "zone",
        "capacityRequirements": "capacity",
        "capacityType": "capacity",
        "trainingPlanArn": "capacity",
        "networkInterface": "interface",
        "interfaceType": "interface",
        "instanceStorageConfigs": "volume",
        "storage": "volume",
        "disk": "volume",
        "onStartDeepHealthChecks": "deepHealthChecks",
        "enableBurnInTest": "deepHealthChecks",
        "lifeCycleConfig": "lifecycleScript",
    }

    instance_type: words.InstanceType = documented("The machine.", cost=Cost.REFUSED, way_out=_NEW_GROUP)
    count: int = documented(
        "How many nodes. 0 keeps the group and its settings. To remove certain nodes, name them in an Operation;"
        " a smaller count alone lets the service choose.",
        cost=Cost.IN_PLACE,
        ge=0,
        le=_MOST_NODES,
    )
    min_count: int | None = documented(
        "Nodes that must come before the group counts as ready; if they have not after three hours, the service"
        " takes the change back.",
        cost=Cost.IN_PLACE,
        default=None,
        ge=0,
        le=_MOST_NODES,
    )
    zone: words.Zone | None = documented(
        "The availability zone, by id (usw2-az2; the same zone in every account) or by name. Absent: one that offers"
        " the type. All nodes of a group are in one zone.",
        cost=Cost.REFUSED,
        way_out=_NEW_GROUP,
        default=None,
    )
    capacity: Capacity = documented(
        "How the machines are paid for.",
        cost=Cost.REFUSED,
        way_out=_NEW_GROUP,
        default_factory=shared(Capacity.model_validate({"onDemand": {}})),
    )
    interface: Literal["efa", "efaOnly"] | None = documented(
        "EFA for traffic between nodes; efaOnly takes no addresses from the subnet. Absent: what the service chooses.",
        cost=Cost.REFUSED,
        way_out=_NEW_GROUP,
        default=None,
    )
    volume: Volume | None = documented("A second disk on each node.", cost=Cost.IN_PLACE, default=None)
    threads_per_core: int | None = documented(
        "1 switches hyper-threading off. Absent: the type's default.",
        cost=Cost.REFUSED,
        way_out=_NEW_GROUP,
        default=None,
        ge=limits.smallest("threadsPerCore"),
        le=limits.largest("threadsPerCore"),
    )
    deep_health_checks: (
        Annotated[
            tuple[Literal["InstanceStress", "InstanceConnectivity", "MultiNodeTrainingValidation"], ...],
            Field(min_length=1, max_length=3),
        ]
        | None
    ) = listed(
        "Checks that new nodes pass before work runs on them; they take one to two hours.",
        cost=Cost.IN_PLACE,
        default=None,
        unique_by=(),
    )
    labels: Annotated[Mapping[words.LabelKey, words.LabelValue], Field(max_length=limits.largest("labels"))] = (
        documented("Labels on the nodes.", cost=Cost.IN_PLACE, default_factory=dict[str, str])
    )
    taints: Annotated[tuple[Taint, ...], Field(max_length=limits.largest("taints"))] = listed(
        "Taints on the nodes.", cost=Cost.IN_PLACE, default=(), unique_by=("key", "effect")
    )
    lifecycle_script: words.FilePath | None = documented(
        "A script of this group's own instead of the cluster's. A change reaches new nodes only.",
        cost=Cost.IN_PLACE,
        default=None,
    )

    def rules(self) -> Iterator[Broken]:
        if self.min_count is not None and self.min_count > self.count:
            yield Broken(
                fields=(("minCount",), ("count",)),
                expected=f"minCount of at most count ({self.count})",
                found=str(self.min_count),
            )
        if self.interface and instance_types.efa_interfaces(self.instance_type) == 0:
            yield Broken(
                fields=(("interface",), ("instanceType",)),
                expected="a type with EFA interfaces",
                found=f"{self.instance_type}, which has none",
                hint="remove interface, or choose a larger type",
            )
        yield from self._deep_health_check_rules()
        seen: set[tuple[str, str]] = set()
        for index, taint in enumerate(self.taints):
            if (taint.key, taint.effect) in seen:
                yield Broken(
                    fields=(("taints", index),),
                    expected="each key and effect once",
                    found=f"{taint.key}:{taint.effect} again",
                )
            seen.add((taint.key, taint.effect))

    def _deep_health_check_rules(self) -> Iterator[Broken]:
        checks = self.deep_health_checks or ()
        if not checks:
            return
        for index, check in enumerate(checks):
            if check in checks[:index]:
                yield Broken(fields=(("deepHealthChecks", index),), expected="each check once", found=f"{check} again")
        if not instance_types.is_accelerated(self.instance_type):
            yield Broken(
                fields=(("deepHealthChecks",), ("instanceType",)),
                expected="a GPU or Trainium type",
                found=self.instance_type,
                hint="deep health checks run on accelerators only; remove them",
            )
        if self.taints:
            yield Broken(
                fields=(("taints",), ("deepHealthChecks",)),
                expected="no taints in a group with deep health checks",
                found=f"{len(self.taints)}",
                hint="HyperPod refuses both together; use labels and node selectors",
            )


class InstanceGroupMetadata(Metadata):
    """The group's name in HyperPod."""

    name: words.GroupName = Field(description="The instance group's name.")


class InstanceGroup(Shape):
    """One instance group of the folder's cluster."""

    api_version: Literal["instantstart/v1"]
    kind: Literal["InstanceGroup"]
    metadata: InstanceGroupMetadata
    spec: InstanceGroupSpec
