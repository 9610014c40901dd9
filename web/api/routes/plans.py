"""/clusters/{cluster}/plan: what the engine would do now, and what it would do at another revision."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from reconciler.engine.foresight import foresee
from reconciler.reads.plans import PlanView, of_plan, of_scope
from schemas.errors import NotFound, Unavailable
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.parts import ClusterName
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/plan", tags=["plans"])


class TimedPlanView(PlanView):
    """`looked_at`: when the world was looked at for it."""

    looked_at: str


@router.get("", operation_id="get_plan", responses=responses(404))
def get_plan(
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    revision: Annotated[str | None, Query(max_length=200, description="The branch's head if not told")] = None,
    fresh: Annotated[bool, Query(description="Look now, whatever the loop saw last")] = False,
) -> TimedPlanView:
    """As the loop saw it last, else looked at now. Nothing is written, sent or remembered."""
    main = house.changes.store.main()
    at = house.repo.resolve(revision) if revision is not None else main
    if cluster not in house.repo.clusters(at) and house.repo.journal_tip(cluster) is None:
        raise NotFound(f"there is no cluster {cluster} at {at[:12]}", reason="UnknownCluster")
    sight = house.engine.sights.get(cluster)
    if sight is not None and sight.plan is not None and sight.head == at and not fresh:
        shown = of_plan(sight.plan, sight.observed, sight.held)
        return TimedPlanView(**dict(shown), looked_at=sight.at)
    looked_at = house.clock.iso()
    scope = foresee(house.engine, [cluster], at, main)[cluster]
    if scope.problem is not None:
        raise Unavailable(f"{cluster} cannot be planned now: {scope.problem}", reason="NotPlanned")
    return TimedPlanView(**dict(of_scope(scope)), looked_at=looked_at)
