"""Explain the choice of a kernel: the inputs of the cost model and its estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genobit.kendall.kernels.tiles import TileSpec
    from genobit.kendall.matrix import Variables


@dataclass(frozen=True)
class Explanation:
    """The kernel that "auto" chooses for some variables, with the estimated cost of each kernel."""

    kernel: str
    """Name of the chosen kernel."""
    seconds: dict[str, float]
    """Estimated seconds for all pairs on one core, for each kernel that can run here."""
    variables: tuple[int, int]
    """Number of rows and columns of the result."""
    observations: int
    tied: bool
    """Whether any variable has equal values."""
    missing: bool
    """Whether any value is missing."""
    levels: int
    """Largest number of distinct values of a variable."""

    def __repr__(self) -> str:
        """Describe the data and list the kernels, cheapest first."""
        rows, columns = self.variables
        found = [
            f"{self.observations:,} observations",
            "ties" if self.tied else "no ties",
            "missing values" if self.missing else "nothing missing",
            f"up to {self.levels:,} levels",
        ]
        lines = [f"kernel {self.kernel!r} for {rows:,} x {columns:,} pairs: {', '.join(found)}"]
        width = max(map(len, self.seconds), default=0)
        for name, seconds in sorted(self.seconds.items(), key=lambda item: item[1]):
            mark = "  <- taken" if name == self.kernel else ""
            lines.append(f"  {name:<{width}}  {_duration(seconds)}{mark}")
        return "\n".join([*lines, "  estimates of one core; the first chunk of variables was seen"])


def _duration(seconds: float) -> str:
    for unit, size in (("h ", 3600.0), ("min", 60.0), ("s ", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:7.3g} {unit}"
    return f"{seconds * 1e6:7.3g} us"


def explanation(operands: Sequence[Variables], wanted: TileSpec, observations: int) -> Explanation:
    """Inspect the first chunk of each operand and estimate the cost of each kernel.

    ``operands`` holds the rows and, if they differ, the columns. ``observations`` is the number of
    observations per variable, missing ones included.
    """
    from dask.base import compute

    from genobit.kendall.kernels import registry
    from genobit.kendall.kernels.ranks import missing_any, ties

    first, last = operands[0], operands[-1]
    sizes = first.arrays[0].shape[0], last.arrays[0].shape[0]
    if first.layout is not None:
        tied, levels = True, 3
        missing = any(len(side.arrays) > len(first.layout.planes) for side in operands)
    else:
        chunks = compute(*(side.arrays[0].blocks[0] for side in operands))
        found = [ties(ranks) for ranks in chunks]
        observations = chunks[0].shape[1]
        tied = any(each.pairs.any() for each in found)
        missing = any(missing_any(ranks) for ranks in chunks)
        levels = max(int(each.levels.max(initial=0)) for each in found)
    others = None if len(operands) == 1 else sizes[1]
    work: dict[str, Any] = {"others": others, "tied": tied, "missing": missing, "levels": levels}
    seconds = registry.costs(observations, sizes[0], **work, fitted=False)
    if min(seconds.values()) > registry.LONG:
        # Time the kernels on this machine for a long computation, as the choice itself does.
        seconds = registry.costs(observations, sizes[0], **work)
    kernel = wanted.kernel
    if kernel == "auto":
        # Bit planes are always counted as contingency tables; ranks use the kernel of their tiles.
        planes = first.layout is not None
        kernel = "table" if planes else registry.chosen_kernel(observations, sizes[0], **work)
    return Explanation(kernel, seconds, sizes, observations, tied, missing, levels)
