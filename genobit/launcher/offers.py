"""Decide which explorers some data support, and why others are not available."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from genobit.data.availability import CLASSES, levels, phenotypes, unmet_need, unmet_need_of_array

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

#: Planes of up to this many bytes are read once and kept in memory.
KEPT_BYTES = 2**30
#: A button starts searches of up to this many seconds; longer ones should write a checkpoint.
PATIENCE = 600.0


@dataclass(frozen=True)
class Offer:
    """An explorer with a button in the launcher.

    `why_not` is empty if the explorer can be opened. `prepare` takes the user's choices and
    computes on another thread. It returns a function that takes initial traits and returns the
    widget.
    """

    name: str
    title: str
    question: str
    why_not: str
    prepare: Callable[[dict[str, Any]], Callable[..., Any]]
    choices: tuple[tuple[str, str, tuple[Any, ...]], ...] = ()
    """Name, text and values of each choice."""


def in_words(data: xr.Dataset | xr.DataArray) -> str:
    """Return a description of some data: its sizes, and whether it is packed or phased."""
    size = {str(dim): count for dim, count in data.sizes.items()}
    text = " × ".join(f"{count:,} {dim}" for dim, count in size.items() if dim not in _LESSER)
    layout = data.attrs.get("genobit_layout")
    if layout:
        text += f", packed {layout}s in rows of {data.attrs['genobit_rows']}"
    elif "call_genotype_phased" in getattr(data, "data_vars", ()):
        text += ", with phase"
    return text


_LESSER = {"ploidy", "alleles", "words", "contigs", "contig"}


_TREES = "Which tree needs the fewest changes, and where are they?"


def offers_of_dataset(ds: xr.Dataset) -> list[Offer]:
    """Return the explorers of genotypes or packed planes."""
    explore = ds.genobit.explore
    lone = "it needs two variants or more" if _few(ds, "variants") else ""
    traits = phenotypes(ds)
    return [
        Offer(
            "ld",
            "linkage disequilibrium",
            "Which variants are inherited together?",
            _why_no_ld(ds) or lone,
            lambda _: packed_for_ld(ds).genobit.explore.ld,
        ),
        Offer(
            "grm",
            "relationships",
            "Who is related to whom, and which samples stand out?",
            _why_not(ds, "grm") or ("it needs two samples or more" if _few(ds, "samples") else ""),
            lambda _: explore.grm,
        ),
        Offer(
            "kendall",
            "rank correlation",
            "Which variants rise and fall together, and what network do they make?",
            _why_not(ds, "kendall_pairs") or lone,
            lambda _: explore.kendall,
        ),
        Offer(
            "epistasis",
            "interactions",
            "Which combinations of variants go with a phenotype?",
            (_why_not(ds, "epistasis") if traits else _why_not(ds, "kendall") or _NO_PHENOTYPE)
            or lone,
            lambda chosen: partial(explore.epistasis, search(ds, **chosen)),
            (("phenotype", "phenotype", tuple(traits)), ("order", "variants", (2, 3))),
        ),
        Offer(
            "parsimony",
            "trees",
            _TREES,
            _why_not(ds, "alignment"),
            lambda _: ds.genobit.alignment().genobit.explore.parsimony,
        ),
    ]


def offers_of_array(da: xr.DataArray) -> list[Offer]:
    """Return the explorers of measurements or an alignment: a DataArray of two dimensions."""
    explore = da.genobit.explore
    few = "" if min(da.shape, default=0) > 1 else "it needs two variables and two observations"
    return [
        Offer(
            "kendall",
            "rank correlation",
            "Which variables rise and fall together, and what network do they make?",
            _in_need(unmet_need_of_array(da, "kendall_pairs")) or few,
            lambda _: explore.kendall,
        ),
        Offer(
            "parsimony",
            "trees",
            _TREES,
            _in_need(unmet_need_of_array(da, "parsimony")),
            lambda _: explore.parsimony,
        ),
    ]


_NO_PHENOTYPE = (
    "there is no phenotype: assign a variable of the samples with two classes or more, such as "
    "ds['sample_case'] = ('samples', ...)"
)


def _few(ds: xr.Dataset, dim: str) -> bool:
    return ds.sizes.get(dim, 0) < 2


def _why_not(ds: xr.Dataset, method: str) -> str:
    return _in_need(unmet_need(ds, method))


def _in_need(wants: str) -> str:
    return f"it needs {wants}" if wants else ""


def _why_no_ld(ds: xr.Dataset) -> str:
    """Return the reason why LD is not available, "" if it is.

    With known phase, haplotypes are packed, whatever the ploidy.
    """
    phased = "call_genotype" in ds.variables and "call_genotype_phased" in ds.variables
    lacking = [n for n in ("variant_position", "variant_contig") if n not in ds.variables]
    missing = f"there is no {lacking[0]} (variants): assign it" if lacking else ""
    return ("" if phased else _why_not(ds, "ld")) or missing


def packed_for_ld(ds: xr.Dataset) -> xr.Dataset:
    """Pack haplotypes if the phase is known, and dosages otherwise.

    Planes of at most `KEPT_BYTES` are computed into memory. Packed Datasets are returned unchanged.
    """
    if "genobit_layout" in ds.attrs:
        return ds
    bits = ds.genobit.pack(phased="call_genotype_phased" in ds.variables)
    if bits.nbytes > KEPT_BYTES:
        return bits
    try:
        return bits.compute()
    except ValueError:  # an unphased heterozygous call
        return ds.genobit.pack().compute()


def search(ds: xr.Dataset, phenotype: str, order: int) -> xr.Dataset:
    """Return the result of a search for combinations of `order` variants.

    Raises ValueError if the estimated time is over `PATIENCE`.
    """
    classes = len(levels(ds[phenotype].values)) <= CLASSES
    options = {"order": order, "statistic": "mutual_information" if classes else "f"}
    expected = ds.genobit.estimate.epistasis(phenotype, **options)
    if expected.seconds > PATIENCE:
        raise ValueError(
            f"{expected.what} would take about "
            f"{expected.seconds / 60:,.0f} minutes: explore fewer variants, "
            f"ds.isel(variants=...).genobit.explore(), or call ds.genobit.epistasis("
            f"{phenotype!r}, order={order}, checkpoint=...) and give its result to "
            "ds.genobit.explore.epistasis()"
        )
    return ds.genobit.epistasis(phenotype, **options)
