"""Picking addresses for subnets."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.resources.network.blocks import NoFreeBlock, free_block

CASES: list[tuple[str, list[str], list[str], int, str]] = [
    ("an empty VPC starts at its first address", ["10.0.0.0/16"], [], 24, "10.0.0.0/24"),
    ("the first hole wins, not the end", ["10.0.0.0/16"], ["10.0.0.0/24", "10.0.2.0/24"], 24, "10.0.1.0/24"),
    ("a /20 is aligned to /20", ["10.0.0.0/16"], ["10.0.0.0/24"], 20, "10.0.16.0/20"),
    ("a small subnet in the middle spoils the whole /20", ["10.0.0.0/16"], ["10.0.17.128/28"], 20, "10.0.0.0/20"),
    (
        "10.10 is compared as a number, not as text",
        ["10.0.0.0/16"],
        ["10.0.2.0/24", "10.0.10.0/24", "10.0.0.0/24", "10.0.1.0/24"],
        24,
        "10.0.3.0/24",
    ),
    ("a full first block leads to the second", ["10.0.0.0/24", "10.1.0.0/16"], ["10.0.0.0/24"], 24, "10.1.0.0/24"),
    ("a block smaller than asked for is passed over", ["10.0.0.0/24", "10.1.0.0/16"], [], 20, "10.1.0.0/20"),
    ("exactly the VPC", ["10.0.0.0/24"], [], 24, "10.0.0.0/24"),
    ("subnets of other blocks do not matter", ["10.1.0.0/16"], ["10.0.0.0/16"], 20, "10.1.0.0/20"),
    ("overlapping entries are taken once", ["10.0.0.0/16"], ["10.0.0.0/20", "10.0.4.0/24"], 20, "10.0.16.0/20"),
]


@pytest.mark.parametrize(("why", "blocks", "taken", "prefix", "expected"), CASES, ids=[case[0] for case in CASES])
def test_the_first_free_aligned_block(
    why: str, blocks: list[str], taken: list[str], prefix: int, expected: str
) -> None:
    assert free_block(blocks, taken, prefix) == expected, why


@pytest.mark.parametrize(
    ("why", "blocks", "taken", "prefix"),
    [
        ("full", ["10.0.0.0/24"], ["10.0.0.0/25", "10.0.0.128/25"], 28),
        ("free addresses, but no aligned hole", ["10.0.0.0/24"], ["10.0.0.64/26", "10.0.0.128/26"], 25),
        ("the VPC is smaller than the subnet", ["10.0.0.0/24"], [], 20),
        ("no VPC block at all", [], [], 24),
    ],
)
def test_no_free_block_says_the_way_out(why: str, blocks: list[str], taken: list[str], prefix: int) -> None:
    with pytest.raises(NoFreeBlock) as caught:
        free_block(blocks, taken, prefix)
    assert caught.value.reason == "NoFreeBlock", why
    assert "associate another CIDR block" in caught.value.message


_taken = st.lists(
    st.tuples(st.integers(0, 2**12 - 1), st.integers(22, 28)).map(
        lambda pair: str(
            IPv4Network((int(IPv4Network("10.0.0.0/20").network_address) + pair[0], pair[1]), strict=False)
        )
    ),
    max_size=12,
)


@given(taken=_taken, prefix=st.integers(21, 28))
def test_the_block_is_free_aligned_inside_and_the_first(taken: list[str], prefix: int) -> None:
    """Against the slow way: try every aligned block in order."""
    vpc = IPv4Network("10.0.0.0/20")
    used = [IPv4Network(cidr) for cidr in taken]
    slow = next((b for b in vpc.subnets(new_prefix=prefix) if not any(b.overlaps(u) for u in used)), None)
    try:
        found: str | None = free_block([str(vpc)], taken, prefix)
    except NoFreeBlock:
        found = None
    assert found == (str(slow) if slow else None)


@given(count=st.integers(1, 16))
def test_blocks_given_one_after_another_never_overlap(count: int) -> None:
    given_away: list[str] = []
    for _ in range(count):
        given_away.append(free_block(["10.0.0.0/16"], given_away, 20))
    networks = [IPv4Network(cidr) for cidr in given_away]
    assert not any(a.overlaps(b) for i, a in enumerate(networks) for b in networks[:i])
