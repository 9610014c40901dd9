"""/version: what this service is."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from reconciler.cli.app import version
from web.api.access import Reader
from web.api.house import HouseDep

router = APIRouter(prefix="/version", tags=["service"])


class VersionView(BaseModel):
    """`branch`: the one that is truth; `local`: the repository is a folder of this machine; `life`: of this process,
    the first part of its events' ids. `clock`: now, as the engine and its journal tell it; `clock_rate`: its
    seconds in a real one, other than 1 only over the simulated cloud."""

    model_config = ConfigDict(frozen=True)

    version: str
    branch: str
    local: bool
    life: str
    clock: str
    clock_rate: float


@router.get("", operation_id="get_version")
def get_version(house: HouseDep, _who: Reader) -> VersionView:
    repo = house.repo
    return VersionView(
        version=version(),
        branch=repo.branch,
        local=not repo.is_remote,
        life=house.bus.life,
        clock=house.clock.iso(),
        clock_rate=house.clock.rate,
    )
