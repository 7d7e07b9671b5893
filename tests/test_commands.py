"""The tables of "From bcftools and plink2": lines run, and give the numbers of the programs."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import genobit as gb
from tests.helpers.pages import blocks
from tests.helpers.programs import PLINK, PLINK2

pytestmark = [pytest.mark.slow, pytest.mark.compiled("every analysis, of 400,000 calls")]

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "from-bcftools-and-plink2.md"
ROW = re.compile(r"^\| (?=[^|]*`)(.+?) \| (`.+?`) \| .*\|$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")
LINES = {
    command: CODE.findall(lines)
    for left, lines in ROW.findall(PAGE.read_text("utf-8"))
    for command in CODE.findall(left)
}
"""Command -> lines of genobit that give the same."""

BCFTOOLS = pytest.mark.skipif(shutil.which("bcftools") is None, reason="bcftools is not installed")


@dataclass
class Cohort:
    """The files of the page, and the names that its cells define."""

    folder: Path
    names: dict[str, Any]

    def line(self, command: str, which: int = 0) -> Any:
        """Value of the line beside a command."""
        with contextlib.chdir(self.folder):
            return eval(LINES[command][which], self.names)

    def bcftools(self, command: str, then: str = "") -> str:
        """What a command of bcftools prints, or a query of the VCF that it makes."""
        program, subcommand, *options = shlex.split(command)
        at = options.index("--") if "--" in options else len(options)
        done = self.run([program, subcommand, *options[:at], "cohort.vcf.gz", *options[at:]])
        return self.run(["bcftools", "query", "-f", then, "-"], done) if then else done

    def plink(self, program: str, options: str, suffix: str) -> pd.DataFrame:
        """A table that PLINK writes."""
        command = [program, "--bfile", "cohort", "--threads", "1", "--out", "of_plink"]
        self.run([*command, *shlex.split(options)])
        return pd.read_csv(self.folder / f"of_plink.{suffix}", sep=r"\s+", dtype={"#CHROM": str})

    def matrix(self, program: str, options: str, suffix: str) -> np.ndarray:
        """A square of numbers that PLINK writes."""
        command = [program, "--bfile", "cohort", "--threads", "1", "--out", "of_plink"]
        self.run([*command, *shlex.split(options)])
        return np.loadtxt(self.folder / f"of_plink.{suffix}")

    def run(self, command: list[str], given: str | None = None) -> str:
        done = subprocess.run(
            command, cwd=self.folder, input=given, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cohort]:
    folder = tmp_path_factory.mktemp("commands")
    names: dict[str, Any] = {}
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    with contextlib.chdir(folder):
        for body in blocks(PAGE.read_text("utf-8"), ("{code-cell}",)):
            here = body.replace("tempfile.mkdtemp()", repr(str(folder)))
            exec(compile(here, str(PAGE), "exec"), names)
        gb.to_plink(names["ds"], "cohort")
        for name in ("ids", "people"):
            Path(f"{name}.txt").write_text("\n".join(names[name]))
        if shutil.which("bcftools") is not None:
            subprocess.run(["bcftools", "index", "cohort.vcf.gz"], check=True)
    yield Cohort(folder, names)
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


def test_rows_of_the_page__are_found() -> None:
    assert len(LINES) > 45


@pytest.mark.parametrize("command", LINES)
def test_lines__run(cohort: Cohort, command: str) -> None:
    with contextlib.chdir(cohort.folder):
        for path in (*Path().glob("out.*"), *Path().glob("grm.*")):
            path.unlink()
    for k, _ in enumerate(LINES[command]):
        cohort.line(command, k)


SELECTIONS = [command for command in LINES if re.match("bcftools view -[rfiqmv] ?", command)]


@BCFTOOLS
@pytest.mark.parametrize("command", SELECTIONS)
def test_bcftools__selects_the_same_variants(cohort: Cohort, command: str) -> None:
    expected = cohort.bcftools(command, "%ID\n").split()
    assert expected
    for k, _ in enumerate(LINES[command]):
        assert cohort.line(command, k).variant_id.values.tolist() == expected


@BCFTOOLS
@pytest.mark.parametrize(
    "command",
    [
        "bcftools view -s AFR0007,AFR0000",
        "bcftools filter -S . -e 'FMT/GQ<20'",
        "bcftools +setGT -- -t q -n . -i 'FMT/GQ<20'",
        "bcftools query -f '[%GT\\t]\\n'",
    ],
)
def test_bcftools__has_the_same_calls(cohort: Cohort, command: str) -> None:
    query = "" if "query" in command else "[%GT\t]\n"
    texts = [line.split() for line in cohort.bcftools(command, query).splitlines()]
    alleles = np.array([[re.split("[/|]", call) for call in row] for row in texts])
    expected = np.where(alleles == ".", "-1", alleles).astype(int)
    for k, _ in enumerate(LINES[command]):
        found = cohort.line(command, k)
        calls = found if isinstance(found, np.ndarray) else found.call_genotype.values
        np.testing.assert_array_equal(calls, expected)


@BCFTOOLS
def test_bcftools__prints_the_same_labels(cohort: Cohort) -> None:
    listed = "bcftools query -l"
    assert cohort.line(listed).tolist() == cohort.bcftools(listed).split()
    sites = "bcftools query -f '%CHROM\\t%POS\\t%ID\\n'"
    table = [line.split() for line in cohort.bcftools(sites).splitlines()]
    contigs, frame = cohort.line(sites), cohort.line(sites, 1)
    found = zip(contigs, frame.variant_position.astype(str), frame.variant_id, strict=True)
    assert [list(row) for row in found] == table


@BCFTOOLS
def test_bcftools__has_the_same_frequencies(cohort: Cohort) -> None:
    command = "bcftools +fill-tags -- -t AF,F_MISSING"
    text = cohort.bcftools(command, "%AF\t%F_MISSING\n").split()
    expected = np.array(text, float).reshape(-1, 2)
    stats = cohort.line(command).compute()
    found = np.stack([stats.allele_frequency, 1 - stats.call_rate], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


KEPT = [
    ("--extract ids.txt", "bim"),
    ("--exclude ids.txt", "bim"),
    ("--keep people.txt", "fam"),
    ("--remove people.txt", "fam"),
    ("--chr 2 --from-bp 100000 --to-bp 900000", "bim"),
    ("--mind 0.012", "fam"),
    ("--maf 0.05 --geno 0.02 --hwe 1e-6", "bim"),
]


@PLINK2
@pytest.mark.parametrize(("command", "table"), KEPT)
def test_plink__keeps_the_same(cohort: Cohort, command: str, table: str) -> None:
    found = cohort.line(command)
    cohort.plink("plink2", f"{command} --make-just-{table}", table)
    text = (cohort.folder / f"of_plink.{table}").read_text().splitlines()
    labels = found.variant_id if table == "bim" else found.sample_id
    assert [line.split()[1] for line in text] == labels.values.tolist()
    assert 0 < len(text) < len(cohort.names["ds"]["variant_id" if table == "bim" else "sample_id"])


COLUMNS: dict[str, tuple[str, str, Callable[[pd.DataFrame], pd.Series]]] = {
    "--freq": ("--freq", "afreq", lambda table: table.ALT_FREQS),
    "--missing": ("--missing", "vmiss", lambda table: table.F_MISS),
    "--hardy": ("--hardy", "hardy", lambda table: table.P),
}


@PLINK2
@pytest.mark.parametrize("command", COLUMNS)
def test_plink2__prints_the_same_numbers(cohort: Cohort, command: str) -> None:
    options, suffix, column = COLUMNS[command]
    expected = column(cohort.plink("plink2", options, suffix))
    np.testing.assert_allclose(cohort.line(command), expected, rtol=1e-5, atol=1e-6)


@PLINK2
def test_plink2__prunes_and_relates_the_same(cohort: Cohort) -> None:
    prune = "--indep-pairwise 50 5 0.2"
    cohort.plink("plink2", prune, "prune.in")
    kept = cohort.line(prune)
    names = cohort.names["ds"].variant_id.values[kept.values]
    assert names.tolist() == (cohort.folder / "of_plink.prune.in").read_text().split()
    for command, suffix in (("--make-rel square", "rel"), ("--make-king square", "king")):
        expected = cohort.matrix("plink2", command, suffix)
        np.testing.assert_allclose(cohort.line(command), expected, rtol=1e-4, atol=1e-5)
    table = "--make-king-table --king-table-filter 0.0442"
    expected = cohort.plink("plink2", table, "kin0").KINSHIP
    found = cohort.line(table)["king"]
    np.testing.assert_allclose(np.sort(found), np.sort(expected), rtol=1e-4)


@PLINK2
def test_plink2__has_the_same_components(cohort: Cohort) -> None:
    table = cohort.plink("plink2", "--pca 4", "eigenvec")
    pcs = cohort.line("--pca 4")
    found = abs(pcs.scores / np.sqrt(pcs.explained_variance))
    expected = abs(table[[f"PC{k}" for k in range(1, 5)]].to_numpy())
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@PLINK
def test_plink__has_the_same_linkage(cohort: Cohort) -> None:
    command = "--r2 --ld-window-kb 500 --ld-window-r2 0.2"
    expected = cohort.plink("plink1.9", f"{command} --ld-window 99999", "ld")
    found = cohort.line(command)
    pairs = found[["variant_id_0", "variant_id_1"]].to_numpy().tolist()
    assert sorted(pairs) == sorted(expected[["SNP_A", "SNP_B"]].to_numpy().tolist())
    np.testing.assert_allclose(np.sort(found.r2), np.sort(expected.R2), rtol=1e-5)
    square = cohort.matrix("plink1.9", "--r2 square", "ld")
    np.testing.assert_allclose(cohort.line("--r2 square"), square, rtol=1e-4, atol=1e-6)


@PLINK2
def test_plink__writes_the_same_files(cohort: Cohort) -> None:
    for path in cohort.folder.glob("out.*"):
        path.unlink()
    bed = cohort.line("--make-bed")
    cohort.run(["plink2", "--vcf", "cohort.vcf.gz", "--make-bed", "--out", "of_plink"])
    assert bed.read_bytes() == (cohort.folder / "of_plink.bed").read_bytes()
    pgen = cohort.line("--make-pgen")
    cohort.run(["plink2", "--pfile", pgen.stem, "--make-bed", "--out", "again"])
    assert bed.read_bytes() == (cohort.folder / "again.bed").read_bytes()
