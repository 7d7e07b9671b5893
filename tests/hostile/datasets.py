"""Datasets that no analysis expects, each a change to one that all of them take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import xarray as xr

if TYPE_CHECKING:
    from collections.abc import Callable

VARIANTS, SAMPLES = 70, 9


def cohort(variants: int = VARIANTS, samples: int = SAMPLES) -> xr.Dataset:
    """Random calls with some missing, and all the labels that analyses ask for."""
    random = np.random.default_rng(1)
    calls = random.integers(0, 2, (variants, samples, 2)).astype(np.int8)
    calls[random.random(calls.shape[:2]) < 0.05] = -1
    alleles = np.array([["A", "G"]] * variants, dtype=object).reshape(variants, 2)
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), da.from_array(calls, chunks=32)),
            "variant_contig": ("variants", np.arange(variants) * 2 // max(variants, 1)),
            "variant_position": ("variants", 1000 * np.arange(variants) + 1),
            "variant_genetic_position": ("variants", np.arange(variants) / 100),
            "variant_id": ("variants", np.array([f"rs{k}" for k in range(variants)], object)),
            "variant_allele": (("variants", "alleles"), alleles),
            "contig_id": ("contigs", np.array(["1", "2"], object)),
            "sample_id": ("samples", np.array([f"s{k}" for k in range(samples)], object)),
            "sample_case": ("samples", np.arange(samples) % 2),
        }
    )


def _calls(change: Callable[[np.ndarray], Any]) -> Callable[[xr.Dataset], xr.Dataset]:
    def changed(ds: xr.Dataset) -> xr.Dataset:
        calls = ds["call_genotype"].values.copy()
        found = change(calls)
        calls = calls if found is None else found
        return ds.assign(call_genotype=(("variants", "samples", "ploidy"), calls))

    return changed


def _labels(**changes: Callable[[np.ndarray], Any]) -> Callable[[xr.Dataset], xr.Dataset]:
    def changed(ds: xr.Dataset) -> xr.Dataset:
        return ds.assign(
            {name: (ds[name].dims, change(ds[name].values)) for name, change in changes.items()}
        )

    return changed


def _set(value: Any, *place: Any) -> Callable[[np.ndarray], None]:
    def change(calls: np.ndarray) -> None:
        calls[place or ...] = value

    return change


def _without(*names: str) -> Callable[[xr.Dataset], xr.Dataset]:
    return lambda ds: ds.drop_vars(list(names))


def _unknown_sizes(ds: xr.Dataset) -> xr.Dataset:
    calls = ds["call_genotype"].data
    kept = calls[da.from_array(np.arange(VARIANTS) % 2 == 0, chunks=32)]
    return xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), kept)})


def _failing(ds: xr.Dataset) -> xr.Dataset:
    def fail(block: np.ndarray) -> np.ndarray:
        raise OSError("the disk is gone")

    calls = ds["call_genotype"].data.map_blocks(fail, dtype=np.int8, meta=np.empty((0, 0, 0), "i1"))
    return ds.assign(call_genotype=(("variants", "samples", "ploidy"), calls))


def _short_blocks(ds: xr.Dataset) -> xr.Dataset:
    """Chunks that say they are longer than what comes."""
    calls = ds["call_genotype"].data
    lying = calls.map_blocks(lambda block: block[:-1], dtype=np.int8, chunks=calls.chunks)
    return ds.assign(call_genotype=(("variants", "samples", "ploidy"), lying))


HOSTILE: dict[str, Callable[[xr.Dataset], xr.Dataset]] = {
    "no variants": lambda ds: ds.isel(variants=slice(0)),
    "no samples": lambda ds: ds.isel(samples=slice(0)),
    "no ploidy": lambda ds: ds.isel(ploidy=slice(0)),
    "one variant": lambda ds: ds.isel(variants=[0]),
    "one sample": lambda ds: ds.isel(samples=[0]),
    "one of each": lambda ds: ds.isel(variants=[0], samples=[0]),
    "all missing": _calls(_set(-1)),
    "a sample all missing": _calls(_set(-1, slice(None), 2)),
    "a variant all missing": _calls(_set(-1, 3)),
    "all monomorphic": _calls(_set(0)),
    "all heterozygous": _calls(lambda calls: np.broadcast_to(np.int8([0, 1]), calls.shape).copy()),
    "half calls": _calls(_set(-1, 4, 2, 1)),
    "haploid calls": _calls(_set(-2, 5, slice(None), 1)),
    "haploid Dataset": lambda ds: ds.isel(ploidy=[0]),
    "mixed ploidy": _calls(_set(-2, slice(None, None, 2), 1, 1)),
    "tetraploid": lambda ds: xr.concat([ds["call_genotype"]] * 2, "ploidy").pipe(
        lambda calls: ds.drop_vars("call_genotype").assign(call_genotype=calls)
    ),
    "allele past the list": _calls(_set(2, 7, 3, 0)),
    "allele 127": _calls(_set(127, 7, 3, 0)),
    "allele -3": _calls(_set(-3, 7, 3, 0)),
    "allele -128": _calls(_set(-128, 7, 3, 0)),
    "allele 1000 in int16": _calls(lambda calls: calls.astype(np.int16) + 500 * (calls > 0)),
    "uint64 past int64": _calls(lambda calls: calls.astype(np.int64).astype(np.uint64)),
    "three alleles": lambda ds: ds.assign(
        variant_allele=(
            ("variants", "alleles"),
            np.array([["A", "G", "T" if k == 6 else ""] for k in range(VARIANTS)], object),
        )
    ),
    "float dosages": _calls(lambda calls: calls.astype(np.float32)),
    "NaN": _calls(lambda calls: np.where(calls < 0, np.nan, calls)),
    "complex": _calls(lambda calls: calls.astype(complex)),
    "bool": _calls(lambda calls: calls > 0),
    "object calls": _calls(lambda calls: calls.astype(object)),
    "text calls": _calls(lambda calls: calls.astype(str)),
    "times": _calls(lambda calls: calls.astype("m8[ns]")),
    "big-endian": _calls(lambda calls: calls.astype(">i4")),
    "read-only": _calls(lambda calls: calls.setflags(write=False)),
    "not contiguous": _calls(np.asfortranarray),
    "dimensions turned": lambda ds: ds.transpose(),
    "other dimensions": lambda ds: ds.rename(variants="variant"),
    "no calls": _without("call_genotype"),
    "two dimensions": lambda ds: ds.assign(call_genotype=ds["call_genotype"].isel(ploidy=0)),
    "unknown sizes": _unknown_sizes,
    "blocks that fail": _failing,
    "blocks that are short": _short_blocks,
    "samples in chunks": lambda ds: ds.chunk(samples=2),
    "variants one a chunk": lambda ds: ds.chunk(variants=1),
    "positions unsorted": _labels(variant_position=lambda x: x[::-1].copy()),
    "positions equal": _labels(variant_position=lambda x: np.full_like(x, 5)),
    "positions negative": _labels(variant_position=lambda x: x - 10**6),
    "positions past int32": _labels(variant_position=lambda x: x + 2**40),
    "positions at the end of int64": _labels(variant_position=lambda x: x + (2**63 - 10**6)),
    "positions NaN": _labels(variant_position=lambda x: np.where(x < 5000, np.nan, x)),
    "positions text": _labels(variant_position=lambda x: x.astype(str)),
    "positions unsigned": _labels(variant_position=lambda x: x.astype(np.uint32)),
    "genetic positions NaN": _labels(variant_genetic_position=lambda x: np.full_like(x, np.nan)),
    "genetic positions infinite": _labels(variant_genetic_position=lambda x: x / 0.0),
    "genetic positions backwards": _labels(variant_genetic_position=lambda x: -x),
    "contigs apart": _labels(variant_contig=lambda x: np.arange(x.size) % 2),
    "contig without a name": _labels(variant_contig=lambda x: x + 7),
    "contig negative": _labels(variant_contig=lambda x: x - 1),
    "contig NaN": _labels(variant_contig=lambda x: np.where(x > 0, np.nan, x)),
    "ids doubled": _labels(
        sample_id=lambda x: np.full(x.size, "s", object),
        variant_id=lambda x: np.full(x.size, ".", object),
    ),
    "ids None": _labels(
        sample_id=lambda x: np.full(x.size, None, object),
        variant_id=lambda x: np.full(x.size, None, object),
    ),
    "ids with control characters": _labels(
        sample_id=lambda x: np.array([f"\x00\x1b\u202e{k}" for k in range(x.size)], object)
    ),
    "ids bytes": _labels(sample_id=lambda x: x.astype("S"), variant_id=lambda x: x.astype("S")),
    "no labels": lambda ds: ds[["call_genotype"]],
    "trait NaN": _labels(sample_case=lambda x: np.full(x.size, np.nan)),
    "trait constant": _labels(sample_case=np.ones_like),
    "trait infinite": _labels(sample_case=lambda x: np.where(x > 0, np.inf, 0)),
    "trait text": _labels(sample_case=lambda x: x.astype(str)),
    "attributes that say it is packed": lambda ds: ds.assign_attrs(
        genobit_layout="dosage", genobit_rows="variants", genobit_bits=2**40, genobit_version=1
    ),
    "attributes that name a .bed": lambda ds: ds.assign(
        call_genotype=ds["call_genotype"].assign_attrs(
            plink_bed="/dev/zero", plink_bed_name=ds["call_genotype"].data.name
        )
    ),
    "declares 2**33 samples": lambda ds: xr.Dataset(
        {
            "call_genotype": (
                ("variants", "samples", "ploidy"),
                da.zeros((2, 2**33, 2), chunks=(1, 2**33, 2), dtype=np.int8),
            )
        }
    ),
    "declares 2**33 variants": lambda ds: xr.Dataset(
        {
            "call_genotype": (
                ("variants", "samples", "ploidy"),
                da.zeros((2**33, 2, 2), chunks=(2**33, 2, 2), dtype=np.int8),
            )
        }
    ),
}
