"""Open tree sequences of tskit lazily, as phased genotypes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import dask.array as da
import numpy as np
import pandas as pd
import xarray as xr

from genobit.data.checks import first_true
from genobit.data.guards.damage import named_failure
from genobit.engine.extras import require
from genobit.engine.files import local_path, require_file
from genobit.engine.options import require_fits
from genobit.engine.own_words import own_words
from genobit.engine.schedule.graphs import layer_name
from genobit.engine.schedule.tiles import from_reader
from genobit.io._chunks import stamp_of, variant_chunks

if TYPE_CHECKING:
    import tskit
    from numpy.typing import NDArray

COUNTED_ALLELE = "variant_allele[:, 1] (the first derived state)"

_MOST_ALLELES = 127
_NOBODY = -1
_NO_STATE = "."
"""Name of an allele whose state is the empty text, which stands for "no allele" in a Dataset."""
_DAMAGED = "It is not a tree sequence of tskit, or it is truncated or damaged: write it again."


@own_words
def open_tskit(
    path_or_ts: str | os.PathLike[str] | tskit.TreeSequence,
    *,
    contig: str = "1",
    isolated_as_missing: bool = True,
    haploid: bool = False,
    chunks: int | Literal["auto"] = "auto",
) -> xr.Dataset:
    """Open a tree sequence as a lazy Dataset of phased genotypes.

    Opening reads the tables, but decodes no genotypes. Each chunk opens the file again and decodes
    its own sites, so the matrix of genotypes is never in memory.

    Parameters
    ----------
    path_or_ts
        Path of a .trees file, or a ``tskit.TreeSequence``. If the tree sequence is in memory, other
        processes get a copy of it with each task. On a cluster, therefore write it with
        ``ts.dump(path)`` and open the path.
    contig
        Name of the contig, which a tree sequence does not have.
    isolated_as_missing
        Whether samples without ancestors and mutations at a site are missing, as in tskit and its
        VCF. Otherwise they have the ancestral state.
    haploid
        Whether each sample node is a haploid sample, whatever its individual.
    chunks
        Variants per chunk of `call_genotype`; "auto" makes chunks of about 64 MB. A chunk has all
        samples.

    Returns
    -------
    Dataset over `variants` (sites), `samples`, `ploidy`, `alleles` and `contigs`:

    - `call_genotype`: int8, lazy; index into `variant_allele`, -1 missing. int16 if a site has more
      than 127 alleles.
    - `call_genotype_phased`: bool, lazy; all true.
    - `variant_contig`, `contig_id`, `variant_position` (int64, as in the tree sequence),
      `variant_id` (number of the site) and `variant_allele`: the ancestral state, then derived
      states in the order of the mutations. An empty state is ".".
    - `sample_id`: "tsk_0" and so on, by individual, as ``ts.write_vcf`` names them; with
      ``haploid`` by sample node. Individuals without sample nodes are left out.
    - `sample_population`, if nodes have populations: the name in the metadata, else the number.
      A sample with nodes of several populations has all names, such as "A/B"; without a population
      it has "".

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    TypeError
        If ``path_or_ts`` is neither a path nor a tree sequence.
    ValueError
        If the file is truncated, no tree sequence, or larger than ``eager_limit``. If a position is
        not a whole number, two individuals have different numbers of sample nodes, or a sample node
        has no individual. The message names the first.
    ModuleNotFoundError
        If tskit is not installed.

    Notes
    -----
    Genotypes equal ``ts.genotype_matrix()``, whose columns are the sample nodes, and the VCF of
    ``ts.write_vcf``. Sites of several alleles keep the index of each; dosages of them need
    ``ds.genobit.pack(multiallelic=...)``. A dosage counts the first derived state.

    References
    ----------
    Kelleher J, Etheridge AM, McVean G (2016) Efficient coalescent simulation and genealogical
    analysis for large sample sizes. *PLoS Comput Biol* 12:e1004842.

    Examples
    --------
    >>> import tskit, genobit as gb
    >>> tables = tskit.Tree.generate_comb(4).tree_sequence.dump_tables()
    >>> for _ in range(2):
    ...     _ = tables.individuals.add_row()
    >>> tables.nodes.individual = [0, 0, 1, 1, -1, -1, -1]
    >>> site = tables.sites.add_row(position=0, ancestral_state="A")
    >>> _ = tables.mutations.add_row(site=site, node=5, derived_state="T")
    >>> ds = gb.open_tskit(tables.tree_sequence(), contig="chr1")
    >>> ds.call_genotype.values.tolist(), ds.variant_allele.values.tolist()
    ([[[0, 1], [1, 1]]], [['A', 'T']])
    """
    require("open_tskit", "tskit")
    source, ts, uuid = _opened(path_or_ts)
    name = "the tree sequence" if source is None else source
    nodes, sample_id = _samples(ts, name, haploid=haploid)
    with named_failure(name, _DAMAGED):
        positions = ts.sites_position
        alleles = _alleles(ts)
        populations = _populations(ts)
    most = alleles.shape[1] - 1
    dtype = np.dtype(np.int8 if most <= _MOST_ALLELES else np.int16)
    stamp = _stamp(source, ts)
    kept = ts if source is None else None
    reader = _Sites(source, kept, uuid, nodes, isolated_as_missing, dtype, ts.num_sites)
    calls = _lazy(reader, chunks, stamp)
    phased = da.ones(calls.shape[:2], dtype=bool, chunks=calls.chunks[:2])
    attrs = {"counted_allele": COUNTED_ALLELE}
    variables: dict[str, Any] = {
        "call_genotype": (("variants", "samples", "ploidy"), calls, attrs),
        "call_genotype_phased": (("variants", "samples"), phased),
        "variant_contig": ("variants", np.zeros(positions.size, np.int32)),
        "variant_position": ("variants", _whole(positions, name)),
        "variant_id": ("variants", np.array([str(k) for k in range(positions.size)], object)),
        "variant_allele": (("variants", "alleles"), alleles),
        "contig_id": ("contigs", np.array([contig], object)),
        "sample_id": ("samples", sample_id),
    }
    found = ts.nodes_population[nodes]
    if (found != _NOBODY).any():
        variables["sample_population"] = ("samples", _named(found, populations))
    return xr.Dataset(variables, attrs={} if source is None else {"source": source})


@dataclass(frozen=True)
class _Sites:
    """Genotypes of a tree sequence as an array (variants, samples, ploidy) that dask can slice."""

    path: str | None
    ts: tskit.TreeSequence | None
    """The tree sequence, if it has no file."""
    uuid: str | None
    nodes: NDArray[np.int32]
    """(samples, ploidy)"""
    isolated_as_missing: bool
    dtype: np.dtype[Any]
    sites: int
    ndim: int = 3

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.sites, *self.nodes.shape)

    def __getitem__(self, key: tuple[slice, ...]) -> NDArray[Any]:
        # dask passes one slice per dimension, with a step if it merged a later slice.
        rows, samples, ploidy = key
        nodes = self.nodes[samples]
        sites = range(*rows.indices(self.sites))
        out = np.empty((len(sites), nodes.size), self.dtype)
        ts = self._open()
        with named_failure(self.path or "the tree sequence", _DAMAGED):
            _decode(ts, sites, nodes.reshape(-1), self.isolated_as_missing, out)
        return out.reshape(len(sites), *nodes.shape)[:, :, ploidy]

    def _open(self) -> tskit.TreeSequence:
        if self.path is None:
            return self.ts
        _, ts, uuid = _opened(self.path)
        if uuid != self.uuid:
            raise OSError(f"{self.path} was changed while in use: open it again.")
        return ts


def _decode(
    ts: tskit.TreeSequence,
    sites: range,
    nodes: NDArray[np.int32],
    isolated_as_missing: bool,  # noqa: FBT001 - the call above names it
    out: NDArray[Any],
) -> None:
    """Fill out (sites, nodes) with the allele of each node, -1 for missing."""
    import tskit

    variant = tskit.Variant(ts, samples=nodes, isolated_as_missing=isolated_as_missing)
    for k, site in enumerate(sites):
        variant.decode(site)
        out[k] = variant.genotypes


def _opened(path_or_ts: Any) -> tuple[str | None, tskit.TreeSequence, str | None]:
    """Return the absolute path, the tree sequence, and the id of the file.

    Path and id are None for a tree sequence in memory.
    """
    import tskit

    if isinstance(path_or_ts, tskit.TreeSequence):
        return None, path_or_ts, None
    if not isinstance(path_or_ts, str | os.PathLike):
        raise TypeError(
            f"open_tskit takes the path of a .trees file or a tskit.TreeSequence, not "
            f"{type(path_or_ts).__name__}"
        )
    path = local_path(path_or_ts, "open_tskit").absolute()
    require_file(path, "give the path of a .trees file")
    # A task holds the whole tree sequence.
    require_fits(str(path), path.stat().st_size)
    with named_failure(path, _DAMAGED):
        ts = tskit.load(path)
        return str(path), ts, ts.file_uuid


def _stamp(source: str | None, ts: tskit.TreeSequence) -> tuple[Any, ...]:
    """Return what identifies the genotypes of a tree sequence in the names of tasks."""
    if source is not None:
        return source, *stamp_of(source)
    tables = ts.tables
    columns = [
        (tables.edges, ("left", "right", "parent", "child")),
        (tables.sites, ("position", "ancestral_state", "ancestral_state_offset")),
        (tables.mutations, ("site", "node", "derived_state", "derived_state_offset")),
        (tables.nodes, ("time",)),
    ]
    return tuple(np.asarray(getattr(table, name)) for table, names in columns for name in names)


def _lazy(reader: _Sites, chunks: int | Literal["auto"], stamp: tuple[Any, ...]) -> da.Array:
    _, samples, ploidy = reader.shape
    variants = variant_chunks(chunks, reader.sites, samples * ploidy * reader.dtype.itemsize)
    sizes = (variants, (samples,), (ploidy,))
    name = layer_name("tskit-calls", stamp, reader.nodes, reader.isolated_as_missing, sizes)
    return from_reader(reader, sizes, name)


def _samples(
    ts: tskit.TreeSequence, name: str, *, haploid: bool
) -> tuple[NDArray[np.int32], NDArray[np.object_]]:
    """Return the sample nodes of each sample (samples, ploidy), and the names of the samples."""
    nodes = np.asarray(ts.samples(), np.int32)
    if not nodes.size:
        raise ValueError(f"{name} has no sample nodes: mark them in nodes.flags")
    if haploid:
        return nodes[:, None], _tsk(range(nodes.size))
    individual = ts.nodes_individual[nodes]
    alone = np.flatnonzero(individual == _NOBODY)
    if alone.size:
        raise ValueError(
            f"{name} has {alone.size} of {nodes.size} sample nodes without an individual, first "
            f"node {nodes[alone[0]]}: take each sample node as a haploid sample with haploid=True, "
            "or give the nodes individuals"
        )
    found, ploidy = np.unique(individual, return_counts=True)
    if (k := first_true(ploidy != ploidy[0])) >= 0:
        raise ValueError(
            f"{name} has individuals of unequal ploidy: individual {found[0]} has {ploidy[0]} "
            f"sample nodes, individual {found[k]} has {ploidy[k]}. Keep those of one ploidy with "
            "ts.simplify(nodes), or take each sample node as a haploid sample with haploid=True"
        )
    order = np.lexsort((nodes, individual))
    return nodes[order].reshape(found.size, -1), _tsk(found.tolist())


def _tsk(numbers: Any) -> NDArray[np.object_]:
    """Return the names that tskit gives samples in a VCF."""
    return np.array([f"tsk_{k}" for k in numbers], object)


def _whole(positions: NDArray[np.float64], name: str) -> NDArray[np.int64]:
    if (k := first_true(positions != np.floor(positions))) >= 0:
        raise ValueError(
            f"{name} has site {k} at position {positions[k]}, and a Dataset has whole positions: "
            "simulate with discrete_genome=True, or round sites.position in ts.dump_tables() and "
            "merge sites that become equal (deduplicate_sites)"
        )
    return positions.astype(np.int64)


def _alleles(ts: tskit.TreeSequence) -> NDArray[np.object_]:
    """Return the alleles (variants, most alleles) in the order of ``tskit.Variant``, "" for none.

    They are the ancestral state, then derived states by the first mutation that has them.
    """
    sites = ts.num_sites
    states = [ts.sites_ancestral_state, ts.mutations_derived_state]
    # Equal alleles share one str object.
    codes, texts = pd.factorize(np.concatenate([np.asarray(x).astype(object) for x in states]))
    site = np.concatenate([np.arange(sites), ts.mutations_site])
    _, first = np.unique(site * max(len(texts), 1) + codes, return_index=True)
    first = np.sort(first)
    first = first[np.argsort(site[first], kind="stable")]
    starts = np.searchsorted(site[first], np.arange(sites))
    number = np.arange(first.size) - starts[site[first]]
    out = np.full((sites, max(2, int(number.max(initial=0)) + 1)), "", object)
    names = np.array([text or _NO_STATE for text in texts], object)
    out[site[first], number] = names[codes[first]]
    return out


def _populations(ts: tskit.TreeSequence) -> list[str]:
    """Return the name of each population, its number if its metadata has none."""
    found = []
    for population in ts.populations():
        metadata = population.metadata
        name = metadata.get("name") if isinstance(metadata, dict) else None
        found.append(str(name or population.id))
    return found


def _named(populations: NDArray[np.int32], names: list[str]) -> NDArray[np.object_]:
    """Return the name of each sample's population: populations (samples, ploidy)."""
    texts = [
        "/".join(dict.fromkeys("" if k == _NOBODY else names[k] for k in row))
        for row in populations.tolist()
    ]
    return np.array(texts, object)
