"""Buckets, objects and volumes. Where data lives cannot change under those who use it."""

from __future__ import annotations

from reconciler.plan.equality import same_manifests
from reconciler.plan.rules import Field, Rule
from schemas.plan import Cost
from schemas.resource import Stage

_NEW_STORAGE = "a volume is bound for life: write a second Storage under a new name and move the pods over"

RULES = (
    Rule(
        type="s3.Bucket",
        stage=Stage.COMPUTE,
        lane="s3/{name}",
        fields={"publicAccess": Field(cost=Cost.IN_PLACE), "encryption": Field(cost=Cost.IN_PLACE)},
    ),
    Rule(
        type="s3.Objects",
        stage=Stage.COMPUTE,
        lane="s3/{name}",
        inside="s3.Bucket",
        marked=False,
        fields={"bucket": Field(), "prefix": Field(), "objects": Field(cost=Cost.IN_PLACE, default={})},
    ),
    Rule(
        type="k8s.Storage",
        stage=Stage.STORAGE,
        lane="k8s/{cluster}/{name}",
        fields={
            "bucket": Field(way_out=_NEW_STORAGE),
            "prefix": Field(way_out=_NEW_STORAGE),
            "readOnly": Field(way_out=_NEW_STORAGE),
            "namespace": Field(way_out=_NEW_STORAGE),
            "manifests": Field(cost=Cost.IN_PLACE, same=same_manifests),
        },
        way_out=_NEW_STORAGE,
    ),
)
