"""A selection of variants and samples that explorers share and notebook cells read and set."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import traitlets
import xarray as xr

from genobit.data import labels, model
from genobit.data.aligning import selected
from genobit.data.contigs import contigs_in
from genobit.data.selection_by_label import Genome
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Kind of each dimension in a selection.
KINDS = {
    "variants": "variants",
    "sites": "variants",
    "samples": "samples",
    "sample": "samples",
    "taxa": "samples",
}
#: Singular and plural nouns for the lists of a selection.
NOUNS = {"variants": ("variant", "variants"), "samples": ("sample", "samples")}
#: Names listed in a message.
_SHOWN = 3


class Names:
    """Names of the variants or samples of some data, computed on demand.

    ``dim`` is one of `KINDS`.
    """

    def __init__(self, data: xr.Dataset | xr.DataArray, dim: str) -> None:
        self.size = int(data.sizes[dim])
        self._data, self._dim = data, dim

    @cached_property
    def index(self) -> pd.Index:
        """Unique text, or positions if some names are missing or repeated."""
        # A million names take a second, and most explorers never need them.
        return names_along(self._data, self._dim)

    def within(self, name: str) -> list[Any]:
        """Return the names of the variants of a region or contig; none for another name.

        Raises ValueError for a malformed region, and for one without variants.
        """
        found = None if self._genome is None else self._genome.variants(name)
        return [] if found is None else self.index[found].tolist()

    @cached_property
    def _genome(self) -> Genome | None:
        if self._dim != model.VARIANTS:
            return None
        whole = self._data
        return Genome(whole.coords.to_dataset() if isinstance(whole, xr.DataArray) else whole)

    def selected(self, value: Any, kind: str) -> Any:
        """Return a selection without labels: a mask in the order of the data.

        Raises TraitError for a mask that does not fit these data.
        """
        try:
            return selected(self._data, value, self._dim, kind)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(str(error)) from None


class Selection(traitlets.HasTraits):
    """Selected variants and samples, shared by explorers.

    A selection made in one explorer is shown by the others.

    Parameters
    ----------
    data
        Genotypes, an alignment, or other data along `variants` or `samples`. Sites of an alignment
        are variants, and its taxa are samples. The data are optional: each explorer that uses this
        selection registers its own.
    **initial
        Initial `variants` and `samples`. By default, nothing is selected.

    Attributes
    ----------
    variants, samples
        Names of the selected variants and samples, in the order of the data. Variants are named by
        `variant_id`, or by "contig:position" if ids are missing or repeated. Samples are named by
        `sample_id` or `taxa`. Variants or samples without unique names are named by their integer
        positions. To select, assign names, regions such as "2:136.5Mb-136.7Mb", integer positions
        in `data`, or a mask. A mask that is a DataArray or Series is aligned by its labels.

    Raises
    ------
    ValueError
        If the data have neither variants nor samples.
    TraitError
        If a selected variant or sample is unknown; the message names it.

    Examples
    --------
    >>> import genobit as gb, numpy as np, xarray as xr
    >>> ds = xr.Dataset({"sample_id": ("samples", ["ann", "bob", "eve"])})
    >>> selection = gb.Selection(ds, samples=["eve", "ann"])
    >>> selection.samples
    ('ann', 'eve')
    >>> selection.samples = 1
    >>> selection.samples
    ('bob',)
    >>> selection.samples = "mallory"
    Traceback (most recent call last):
        ...
    traitlets.traitlets.TraitError: samples: there is no 'mallory' among the 3 (ann, bob, eve).
    """

    variants = traitlets.Any(())
    samples = traitlets.Any(())

    def __init__(self, data: xr.Dataset | xr.DataArray | None = None, **initial: Any) -> None:
        unknown = sorted(set(initial) - {"variants", "samples"})
        if unknown:
            raise TypeError(f"a selection has variants and samples, not {unknown[0]!r}")
        self._known: dict[str, list[Names]] = {"variants": [], "samples": []}
        super().__init__()
        if data is not None:
            self.know(data)
        for kind, value in initial.items():
            setattr(self, kind, value)

    def __repr__(self) -> str:
        """Return the numbers of selected variants and samples."""
        return f"Selection: {self.in_words()}"

    def in_words(self, nouns: Mapping[str, tuple[str, str]] = NOUNS) -> str:
        """Return the numbers of selected variants and samples as text.

        Parameters
        ----------
        nouns
            Singular and plural noun of each kind, for example ``{"samples": ("taxon", "taxa")}``.

        Examples
        --------
        >>> import genobit as gb, xarray as xr
        >>> ds = xr.Dataset({"sample_id": ("samples", ["ann", "bob"])})
        >>> gb.Selection(ds, samples="bob").in_words()
        '1 sample'
        """
        counts = [(len(getattr(self, kind)), names) for kind, names in nouns.items()]
        words = [f"{n:,} {one if n == 1 else many}" for n, (one, many) in counts if n]
        return " and ".join(words) or "nothing"

    def clear(self) -> None:
        """Select nothing."""
        self.variants, self.samples = (), ()

    def know(self, data: xr.Dataset | xr.DataArray) -> dict[str, Names]:
        """Register data, and check that each selected name occurs in registered data.

        Parameters
        ----------
        data
            As for `Selection`.

        Returns
        -------
        dict with the key "variants", "samples" or both. Each value holds all names of
        the data, in the order of the data.

        Raises
        ------
        ValueError
            If the data have neither variants nor samples. If a selected name is in no registered
            data. If variants (or samples) have names in one Dataset and none in another. If
            Datasets without names have different numbers of variants (or samples).
        """
        names = {KINDS[str(dim)]: Names(data, str(dim)) for dim in data.dims if str(dim) in KINDS}
        if not names:
            dims = ", ".join(map(repr, map(str, data.dims)))
            raise ValueError(
                "a selection needs a dimension of variants (or sites) or samples (or taxa), and "
                f"these data have {dims}; rename one: data.rename(sample='samples')"
            )
        for kind, found in names.items():
            self._learn(kind, found)
        return names

    def _learn(self, kind: str, names: Names) -> None:
        known, chosen = self._known[kind], getattr(self, kind)
        for other in known:
            if other.index.equals(names.index):
                return
            if _numbered(other) or _numbered(names):
                raise ValueError(
                    f"the selection has {_counted(other, kind)}, and these data have "
                    f"{_counted(names, kind)}: positions cannot be matched without names; name "
                    f"them in both ({_NAMED_BY[kind]})"
                )
        self._known[kind] = [*known, names]
        try:
            setattr(self, kind, chosen)
        except traitlets.TraitError as error:
            self._known[kind] = known
            raise ValueError(f"the selection does not fit these data: {error}") from None

    def places(self, kind: str, names: Names) -> np.ndarray:
        """Return the positions of the selection in registered data.

        Parameters
        ----------
        kind
            "variants" or "samples".
        names
            The entry for ``kind`` in the dict that `know` returns.

        Returns
        -------
        Positions, ascending, int64. Selected names that the data lack are left out.
        """
        chosen = getattr(self, kind)
        if not chosen:
            return np.empty(0, dtype="i8")
        found = names.index.get_indexer(pd.Index(chosen, dtype=names.index.dtype))
        return np.sort(found[found >= 0]).astype("i8")

    def by_name(self, names: Iterable[str]) -> None:
        """Select variants, samples, or both, by their names.

        Parameters
        ----------
        names
            Names of variants and samples, and regions, in any mixture.

        Raises
        ------
        ValueError
            If a name is neither a variant, a region nor a sample.
        """
        left = pd.Index(labels.text(list(names)), dtype=object)
        found: dict[str, list[Any]] = {}
        for kind, known in self._known.items():
            there = _places_of(known, left)[1] >= 0
            found[kind], left = left[there].tolist(), left[~there]
        for name in left:
            inside = _within(self._known["variants"], name)
            if not inside:
                raise ValueError(self._unknown(name))
            found["variants"] += inside
        self.variants, self.samples = found["variants"], found["samples"]

    def _unknown(self, name: str) -> str:
        kinds = [f"{_some(v[0])} are {k}" for k, v in self._known.items() if v]
        data = [names for known in self._known.values() for names in known]
        meant = did_you_mean(name, [other for names in data for other in names.index])
        return f"there is no {name!r}: {'; '.join(kinds)}{meant}"

    @traitlets.validate("variants", "samples")
    def _check(self, proposal: Any) -> tuple[Any, ...]:
        return self._canonical(proposal["trait"].name, proposal["value"])

    def _canonical(self, kind: str, value: Any) -> tuple[Any, ...]:
        if self._known[kind]:
            value = self._known[kind][0].selected(value, kind)
        values = np.atleast_1d(np.asarray(value))
        if values.ndim != 1:
            raise traitlets.TraitError(
                f"{kind}: a selection is a list, not an array of shape {values.shape}"
            )
        known = self._known[kind]
        if not known or not values.size:
            return tuple(values.tolist())
        if values.dtype.kind in "biu":
            return tuple(known[0].index[_checked(kind, values, known[0].size)].tolist())
        names = pd.Index(labels.text(values), dtype=object).unique()
        if kind == "variants":
            try:
                names = _with_regions(known, names)
            except ValueError as error:
                raise traitlets.TraitError(f"{kind}: {error}") from None
        which, place = _places_of(known, names)
        if (place < 0).any():
            name = names[int((place < 0).argmax())]
            raise traitlets.TraitError(
                f"{kind}: there is no {name!r} among the {known[0].size:,} ({_some(known[0])})"
                f"{did_you_mean(name, known[0].index)}"
            )
        return tuple(names[np.lexsort((place, which))].tolist())


_NAMED_BY = {
    "variants": "variant_id, or variant_contig and variant_position",
    "samples": "sample_id",
}


def names_along(data: xr.Dataset | xr.DataArray, dim: str) -> pd.Index:
    """Return a unique name for each variant or sample of the data, or positions.

    ``dim`` is "variants", "sites", "samples" or "taxa". The result is positions if names are
    missing or repeated.

    Examples
    --------
    >>> import xarray as xr
    >>> ds = xr.Dataset({"variant_id": ("variants", ["rs1", ".", "."])})
    >>> names_along(ds, "variants").tolist()
    [0, 1, 2]
    >>> ds["variant_position"] = "variants", [7, 8, 9]
    >>> names_along(ds, "variants").tolist()
    ['rs1', '8', '9']
    """
    kept = data.coords.to_dataset() if isinstance(data, xr.DataArray) else data
    places = pd.RangeIndex(data.sizes[dim])
    named_by = "variant_id" if KINDS[dim] == "variants" else "sample_id"
    found = labels.texts_along(kept, named_by, dim)
    if found is None:
        found = labels.ids(kept, dim)
    if KINDS[dim] == "variants":
        found = _with_positions(kept, dim, found)
    if found is None:
        return places
    index = pd.Index(found, dtype=object)
    return index if index.is_unique else places


def _with_positions(kept: xr.Dataset, dim: str, ids: np.ndarray | None) -> np.ndarray | None:
    """Replace missing and repeated names by contig and position."""
    if ids is not None:
        lacking = pd.Series(ids).duplicated(keep=False).to_numpy() | np.isin(ids, (".", ""))
        if not lacking.any():
            return ids
    position = labels.texts_along(kept, "variant_position", dim)
    if position is None:
        return ids
    contigs = contigs_in(kept)
    if contigs is not None and kept["variant_contig"].dims == (dim,):
        position = contigs.of_variants() + ":" + position
    return position if ids is None else np.where(lacking, position, ids)


def _checked(kind: str, values: np.ndarray, size: int) -> np.ndarray:
    """Return a mask or positions as ascending positions."""
    if values.dtype.kind == "b":
        if values.size != size:
            raise traitlets.TraitError(
                f"{kind}: the mask has {values.size:,} values, and there are {size:,}"
            )
        return np.flatnonzero(values)
    wrong = values[(values < 0) | (values >= size)]
    if wrong.size:
        last = size - 1
        raise traitlets.TraitError(f"{kind}: there is no position {wrong[0]}; give 0 to {last}")
    return np.unique(values)


def _numbered(names: Names) -> bool:
    return isinstance(names.index, pd.RangeIndex)


def _places_of(known: list[Names], names: pd.Index) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of the first data with each name, and the position there, or -1."""
    which, place = np.full((2, len(names)), -1)
    for k, data in reversed([*enumerate(known)]):
        found = data.index.get_indexer(names)
        which[found >= 0], place[found >= 0] = k, found[found >= 0]
    return which, place


def _with_regions(known: list[Names], names: pd.Index) -> pd.Index:
    """Return names with the variants of a region in its place."""
    lacking = _places_of(known, names)[1] < 0
    if not lacking.any():
        return names
    parts = [
        (_within(known, name) if new else []) or [name]
        for name, new in zip(names, lacking, strict=True)
    ]
    return pd.Index([name for part in parts for name in part], dtype=names.dtype).unique()


def _within(known: list[Names], name: str) -> list[Any]:
    """Return the variants of a region in the first data that have some."""
    return next((found for names in known if (found := names.within(name))), [])


def _some(names: Names) -> str:
    some = ", ".join(map(str, names.index[:_SHOWN]))
    return some if names.size <= _SHOWN else f"{some}, …"


def _counted(names: Names, kind: str) -> str:
    return f"{names.size:,} {kind}" + (" without names" if _numbered(names) else "")
