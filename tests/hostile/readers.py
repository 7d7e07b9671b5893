"""Every reader of files, each with a small valid fileset and what it may raise for a broken one.

The tests here break the files in known ways, `fuzz` in ways that a fuzzer finds.
"""

from __future__ import annotations

import gzip
import io
import struct
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numcodecs
import numpy as np
import pandas as pd
import tskit
import xarray as xr

import genobit as gb
from tests.hostile import tables

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


def _plink(folder: Path) -> None:
    ds = whole(gb.open_plink(folder / "a.bed"))
    assert isinstance(ds, xr.Dataset)
    calls = ds["call_genotype"].values
    assert calls.shape == (ds.sizes["variants"], ds.sizes["samples"], 2)
    assert ((calls >= -1) & (calls <= 1)).all()
    if min(calls.shape):
        packed = whole(ds.genobit.pack())
        assert packed.sizes["variants"] == calls.shape[0]


def _pgen(folder: Path) -> None:
    ds = whole(gb.open_pgen(folder / "a.pgen"))
    assert isinstance(ds, xr.Dataset)
    calls = ds["call_genotype"].values
    assert calls.shape == (ds.sizes["variants"], ds.sizes["samples"], 2)
    assert ((calls >= -1) & (calls <= 3)).all()
    assert ((calls[:, :, 0] < 0) == (calls[:, :, 1] < 0)).all()
    whole(gb.open_pgen(folder / "a.pgen", dosages=True))
    said = ""
    try:
        whole(ds.genobit.pack(multiallelic="split"))
    except ValueError as error:
        said = str(error)
    # Alleles that the .pvar does not name.
    assert not said or "variants=" in said, said


def _vcf(folder: Path) -> None:
    path = _only(folder)
    ds = whole(gb.open_vcf(path, cache_dir=folder / "cache"))
    assert isinstance(ds, xr.Dataset)
    assert ds["call_genotype"].dtype == np.int8
    assert int(ds["call_genotype"].min()) >= -2
    said = ""
    try:
        whole(ds.genobit.pack(multiallelic="split"))
    except ValueError as error:
        said = str(error)
    # Haploid calls, and alleles that the line does not name.
    assert not said or "variants=" in said, said


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


def _gcta(folder: Path) -> None:
    _matrix(gb.open_gcta, folder)


def _rel(folder: Path) -> None:
    _matrix(gb.open_plink_rel, folder)


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


def _map(folder: Path) -> None:
    tables.read_map(_only(folder))


def _samples(folder: Path) -> None:
    tables.read_samples(_only(folder))


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


PLINK = {
    "a.bed": bytes([0x6C, 0x1B, 1, 0b11_10_00_01, 0b00, 0b10_11_10_11, 0b11, 0, 0b10]),
    "a.bim": b"1 rs1 0 1000 A G\n1 rs2 0.5 2000 C T\nX rs3 1 5 G A\n",
    "a.fam": b"".join(b"F S%d 0 0 %d %d\n" % (k, k % 3, k % 3) for k in range(5)),
}
_HEADER = (
    b"##fileformat=VCFv4.3\n##contig=<ID=1>\n"
    b'##FILTER=<ID=PASS,Description="All filters passed">\n'
    b'##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n'
    b"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS1\tS2\tS3\n"
)
_RECORD = b"1\t%d\t%s\tA\t%s\t.\tPASS\t.\tGT\t%s\n"
VCF = _HEADER + b"".join(
    _RECORD % (position, name, alt, b"\t".join(calls.split()))
    for position, name, alt, calls in (
        (1000, b"rs1", b"G", b"0|1 1|1 0/0"),
        (1010, b".", b"G,T", b"1/2 ./. 0|2"),
        (2000, b"rs3;x", b"<DEL>", b"0 1/0 ."),
    )
)
FASTA = b">a one\nACGTN\n>b\nAC-TR\n>c\nACGTA\n"
LINES = b">a one\nACGTN\nACG\n>b\nAC-TR\nAAC\n>c\nACGTA\nTTT\n"
PHYLIP = b"3 6\na    ACGTAC\nb    AC-TRC\nc    ACGTAA\n"
CLUSTAL = b"CLUSTAL W (1.83)\n\na ACG 3\nb AC- 3\n  ** \n\na TA 5\nb RA 5\n"
STOCKHOLM = b"# STOCKHOLM 1.0\n#=GF ID x\na ACG.\nb AC-T\n#=GC RF xxx.\n//\n"
NEXUS = (
    b"#NEXUS\nbegin data;\ndimensions ntax=3 nchar=4;\n"
    b'format datatype=standard symbols="0~2" equate="x={01}" missing=? gap=-;\n'
    b"matrix\na 01x2\n'b c' 0(01)?-\nd 0122\n;\nend;\n"
)
NEWICK = b"((a:1,b:2)x:0.5,'c':1e-3[note],d);\n(a,(b,(c,d)));\n"
TREES = (
    b"#NEXUS\nbegin taxa;\ndimensions ntax=4;\ntaxlabels a b c d;\nend;\nbegin trees;\n"
    b"translate 1 a, 2 b, 3 c, 4 d;\ntree one = [&R] ((1:1,2:2):1,(3,4));\nend;\n"
)
GFF = (
    b"##gff-version 3\n# a note\n"
    b"1\tx\tgene\t10\t20\t.\t+\t.\tID=g1;Name=A%20B\n1\tx\texon\t10\t12\t.\t+\t.\tParent=g1\n"
    b"chr%3B2\tx\tncRNA_gene\t5\t5\t.\t.\t.\tgene=C\n"
)


def compressed(data: bytes) -> bytes:
    """As gzip without a time, so that it is the same bytes each time."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file:
        file.write(data)
    return out.getvalue()


def _bcf() -> bytes:
    """The VCF as BCF without compression, so that its checksums do not hide the records."""
    import cyvcf2

    with tempfile.TemporaryDirectory() as folder:
        text, binary = Path(folder) / "a.vcf", Path(folder) / "a.bcf"
        text.write_bytes(VCF)
        source = cyvcf2.VCF(str(text))
        writer = cyvcf2.Writer(str(binary), source, mode="wb")
        for record in source:
            writer.write_record(record)
        writer.close()
        source.close()
        return gzip.decompress(binary.read_bytes())


def _bgen_files(compression: str | None) -> dict[str, bytes]:
    """Four variants of BGEN, one phased and one of three alleles, and their .sample file."""
    from bgen import BgenWriter

    unphased = np.array([[1, 0, 0], [0, 0.9, 0.1], [0.1, 0.2, 0.7], [np.nan] * 3])
    phased = np.array([[1, 0, 0, 1], [0.2, 0.8, 0, 1], [1, 0, np.nan, np.nan], [np.nan] * 4])
    three = np.tile([0, 0.5, 0.5, 0, 0, 0], (4, 1))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.bgen"
        with BgenWriter(str(path), 4, samples=list("abcd"), compression=compression) as file:
            file.add_variant("x1", "rs1", "1", 1000, ["A", "G"], unphased, bit_depth=16)
            ploidy = np.array([2, 2, 1, 2])
            file.add_variant("x2", "rs2", "1", 1010, ["C", "T"], phased, ploidy, phased=True)
            file.add_variant("x3", "rs3", "X", 5, ["G", "AC", "T"], three)
            file.add_variant("x4", "rs4", "X", 9, ["G", "AC"], unphased[::-1])
        data = path.read_bytes()
    rows = b"".join(b"F S%d 0 %d\n" % (k, k % 3) for k in range(4))
    return {"a.bgen": data, "a.sample": b"ID_1 ID_2 missing sex\n0 0 0 D\n" + rows}


def _cohort() -> xr.Dataset:
    """Six variants of four samples with every label of a VCF Zarr store."""
    calls = np.random.default_rng(1).integers(-1, 2, (6, 4, 2)).astype(np.int8)
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "variant_position": ("variants", np.arange(6, dtype=np.int32) + 1),
            "variant_contig": ("variants", np.zeros(6, np.int8)),
            "variant_allele": (("variants", "alleles"), np.array([["A", "CT"]] * 6, object)),
            "contig_id": ("contigs", np.array(["1"], object)),
            "sample_id": ("samples", np.array(["a", "b", "c", "d"], object)),
        }
    )


def _files(write: Callable[[Path], Any], name: str) -> dict[str, bytes]:
    """The files of a store, by their paths from its folder's parent."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root / name)
        paths = sorted(path for path in root.rglob("*") if path.is_file())
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def _zipped(files: dict[str, bytes]) -> bytes:
    """A store in a .zip of no time, not compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in files.items():
            file.writestr(zipfile.ZipInfo(name.partition("/")[2]), data)
    return out.getvalue()


def _pgen_files() -> dict[str, bytes]:
    """A fileset with phase, up to four alleles, and records of several kinds."""
    rng = np.random.default_rng(1)
    variants, samples = 24, 70
    calls = np.where(rng.uniform(size=(variants, samples, 2)) < 0.1, 1, 0).astype(np.int8)
    calls[::5] = rng.integers(0, 2, calls[::5].shape)
    calls[3::4] = calls[2::4]
    calls[1::8][calls[1::8] > 0] = 3
    calls[rng.uniform(size=(variants, samples)) < 0.05] = -1
    alleles = np.array([["A", "C", "G", "T"]] * variants, object)
    alleles[np.arange(variants) % 8 != 1, 2:] = ""
    ds = xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "call_genotype_phased": (("variants", "samples"), rng.random(calls.shape[:2]) < 0.5),
            "variant_position": ("variants", np.arange(variants) + 1),
            "variant_contig": ("variants", ["1", "X"] * (variants // 2)),
            "variant_allele": (("variants", "alleles"), alleles),
            "sample_id": ("samples", [f"S{s}" for s in range(samples)]),
            "sample_sex": ("samples", np.arange(samples) % 3),
            "sample_phenotype": ("samples", 0.5 + np.arange(samples)),
        }
    )
    return _files(lambda path: gb.to_pgen(ds, path), "a")


def _compressed_pvar(files: dict[str, bytes]) -> dict[str, bytes]:
    files = dict(files)
    files["a.pvar.zst"] = numcodecs.Zstd().encode(files.pop("a.pvar"))
    return files


def _vcz(zarr_format: Literal[2, 3]) -> dict[str, bytes]:
    return _files(
        lambda path: _cohort().to_zarr(path, zarr_format=zarr_format, consolidated=False), "a.vcz"
    )


def _trees_file() -> bytes:
    """Four diploids with two sites, as a file that is the same bytes each time."""
    tables = tskit.Tree.generate_comb(8, span=2).tree_sequence.dump_tables()
    for _ in range(4):
        tables.individuals.add_row()
    tables.nodes.individual = [0, 0, 1, 1, 2, 2, 3, 3, *[-1] * (len(tables.nodes) - 8)]
    for node, states in enumerate(("AT", "ACG")):
        site = tables.sites.add_row(position=node, ancestral_state=states[0])
        for k, state in enumerate(states[1:]):
            tables.mutations.add_row(site=site, node=3 + node + 2 * k, derived_state=state)
    tables.provenances.clear()
    tables.sort()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.trees"
        tables.tree_sequence().dump(path)
        return path.read_bytes().replace(tskit.load(path).file_uuid.encode(), b"0" * 36)


def _parquet() -> bytes:
    edges = {"gene_0": [0, 0, 2], "gene_1": [1, 2, 3], "tau": [0.9, -0.7, 0.5]}
    out = io.BytesIO()
    table = pd.DataFrame(edges).assign(name_0=["a", "a", "c"], name_1=["b", "c", "d"])
    table.to_parquet(out, index=False)
    return out.getvalue()


STORES = (ValueError, FileNotFoundError, OSError)
"""What a store raises when it is opened, or when its chunks are read."""
TABLES = (ValueError, FileNotFoundError, KeyError)
"""A table may lack the column of the ids."""
PLANES = _files(lambda path: gb.to_zarr(_cohort().genobit.pack(), path), "a.gb")
_TRIANGLE = struct.pack("<6f", 1.0, 0.25, 0.9, -0.1, 0.0, 1.1)
_IDS = b"F1\ta\nF2\tb\nF2\tc\n"

PGEN = _pgen_files()

READERS: dict[str, Reader] = {
    "plink": Reader(PLINK, _plink),
    "pgen": Reader(PGEN, _pgen),
    "pvar.zst": Reader(_compressed_pvar(PGEN), _pgen, broken=("a.pvar.zst",)),
    "vcf": Reader({"a.vcf": VCF}, _vcf),
    "vcf.gz": Reader({"a.vcf.gz": compressed(VCF)}, _vcf),
    "bgen": Reader(_bgen_files(None), _bgen),
    "bgen.zlib": Reader(_bgen_files("zlib"), _bgen, broken=("a.bgen",)),
    "bgen.zstd": Reader(_bgen_files("zstd"), _bgen, broken=("a.bgen",)),
    "gcta": Reader(
        {"a.grm.bin": _TRIANGLE, "a.grm.N.bin": struct.pack("<6f", *[9.0] * 6), "a.grm.id": _IDS},
        _gcta,
    ),
    "rel": Reader(
        {"a.rel": b"1\n0.5\t1\n0\t-1e-3\tnan\n", "a.rel.id": b"#FID\tIID\n" + _IDS}, _rel
    ),
    "rel.gz": Reader({"a.rel.gz": compressed(b"1\t2\t3\n" * 3), "a.rel.id": _IDS}, _rel),
    "rel.bin": Reader(
        {"a.rel.bin": struct.pack("<9d", *range(9)), "a.rel.id": b"#IID\na\nb\nc\n"}, _rel
    ),
    "fasta": Reader({"a.fasta": FASTA}, _alignment),
    "fasta-chunks": Reader({"a.fasta": LINES}, _alignment_in_chunks),
    "fasta.gz": Reader({"a.fasta.gz": compressed(FASTA)}, _alignment),
    "phylip": Reader({"a.phy": PHYLIP}, _alignment),
    "nexus": Reader({"a.nex": NEXUS}, _alignment),
    "clustal": Reader({"a.aln": CLUSTAL}, _alignment),
    "stockholm": Reader({"a.sto": STOCKHOLM}, _alignment),
    "newick": Reader({"a.nwk": NEWICK}, _trees),
    "trees": Reader({"a.nex": TREES}, _trees),
    "bcf": Reader({"a.bcf": _bcf()}, _vcf),
    "zarr2": Reader(
        _vcz(2),
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
    "zip2": Reader({"a.vcz.zip": _zipped(_vcz(2))}, _store, STORES),
    "zip3": Reader({"a.vcz.zip": _zipped(_vcz(3))}, _store, STORES),
    "planes": Reader(
        PLANES,
        _planes,
        STORES,
        tuple(n for n in PLANES if n.startswith("a.gb/plane_") and "/c/" in n),
    ),
    "pairs": Reader({"a.parquet": _parquet()}, _pairs),
    "tskit": Reader({"a.trees": _trees_file()}, _tskit),
    "map": Reader({"a.map": tables.PLINK}, _map),
    "hapmap": Reader({"a.txt": tables.HAPMAP}, _map),
    "shapeit.gz": Reader({"a.gmap.gz": compressed(tables.SHAPEIT)}, _map),
    "pheno": Reader({"a.pheno": tables.PHENO}, _samples, TABLES),
    "covar": Reader({"a.covar": tables.COVAR}, _samples, TABLES),
    "sample": Reader({"a.sample": tables.SAMPLE}, _samples, TABLES),
    "regenie": Reader({"a.phe": tables.REGENIE}, _samples, TABLES),
    "table.gz": Reader({"a.tsv.gz": compressed(tables.TABLE)}, _samples, TABLES),
    "gff": Reader({"a.gff3": GFF}, _genes),
    "gff.gz": Reader({"a.gff3.gz": compressed(GFF)}, _genes),
}


def put(folder: Path, files: dict[str, bytes]) -> None:
    """Write a fileset into an empty folder."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
