"""What a machine of a type has: processors, memory, accelerators, EFA interfaces, addresses it takes."""

from __future__ import annotations

from dataclasses import dataclass

_BIG = {  # EFA interfaces, accelerators, vCPU, GiB
    "p4d.24xlarge": (4, 8, 96, 1152),
    "p4de.24xlarge": (4, 8, 96, 1152),
    "p5.48xlarge": (32, 8, 192, 2048),
    "p5.4xlarge": (1, 1, 16, 256),
    "p5e.48xlarge": (32, 8, 192, 2048),
    "p5en.48xlarge": (16, 8, 192, 2048),
    "p6-b200.48xlarge": (8, 8, 192, 2048),
    "p6-b300.48xlarge": (16, 8, 192, 4096),
    "p6e-gb200.36xlarge": (0, 4, 144, 960),
    "trn1.32xlarge": (8, 16, 128, 512),
    "trn1n.32xlarge": (16, 16, 128, 512),
    "trn2.3xlarge": (1, 1, 12, 128),
    "trn2.48xlarge": (16, 16, 192, 2048),
}
_GRAPHICS = {"12xlarge": 4, "24xlarge": 4, "48xlarge": 8}
_WITH_EFA = {"c5n.9xlarge", "c5n.18xlarge", "c6i.32xlarge", "m6i.32xlarge", "r6i.32xlarge", "m7i.48xlarge"}
_PER_CORE = {"c": 2, "m": 4, "r": 8, "i": 8, "t": 4, "g": 4}
_SMALL = {"medium": 2, "large": 2, "xlarge": 4}


@dataclass(frozen=True, kw_only=True)
class Machine:
    efa: int
    accelerators: int
    vcpu: int
    gib: int
    neuron: bool
    pods: int

    @property
    def addresses(self) -> int:
        """Addresses of its subnet that one machine takes on EKS."""
        return self.pods + 1 + max(self.efa - 1, 0)

    @property
    def accelerated(self) -> bool:
        return self.accelerators > 0


def machine(instance_type: str) -> Machine:
    """The machine behind `ml.<family>.<size>`."""
    name = instance_type.removeprefix("ml.")
    family, _, size = name.partition(".")
    neuron = family.startswith("trn")
    if name in _BIG:
        efa, accelerators, vcpu, gib = _BIG[name]
        return Machine(efa=efa, accelerators=accelerators, vcpu=vcpu, gib=gib, neuron=neuron, pods=49)
    vcpu = _SMALL.get(size) or 4 * int(size.removesuffix("xlarge") or 1)
    graphics = _GRAPHICS.get(size, 1) if family.startswith("g") else 0
    return Machine(
        efa=1 if name in _WITH_EFA or (graphics and vcpu >= 32) else 0,
        accelerators=graphics,
        vcpu=vcpu,
        gib=vcpu * _PER_CORE.get(family[:1], 4),
        neuron=neuron,
        pods=_pods(name, size),
    )


def _pods(name: str, size: str) -> int:
    if name == "t3.large":
        return 11
    if size in ("medium", "large"):
        return 5 if size == "medium" else 9
    if size in ("xlarge", "2xlarge"):
        return 14
    return 29 if int(size.removesuffix("xlarge")) < 16 else 49
