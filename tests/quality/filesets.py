"""Random filesets with every kind of chromosome, and Datasets of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from tests.helpers.cohorts import cohort

CONTIGS = ("0", "1", "2", "X", "Y", "XY", "MT")


def mixed_cohort(
    seed: int,
    variants: int,
    samples: int,
    *,
    missing: float = 0.1,
    chunks: int | None = None,
    heteroplasmy: bool = True,
) -> xr.Dataset:
    """Genotypes on every kind of chromosome, with sexes, parents and cases.

    Most males are homozygous on X and Y, and all samples on MT without ``heteroplasmy``. Some
    variants have one allele, no call, or many missing.
    """
    rng = np.random.default_rng(seed)
    contig = np.sort(np.arange(variants) % len(CONTIGS))
    frequency = rng.choice([0.0, 1.0, 0.2, 0.5, 0.7], variants, p=[0.1, 0.05, 0.35, 0.3, 0.2])
    calls = (rng.uniform(size=(variants, samples, 2)) < frequency[:, None, None]).astype(np.int8)
    calls.sort(axis=2)
    sex = rng.choice([0, 1, 2], samples, p=[0.1, 0.45, 0.45]).astype(np.int8)
    haploid = np.zeros((variants, samples), bool)
    haploid[contig == 3] = sex == 1
    haploid[(contig == 4) | (contig == 6)] = True
    haploid &= rng.uniform(size=haploid.shape) < 0.95
    haploid[contig == 6] |= not heteroplasmy
    calls[haploid] = calls[haploid][:, :1]
    rate = rng.choice([missing, 0.0, 0.6, 1.0], variants, p=[0.6, 0.2, 0.15, 0.05])
    calls[rng.uniform(size=(variants, samples)) < rate[:, None]] = -1
    related = rng.uniform(size=samples) < 0.25
    ds = cohort(calls, chunks=None if chunks is None else (chunks, max(1, samples // 2)))
    return ds.assign(
        {
            "variant_contig": ("variants", contig),
            "contig_id": ("contigs", np.array(CONTIGS, object)),
            "sample_sex": ("samples", sex),
            "sample_father_id": ("samples", np.where(related, "dad", "0").astype(object)),
            "sample_mother_id": ("samples", np.where(related, "mum", "0").astype(object)),
            "sample_phenotype": ("samples", rng.choice([1.0, 2.0, np.nan], samples)),
        }
    )


def written(ds: xr.Dataset, folder: Path) -> Path:
    """Write a fileset of `mixed_cohort`; returns its name without an ending."""
    dosage = np.where((ds.call_genotype < 0).any("ploidy"), 3, ds.call_genotype.sum("ploidy"))
    codes = np.array([3, 2, 0, 1], np.uint8)[np.asarray(dosage)]
    codes = np.pad(codes, ((0, 0), (0, -codes.shape[1] % 4))).reshape(codes.shape[0], -1, 4)
    rows = (codes << np.array([0, 2, 4, 6], np.uint8)).sum(axis=2, dtype=np.uint8)
    name = folder / "mixed"
    name.with_suffix(".bed").write_bytes(b"\x6c\x1b\x01" + rows.tobytes())
    contigs = np.array(CONTIGS)[ds.variant_contig.values]
    name.with_suffix(".bim").write_text(
        "".join(f"{contig}\tv{k}\t0\t{k + 1}\tA\tC\n" for k, contig in enumerate(contigs))
    )
    phenotype = np.nan_to_num(ds.sample_phenotype.values, nan=-9).astype(int)
    columns = [ds[f"sample_{key}"].values for key in ("father_id", "mother_id", "sex")]
    lines = zip(*columns, phenotype, strict=True)
    name.with_suffix(".fam").write_text(
        "".join(
            f"f{k} i{k} {' '.join(str(value) for value in line)}\n" for k, line in enumerate(lines)
        )
    )
    return name


def dosages(ds: xr.Dataset) -> NDArray[np.int64]:
    """Copies of allele 1 of each call, -1 where it is missing: (variants, samples)."""
    calls = ds.call_genotype.values.astype(np.int64)
    return np.where((calls < 0).any(axis=2), -1, calls.sum(axis=2))


def table(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, sep=r"\s+", keep_default_na=False, na_values=["NA", "nan"])


def assert_printed(ours: Any, printed: pd.Series, digits: int = 4) -> None:
    """Each of our numbers rounds to the one that plink prints in that many digits."""
    x, y = np.asarray(ours, float), printed.to_numpy(float)
    with np.errstate(divide="ignore"):
        unit = np.where(y == 0, 1e-300, 10.0 ** (np.floor(np.log10(np.abs(y))) - digits + 1))
    right = (np.abs(x - y) <= 0.5 * unit * (1 + 1e-9)) | (np.isnan(x) & np.isnan(y))
    wrong = np.flatnonzero(~right)
    assert not wrong.size, (printed.name, wrong[:5], x[wrong[:5]], y[wrong[:5]])
