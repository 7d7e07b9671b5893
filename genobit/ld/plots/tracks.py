"""LD clumps and haplotype blocks along the genome."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from genobit.visual.genome import places
from genobit.visual.picture.plain import Places
from genobit.visual.picture.spec import Axis, Boxes, Panel, Picture, Points
from genobit.visual.style import number
from genobit.visual.tokens import LIGHT, OTHER_GROUP

#: Smallest p-value drawn: below, p is 0 in float64.
_LEAST = 1e-320


def clump_plot(clumps: xr.Dataset) -> Picture:
    """Draw the p-values of clumped variants along the genome, with index variants on top.

    Examples
    --------
    >>> import xarray as xr
    >>> clumps = xr.Dataset(
    ...     {
    ...         "index_variant": ("clumps", [3]),
    ...         "p": ("clumps", [1e-8]),
    ...         "member": ("members", [4, 5]),
    ...         "clump": ("members", [0, 0]),
    ...         "member_p": ("members", [1e-4, 1e-3]),
    ...     }
    ... )
    >>> clump_plot(clumps).title
    '1 clump, 2 other variants in clumps'
    """
    index, member = clumps["index_variant"].values, clumps["member"].values
    found = _places(clumps, ("clumps", "clump_", index), ("members", "member_", member))
    n = len(index)
    leads, others = _strength(clumps["p"]), _strength(clumps["member_p"])
    in_clump = np.bincount(clumps["clump"].values, minlength=n)
    hovers = [
        {"variant": found.names[part], "−log₁₀ P": strength}
        for part, strength in ((slice(n), leads), (slice(n, None), others))
    ]
    marks = (
        Points(found.x[n:], others, 4.0, colour=LIGHT.no_value, label="Members", hover=hovers[1]),
        Points(
            found.x[:n],
            leads,
            6.0,
            colour=LIGHT.accent,
            label="Index variants",
            hover=hovers[0] | {"other variants in its clump": in_clump},
        ),
    )
    title = f"{number(n, 'clump')}, {number(len(member), 'other variant')} in clumps"
    panel = Panel(found.axis(), Axis("−log₁₀ P", (0.0, None)), marks, zoom="x")
    return Picture(panel, title)


def _strength(p: xr.DataArray) -> np.ndarray:
    """Return -log10 of the p-values, which `ld_clump(log10=True)` returns as they are."""
    values = p.values.astype("f8")
    if str(p.attrs.get("long_name")).startswith("-log10"):
        return values
    return -np.log10(np.maximum(values, _LEAST))


def _places(clumps: xr.Dataset, *sides: tuple[str, str, np.ndarray]) -> Places:
    """Return the places of index variants and then members on one axis."""
    wanted = ("variant_position", "variant_contig", "variant_id")
    index = np.concatenate([number for _, _, number in sides])
    labels = {}
    for name in wanted:
        both = [f"{prefix}{name}" for _, prefix, _ in sides]
        if all(label in clumps.variables for label in both):
            labels[name] = ("variants", np.concatenate([clumps[label].values for label in both]))
    members = xr.Dataset({"index": ("variants", index)}, labels, clumps.attrs)
    return places(members, number=index)


def block_track(blocks: xr.Dataset) -> Picture:
    """Draw haplotype blocks along the genome; the height is the number of variants.

    Examples
    --------
    >>> import xarray as xr
    >>> blocks = xr.Dataset({"first_position": ("blocks", [10]), "n": ("blocks", [2])})
    >>> block_track(blocks.assign(last_position=("blocks", [30]))).title
    '1 block of 2 variants'
    """
    count = blocks.sizes["blocks"]
    ends = np.concatenate([blocks["first_position"].values, blocks["last_position"].values])
    labels: dict[str, Any] = {"variant_position": ("variants", ends)}
    if "contig" in blocks.variables:
        labels["variant_contig"] = ("variants", np.tile(blocks["contig"].values, 2))
    found = places(xr.Dataset({"end": ("variants", np.arange(2 * count))}, labels))
    n = blocks["n"].values
    boxes = Boxes(
        found.x[:count],
        np.zeros(count),
        found.x[count:],
        n.astype("f8"),
        colour=np.where(np.arange(count) % 2, OTHER_GROUP, LIGHT.slate),
        hover={"from": found.names[:count], "to": found.names[count:], "variants": n},
    )
    y = Axis("Variants in the block", (0.0, 1.1 * max(int(n.max(initial=1)), 1)), whole=True)
    title = f"{number(count, 'block')} of {number(int(n.sum()), 'variant')}"
    return Picture(Panel(found.axis(), y, (boxes,), size=(640, 180), zoom="x"), title)
