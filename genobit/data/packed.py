"""Select from packed Datasets by position, and split Datasets into planes for analyses.

This file handles labels and layout; `genobit.engine` moves the bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from genobit.data import labels, layouts, model
from genobit.data.contigs import starts_of_contigs
from genobit.data.packer import pack, plane
from genobit.engine.bits.layout import CALLED, PREFIX, Layout, require_sound
from genobit.engine.options import get_options

if TYPE_CHECKING:
    import dask.array as da

    from genobit.data.selection_by_label import Selection
    from genobit.engine.schedule.pair_sums import SampleChunks


def isel(ds: xr.Dataset, variants: Selection | None, samples: Selection | None) -> xr.Dataset:
    """Select inside the planes of a packed Dataset too; see ``ds.genobit.sel``."""
    from genobit.data import selection_by_label as by_label

    layout = layouts.layout_of(ds)
    for dim, selection in ((model.VARIANTS, variants), (model.SAMPLES, samples)):
        if selection is None:
            continue
        positions = by_label.positions(ds, selection, dim)
        if layout is not None and dim == layout.along:
            ds, layout = _isel_bits(ds, layout, positions)
        else:
            ds = ds.isel({dim: _as_slice(positions)})
    return ds


def by_variants(
    ds: xr.Dataset,
    *,
    phased: bool | None,
    rows_of: Callable[[xr.Dataset, Layout], int] | None = None,
    chunk: int | None = None,
    haploid: bool = False,
) -> tuple[xr.Dataset, Layout, dict[str, da.Array]]:
    """Return the packed Dataset, its layout and its planes by name with rows along variants.

    Genotypes are packed first.

    - ``phased``: haplotypes (True), dosages (False), or the kind of the planes (None).
    - ``rows_of(ds, layout)``: rows per chunk of planes in memory; default is ``chunk_rows``.
    - ``chunk`` and ``haploid``: how genotypes are packed; see `pack`.

    Raises ValueError if the planes have rows along samples, or hold dosages where haplotypes are
    requested.
    """
    layout = layouts.layout_of(ds)
    if layout is None:
        ds = pack(
            ds, rows="variants", phased=bool(phased), multiallelic="refuse", missing="keep",
            chunk=chunk, haploid=haploid,
        )  # fmt: skip
        layout = cast("Layout", layouts.layout_of(ds))
        return ds, layout, _made(ds, layout)
    if layout.rows != "variants":
        raise ValueError(
            f"the planes have rows={layout.rows!r}, this analysis needs rows='variants': pack the "
            "genotypes with ds.genobit.pack(rows='variants')"
        )
    if phased and layout.kind == "dosage":
        raise ValueError(
            "phased=True needs haplotypes and the planes hold dosages: pack the genotypes with "
            "ds.genobit.pack(phased=True)"
        )
    rows = None if rows_of is None else rows_of(ds, layout)
    planes = _planes(ds, layout, rows)
    if phased is False and layout.kind == "haplotype":
        return ds, *_dosages(planes, layout)
    return ds, layout, planes


def by_samples(
    ds: xr.Dataset,
    *,
    variants: NDArray[np.bool_] | None = None,
    contigs: bool = False,
    tiled: bool = True,
) -> tuple[xr.Dataset, Layout, SampleChunks]:
    """Return the packed Dataset of the variants, its layout, and its planes by samples.

    Genotypes are packed first. Planes by variants are transposed. Haplotypes are added up to
    dosages.

    - ``variants``: mask of the variants to use (variants,); None for all.
    - ``contigs``: cut chunks at the ends of contigs.
    - ``tiled``: cut samples into tiles, for sums over pairs of samples.
    """
    from genobit.engine.schedule import by_samples as turn

    # Pack before selecting: the rows of a .bed file can only be unpacked directly without a
    # selection.
    ready = in_chunks_of_samples(ds)
    made, ds = ready is not ds, ready
    if variants is not None:
        ds = isel(ds, variants, None)
    layout = cast("Layout", layouts.layout_of(ds))
    cuts = None
    if contigs:
        model.values(ds, model.VARIANT_CONTIG, needed_for="splitting by contig")
        cuts = starts_of_contigs(ds)
    if layout.rows == "samples":
        named = _planes(ds, layout)
        if cuts is None:
            return ds, layout, turn.from_samples(list(named.values()), layout.bits, tiled=tiled)
        samples = ds.sizes[model.SAMPLES]
        planes = [turn.to_variants(plane, layout.bits) for plane in named.values()]
    else:
        # Planes in memory have no chunks of their own: larger ones are fewer tasks.
        chunk = turn.variant_chunk(ds.sizes[model.SAMPLES])
        ds, dosages, named = (
            (ds, layout, _made(ds, layout))
            if made
            else by_variants(ds, phased=False, rows_of=lambda *_: chunk)
        )
        samples, planes = dosages.bits, list(named.values())
    return ds, layout, turn.from_variants(planes, samples, cuts, tiled=tiled)


def rows(ds: xr.Dataset) -> list[da.Array]:
    """Return the planes of a Dataset in its own orientation; genotypes are packed first."""
    layout = layouts.layout_of(ds)
    if layout is None:
        return list(by_variants(ds, phased=None)[2].values())
    return list(_planes(ds, layout).values())


def in_chunks_of_samples(ds: xr.Dataset) -> xr.Dataset:
    """Pack genotypes in the chunks that sums over variants take; keep a packed Dataset."""
    from genobit.engine.schedule.by_samples import variant_chunk

    if layouts.layout_of(ds) is not None:
        return ds
    return pack(
        ds,
        rows="variants",
        phased=False,
        multiallelic="refuse",
        missing="keep",
        chunk=variant_chunk(model.require_genotypes(ds).sizes[model.SAMPLES]),
    )


def other_by_variants(
    other: object, ds: xr.Dataset, layout: Layout
) -> tuple[xr.Dataset, dict[str, da.Array]]:
    """Return ``other`` packed as `by_variants` packed ``ds``, and its planes.

    Ids and regions as text select variants of ``ds``. Raises TypeError for anything else than names
    and a Dataset, and ValueError if it has other samples.
    """
    from genobit.data.selection_by_label import is_names

    if is_names(other):
        other = isel(ds, cast("Selection", other), None)
    if not isinstance(other, xr.Dataset):
        raise TypeError(
            "other= takes a Dataset of genotypes or planes, or ids or regions of this Dataset, not "
            f"{type(other).__name__}"
        )
    right, right_layout, planes = by_variants(
        labels.plain(other), phased=layout.kind == "haplotype"
    )
    _check_same_samples(ds, layout, right, right_layout)
    return right, planes


def _check_same_samples(
    left: xr.Dataset, left_layout: Layout, right: xr.Dataset, right_layout: Layout
) -> None:
    """Raise ValueError if two packed Datasets differ in layout or in sample names."""
    remedy = "select the same samples in both with .genobit.isel(samples=...)"
    if left_layout != right_layout:
        there, here = (
            f"{of.kind}s of {of.bits // of.ploidy:,} samples" for of in (right_layout, left_layout)
        )
        raise ValueError(f"other= has {there}, this Dataset {here}: {remedy}")
    ours, theirs = (labels.ids(ds, model.SAMPLES) for ds in (left, right))
    if ours is not None and theirs is not None:
        labels.require_same(ours, theirs, model.SAMPLE_ID, remedy)


def plane_names(ds: xr.Dataset, layout: Layout) -> list[str]:
    """Return the names of the planes of a packed Dataset."""
    return [*layout.planes, *([CALLED] if PREFIX + CALLED in ds else [])]


def _dosages(planes: dict[str, da.Array], layout: Layout) -> tuple[Layout, dict[str, da.Array]]:
    from genobit.engine.schedule.planes import as_dosages

    model.require_diploid("the packed Dataset", layout.ploidy)
    samples = layout.bits // 2
    return Layout("dosage", layout.rows, samples, 1), as_dosages(planes, samples)


def _made(ds: xr.Dataset, layout: Layout) -> dict[str, da.Array]:
    """Return planes that kernels have just made by name: they need no check."""
    return {name: ds[PREFIX + name].data for name in plane_names(ds, layout)}


def _planes(ds: xr.Dataset, layout: Layout, rows: int | None = None) -> dict[str, da.Array]:
    """Return the checked planes by name; lazy planes are checked when they are computed.

    Planes in memory are split into chunks of ``rows`` rows, by default `chunk_rows`.
    """
    import dask.array as da

    from genobit.data.guards.planes import guarded_plane
    from genobit.engine.schedule.planes import sound
    from genobit.engine.schedule.tiles import in_chunks

    planes = {}
    for name in plane_names(ds, layout):
        data = ds[PREFIX + name].data
        if isinstance(data, da.Array):
            planes[name] = sound(guarded_plane(data), layout, name)
        else:
            words = np.asarray(data)
            require_sound(words, layout, PREFIX + name)
            planes[name] = in_chunks(words, rows or get_options().edge)
    return planes


def _as_slice(positions: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Return a slice for consecutive positions: a view, without a list of positions in tasks."""
    if positions.size and (np.diff(positions) == 1).all():
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions


def _isel_bits(
    ds: xr.Dataset, layout: Layout, positions: NDArray[np.int64]
) -> tuple[xr.Dataset, Layout]:
    from genobit.engine.schedule.planes import select_bits

    if not positions.size:
        msg = f"{layout.along}= selects none of the {ds.sizes[layout.along]} {layout.along}"
        raise IndexError(msg)
    bits = (layout.ploidy * positions[:, None] + np.arange(layout.ploidy)).reshape(-1)
    planes = _planes(ds, layout)
    chosen = Layout(layout.kind, layout.rows, bits.size, layout.ploidy)
    rest = ds.drop_vars([*(PREFIX + name for name in planes), model.BIT[layout.along], model.WORD])
    # Without labels such as sample_id, only the planes have that dimension.
    rest = rest.isel({layout.along: positions}, missing_dims="ignore")
    selected = {
        PREFIX + name: plane(select_bits(words, bits), layout) for name, words in planes.items()
    }
    out = rest.assign(selected).assign_attrs(chosen.to_attributes())
    return layouts.mark_bits(out, chosen), chosen
