"""What every handler shares: time, money (capacity, quotas), identities, and the stores of the services."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reconciler.sandbox.aws.agenda import Agenda
from reconciler.sandbox.aws.capacity import Capacity
from reconciler.sandbox.aws.credentials import Credentials
from reconciler.sandbox.aws.identity_rules import Roles
from reconciler.sandbox.aws.kubernetes_seam import KubernetesHost
from reconciler.sandbox.aws.moto_bridge import Moto
from reconciler.sandbox.aws.pace import Pace
from reconciler.sandbox.aws.quotas import Quotas

if TYPE_CHECKING:  # the stores hold records of packages that themselves build on the world
    from reconciler.sandbox.aws.eks.records import EksCluster
    from reconciler.sandbox.aws.hyperpod.records import HyperPodCluster

Place = tuple[str, str]  # account, region


@dataclass(kw_only=True)
class World:
    agenda: Agenda
    pace: Pace
    moto: Moto
    credentials: Credentials
    roles: Roles
    kubernetes: KubernetesHost
    capacity: Capacity
    quotas: Quotas
    eks: dict[Place, dict[str, EksCluster]] = field(default_factory=dict[Place, "dict[str, EksCluster]"])
    hyperpod: dict[Place, dict[str, HyperPodCluster]] = field(
        default_factory=lambda: dict[Place, "dict[str, HyperPodCluster]"]()
    )

    def now(self) -> float:
        return self.agenda.now()


def random_id(length: int) -> str:
    """Lower-case letters and digits, as in the ids that AWS makes up."""
    return "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(length))
