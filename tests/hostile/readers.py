"""Every reader of files, each with a small valid fileset and what it may raise for a broken one.

The tests here break the files in known ways, `fuzz` in ways that a fuzzer finds.
"""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

import genobit as gb
from tests.hostile import filesets, tables

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSALS = (ValueError, FileNotFoundError)
"""What readers document for files that they do not read."""


class Reader(NamedTuple):
    """A reader: valid files by name, and a function that opens them and reads all of it.

    Names may have folders in them, as a store of Zarr has.
    """

    files: dict[str, bytes]
    read: Callable[[Path], Any]
    refusals: tuple[type[Exception], ...] = REFUSALS
    broken: tuple[str, ...] = ()
    """The files that are broken; none stands for all."""

    def parts(self) -> list[str]:
        """Names of the files that are broken, in order."""
        return sorted(self.broken or self.files)


def whole(found: xr.Dataset | xr.DataArray) -> xr.Dataset | xr.DataArray:
    """Everything in memory."""
    return found.compute(scheduler="synchronous")


def _only(folder: Path) -> Path:
    """The one file of a fileset, also where it is not there."""
    return next((path for path in folder.iterdir() if path.name != "cache"), folder / "a.none")


def _plink(folder: Path, name: str = "a.bed") -> None:
    ds = whole(gb.open_plink(folder / name))
    assert isinstance(ds, xr.Dataset)
    calls = ds["call_genotype"].values
    assert calls.shape == (ds.sizes["variants"], ds.sizes["samples"], 2)
    assert ((calls >= -1) & (calls <= 1)).all()
    if min(calls.shape):
        packed = whole(ds.genobit.pack())
        assert packed.sizes["variants"] == calls.shape[0]


def _packed_or_refused(ds: xr.Dataset) -> None:
    """Pack, which names the variant of a haploid call, or of an allele without a name."""
    said = ""
    try:
        whole(ds.genobit.pack(multiallelic="split"))
    except ValueError as error:
        said = str(error)
    assert not said or "variants=" in said, said


def _pgen(folder: Path) -> None:
    ds = whole(gb.open_pgen(folder / "a.pgen"))
    assert isinstance(ds, xr.Dataset)
    calls = ds["call_genotype"].values
    assert calls.shape == (ds.sizes["variants"], ds.sizes["samples"], 2)
    assert ((calls >= -1) & (calls <= 3)).all()
    assert ((calls[:, :, 0] < 0) == (calls[:, :, 1] < 0)).all()
    whole(gb.open_pgen(folder / "a.pgen", dosages=True))
    _packed_or_refused(ds)


def _vcf(folder: Path) -> None:
    path = _only(folder)
    ds = whole(gb.open_vcf(path, cache_dir=folder / "cache"))
    assert isinstance(ds, xr.Dataset)
    assert ds["call_genotype"].dtype == np.int8
    assert int(ds["call_genotype"].min()) >= -2
    _packed_or_refused(ds)


def _tskit(folder: Path) -> None:
    ds = whole(gb.open_tskit(folder / "a.trees"))
    assert isinstance(ds, xr.Dataset)
    calls, alleles = ds["call_genotype"].values, ds["variant_allele"].values
    assert calls.min(initial=0) >= -1
    assert (calls.max(axis=(1, 2), initial=-1) < (alleles != "").sum(axis=1)).all()


def _bgen(folder: Path) -> None:
    ds = whole(gb.open_bgen(folder / "a.bgen", sample=folder / "a.sample", multiallelic="drop"))
    assert isinstance(ds, xr.Dataset)
    calls, copies = ds["call_genotype"].values, ds["call_dosage"].values
    assert calls.shape == (ds.sizes["variants"], ds.sizes["samples"], 2)
    assert ((calls >= -2) & (calls <= 1)).all()
    assert ((copies >= -1e-3) & (copies <= 2 + 1e-3) | np.isnan(copies)).all()
    assert (calls[np.isnan(copies)] < 0).all()


def _matrix(open_: Callable[[Path], xr.DataArray], folder: Path) -> None:
    found = whole(open_(folder / "a")).values
    assert found.shape[0] == found.shape[1] > 0
    np.testing.assert_array_equal(found, found.T)


def _alignment(folder: Path) -> None:
    path = _only(folder)
    found = gb.open_alignment(path)
    assert all(found.sizes.values())
    assert found.attrs["kind"] in {"dna", "protein", "standard"}


def _alignment_in_chunks(folder: Path) -> None:
    path = _only(folder)
    found = whole(gb.open_alignment(path, chunks=3))
    # What is read a part at a time is what is read whole.
    xr.testing.assert_identical(found, gb.open_alignment(path))


def _trees(folder: Path) -> None:
    from genobit.io.trees import read_trees

    path = _only(folder)
    for tree in read_trees(path, ["a", "b", "c", "d"]).trees:
        parents = tree.parents
        assert parents[-1] == -1
        assert (parents[:-1] > np.arange(parents.size - 1)).all()


def _genes(folder: Path) -> None:
    from genobit.io.genes import read_genes

    path = _only(folder)
    table = read_genes(path)
    assert len(table)
    assert (table["end"] >= table["start"]).all()


def _of_only(read: Callable[[Path], None], folder: Path) -> None:
    read(_only(folder))


def _store(folder: Path) -> None:
    ds = whole(gb.open_vcf_zarr(_only(folder)))
    assert isinstance(ds, xr.Dataset)
    assert ds["call_genotype"].dtype == np.int8
    assert all(isinstance(name, str) for name in ds["sample_id"].values)


def _planes(folder: Path) -> None:
    try:
        ds = xr.open_zarr(folder / "a.gb", consolidated=False)
    # What is wrong with the metadata is xarray's to say: genobit is not asked.
    except Exception:  # noqa: BLE001
        return
    frequency = ds.genobit.allele_frequency().compute(scheduler="synchronous")
    assert frequency.shape == (6,)


def _pairs(folder: Path) -> None:
    table = gb.open_pairs(_only(folder)).to_network()
    assert len(table.to_dataframe()) == len(table)


STORES = (ValueError, FileNotFoundError, OSError)
"""What a store raises when it is opened, or when its chunks are read."""
TABLES = (ValueError, FileNotFoundError, KeyError)
"""A table may lack the column of the ids."""
PLANES = filesets.files(lambda path: gb.to_zarr(filesets.cohort().genobit.pack(), path), "a.gb")
_MAP = partial(_of_only, tables.read_map)
_SAMPLES = partial(_of_only, tables.read_samples)
_REL = partial(_matrix, gb.open_plink_rel)
_TRIANGLE = struct.pack("<6f", 1.0, 0.25, 0.9, -0.1, 0.0, 1.1)
_IDS = b"F1\ta\nF2\tb\nF2\tc\n"

PGEN = filesets.pgen_files()

READERS: dict[str, Reader] = {
    "plink": Reader(filesets.PLINK, _plink),
    "ped": Reader(filesets.PED, partial(_plink, name="a.ped")),
    "tped": Reader(filesets.TPED, partial(_plink, name="a.tped")),
    "pgen": Reader(PGEN, _pgen),
    "pvar.zst": Reader(filesets.compressed_pvar(PGEN), _pgen, broken=("a.pvar.zst",)),
    "vcf": Reader({"a.vcf": filesets.VCF}, _vcf),
    "vcf.gz": Reader({"a.vcf.gz": filesets.compressed(filesets.VCF)}, _vcf),
    "bgen": Reader(filesets.bgen_files(None), _bgen),
    "bgen.zlib": Reader(filesets.bgen_files("zlib"), _bgen, broken=("a.bgen",)),
    "bgen.zstd": Reader(filesets.bgen_files("zstd"), _bgen, broken=("a.bgen",)),
    "gcta": Reader(
        {"a.grm.bin": _TRIANGLE, "a.grm.N.bin": struct.pack("<6f", *[9.0] * 6), "a.grm.id": _IDS},
        partial(_matrix, gb.open_gcta),
    ),
    "rel": Reader(
        {"a.rel": b"1\n0.5\t1\n0\t-1e-3\tnan\n", "a.rel.id": b"#FID\tIID\n" + _IDS}, _REL
    ),
    "rel.gz": Reader({"a.rel.gz": filesets.compressed(b"1\t2\t3\n" * 3), "a.rel.id": _IDS}, _REL),
    "rel.bin": Reader(
        {"a.rel.bin": struct.pack("<9d", *range(9)), "a.rel.id": b"#IID\na\nb\nc\n"}, _REL
    ),
    "fasta": Reader({"a.fasta": filesets.FASTA}, _alignment),
    "fasta-chunks": Reader({"a.fasta": filesets.LINES}, _alignment_in_chunks),
    "fasta.gz": Reader({"a.fasta.gz": filesets.compressed(filesets.FASTA)}, _alignment),
    "phylip": Reader({"a.phy": filesets.PHYLIP}, _alignment),
    "nexus": Reader({"a.nex": filesets.NEXUS}, _alignment),
    "clustal": Reader({"a.aln": filesets.CLUSTAL}, _alignment),
    "stockholm": Reader({"a.sto": filesets.STOCKHOLM}, _alignment),
    "newick": Reader({"a.nwk": filesets.NEWICK}, _trees),
    "trees": Reader({"a.nex": filesets.TREES}, _trees),
    "bcf": Reader({"a.bcf": filesets.bcf()}, _vcf),
    "zarr2": Reader(
        filesets.vcz(2),
        _store,
        STORES,
        (
            "a.vcz/.zgroup",
            "a.vcz/call_genotype/.zarray",
            "a.vcz/call_genotype/0.0.0",
            "a.vcz/sample_id/0",
            "a.vcz/variant_allele/0.0",
        ),
    ),
    "zip2": Reader({"a.vcz.zip": filesets.zipped(filesets.vcz(2))}, _store, STORES),
    "zip3": Reader({"a.vcz.zip": filesets.zipped(filesets.vcz(3))}, _store, STORES),
    "planes": Reader(
        PLANES,
        _planes,
        STORES,
        tuple(n for n in PLANES if n.startswith("a.gb/plane_") and "/c/" in n),
    ),
    "pairs": Reader({"a.parquet": filesets.parquet()}, _pairs),
    "tskit": Reader({"a.trees": filesets.trees_file()}, _tskit),
    "map": Reader({"a.map": tables.PLINK}, _MAP),
    "hapmap": Reader({"a.txt": tables.HAPMAP}, _MAP),
    "shapeit.gz": Reader({"a.gmap.gz": filesets.compressed(tables.SHAPEIT)}, _MAP),
    "pheno": Reader({"a.pheno": tables.PHENO}, _SAMPLES, TABLES),
    "covar": Reader({"a.covar": tables.COVAR}, _SAMPLES, TABLES),
    "sample": Reader({"a.sample": tables.SAMPLE}, _SAMPLES, TABLES),
    "regenie": Reader({"a.phe": tables.REGENIE}, _SAMPLES, TABLES),
    "table.gz": Reader({"a.tsv.gz": filesets.compressed(tables.TABLE)}, _SAMPLES, TABLES),
    "gff": Reader({"a.gff3": filesets.GFF}, _genes),
    "gff.gz": Reader({"a.gff3.gz": filesets.compressed(filesets.GFF)}, _genes),
}


def put(folder: Path, files: dict[str, bytes]) -> None:
    """Write a fileset into an empty folder."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
