"""Filesets of PLINK 2."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from tests.helpers.programs import plink2

CONTIGS = ("1", "22", "X", "Y", "MT")


class Made:
    """Genotypes as arrays, and as VCF: partial phase, missing calls, up to four alleles."""

    def __init__(self, seed: int, variants: int, samples: int, *, haploid: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.alleles = rng.choice([2, 2, 2, 3, 4], variants)
        frequency = rng.uniform(0.02, 0.9, (variants, 1, 1))
        other = rng.integers(1, self.alleles[:, None, None], (variants, samples, 2))
        self.calls = np.where(rng.uniform(size=other.shape) < frequency, other, 0).astype(np.int8)
        self.calls[rng.uniform(size=variants) < 0.15] = 0
        self.calls[rng.uniform(size=variants) < 0.05] = 1
        self.calls[rng.uniform(size=(variants, samples)) < 0.06] = -1
        self.phase = rng.uniform(size=(variants, samples)) < rng.choice([0, 0.5, 1], (variants, 1))
        self.contig = np.sort(rng.integers(0, len(CONTIGS) if haploid else 2, variants))
        self.male = rng.uniform(size=samples) < 0.5
        # One allele: males on X and Y, and all on MT. plink2 stores it as a homozygous call.
        self.one = self.male & np.isin(self.contig, (2, 3))[:, None] | (self.contig == 4)[:, None]
        self.calls[self.one, 1] = self.calls[self.one, 0]
        self.calls[(self.contig == 3)[:, None] & ~self.male] = -1

    @property
    def expected(self) -> np.ndarray:
        """The calls in the order of a .pgen: without phase, the lower allele first."""
        calls = self.calls.copy()
        calls[~self.phase] = np.sort(calls[~self.phase], axis=1)
        return calls

    @property
    def known(self) -> np.ndarray:
        """Which calls have known phase."""
        equal = self.calls[:, :, 0] == self.calls[:, :, 1]
        return (self.phase | equal) & (self.calls[:, :, 0] >= 0)

    def vcf(self, folder: Path) -> Path:
        """Write the VCF, and the sexes, and return the path."""
        fixed = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]
        samples = [f"S{s}" for s in range(self.calls.shape[1])]
        lines = ["##fileformat=VCFv4.3", *(f"##contig=<ID={name}>" for name in CONTIGS)]
        lines += ['##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">']
        lines += ['##FILTER=<ID=q10,Description="Low">', "\t".join([*fixed, *samples])]
        for v, row in enumerate(self.calls):
            alt = ",".join(["C", "G", "T"][: self.alleles[v] - 1])
            quality, passed = [(".", "."), ("30.5", "PASS"), ("7", "q10")][v % 3]
            texts = []
            for s, (a, b) in enumerate(row):
                part = "|" if self.phase[v, s] else "/"
                two = "./." if a < 0 else f"{a}{part}{b}"
                texts.append(two.split(part, maxsplit=1)[0][:1] if self.one[v, s] else two)
            contig, position = CONTIGS[self.contig[v]], str(3_000_000 + 10 * v)
            head = [contig, position, f"v{v}", "A", alt, quality, passed, ".", "GT"]
            lines.append("\t".join([*head, *texts]))
        (folder / "a.vcf").write_text("\n".join(lines) + "\n")
        sexes = "".join(f"S{s}\t{1 if male else 2}\n" for s, male in enumerate(self.male))
        (folder / "sexes.txt").write_text("#IID\tSEX\n" + sexes)
        return folder / "a.vcf"

    def dataset(self, chunk: int | None = None) -> xr.Dataset:
        """The genotypes as a Dataset, lazy in chunks of ``chunk`` variants."""
        names = np.array([["A", "C", "G", "T"]] * self.alleles.size, object)
        names[np.arange(4) >= self.alleles[:, None]] = ""
        ds = xr.Dataset(
            {
                "call_genotype": (("variants", "samples", "ploidy"), self.calls),
                "call_genotype_phased": (("variants", "samples"), self.known),
                "variant_allele": (("variants", "alleles"), names),
                "variant_position": ("variants", 3_000_000 + 10 * np.arange(self.alleles.size)),
                "variant_contig": ("variants", self.contig),
                "variant_id": ("variants", [f"v{v}" for v in range(self.alleles.size)]),
                "contig_id": ("contigs", list(CONTIGS)),
                "sample_id": ("samples", [f"S{s}" for s in range(self.calls.shape[1])]),
                "sample_sex": ("samples", np.where(self.male, 1, 2)),
            }
        )
        return ds if chunk is None else ds.chunk({"variants": chunk})


def dosage(calls: np.ndarray) -> np.ndarray:
    return np.where(calls[..., 0] < 0, -1, (calls == 1).sum(axis=-1))


def imported(folder: Path, made: Made, *options: str) -> Path:
    """Make a .pgen of the VCF with plink2."""
    vcf = made.vcf(folder)
    sexes = ("--update-sex", str(folder / "sexes.txt"), "--split-par", "hg19")
    plink2(folder / "a", "--vcf", str(vcf), *sexes, "--make-pgen", *options)
    return folder / "a.pgen"
