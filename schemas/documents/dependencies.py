"""What a cluster needs before HyperPod can work in it: EKS add-ons and the dependencies chart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from schemas.documents import words
from schemas.documents.fields import documented
from schemas.documents.shapes import Broken, Ruled, Shape
from schemas.plan import Cost
from schemas.values import JsonValue

DEFAULT_ADDONS: Final = (
    "vpc-cni",
    "coredns",
    "kube-proxy",
    "eks-pod-identity-agent",
    "cert-manager",
    "aws-mountpoint-s3-csi-driver",
)
_NEEDED: Final = ("vpc-cni", "coredns", "kube-proxy")
_SMALLEST: Final[dict[str, tuple[int, int, int]]] = {"vpc-cni": (1, 18, 3)}


class Addon(Shape):
    """One EKS add-on."""

    also_known: ClassVar[dict[str, str]] = {"addonVersion": "version", "configurationValues": "values"}

    version: words.AddonVersion | None = documented(
        "The version. Absent: the one EKS recommends for the cluster's Kubernetes version, named in the plan.",
        cost=Cost.IN_PLACE,
        default=None,
    )
    values: Mapping[str, JsonValue] = documented(
        "Configuration values, as the add-on's own schema has them. No secrets: name a Secret instead.",
        cost=Cost.IN_PLACE,
        default_factory=dict[str, Any],
    )
    enabled: bool = documented(
        "False leaves out an add-on that would be installed by default.", cost=Cost.IN_PLACE, default=True
    )


class Chart(Shape):
    """Another source of the dependencies chart than the packaged one, pinned to a commit."""

    also_known: ClassVar[dict[str, str]] = {"url": "repository", "repo": "repository", "ref": "commit", "sha": "commit"}

    repository: words.RepositoryUrl = documented("The git repository, by https.", cost=Cost.IN_PLACE)
    path: words.FilePath = documented("The chart's folder in it.", cost=Cost.IN_PLACE)
    commit: words.CommitId = documented("The commit.", cost=Cost.IN_PLACE)


class Dependencies(Ruled):
    """Add-ons and chart. The usual ones are there without being named."""

    also_known: ClassVar[dict[str, str]] = {"helm": "chart", "addOns": "addons", "addon": "addons"}

    addons: Annotated[Mapping[words.AddonName, Addon], Field(max_length=40)] = documented(
        "EKS add-ons by name. These are installed anyway: " + ", ".join(DEFAULT_ADDONS) + ".",
        cost=Cost.IN_PLACE,
        default_factory=dict[str, Any],
    )
    chart: Chart | None = documented(
        "Where the dependencies chart comes from. Absent: the packaged one.", cost=Cost.IN_PLACE, default=None
    )
    values: Mapping[str, JsonValue] = documented(
        "Values for the dependencies chart.", cost=Cost.IN_PLACE, default_factory=dict[str, Any]
    )

    @property
    def installed(self) -> dict[str, Addon]:
        """Every add-on to install: the usual ones, overlaid with what was written, without what is switched off."""
        merged = {name: self.addons.get(name, Addon()) for name in (*DEFAULT_ADDONS, *self.addons)}
        return {name: addon for name, addon in merged.items() if addon.enabled}

    def rules(self) -> Iterator[Broken]:
        for name, addon in self.addons.items():
            if not addon.enabled and name in _NEEDED:
                yield Broken(
                    fields=(("addons", name, "enabled"),),
                    expected=f"{name} installed",
                    found="enabled: false",
                    hint="no HyperPod node becomes ready without it",
                )
            smallest = _SMALLEST.get(name)
            if smallest and addon.version and _numbers(addon.version) < smallest:
                yield Broken(
                    fields=(("addons", name, "version"),),
                    expected=f"{name} {'.'.join(map(str, smallest))} or newer",
                    found=addon.version,
                    hint="older ones do not run on HyperPod",
                )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", version)[:3])
