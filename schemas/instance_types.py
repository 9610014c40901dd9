"""What is known about HyperPod's instance types: names, accelerators, EFA interfaces.

The names come from the service model. The counts are published by AWS for part of them; for the rest the answer
is None, "not known", and nothing is claimed about such a type.
"""

from __future__ import annotations

import re
from typing import Final

from schemas import limits

NAMES: Final = limits.enum("instanceType")
_KNOWN: Final = frozenset(NAMES)

# Large accelerated types, all with one size or as written: EFA interfaces, accelerators.
_LARGE: Final[dict[str, tuple[int | None, int]]] = {
    "p4d.24xlarge": (4, 8),
    "p4de.24xlarge": (4, 8),
    "p5.48xlarge": (32, 8),
    "p5.4xlarge": (1, 1),
    "p5e.48xlarge": (32, 8),
    "p5en.48xlarge": (16, 8),
    "p6-b200.48xlarge": (8, 8),
    "p6-b300.48xlarge": (16, 8),
    "p6e-gb200.36xlarge": (None, 4),  # sources disagree about its interfaces
    "trn1.32xlarge": (8, 16),
    "trn1n.32xlarge": (16, 16),
    "trn2.3xlarge": (1, 1),
    "trn2.48xlarge": (16, 16),
}
# Families of graphics types: size → EFA interfaces, accelerators.
_G5: Final[dict[str, tuple[int | None, int]]] = {
    "xlarge": (0, 1),
    "2xlarge": (0, 1),
    "4xlarge": (0, 1),
    "8xlarge": (1, 1),
    "16xlarge": (1, 1),
    "12xlarge": (1, 4),
    "24xlarge": (1, 4),
    "48xlarge": (1, 8),
}
_G6E: Final = {**_G5, "24xlarge": (2, 4), "48xlarge": (4, 8)}
_G7E: Final = {
    "2xlarge": (0, 1),
    "4xlarge": (0, 1),
    "8xlarge": (1, 1),
    "12xlarge": (1, 2),
    "24xlarge": (2, 4),
    "48xlarge": (4, 8),
}
_GRAPHICS: Final[dict[str, dict[str, tuple[int | None, int]]]] = {
    "g5": _G5,
    "g6": _G5,
    "g6e": _G6E,
    "g7e": {**_G7E},
    "gr6": {"4xlarge": (0, 1), "8xlarge": (1, 1)},
}
# Families without accelerators: the sizes that have one EFA interface; every other size has none.
_CPU_WITH_EFA: Final[dict[str, tuple[str, ...]]] = {
    "c5": (),
    "m5": (),
    "t3": (),
    "c5n": ("9xlarge", "18xlarge"),
    "c6i": ("32xlarge",),
    "m6i": ("32xlarge",),
    "r6i": ("32xlarge",),
    "m7i": ("48xlarge",),
    "r7i": ("48xlarge",),
    "i3en": ("12xlarge", "24xlarge"),
}
_ACCELERATED = re.compile(r"ml\.(?:p[0-9]|g[0-9]+(?:dn|e)?\.|gr[0-9]|trn[0-9])")


def exists(name: str) -> bool:
    """Whether the service model knows the type; a Region may still not offer it."""
    return name in _KNOWN


def is_accelerated(name: str) -> bool:
    """Whether a type has GPUs or Trainium chips. Told by family, so it is right for new sizes too."""
    return _ACCELERATED.match(name) is not None


def efa_interfaces(name: str) -> int | None:
    """How many EFA interfaces a type has; None if that is not known."""
    family, _, size = name.removeprefix("ml.").partition(".")
    if large := _LARGE.get(f"{family}.{size}"):
        return large[0]
    if sizes := _GRAPHICS.get(family):
        return sizes[size][0] if size in sizes else None
    if family in _CPU_WITH_EFA:
        return int(size in _CPU_WITH_EFA[family])
    return None


def accelerators(name: str) -> int | None:
    """How many GPUs or Trainium chips a type has; None if that is not known."""
    family, _, size = name.removeprefix("ml.").partition(".")
    if large := _LARGE.get(f"{family}.{size}"):
        return large[1]
    if sizes := _GRAPHICS.get(family):
        return sizes[size][1] if size in sizes else None
    return None if is_accelerated(name) else 0


def max_pods(name: str) -> int | None:
    """How many pods a HyperPod node of this type takes (they share one network interface); None if not known."""
    family, _, size = name.removeprefix("ml.").partition(".")
    if family.startswith(("p", "trn")) or family == "g7e":
        return 49
    if family == "g4dn":
        return None  # it differs by size, and no source says how
    if family == "t3" and size in _T3_PODS:
        return _T3_PODS[size]
    return _PODS.get(size)


def addresses(name: str, *, efa: bool) -> int | None:
    """Addresses a node takes from its subnet at most: its own, one for each pod, and one for each further EFA
    interface unless those carry EFA alone. None if that is not known."""
    pods, interfaces = max_pods(name), efa_interfaces(name) if efa else 0
    if pods is None or interfaces is None:
        return None
    return pods + 1 + max(0, interfaces - 1)


_T3_PODS: Final = {"medium": 5, "large": 11}
_PODS: Final[dict[str, int]] = {
    "large": 9,
    **dict.fromkeys(("xlarge", "2xlarge"), 14),
    **dict.fromkeys(("4xlarge", "8xlarge", "9xlarge", "12xlarge"), 29),
    **dict.fromkeys(("16xlarge", "18xlarge", "24xlarge", "32xlarge", "48xlarge"), 49),
}
