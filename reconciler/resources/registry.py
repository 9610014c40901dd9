"""All handlers there are."""

from __future__ import annotations

from reconciler.resources.control_plane.access import AccessEntryHandler
from reconciler.resources.control_plane.addons import AddonHandler
from reconciler.resources.control_plane.clusters import ClusterHandler
from reconciler.resources.handler import Handler
from reconciler.resources.helm.handler import ReleaseHandler
from reconciler.resources.hyperpod.handler import HyperPod
from reconciler.resources.hyperpod.reboot import Reboots
from reconciler.resources.iam.providers import ProviderHandler
from reconciler.resources.iam.roles import RoleHandler
from reconciler.resources.network.handler import NetworkHandler
from reconciler.resources.storage.buckets import Buckets
from reconciler.resources.storage.objects import Objects
from reconciler.resources.storage.volumes import Volumes


def handlers() -> list[Handler]:
    """One of each family. They keep no state that matters."""
    return [
        NetworkHandler(),
        RoleHandler(),
        ClusterHandler(),
        ProviderHandler(),
        AccessEntryHandler(),
        AddonHandler(),
        ReleaseHandler(),
        Buckets(),
        Objects(),
        HyperPod(),
        Reboots(),
        Volumes(),
    ]
