"""From a cluster's name to the account, the region and the Kubernetes API where it is: what a reader may ask.

The newest tick tells; before the first one the documents at the branch's head do.
"""

from __future__ import annotations

from collections.abc import Mapping

from reconciler.engine.look import handler_for
from reconciler.engine.tick import Engine
from reconciler.live.kube.cluster import KubeCluster
from reconciler.resources.handler import World
from schemas.errors import InvalidInput, NotFound, Unavailable
from schemas.resource import Observed, Presence, Resource


def world_of(engine: Engine, cluster: str) -> World:
    """Nothing is called yet. Raises NotFound for a cluster that nobody knows, Unavailable where nobody can tell in
    which account it is."""
    sight = engine.sights.get(cluster)
    previous: Mapping[str, Resource] = {}
    observed: dict[str, Observed] = {}
    if sight is not None and sight.account:
        desired, previous, account, region = sight.desired, sight.previous, sight.account, sight.region
        observed = dict(sight.observed)
    else:
        head = engine.repo.head()
        folder = engine.library.folder(head, cluster) if head is not None else None
        if folder is None and sight is None:
            raise NotFound(f"there is no cluster {cluster!r} here", reason="UnknownCluster")
        if folder is None or folder.desired is None:
            text = f"the documents of {cluster} do not tell in which account it is"
            raise Unavailable(text, reason="NoAccount")
        desired = folder.desired.resources
        account, region = folder.desired.account, folder.desired.region

    def no_file(path: str) -> bytes:
        raise InvalidInput(f"{path} is not read here")

    world = World(
        cluster=cluster,
        account=account,
        region=region,
        aws=engine.accounts.session(account, region),
        kube=lambda: _kube(engine, world),
        clock=engine.clock,
        desired=desired,
        previous=previous,
        observed=observed,
        file=no_file,
        cache_dir="",
    )
    return world


def _kube(engine: Engine, world: World) -> KubeCluster:
    """Raises Refused while there is no control plane, and what a look at EKS raises."""
    key = f"eks.Cluster/{world.cluster}"
    seen = world.observed.get(key)
    wanted = world.desired.get(key) or world.previous.get(key)
    if (seen is None or seen.presence is Presence.UNKNOWN) and wanted is not None:
        found = handler_for(key, engine.handlers).look(world, [wanted])
        world.observed.update({one.key: one for one in found})
    return engine.kubes.of(world)
