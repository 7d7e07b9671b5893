"""Results of a search in memory: ranked combinations with names, positions and tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genobit.data.contigs import contig_named, contigs_of
from genobit.data.labels import text

if TYPE_CHECKING:
    import xarray as xr

#: Number of genotypes of a variant: 0, 1 or 2 copies of the counted allele.
GENOTYPES = 3
#: Longest allele, in letters, that is written in full.
LETTERS = 4
#: Columns whose names differ from their statistics.
_COLUMNS = {"mutual_information": "mi", "linear": "f", "logistic": "likelihood_ratio"}
_LABELS = {
    "mi": "MI (nats)",
    "chi2": "χ²",
    "boost": "BOOST LR",
    "gain": "gain (nats)",
    "f": "F",
    "likelihood_ratio": "LR",
}


@dataclass(frozen=True)
class Cells:
    """Samples `n` of each genotype cell, and their `value`: share of a class or mean of a trait.

    `count` holds the samples of the class, None for a trait. `value` is NaN in empty cells. All
    arrays have one dimension for each member.
    """

    n: np.ndarray
    value: np.ndarray
    count: np.ndarray | None = None

    @classmethod
    def of_class(cls, count: np.ndarray, n: np.ndarray) -> Cells:
        """Return the share of a class, from its samples and all samples of each cell.

        Examples
        --------
        >>> Cells.of_class(np.array([1, 0]), np.array([4, 0])).value.tolist()
        [0.25, nan]
        """
        return cls(n, np.divide(count, n, out=np.full(n.shape, np.nan), where=n > 0), count)

    @property
    def overall(self) -> float:
        """The share or mean over all samples."""
        return float(np.nansum(self.value * self.n) / max(self.n.sum(), 1))

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return (0.0, 1.0) if self.count is not None else (-np.inf, np.inf)

    def by(self, member: int) -> Cells:
        """Return the cells summed over all members except ``member``."""
        others = tuple(k for k in range(self.n.ndim) if k != member)
        n = self.n.sum(axis=others)
        if self.count is not None:
            return Cells.of_class(self.count.sum(axis=others), n)
        total = np.nansum(self.value * self.n, axis=others)
        return Cells(n, np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0))

    def texts(self) -> np.ndarray:
        """Return the text of each cell, flat: value and samples in two lines, "" if it is empty."""
        counts = self.n.ravel() if self.count is None else self.count.ravel()
        texts = []
        for value, count, n in zip(self.value.ravel(), counts, self.n.ravel(), strict=True):
            if self.count is None:
                text = f"{value:.3g}\nn = {n:,}"
            else:
                text = f"{value:.2f}\n{count:,} / {n:,}"
            texts.append(text if n else "")
        return np.array(texts, dtype=object)


@dataclass(frozen=True)
class Ranked:
    """Ranked combinations in memory, with labels of their members.

    `names`, `contigs` (texts) and `positions` are (rank, order); `contigs` and `positions` may be
    None. `alleles` is (rank, order, 2), or None if they are unknown.
    """

    result: xr.Dataset
    names: np.ndarray
    contigs: np.ndarray | None
    positions: np.ndarray | None
    alleles: np.ndarray | None

    @property
    def size(self) -> int:
        """Number of combinations."""
        return len(self.names)

    @cached_property
    def ranks(self) -> np.ndarray:
        """Ranks (rank,) of the combinations: those of the result, or 1, 2, ..."""
        if "rank" in self.result.coords:
            return self.result["rank"].values
        return np.arange(1, self.size + 1)

    @property
    def order(self) -> int:
        """Number of variants in a combination."""
        return self.names.shape[1]

    @cached_property
    def variants(self) -> np.ndarray:
        """Positions (rank, order) of the members along the variants."""
        return self.result["variants"].values

    @property
    def column(self) -> str:
        """Name of the variable that the combinations are ranked by."""
        statistic = str(self.result.attrs.get("statistic", "mutual_information"))
        return _COLUMNS.get(statistic, statistic)

    @property
    def label(self) -> str:
        """Label of the ranking variable in figures."""
        return _LABELS.get(self.column, self.column)

    @cached_property
    def scores(self) -> np.ndarray:
        """Scores (rank,) that the combinations are ranked by."""
        return self.result[self.column].values.astype("f8")

    @property
    def classes(self) -> list[str]:
        """Names of the classes of the phenotype; empty for a trait."""
        if "cells" not in self.result or self.trait:
            return []
        if "class" in self.result.coords:
            return list(text(self.result["class"].values).tolist())
        return [f"class {k}" for k in range(self.result.sizes["class"])]

    @property
    def trait(self) -> str:
        """Name of the trait; "" for a phenotype with classes."""
        if "cell_mean" not in self.result:
            return ""
        return str(self.result.attrs.get("phenotype", "trait"))

    @cached_property
    def shown(self) -> slice:
        """Genotypes that pictures show: from the first with a sample to the last.

        A backcross, for example, has two.
        """
        if "cells" not in self.result or not self.size:
            return slice(0, GENOTYPES)
        n = self.result["cells"].transpose("rank", "cell", "class").values.sum(axis=(0, 2))
        seen = np.stack(np.nonzero(n.reshape((GENOTYPES,) * self.order)))
        return slice(int(seen.min()), int(seen.max()) + 1) if seen.size else slice(0, GENOTYPES)

    @property
    def levels(self) -> int:
        """Number of genotypes that pictures show."""
        return self.shown.stop - self.shown.start

    def penetrance(self, rank: int, of_class: int = -1, *, whole: bool = False) -> Cells:
        """Return the share of a class, or the mean of the trait, in every cell of a combination.

        ``rank`` counts from 0. The default class is the last one: the cases of two classes. The
        arrays are (levels,) * order, and (3,) * order if ``whole``. Raises ValueError if the result
        has no cells.
        """
        if "cells" not in self.result:
            raise ValueError(
                f"the result of statistic={self.result.attrs.get('statistic')!r} has no cells: "
                "there is no table to draw"
            )
        cells = self.result["cells"].transpose("rank", "cell", "class").values[rank]
        shape = (GENOTYPES,) * self.order
        here = (slice(None) if whole else self.shown,) * self.order
        n = cells.sum(axis=1).reshape(shape)[here]
        if self.trait:
            means = self.result["cell_mean"].transpose("rank", "cell").values[rank]
            return Cells(n, np.where(n > 0, means.reshape(shape)[here], np.nan))
        return Cells.of_class(cells[:, of_class].reshape(shape)[here], n)

    def labels(self, rank: int, member: int) -> list[str]:
        """Return the genotypes of a member that pictures show, as `genotypes` does."""
        return self.genotypes(rank, member)[self.shown]

    def genotypes(self, rank: int, member: int) -> list[str]:
        """Return all genotypes of a member as text: alleles, or copies of the counted allele."""
        if self.alleles is None or not all(self.alleles[rank, member]):
            return ["0", "1", "2"]
        other, counted = (
            text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"
            for text in map(str, self.alleles[rank, member])
        )
        return [f"{other}/{other}", f"{other}/{counted}", f"{counted}/{counted}"]

    def title(self, rank: int) -> str:
        """Return the names of the members of a combination."""
        return " × ".join(self.names[rank])

    def places(self, rank: int) -> str:
        """Return the contigs and positions of the members of a combination, "" if unknown."""
        if self.positions is None:
            return ""
        contigs = [""] * self.order if self.contigs is None else self.contigs[rank]
        at = zip(contigs, self.positions[rank], strict=True)
        return " × ".join(f"{contig}:{position:,}".lstrip(":") for contig, position in at)

    def table(self) -> pd.DataFrame:
        """Return a table of the combinations, with a column for each label of each member."""
        columns: dict[str, np.ndarray] = {"rank": self.ranks}
        labels = {
            "variant": self.variants,
            "variant_id": self.names,
            "variant_contig": self.contigs,
            "variant_position": self.positions,
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
        """Return a table of the cells of a combination: genotypes, and samples of each class."""
        cells = self.penetrance(rank, whole=True)
        genotypes = np.indices(cells.n.shape).reshape(self.order, -1)
        columns: dict[str, np.ndarray] = {}
        for member, copies in enumerate(genotypes):
            name = str(self.names[rank, member])
            named = np.array(self.genotypes(rank, member), dtype=object)
            if columns.keys() & {name}:
                name = f"{name} ({member})"
            columns[name] = named[copies]
        for k, name in enumerate(self.classes):
            found = self.penetrance(rank, k, whole=True)
            columns[f"n {name}"] = np.asarray(found.count).ravel()
            columns[f"share {name}"] = found.value.ravel()
        if self.trait:
            columns[f"mean {self.trait}"] = cells.value.ravel()
        columns["n"] = cells.n.ravel()
        return pd.DataFrame(columns)

    def matching(self, text: str) -> np.ndarray:
        """Return the combinations, counted from 0 and ascending, that match all words of ``text``.

        A word matches if it is part of the names, contigs and positions of a combination, without
        regard to case and commas. A word such as `2:1000-2000` matches combinations with a member
        in this region.
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
            known = np.unique(self.contigs.astype(str))
            inside &= np.isin(
                self.contigs, [each for each in known if contig_named(contig, [each])]
            )
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
    """Load the result of `.genobit.epistasis()` into memory, with the labels of the variants.

    Labels that the result lacks come from ``ds``, the searched variants. Raises TypeError if the
    result is not a Dataset. Raises ValueError if it has another origin or belongs to other
    variants.

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
    ('variant 3 × variant 14', 0.7, [10])
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
        _contigs(ds, labels.get("variant_contig")),
        labels.get("variant_position"),
        labels.get("variant_allele"),
    )
    if found.column not in result:
        raise ValueError(
            f"the result has no {found.column!r}, which its attribute 'statistic' names; give the "
            "result of .genobit.epistasis() as it is"
        )
    return found


def is_ranking(data: Any) -> bool:
    """Return whether data are a Dataset of ranked combinations."""
    import xarray as xr

    return (
        isinstance(data, xr.Dataset)
        and "variants" in data.variables
        and data["variants"].dims == ("rank", "order")
    )


def _check(result: Any) -> None:
    import xarray as xr

    wanted = "the Dataset that ds.genobit.epistasis(...) returns"
    if not isinstance(result, xr.Dataset):
        raise TypeError(f"result= is of type {_described(result)}; give {wanted}")
    if not is_ranking(result):
        held = ", ".join(map(str, list(result.variables)[:6])) or "nothing"
        raise ValueError(
            f"result= is a Dataset without 'variants' of shape (rank, order); it has {held}. "
            f"Give {wanted}"
        )


def _described(given: Any) -> str:
    """Return the type of a value, with the name and dimensions of an array."""
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


def _contigs(ds: xr.Dataset | None, contig: np.ndarray | None) -> np.ndarray | None:
    if contig is None:
        return None
    names = ds["contig_id"].values if ds is not None and "contig_id" in ds.variables else None
    return contigs_of(contig, names).of_variants()
