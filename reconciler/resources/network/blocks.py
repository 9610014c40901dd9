"""The one place that picks addresses for a subnet. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, collapse_addresses

from schemas.errors import StopUntilChange


class NoFreeBlock(StopUntilChange):
    """The VPC has no aligned hole of the size asked for."""


def free_block(vpc_blocks: Sequence[str], taken: Iterable[str], prefix: int) -> str:
    """The first aligned block of `prefix` bits inside the VPC's CIDR blocks, in their order, that no subnet touches.

    Raises NoFreeBlock with the way out.
    """
    size = 1 << (32 - prefix)
    used = sorted(collapse_addresses(IPv4Network(cidr) for cidr in taken))
    for block in vpc_blocks:
        space = IPv4Network(block)
        if space.prefixlen > prefix:
            continue
        start = _first_hole(space, used, size)
        if start is not None:
            return f"{IPv4Address(start)}/{prefix}"
    raise NoFreeBlock(
        f"no free /{prefix} is left in {', '.join(vpc_blocks) or 'the VPC'}: "
        "associate another CIDR block with the VPC, or remove a subnet that nothing uses",
        reason="NoFreeBlock",
    )


def _first_hole(space: IPv4Network, used: Sequence[IPv4Network], size: int) -> int | None:
    """The first free multiple of `size` in `space`; `used` is sorted and disjoint."""
    start = int(space.network_address)
    end = int(space.broadcast_address)
    for block in used:
        first, last = int(block.network_address), int(block.broadcast_address)
        if last < start:
            continue
        if first >= start + size:
            break
        start = -(-(last + 1) // size) * size
    return start if start + size - 1 <= end else None
