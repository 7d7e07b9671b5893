"""What pictures of ranked combinations of variants are drawn from: names, places and tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genobit.data.labels import contigs_of, text
from genobit.epistasis.plots.cells import Cells

if TYPE_CHECKING:
    import xarray as xr

#: Copies of the counted allele that a genotype may have.
GENOTYPES = 3
#: Letters of an allele that are written in full.
LETTERS = 4
#: Columns that the search names otherwise than its statistic.
_COLUMNS = {"mutual_information": "mi"}
_LABELS = {
    "mi": "MI (nats)",
    "chi2": "χ²",
    "boost": "BOOST LR",
    "gain": "gain (nats)",
    "f": "F",
}


@dataclass(frozen=True)
class Ranked:
    """Ranked combinations in memory, with what is known of their members.

    `names` are shape (rank, order), as are `contigs` (texts) and `positions`, which may be None;
    `alleles` is (rank, order, 2), None where they are not known.
    """

    result: xr.Dataset
    names: np.ndarray
    contigs: np.ndarray | None
    positions: np.ndarray | None
    alleles: np.ndarray | None

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return len(self.names)

    @cached_property
    def ranks(self) -> np.ndarray:
        """Shape (rank,), the numbers of the combinations: the result's own, or 1 for the first."""
        if "rank" in self.result.coords:
            return self.result["rank"].values
        return np.arange(1, self.size + 1)

    @property
    def order(self) -> int:
        """Variants in a combination."""
        return self.names.shape[1]

    @cached_property
    def variants(self) -> np.ndarray:
        """Shape (rank, order), where the members stand among the variants."""
        return self.result["variants"].values

    @property
    def column(self) -> str:
        """The variable that the combinations are ranked by."""
        statistic = str(self.result.attrs.get("statistic", "mutual_information"))
        return _COLUMNS.get(statistic, statistic)

    @property
    def label(self) -> str:
        """What that variable is called in a picture."""
        return _LABELS.get(self.column, self.column)

    @cached_property
    def scores(self) -> np.ndarray:
        """Shape (rank,), what the combinations are ranked by."""
        return self.result[self.column].values.astype("f8")

    @property
    def classes(self) -> list[str]:
        """Names of the classes of the phenotype; none of a trait."""
        if "cells" not in self.result or self.trait:
            return []
        if "class" in self.result.coords:
            return list(text(self.result["class"].values).tolist())
        return [f"class {k}" for k in range(self.result.sizes["class"])]

    @property
    def trait(self) -> str:
        """Name of the trait whose means the cells have; "" where they have classes."""
        if "cell_mean" not in self.result:
            return ""
        return str(self.result.attrs.get("phenotype", "trait"))

    def penetrance(self, rank: int, of_class: int = -1) -> Cells:
        """Take the share of a class, or the mean of the trait, in every cell of a combination.

        Parameters
        ----------
        rank
            Which combination, 0 for the first.
        of_class
            Place of the class; by default the last, which are the cases of two classes.

        Returns
        -------
            Of shape (3,) * order, a dimension a member.

        Raises
        ------
        ValueError
            If the result has no cells.
        """
        if "cells" not in self.result:
            raise ValueError(
                f"the result of statistic={self.result.attrs.get('statistic')!r} has no cells: "
                "there is no table to draw"
            )
        cells = self.result["cells"].transpose("rank", "cell", "class").values[rank]
        shape = (GENOTYPES,) * self.order
        n = cells.sum(axis=1).reshape(shape)
        if self.trait:
            means = self.result["cell_mean"].transpose("rank", "cell").values[rank]
            return Cells(n, np.where(n > 0, means.reshape(shape), np.nan))
        return Cells.of_class(cells[:, of_class].reshape(shape), n)

    def genotypes(self, rank: int, member: int) -> list[str]:
        """Name the genotypes of a member: by its alleles, or by copies of the counted allele.

        Parameters
        ----------
        rank
            Which combination.
        member
            Place of the member in it.
        """
        if self.alleles is None or not all(self.alleles[rank, member]):
            return ["0", "1", "2"]
        other, counted = (
            text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"
            for text in map(str, self.alleles[rank, member])
        )
        return [f"{other}/{other}", f"{other}/{counted}", f"{counted}/{counted}"]

    def title(self, rank: int) -> str:
        """Name a combination by its members.

        Parameters
        ----------
        rank
            Which combination.
        """
        return " × ".join(self.names[rank])

    def places(self, rank: int) -> str:
        """Say where the members of a combination are, "" if that is not known.

        Parameters
        ----------
        rank
            Which combination.
        """
        if self.positions is None:
            return ""
        contigs = [""] * self.order if self.contigs is None else self.contigs[rank]
        at = zip(contigs, self.positions[rank], strict=True)
        return " × ".join(f"{contig}:{position:,}".lstrip(":") for contig, position in at)

    def table(self) -> pd.DataFrame:
        """List the combinations: a column a member and label, and what is known of each."""
        columns: dict[str, np.ndarray] = {"rank": self.ranks}
        labels = {
            "variant": self.variants,
            "id": self.names,
            "contig": self.contigs,
            "position": self.positions,
        }
        for member in range(self.order):
            for name, values in labels.items():
                if values is not None:
                    columns[f"{name}_{member}"] = values[:, member]
        for column, variable in self.result.data_vars.items():
            if variable.dims == ("rank",):
                columns[str(column)] = variable.values
        return pd.DataFrame(columns)

    def cell_table(self, rank: int) -> pd.DataFrame:
        """List the cells of a combination: the genotypes of its members, and the classes' counts.

        Parameters
        ----------
        rank
            Which combination.
        """
        cells = self.penetrance(rank)
        genotypes = np.indices(cells.n.shape).reshape(self.order, -1)
        columns: dict[str, np.ndarray] = {}
        for member, copies in enumerate(genotypes):
            name = str(self.names[rank, member])
            named = np.array(self.genotypes(rank, member), dtype=object)
            if columns.keys() & {name}:
                name = f"{name} ({member})"
            columns[name] = named[copies]
        for k, name in enumerate(self.classes):
            found = self.penetrance(rank, k)
            columns[f"n {name}"] = np.asarray(found.count).ravel()
            columns[f"share {name}"] = found.value.ravel()
        if self.trait:
            columns[f"mean {self.trait}"] = cells.value.ravel()
        columns["n"] = cells.n.ravel()
        return pd.DataFrame(columns)

    def matching(self, text: str) -> np.ndarray:
        """Find the combinations that a text is about.

        Parameters
        ----------
        text
            Words; each has to be part of the names, contigs and positions of a combination,
            whatever the case and with or without commas. `2:1000-2000` is a stretch of a contig
            that a member lies on.

        Returns
        -------
            Their ranks, counted from 0, ascending.
        """
        found = np.ones(self.size, dtype=bool)
        for word in text.lower().split():
            found &= self._with_word(word)
        return np.flatnonzero(found)

    def _with_word(self, word: str) -> np.ndarray:
        contig, _, stretch = word.rpartition(":")
        start, _, end = stretch.replace(",", "").partition("-")
        try:
            first, last = float(start), float(end)
        except ValueError:
            plain = word.replace(",", "")
            return np.array([plain in text for text in self._texts], dtype=bool)
        if self.positions is None:
            return np.zeros(self.size, dtype=bool)
        inside = (self.positions >= first) & (self.positions <= last)
        if contig and self.contigs is not None:
            inside &= np.char.lower(self.contigs.astype(str)) == contig
        return np.asarray(inside.any(axis=1))

    @cached_property
    def _texts(self) -> list[str]:
        texts = []
        for rank in range(self.size):
            contigs = [] if self.contigs is None else [f"{c}:" for c in self.contigs[rank]]
            words = [*self.names[rank], self.places(rank).replace(",", ""), *contigs]
            texts.append(" ".join(map(str, words)).lower())
        return texts


def ranked(result: xr.Dataset, ds: xr.Dataset | None = None) -> Ranked:
    """Bring the result of a search into memory, with the labels of the variants.

    Parameters
    ----------
    result
        Of `.genobit.epistasis()`.
    ds
        The variants that were searched: their labels are taken where the result has none.

    Raises
    ------
    TypeError
        If it is no Dataset.
    ValueError
        If it is no such result, or of other variants.

    Examples
    --------
    >>> import xarray as xr
    >>> cells = np.zeros((1, 9, 2), "i4")
    >>> cells[0, 4] = 3, 7
    >>> result = xr.Dataset(
    ...     {
    ...         "variants": (("rank", "order"), [[3, 14]]),
    ...         "mi": ("rank", [0.25]),
    ...         "cells": (("rank", "cell", "class"), cells),
    ...     }
    ... )
    >>> found = ranked(result)
    >>> found.title(0), found.penetrance(0).overall, found.penetrance(0).by(0).n.tolist()
    ('variant 3 × variant 14', 0.7, [0, 10, 0])
    """
    _check(result)
    result = result.compute()
    labels = _labels(result, ds)
    variants = result["variants"].values
    names = labels.get("variant_id")
    if names is None:
        names = np.array([f"variant {k}" for k in variants.ravel()], object).reshape(variants.shape)
    found = Ranked(
        result,
        text(names),
        _contigs(result, ds, labels.get("variant_contig")),
        labels.get("variant_position"),
        labels.get("variant_allele"),
    )
    if found.column not in result:
        raise ValueError(
            f"the result has no {found.column!r}, which its attribute 'statistic' names; give the "
            "result of .genobit.epistasis() as it is"
        )
    return found


def _check(result: Any) -> None:
    import xarray as xr

    wanted = "the Dataset that ds.genobit.epistasis(...) returns"
    if not isinstance(result, xr.Dataset):
        raise TypeError(f"result= is of type {_described(result)}; give {wanted}")
    if "variants" not in result or result["variants"].dims != ("rank", "order"):
        held = ", ".join(map(str, list(result.variables)[:6])) or "nothing"
        raise ValueError(
            f"result= is a Dataset without 'variants' of shape (rank, order); it has {held}. "
            f"Give {wanted}"
        )


def _described(given: Any) -> str:
    """A type, and of an array its name and dimensions."""
    kind = type(given).__name__
    name, dims = getattr(given, "name", None), getattr(given, "dims", None)
    if not isinstance(dims, tuple):
        return kind
    called = "" if name is None else f" {name!r}"
    return f"{kind}{called} with the dimensions ({', '.join(map(str, dims))})"


def _labels(result: xr.Dataset, ds: xr.Dataset | None) -> dict[str, np.ndarray]:
    variants = result["variants"].values
    labels = {}
    for name in ("variant_id", "variant_contig", "variant_position", "variant_allele"):
        dims = ("rank", "order", "alleles") if name == "variant_allele" else ("rank", "order")
        own = result[name].transpose(*dims).values if name in result.variables else None
        theirs = None
        if ds is not None and name in ds.variables:
            last = ds.sizes["variants"] - 1
            if variants.max(initial=0) > last:
                raise ValueError(
                    f"the result names variant {variants.max()}, and the variants are 0 to {last}; "
                    "give the result of a search of these variants"
                )
            theirs = ds[name].values[variants]
        _same(name, own, theirs)
        chosen = theirs if own is None else own
        if chosen is not None:
            labels[name] = text(chosen[..., :2]) if name == "variant_allele" else chosen
    return labels


def _same(name: str, own: np.ndarray | None, theirs: np.ndarray | None) -> None:
    if name not in {"variant_id", "variant_position"} or own is None or theirs is None:
        return
    unlike = np.argwhere(text(own) != text(theirs))
    if len(unlike):
        rank, member = unlike[0]
        raise ValueError(
            f"{name} of member {member} of the combination of rank {rank} is "
            f"{str(own[rank, member])!r} in the result and {str(theirs[rank, member])!r} in the "
            "Dataset; give the result of a search of these variants"
        )


def _contigs(
    result: xr.Dataset, ds: xr.Dataset | None, contig: np.ndarray | None
) -> np.ndarray | None:
    if contig is None:
        return None
    names = result.attrs.get("contig_id")
    if names is None and ds is not None and "contig_id" in ds.variables:
        names = ds["contig_id"].values
    return contigs_of(contig, names).of_variants()
