"""Small valid files of every format, which the tests here break."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numcodecs
import numpy as np
import pandas as pd
import tskit
import xarray as xr

import genobit as gb

if TYPE_CHECKING:
    from collections.abc import Callable

PLINK = {
    "a.bed": bytes([0x6C, 0x1B, 1, 0b11_10_00_01, 0b00, 0b10_11_10_11, 0b11, 0, 0b10]),
    "a.bim": b"1 rs1 0 1000 A G\n1 rs2 0.5 2000 C T\nX rs3 1 5 G A\n",
    "a.fam": b"".join(b"F S%d 0 0 %d %d\n" % (k, k % 3, k % 3) for k in range(5)),
}
PED = {"a.ped": b"F a 0 0 1 1 A G C C\nF b 0 0 1 2 G A T T\n", "a.map": b"1 x 0 5\n1 y 0 7\n"}
TPED = {"a.tped": b"1 x 0 5 A G G A\n1 y 0 7 C C T T\n", "a.tfam": b"F a 0 0 1 1\nF b 0 0 1 2\n"}
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


def bcf() -> bytes:
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


def bgen_files(compression: str | None) -> dict[str, bytes]:
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


def cohort() -> xr.Dataset:
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


def files(write: Callable[[Path], Any], name: str) -> dict[str, bytes]:
    """The files of a store, by their paths from its folder's parent."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root / name)
        paths = sorted(path for path in root.rglob("*") if path.is_file())
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def zipped(files: dict[str, bytes]) -> bytes:
    """A store in a .zip of no time, not compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in files.items():
            file.writestr(zipfile.ZipInfo(name.partition("/")[2]), data)
    return out.getvalue()


def pgen_files() -> dict[str, bytes]:
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
    return files(lambda path: gb.to_pgen(ds, path), "a")


def compressed_pvar(files: dict[str, bytes]) -> dict[str, bytes]:
    files = dict(files)
    files["a.pvar.zst"] = numcodecs.Zstd().encode(files.pop("a.pvar"))
    return files


def vcz(zarr_format: Literal[2, 3]) -> dict[str, bytes]:
    return files(
        lambda path: cohort().to_zarr(path, zarr_format=zarr_format, consolidated=False), "a.vcz"
    )


def trees_file() -> bytes:
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


def parquet() -> bytes:
    edges = {"gene_0": [0, 0, 2], "gene_1": [1, 2, 3], "tau": [0.9, -0.7, 0.5]}
    out = io.BytesIO()
    table = pd.DataFrame(edges).assign(name_0=["a", "a", "c"], name_1=["b", "c", "d"])
    table.to_parquet(out, index=False)
    return out.getvalue()
