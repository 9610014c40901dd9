"""All simulators of one cluster, started and stopped together."""

from collections.abc import Callable

from reconciler.sandbox.clock import Clock
from reconciler.sandbox.kubernetes.simulators.client import Client
from reconciler.sandbox.kubernetes.simulators.daemons import DaemonSets
from reconciler.sandbox.kubernetes.simulators.housekeeping import Budgets, ServiceAccounts
from reconciler.sandbox.kubernetes.simulators.jobs import Jobs
from reconciler.sandbox.kubernetes.simulators.kubelet import Kubelet, PodTimes
from reconciler.sandbox.kubernetes.simulators.nodes import Nodes
from reconciler.sandbox.kubernetes.simulators.scheduler import Scheduler
from reconciler.sandbox.kubernetes.simulators.volumes import Claims, Volumes
from reconciler.sandbox.kubernetes.simulators.workloads import Deployments, ReplicaSets, StatefulSets
from reconciler.sandbox.kubernetes.simulators.world import World


class Simulators:
    """Scheduler, kubelets and controllers of the cluster at `url`. `nodes` is how nodes come and go.

    `controllers` False leaves the workload controllers out, for a real
    cluster that has its own.
    """

    def __init__(
        self,
        url: str,
        ca_pem: str,
        token: Callable[[], str],
        *,
        clock: Clock | None = None,
        times: PodTimes | None = None,
        controllers: bool = True,
    ) -> None:
        self.clock = clock or Clock()
        self.client = Client(url, ca_pem, token)
        self.nodes = Nodes(self.client, self.clock)
        self._world = World(self.client, self.clock)
        self._times = times or PodTimes()
        self._with_controllers = controllers

    def start(self) -> None:
        world = self._world
        kubelets = [Kubelet(world, self._times)]
        if not self._with_controllers:
            world.start(kubelets)
            return
        world.start(
            [
                *kubelets,
                Scheduler(world),
                ServiceAccounts(world),
                Claims(world),
                Volumes(world),
                Deployments(world),
                ReplicaSets(world),
                StatefulSets(world),
                DaemonSets(world),
                Jobs(world),
                Budgets(world),
            ]
        )

    def stop(self) -> None:
        self._world.stop()
        self.client.close()

    def __enter__(self) -> "Simulators":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
