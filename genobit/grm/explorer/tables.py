"""Tables of samples and components, and texts about the selection, in the relationship explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from genobit.data import labels
from genobit.grm.explorer.data import GIVEN
from genobit.grm.kinship import degree_of
from genobit.grm.plots.kinship import list_pairs
from genobit.grm.plots.result import measure_of
from genobit.visual.colouring import colouring
from genobit.visual.style import number

if TYPE_CHECKING:
    import xarray as xr

    from genobit.grm.explorer.data import GRMData
    from genobit.grm.explorer.traits import GRMTraits
    from genobit.grm.plots.heatmap import OrderedMatrix

#: Most pairs in the table; `grm_pairs()` lists all.
_RELATIVES = 200
#: Up to this many selected samples, the card lists all pairs.
_LISTED = 3


def sample_table(relations: GRMData, every: OrderedMatrix) -> pd.DataFrame:
    """List all samples with their variables, their own value and their closest relative."""
    best, value = relations.closest(every.matrix)
    table = pd.DataFrame({"sample": relations.names})
    table["closest"] = np.where(best < 0, "", relations.names[best])
    table[measure_of(every.matrix).label] = value
    table["with itself"] = np.diagonal(every.matrix.values).astype("f8")
    for name, values in relations.variables.items():
        # Colours of rare labels are shared, and their names with them.
        many = labels.is_text(labels.decoded(values, name))
        shown = labels.text(values, name) if many else colouring(name, values).values
        table[name.removeprefix("sample_").replace("_", " ")] = shown
    return table


def component_table(pcs: xr.Dataset) -> pd.DataFrame:
    """List components with their shares of the variance, if those are known."""
    table = pd.DataFrame({"component": [f"PC{k + 1}" for k in range(pcs.sizes["components"])]})
    if "explained_variance_ratio" in pcs.variables:
        table["share of variance"] = pcs["explained_variance_ratio"].values
        table["sum of shares"] = table["share of variance"].cumsum()
    return table


def relatives_table(explorer: GRMTraits, every: OrderedMatrix, of: tuple[int, ...]) -> pd.DataFrame:
    """List the closest pairs of the range; only those of samples ``of``, if `pairs_of` says so."""
    chosen = None
    if explorer.pairs_of != "all" and of:
        chosen = np.zeros(explorer.relations.n_samples, dtype=bool)
        chosen[list(of)] = True
    return list_pairs(
        every.matrix,
        every.pairs,
        limit=_RELATIVES,
        between=explorer.between,
        of=chosen,
        both=explorer.pairs_of == "both",
    )


def listed_in_words(explorer: GRMTraits, n_found: int, of: tuple[int, ...]) -> str:
    """Return the number of pairs, the limits of the list, and whether it is of the selection."""
    text = number(n_found, "pair") + (f", the {_RELATIVES} closest" if n_found > _RELATIVES else "")
    if explorer.between is not None:
        text += f", from {explorer.between[0]:.4g} to {explorer.between[1]:.4g}"
    if explorer.pairs_of != "all" and of != explorer.selected:
        text += "; rows that you click do not change the list"
    elif explorer.pairs_of != "all" and not of:
        text += "; no sample is selected, so all pairs count"
    return text


def matrix_in_words(explorer: GRMTraits, every: OrderedMatrix) -> str:
    """Return the method, the samples, the pairs and the variants of a matrix in words."""
    attrs = every.matrix.attrs
    text = f"{measure_of(every.matrix).label}: {number(every.n_samples, 'sample')}, "
    text += number(len(every.pairs), "pair")
    if "variants" in attrs:
        text += f" over {number(int(attrs['variants']), 'variant')}"
    left_out = int(attrs.get("variants_left_out", 0))
    if left_out:
        text += f" ({left_out:,} on {attrs['contigs_left_out']} left out)"
    if explorer.of_variants == "selected" and not explorer.chosen_variants():
        given = explorer.method == GIVEN
        text += " (as given)" if given else " (none is selected, so all are used)"
    if every.tree.without:
        text += f", {number(every.tree.without, 'sample')} without a value"
    return text


def card_of(explorer: GRMTraits, every: OrderedMatrix) -> tuple[str, list[tuple[str, str]]]:
    """Return title and values of the selection for the card."""
    names, chosen = explorer.relations.names, list(explorer.selected)
    measure, values = measure_of(every.matrix), every.matrix.values
    if not chosen:
        return "", []
    if len(chosen) == 1:
        return str(names[chosen[0]]), [
            (f"{measure.label} with itself", _text(values[chosen[0], chosen[0]]))
        ]
    first, second = (np.asarray(chosen)[side] for side in np.triu_indices(len(chosen), 1))
    found = values[first, second]
    if len(chosen) > _LISTED:
        known = found[~np.isnan(found)]
        rows = [("pairs", f"{len(found):,}")]
        if len(known):
            rows += [("mean", _text(known.mean())), ("closest", _text(known.max()))]
        return f"{number(len(chosen), 'sample')} · {measure.label}", rows
    rows = [
        (f"{names[a]} × {names[b]}", _text(value))
        for a, b, value in zip(first, second, found, strict=True)
    ]
    if measure.degrees and len(chosen) == 2 and not np.isnan(found[0]):
        rows.append(("degree", str(degree_of(found)[0])))
    return measure.label, rows


def _text(value: float) -> str:
    return "none" if np.isnan(value) else f"{value:.4f}"
