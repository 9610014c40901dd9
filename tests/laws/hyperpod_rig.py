"""A whole engine whose HyperPod handler is the real one, over `SmallSageMaker`; everything around it is invented.

One cluster is built once for all that use it; `copy_of` gives each its own.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from reconciler.live.aws.accounts import AwsAccounts
from reconciler.resources.handler import Handler, World
from reconciler.resources.hyperpod.handler import HyperPod
from schemas.journal import Condition
from tests.engine.fakes import Rig, cluster_yaml, group_yaml
from tests.engine.invented_cloud import GROUP, Family, families
from tests.laws.small_sagemaker import SmallSageMaker


@dataclass(kw_only=True)
class HyperPodRig(Rig):
    """`busy`: groups on whose nodes somebody's pod runs."""

    sagemaker: SmallSageMaker = field(default_factory=SmallSageMaker)
    busy: set[str] = field(default_factory=set[str])

    def accounts(self) -> AwsAccounts:
        return cast("AwsAccounts", _Accounts(self.sagemaker))

    def handlers(self) -> list[Handler]:
        found = families(self.cloud)
        return [HyperPod() if isinstance(h, Family) and GROUP in h.types else h for h in found]

    def kubes(self) -> object:
        return _Kubes(self.busy)

    def tick(self, seconds: float = 0.0) -> Any:
        self.sagemaker.pass_time()
        return super().tick(seconds)

    def copy_of(self, where: Path) -> HyperPodRig:
        """The same cluster and repository at the same moment, with a fresh process on an empty disk."""
        made = HyperPodRig(path=where / "unused", state=where / "state")
        shutil.copytree(self.path, where / "repository")
        made.path = where / "repository"
        made.clock.advance((self.clock.now() - made.clock.now()).total_seconds())
        made.cloud.things = copy.deepcopy(self.cloud.things)
        made.sagemaker = copy.deepcopy(self.sagemaker)
        return made


def built(where: Path, groups: Mapping[str, int], policy: str) -> HyperPodRig:
    """A cluster with these groups, Ready."""
    rig = HyperPodRig(path=where / "repository", state=where / "state", policy=policy)
    documents = {f"g-{name}": group_yaml(name, count) for name, count in groups.items()}
    rig.commit({"cluster": cluster_yaml(), **documents})
    status = rig.settle()
    assert status.condition is Condition.READY, rig.story()
    rig.close()
    return rig


class _Accounts:
    def __init__(self, sagemaker: SmallSageMaker) -> None:
        self._sagemaker = sagemaker

    def session(self, _account: str, _region: str) -> SmallSageMaker:
        return self._sagemaker

    def close(self) -> None:
        return


class _Kubes:
    """One node for each group, and a pod on those that are busy."""

    def __init__(self, busy: set[str]) -> None:
        self._busy = busy

    def of(self, _world: World) -> _Kubes:
        return self

    def list(self, kind: Any, *, label_selector: str = "") -> list[dict[str, Any]]:
        if kind.kind == "Node":
            return [{"metadata": {"name": label_selector.rpartition("=")[2]}}]
        metadata = {"namespace": "default", "name": "job"}
        return [{"metadata": metadata, "spec": {"nodeName": group}, "status": {}} for group in sorted(self._busy)]

    def close(self) -> None:
        return
