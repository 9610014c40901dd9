"""How zones are called in a Region: us-west-2 has us-west-2a, …, and usw2-az1, …"""

from __future__ import annotations

from typing import Final

_SHORT: Final = {
    "north": "n",
    "northeast": "ne",
    "northwest": "nw",
    "south": "s",
    "southeast": "se",
    "southwest": "sw",
    "east": "e",
    "west": "w",
    "central": "c",
    "gov": "g",
}


def zone_id_prefix(region: str) -> str:
    """usw2 for us-west-2."""
    first, *middle, number = region.split("-")
    return first + "".join(_SHORT.get(word, word) for word in middle) + number


def holds(region: str, zone: str) -> bool:
    """Whether a zone id or a zone name can be one of the Region."""
    if "-az" in zone:
        return zone.partition("-az")[0] == zone_id_prefix(region)
    return zone[:-1] == region
