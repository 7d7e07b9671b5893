"""Why a kernel was chosen: what the cost model was told, and what it made of each kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genobit.kendall.kernels.tiles import Wanted
    from genobit.kendall.matrix import Variables


@dataclass(frozen=True)
class Explanation:
    """The kernel that "auto" takes for some variables, and what each kernel would cost."""

    kernel: str
    """The one that is taken."""
    seconds: dict[str, float]
    """Kernel -> estimated seconds of all pairs on one core, those that can run here."""
    variables: tuple[int, int]
    """Rows and columns of the result."""
    observations: int
    tied: bool
    """Whether a variable has equal values."""
    missing: bool
    """Whether a value is missing."""
    levels: int
    """Most distinct values of a variable."""

    def __repr__(self) -> str:
        """Say what was found, and list the kernels from the cheapest."""
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


def explanation(operands: Sequence[Variables], wanted: Wanted, observations: int) -> Explanation:
    """Look at the first chunk of the variables of either side and ask the cost model.

    Parameters
    ----------
    operands
        Rows and, where there are others, columns.
    wanted
        What is to be computed of them, and by which kernel.
    observations
        Of a variable, present or not.
    """
    from dask.base import compute

    from genobit.kendall.kernels import registry
    from genobit.kendall.kernels.costs import LONG
    from genobit.kendall.kernels.ranks import missing_any
    from genobit.kendall.kernels.ties import ties

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
    if min(seconds.values()) > LONG:
        # As for the choice itself: what takes long is timed on this machine.
        seconds = registry.costs(observations, sizes[0], **work)
    kernel = wanted.kernel
    if kernel == "auto":
        # Planes of genotypes are tables already; ranks take what each of their tiles would.
        planes = first.layout is not None
        kernel = "table" if planes else registry.chosen_kernel(observations, sizes[0], **work)
    return Explanation(kernel, seconds, sizes, observations, tied, missing, levels)
