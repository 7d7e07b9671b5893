"""Genes from files and tables."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from genobit.io.genes import read_genes

GFF = """##gff-version 3
# made by hand
2\tsrc\tgene\t136545410\t136594750\t.\t-\t.\tID=gene:1;Name=LCT;biotype=protein_coding
2\tsrc\tmRNA\t136545410\t136594750\t.\t-\t.\tID=t1;Parent=gene:1
2\tsrc\texon\t136545410\t136545900\t.\t-\t.\tParent=t1

1\tsrc\tncRNA_gene\t500\t900\t.\t+\t.\tID=gene%3B2
2\tsrc\tpseudogene\t100\t200\t.\t?\t.\tgene_name=A%2CB
##FASTA
>2
ACGT
"""


@pytest.mark.parametrize("ending", ["gff3", "gff3.gz"])
def test_genes_of_a_gff_file(tmp_path, ending):
    path = tmp_path / f"genes.{ending}"
    with gzip.open(path, "wt") if ending.endswith("gz") else path.open("w") as file:
        file.write(GFF)
    expected = {
        "contig": ["1", "2", "2"],
        "start": [500, 100, 136_545_410],
        "end": [900, 200, 136_594_750],
        "name": ["gene;2", "A,B", "LCT"],
        "strand": ["+", ".", "-"],
    }
    assert read_genes(path).to_dict("list") == expected
    assert read_genes(str(path)).to_dict("list") == expected


def test_tables_of_all_kinds_agree():
    rows = [
        {"chrom": 2, "txStart": 100, "txEnd": 200, "symbol": "B", "strand": "-", "other": 0},
        {"chrom": 2, "txStart": 10, "txEnd": 20, "symbol": "A", "strand": "+", "other": 0},
    ]
    frame = pd.DataFrame(rows)
    found = [read_genes(source).to_dict("list") for source in (rows, frame, frame.to_xarray())]
    assert found[0] == found[1] == found[2]
    assert found[0]["name"] == ["A", "B"]
    assert found[0]["contig"] == ["2", "2"]


def test_names_and_strands_may_be_missing():
    genes = read_genes([{"contig": "2", "start": 1, "end": 9}])
    assert genes.loc[0, ["name", "strand"]].tolist() == ["", "."]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ([{"contig": "2", "start": 1}], "no column 'end'"),
        ([{"contig": "2", "start": 9, "end": 1, "name": "A"}], r"gene 0 \(A\) ends at 1"),
    ],
)
def test_bad_tables_are_explained(source, said):
    with pytest.raises(ValueError, match=said):
        read_genes(source)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("##gff-version 3\n2\tsrc\tgene\t1\n", "line 2 has 4 columns"),
        ("2\tsrc\tgene\t1_0\t20\t.\t+\t.\tID=x\n", "line 1 has the start '1_0' and the end '20'"),
        ("2\tsrc\texon\t1\t2\t.\t+\t.\tID=x\n", "no line whose type"),
    ],
)
def test_bad_files_are_explained(tmp_path, text, said):
    path = tmp_path / "genes.gff"
    path.write_text(text)
    with pytest.raises(ValueError, match=said):
        read_genes(path)
