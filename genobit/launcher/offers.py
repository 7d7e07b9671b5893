"""Decide which explorers some data support, and why others are not available."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.data.analysis import registered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genobit.data.analysis import Analysis, Explorer


@dataclass(frozen=True)
class Offer:
    """An explorer with a button in the launcher; `why_not` is empty if it can be opened."""

    analysis: Analysis
    explorer: Explorer
    data: Any
    why_not: str

    @property
    def name(self) -> str:
        """Name of the analysis."""
        return self.analysis.name

    def prepare(self, chosen: dict[str, Any]) -> partial[Any]:
        """Compute what the user's choices need; return a function of initial traits."""
        arguments = self.explorer.prepare(self.data, **chosen)
        return partial(class_of(self.analysis, self.explorer), *arguments)


def class_of(analysis: Analysis, explorer: Explorer) -> type:
    """Import the class of an explorer."""
    module, _, name = explorer.path.rpartition(".")
    found: type = getattr(analysis.part(module), name)
    return found


def explorers(kind: str) -> Iterator[tuple[Analysis, Explorer]]:
    """Yield the explorers of one kind: "explorer" of Datasets, "array_explorer" of DataArrays."""
    for analysis in registered():
        explorer = getattr(analysis, kind)
        if explorer is not None:
            yield analysis, explorer


def offers_of(data: xr.Dataset | xr.DataArray) -> list[Offer]:
    """Return the explorers of some data."""
    kind = "explorer" if isinstance(data, xr.Dataset) else "array_explorer"
    return [Offer(one, explorer, data, explorer.why_not(data)) for one, explorer in explorers(kind)]


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
