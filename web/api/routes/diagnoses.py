"""/clusters/{cluster}/diagnoses: what is wrong, how sure that is, and what to do next. Looks only."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from reconciler.reads.asking import asking
from reconciler.reads.diagnosis.diagnose import Subject, diagnose
from reconciler.reads.diagnosis.facts import Focus
from reconciler.reads.diagnosis.findings import DiagnosisView
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.parts import ClusterName
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/diagnoses", tags=["diagnosis"])


@router.get("/{subject}", operation_id="get_diagnosis", responses=responses(404))
def get_diagnosis(
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    subject: Subject,
    namespace: Annotated[str, Query(max_length=63, description="Only pods of this namespace")] = "",
    pod: Annotated[str, Query(max_length=253, description="Only this pod")] = "",
    node: Annotated[
        str, Query(max_length=253, description="Only this node: its instance, or its name in Kubernetes")
    ] = "",
) -> DiagnosisView:
    """No finding is no proof where `parts` could not be seen. Commands are for a person to run; texts of evidence are
    from outside."""
    with asking():
        return diagnose(house.reads, cluster, subject, Focus(namespace=namespace, pod=pod, node=node))
