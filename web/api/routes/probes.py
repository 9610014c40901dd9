"""/healthz, /readyz and /metrics, outside /api/v1: for whoever runs the container."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict

from schemas.errors import Unavailable
from web import metrics
from web.api.access import Reader
from web.api.house import HouseDep

router = APIRouter(tags=["service"])


class Fine(BaseModel):
    model_config = ConfigDict(frozen=True)

    status: str = "ok"


@router.get("/healthz", operation_id="get_health")
async def get_health() -> Fine:
    """The process answers. Whether the repository does is /readyz: starting this one anew would not help."""
    return Fine()


@router.get("/readyz", operation_id="get_readiness")
async def get_readiness(house: HouseDep) -> Fine:
    """A tick has looked, and the last one could read the repository. 503 until then."""
    beat = house.pulse.beat
    if not beat.ticks:
        raise Unavailable("the first tick is not over yet", reason="FirstTick", after=1)
    if beat.problem is not None:
        raise Unavailable("the last tick could do nothing; the service's log says why", reason="NoTick")
    return Fine()


@router.get("/metrics", operation_id="get_metrics", response_class=Response)
def get_metrics(house: HouseDep, _who: Reader) -> Response:
    """For Prometheus, with a token that may read."""
    return Response(house.metrics.text(), media_type=metrics.MEDIA)
