"""Figures of peers that were taken on another core: as they are, and scaled to this one."""

from __future__ import annotations

import statistics
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from . import limits
from .measure import Row, rates, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

GIGA = 1e9
CALLS = 200
"""Of a loop in registers: about as long as a search."""
PEER_LIMIT = 1240.0
"""Gbit/s of and + popcount + add on the core that the peers were measured on: Zen 4."""


class Peer(NamedTuple):
    """What a program took there, or on a core of another limit."""

    name: str
    value: float
    unit: str
    limit: float = PEER_LIMIT


def popcount_limit() -> float:
    """Gbit/s of and + popcount + add on this core, in registers."""
    calls = {name: c for name, c in limits.work().items() if name.endswith("and")}
    found = rates(calls, 5)
    return max(statistics.median(found[name]) for name in ("scalar and", "vector and")) / GIGA


def registers_at_once() -> float:
    """What two threads compute in registers, of what one does: less than 2 where cores share."""
    calls = [c for name, c in limits.work().items() if name.endswith("and")]
    call = max(calls, key=lambda c: c[1] / seconds(c[0]))[0]

    def repeated() -> None:
        for _ in range(CALLS):
            call()

    alone = seconds(repeated)
    with ThreadPoolExecutor(2) as pool:
        return 2 * alone / seconds(lambda: list(pool.map(lambda _: repeated(), range(2))))


def published(
    table: str, what: str, ours: float, limit: float, peer: Peer, wanted: float | None
) -> Iterator[Row]:
    """A peer's figure of another core, as it is and scaled by what both cores' registers do.

    The scale is that of popcounts, which flatters a core without a vector popcount: a peer built
    for AVX2 would lose less on it. So both stand here.
    """
    there = f"{peer.name}: {peer.value:g} {peer.unit} on a core of {peer.limit:,.0f} Gbit/s"
    scaled = peer.value * peer.limit / limit
    yield Row(table, what, ours, peer.unit, f"{there}, not scaled", peer.value / ours)
    at = f"{there}; scaled to the {limit:.0f} of this one ({scaled:.3g} {peer.unit})"
    yield Row(table, what, ours, peer.unit, at, scaled / ours, wanted)
