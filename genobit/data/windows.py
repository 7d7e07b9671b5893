"""Windows along contigs and labels of variants, for analyses of neighbouring variants."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from genobit.data import labels, model
from genobit.data.checks import first_true, is_whole
from genobit.data.contigs import UNPLACED, chromosome, contig_of_variants, starts_of_contigs

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

_MANY = 10_000
"""A window of more variants than this, and than the Dataset has, gets a warning."""


def window_ends(
    ds: xr.Dataset,
    window: int | str,
    *,
    count: bool = False,
    open_end: bool = False,
    runs: ContigRuns | None = None,
) -> NDArray[np.int64]:
    """Return the last variant in the window of each variant, on its contig.

    - ``window``: as for ``ds.genobit.ld``.
    - ``count``: a number counts the variants in a window, including the first. Otherwise it is the
      distance from the first to the last.
    - ``open_end``: leave out pairs whose distance is exactly that of the window.

    - ``runs``: the result of `contig_runs`, if it is known.

    The window of an unplaced variant holds only itself.
    """
    variable, size = parse_window(window)
    if variable is None and count:
        size -= 1
    coordinate = (
        None if variable is None else model.values(ds, variable, needed_for=f"window={window!r}")
    )
    n = ds.sizes[model.VARIANTS]
    if variable is None and size > max(n, _MANY):
        logging.getLogger("genobit").warning(
            "window=%d counts variants, and the Dataset has %d: for base pairs give window='%dbp'",
            *(window, n, window),
        )
    return last_in_window(n, runs or contig_runs(ds), coordinate, size, variable, open_end=open_end)


class ContigRuns(NamedTuple):
    """Contigs in stored order."""

    starts: NDArray[np.int64]
    """First variant of each contig (contigs,); the first is 0."""
    placed: NDArray[np.bool_]
    """False for contig 0, PLINK's code for variants without a known place (contigs,)."""

    def of_variants(self, n: int) -> NDArray[np.bool_]:
        """Return which of ``n`` variants have a place (variants,)."""
        return np.repeat(self.placed, np.diff(self.starts, append=n))


def contig_runs(ds: xr.Dataset) -> ContigRuns:
    """Return the contigs in stored order; log how many variants have no place.

    Raises ValueError if no variant has one.
    """
    starts = starts_of_contigs(ds)
    placed = np.ones(starts.size, bool)
    if model.VARIANT_CONTIG in ds.variables and ds.sizes[model.VARIANTS]:
        known = [name for name in (model.VARIANT_CONTIG, model.CONTIG_ID) if name in ds.variables]
        contig = contig_of_variants(ds[known].isel({model.VARIANTS: starts}))
        # Numbers without names count from 0, so 0 is a contig like any other.
        if contig is not None and contig.dtype.kind == "O":
            placed = np.array([chromosome(name) != UNPLACED for name in contig.tolist()])
    if not placed.any():
        raise ValueError(
            f"{model.VARIANT_CONTIG} is '0' for all {ds.sizes[model.VARIANTS]:,} variants, PLINK's "
            "code for no known place, and variants without a place have no neighbours: assign "
            f"contigs, or drop them to take all for one contig, ds.drop_vars(["
            f"'{model.VARIANT_CONTIG}', '{model.CONTIG_ID}'], errors='ignore')"
        )
    runs = ContigRuns(starts, placed)
    unplaced = int((~runs.of_variants(ds.sizes[model.VARIANTS])).sum())
    if unplaced:
        logging.getLogger("genobit").warning(
            "%s variants are on contig 0, PLINK's code for no known place: they are in no window",
            f"{unplaced:,}",
        )
    return runs


def named_window(window: int | str, unit: str = "variants") -> str:
    """Return a window with its unit; a number alone counts variants.

    Examples
    --------
    >>> named_window(100_000), named_window("500kb")
    ('100000 variants', '500kb')
    """
    return window if isinstance(window, str) else f"{int(window)} {unit}"


def pair_labels(ds: xr.Dataset) -> dict[str, NDArray[Any]]:
    """Return the columns that describe a variant in a table of pairs, each (variants,)."""
    columns: dict[str, NDArray[Any]] = {"variant": np.arange(ds.sizes[model.VARIANTS])}
    contig = contig_of_variants(ds)
    if contig is not None:
        columns[model.VARIANT_CONTIG] = contig
    for name in (model.VARIANT_POSITION, model.VARIANT_ID):
        if name in ds.variables:
            columns[name] = np.asarray(labels.as_objects(ds[name].variable, name).values)
    return columns


_UNITS: dict[str, tuple[str, float]] = {
    "bp": ("variant_position", 1.0),
    "kb": ("variant_position", 1e3),
    "mb": ("variant_position", 1e6),
    "cm": ("variant_genetic_position", 1.0),
}


def parse_window(window: int | str, name: str = "window") -> tuple[str | None, float]:
    """Return the variable that a window is measured in (None: a number of variants) and its size.

    ``name`` is the name of the argument in the error. Raises ValueError unless the window is a
    positive integer or a number with bp, kb, Mb or cM.

    Examples
    --------
    >>> parse_window("500kb")
    ('variant_position', 500000.0)
    >>> parse_window(1000), parse_window("1000 variants")
    ((None, 1000.0), (None, 1000.0))
    """
    if is_whole(window):
        return None, float(window)
    if isinstance(window, str):
        text = window.strip().replace("_", "").replace(",", "").lower()
        count = text.removesuffix(" variants")
        if count != text and count.isdecimal() and int(count) > 0:
            return None, float(count)
        for unit, (variable, factor) in _UNITS.items():
            if text.endswith(unit):
                size = _number(text[: -len(unit)])
                if size is not None:
                    return variable, size * factor
    raise ValueError(
        f"{name}={window!r} is neither a positive number of variants (1000 is 1000 variants, not "
        "base pairs) nor a distance with its unit ('500kb', '1Mb', '250000bp', '0.5cM')"
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) and number > 0 else None


def last_in_window(
    n: int,
    runs: ContigRuns,
    coordinate: NDArray[Any] | None,
    size: float,
    name: str | None,
    *,
    open_end: bool = False,
) -> NDArray[np.int64]:
    """Return the last variant in the window of each: on its contig, at most ``size`` after it.

    - ``coordinate``: position of each variant in the unit of ``size``, or None for its number.
    - ``name``: variable that ``coordinate`` comes from, for messages.
    - ``open_end``: leave out pairs at exactly ``size`` of a ``coordinate``.

    Raises ValueError if a contig's variants are not sorted by position, or if a position is not
    known.
    """
    stops = [*runs.starts[1:].tolist(), n]
    side: Literal["left", "right"] = "left" if open_end else "right"
    last = np.arange(n)
    for start, stop, placed in zip(runs.starts.tolist(), stops, runs.placed, strict=True):
        if not placed:
            continue
        if coordinate is None:
            reach = np.arange(start, stop) + int(min(size, n)) + 1
        else:
            here = coordinate[start:stop]
            _check_positions(here, start, str(name))
            reach = start + np.searchsorted(here, here + size, side=side)
        last[start:stop] = np.minimum(reach, stop) - 1
    return last


def _check_positions(coordinate: NDArray[Any], start: int, name: str) -> None:
    """Refuse positions of a contig that are unsorted or placeholders for unknown ones."""
    if coordinate.dtype.kind not in "iuf":
        raise TypeError(
            f"{name} has dtype {coordinate.dtype}, a window needs numbers: convert it, for example "
            f"with ds.assign({name}=ds[{name!r}].astype('int64'))"
        )
    # Compare instead of subtracting: differences of unsigned positions are never negative.
    wrong = ~np.isfinite(coordinate)
    wrong[1:] |= coordinate[1:] < coordinate[:-1]
    if (k := first_true(wrong)) >= 0:
        raise ValueError(
            f"{name} decreases or is not a number at variants={start + k}: a window needs sorted "
            "positions; sort the genotypes before packing, for example with "
            "ds.sortby(['variant_contig', 'variant_position'])"
        )
    if not coordinate.size:
        return
    unknown = ""
    if coordinate[0] < 0:
        unknown = "negative positions are unknown ones"
    elif name == model.VARIANT_POSITION and coordinate.size > 1 and not coordinate[-1]:
        unknown = f"so are all {coordinate.size} of its contig: 0 stands for an unknown position"
    if unknown:
        raise ValueError(
            f"{name} is {coordinate[0]} at variants={start}; {unknown}. Give a window as a number "
            f"of variants, or select variants with known positions"
        )
