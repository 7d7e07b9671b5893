"""Small files of genetic maps and of samples, and what must hold of all that is read of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

import genobit  # noqa: F401 - registers the accessor

if TYPE_CHECKING:
    from pathlib import Path

IDS = ("ann", "bob", "cem", "dan")
HAPMAP = (
    b"Chromosome\tPosition(bp)\tRate(cM/Mb)\tMap(cM)\n"
    b"chr1\t1000\t1.5\t0\nchr1\t2000\t2.5\t0.0015\nchr1\t3000\t0\t0.004\nchrX\t500\t1\t0.25\n"
)
SHAPEIT = b"pposition rrate gposition\n1000 1.5 0\n2000 2.5 0.0015\n3000 0 0.004\n"
PLINK = b"1 rs1 0.1 1000\n1 rs2 0.25 2000\n1\trs3\t0.5\t3000\nX rs4 1e-2 500\n"
PHENO = b"#FID IID height case\n0 bob 1.75 2\n0 ann -9 1\n0 dan NA 1\n0 eve 1.6 2\n"
COVAR = b"0 cem 35 0.25\n0 ann -9 1e-3\n0 bob nan 1\n"
SAMPLE = (
    b"ID_1 ID_2 missing sex age site case\n0 0 0 D C D B\n"
    b"F ann 0 1 31.5 2 1\nF bob 0.1 2 NA 1 0\nF dan 0 1 44 1 NA\n"
)
REGENIE = b"FID IID Y1 Y2\nF ann 0.5 1\nF bob NA 0\nF dan -1.5 NA\n"
TABLE = b"sample_id\tage\tsite\nann\t31\tnorth\ncem\tNA\tsouth\n"


def cohort() -> xr.Dataset:
    """Four samples with three variants on each of two contigs."""
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), np.zeros((6, 4, 2), np.int8)),
            "variant_position": ("variants", np.array([500, 1500, 9000] * 2)),
            "variant_contig": ("variants", np.repeat([0, 1], 3)),
            "contig_id": ("contigs", np.array(["1", "X"], object)),
            "sample_id": ("samples", np.array(IDS, object)),
        }
    )


def read_map(path: Path) -> None:
    """Positions in centimorgan are numbers, and do not fall along a contig."""
    from genobit.io.genetic_map import read_genetic_map

    table = read_genetic_map(path)
    assert np.isfinite(table[["position", "cm"]].to_numpy("f8")).all()
    for _, part in table.groupby("contig"):
        assert part["position"].is_monotonic_increasing
        assert part["cm"].is_monotonic_increasing


def read_samples(path: Path) -> None:
    """Each column is a variable of the samples, and no sample has lost its place."""
    before = cohort()
    found = before.genobit.join(path)
    assert found.sample_id.values.tolist() == list(IDS)
    for name in set(found.variables) - set(before.variables):
        assert found[name].dims == ("samples",)
        assert found[name].dtype.kind in "fiubO"
