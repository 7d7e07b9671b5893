"""Simulate a gene of species with a known tree, in memory."""

from __future__ import annotations

import importlib
import random
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.alignment import SITES
from genobit.engine.extras import require
from genobit.engine.own_words import own_words
from genobit.io.alignment import labelled_alignment
from genobit.io.trees import newick, read_trees

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

# Increase it when the simulated data change.
_VERSION = 1

_TAXA, _CODONS = 24, 200
#: Added to the branches of tips, because the process stops at the last split.
_SINCE_THE_LAST_SPLIT = 0.2
#: Changes per site and unit of time at each codon position; the third is nearly neutral.
_RATES = (0.035, 0.02, 0.11)
_TRANSITIONS_TO_TRANSVERSIONS = 3.0
_FREQUENCIES = (0.3, 0.2, 0.2, 0.3)
_DELETION = slice(240, 249)
#: Least and most taxa of the clade with the deletion, the first of that size.
_DELETED_TAXA = (3, 6)
_AMBIGUOUS, _UNREAD = 0.004, 18
_TWO_BASES = {"A": "RMW", "C": "YMS", "G": "RKS", "T": "YKW"}


@own_words
def sample_alignment() -> xr.DataArray:
    """Simulate 600 nucleotides of a gene in 24 species, with their tree.

    Species split at random (a pure birth process). Nucleotides change along the branches by the HKY
    model (Hasegawa, Kishino and Yano, Journal of Molecular Evolution 22:160, 1985). Most changes
    are at the third codon position. One clade has lost three codons (``-``), and two sequences have
    a missing end (``?``). IUPAC codes of two bases replace 0.4 % of the bases. The values are the
    same every time. The simulation takes about a second and downloads nothing.

    Returns
    -------
    DataArray `alignment` (taxa, sites) in the form that `open_alignment` returns. `attrs["tree"]`
    is the tree as Newick. The coordinate `codon_position` (sites) is 1, 2 or 3.

    Raises
    ------
    ImportError
        If DendroPy is not installed; it simulates the tree and the sequences.

    Examples
    --------
    >>> aln = sample_alignment()
    >>> dict(aln.sizes), aln.attrs["kind"]
    ({'taxa': 24, 'sites': 600}, 'dna')
    >>> aln.attrs["tree"].count(",")
    23
    """
    require("sample_alignment", "dendropy")
    # DendroPy takes Python's generator, whose numbers are the same in every version.
    source = random.Random(_VERSION)  # noqa: S311 - nothing secret
    tree = _tree(source)
    taxa = sorted(taxon.label for taxon in tree.taxon_namespace)
    bases = np.empty((_TAXA, _CODONS, len(_RATES)), dtype="U1")
    discrete = importlib.import_module("dendropy.model.discrete")
    model = discrete.Hky85(kappa=_TRANSITIONS_TO_TRANSVERSIONS, base_freqs=list(_FREQUENCIES))
    for position, rate in enumerate(_RATES):
        matrix = discrete.simulate_discrete_chars(
            _CODONS, tree, model, mutation_rate=rate, rng=source
        )
        rows = {taxon.label: matrix[taxon].symbols_as_string() for taxon in matrix}
        bases[:, :, position] = [list(rows[name]) for name in taxa]
    values = _blemished(bases.reshape(_TAXA, -1), _clade(tree, taxa))
    positions = np.tile(np.arange(1, len(_RATES) + 1, dtype=np.int8), _CODONS)
    known = read_trees(tree, taxa).trees[0]
    lengths = np.asarray(known.lengths, dtype=np.float64).round(6)
    return (
        labelled_alignment(values, taxa, "dna")
        .assign_coords(codon_position=(SITES, positions))
        .assign_attrs(
            tree=newick(known.parents, taxa, lengths=lengths),
            source=f"genobit.sample_alignment, version {_VERSION}",
        )
    )


def _tree(source: random.Random) -> Any:
    """Return a DendroPy tree with the tips species_01 to species_24."""
    tree = importlib.import_module("dendropy.simulate.treesim").birth_death_tree(
        birth_rate=1.0, death_rate=0.0, num_extant_tips=_TAXA, rng=source
    )
    for number, tip in enumerate(tree.leaf_node_iter(), start=1):
        tip.edge.length += _SINCE_THE_LAST_SPLIT
        tip.taxon.label = f"species_{number:02d}"
    return tree


def _clade(tree: Any, taxa: list[str]) -> list[int]:
    """Return the taxa of the first clade of fitting size."""
    low, high = _DELETED_TAXA
    clades = [[tip.taxon.label for tip in node.leaf_iter()] for node in tree.preorder_node_iter()]
    chosen = next(clade for clade in clades if low <= len(clade) <= high)
    return [taxa.index(name) for name in chosen]


def _blemished(bases: NDArray[np.str_], deleted: list[int]) -> NDArray[np.str_]:
    """Return the bases with flaws of real sequences: two-base codes, a deletion, unread ends."""
    rng = np.random.default_rng(_VERSION)
    values = bases.copy()
    for taxon, site in np.argwhere(rng.uniform(size=bases.shape) < _AMBIGUOUS):
        codes = _TWO_BASES[str(bases[taxon, site])]
        values[taxon, site] = codes[rng.integers(len(codes))]
    values[deleted, _DELETION] = "-"
    first, last = rng.choice(_TAXA, size=2, replace=False)
    values[first, :_UNREAD] = "?"
    values[last, -_UNREAD:] = "?"
    return values
