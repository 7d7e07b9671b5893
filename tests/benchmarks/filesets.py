"""Genotypes to measure with: planes in memory, and filesets of PLINK 1."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from genobit.data import layouts
from genobit.engine.bits.layout import Layout, tail_mask, words_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.bits.planes import Planes

SAMPLES = 1092
MISSING = 0.01
"""Share of missing calls."""


def random_planes(rows: int, bits: int, count: int, seed: int = 0) -> Planes:
    """Random planes with clean tails; a sign is set only where its mask is."""
    generator = np.random.default_rng(seed)
    planes = []
    for _ in range(count):
        words = generator.integers(0, 2**64, (rows, words_for(bits)), dtype=np.uint64)
        words[:, -1] &= tail_mask(bits)
        planes.append(words & planes[0] if planes else words)
    return tuple(planes)


def haplotypes(variants: int, bits: int) -> xr.Dataset:
    """A packed Dataset of random haplotypes, in memory."""
    layout = Layout("haplotype", "variants", bits, 2)
    planes = {"plane_alt": (("variants", "words"), random_planes(variants, bits, 1)[0])}
    return layouts.mark_bits(xr.Dataset(planes, attrs=layout.to_attributes()), layout)


def genotypes(calls: NDArray[np.int8], contigs: int = 1) -> xr.Dataset:
    """Calls with the labels that files have."""
    variants, samples, _ = calls.shape
    number = np.arange(variants)
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "variant_contig": ("variants", (number * contigs // variants).astype(np.int32)),
            "contig_id": ("contigs", np.arange(1, contigs + 1).astype(str).astype(object)),
            "variant_position": ("variants", 1 + 2_000 * number),
            "variant_id": ("variants", np.array([f"rs{k}" for k in range(variants)], object)),
            "variant_allele": (("variants", "alleles"), np.full((variants, 2), ["A", "C"], object)),
            "sample_id": ("samples", np.array([f"s{k}" for k in range(samples)], object)),
        }
    )


def labelled(prefix: Path, chromosomes: NDArray[np.int64], samples: int) -> Path:
    """Write the .bim and .fam beside a .bed; returns their prefix."""
    bim = (f"{c} v{k} 0 {k + 1} A G\n" for k, c in enumerate(chromosomes.tolist()))
    prefix.with_suffix(".bim").write_text("".join(bim))
    fam = (f"s{k} s{k} 0 0 {1 + k % 2} -9\n" for k in range(samples))
    prefix.with_suffix(".fam").write_text("".join(fam))
    return prefix


def random_bed(folder: Path, variants: int, samples: int) -> Path:
    """Write a fileset of random calls, none missing; returns its prefix."""
    prefix = folder / "random"
    generator = np.random.default_rng(0)
    dosages = generator.integers(0, 3, (variants, (samples + 3) // 4 * 4), dtype=np.uint8)
    codes = np.array([0, 2, 3], np.uint8)[dosages]
    codes[:, samples:] = 0
    quads = codes.reshape(variants, -1, 4)
    body = (quads << np.array([0, 2, 4, 6], np.uint8)).sum(axis=2, dtype=np.uint8)
    prefix.with_suffix(".bed").write_bytes(b"\x6c\x1b\x01" + body.tobytes())
    return labelled(prefix, np.ones(variants, int), samples)


def source() -> tuple[NDArray[np.uint8], str]:
    """Rows of a .bed file of 1,092 samples, and what they are: real ones where they are at hand."""
    folder = os.environ.get("GENOBIT_SHARED_DATA")
    path = Path(folder or "", "kg1_chr22/kg1_chr22_maf01.bed")
    if folder and path.is_file():
        raw = np.fromfile(path, np.uint8)[3:].reshape(-1, SAMPLES // 4)
        return raw, "1000 Genomes chr22"
    rng = np.random.default_rng(0)
    variants, founders, stretch = 8000, 64, 100
    frequency = 10 ** rng.uniform(-2, np.log10(0.5), (variants, 1))
    alleles = rng.random((variants, founders)) < frequency
    # Each haplotype copies another founder on every stretch.
    copied = rng.integers(0, founders, (variants // stretch, 2 * SAMPLES)).repeat(stretch, axis=0)
    haplotypes = np.take_along_axis(alleles, copied, axis=1).astype(np.uint8)
    dosages = haplotypes[:, ::2] + haplotypes[:, 1::2]
    codes = np.array([3, 2, 0], np.uint8)[dosages].reshape(variants, -1, 4)
    return (codes << np.array([0, 2, 4, 6], np.uint8)).sum(2, dtype=np.uint8), "simulated"


def tiled(folder: Path, variants: int) -> tuple[Path, str]:
    """A fileset of so many variants: the source again and again, on 22 chromosomes at most."""
    rows, what = source()
    prefix = folder / "tiled"
    number = np.arange(variants)
    body = rows[number % len(rows)].tobytes()
    prefix.with_suffix(".bed").write_bytes(b"\x6c\x1b\x01" + body)
    chromosome = np.minimum(number // len(rows) + 1, 22)
    return labelled(prefix, chromosome, SAMPLES), what


def rare_and_common(stem: Path, variants: int, samples: int) -> Path:
    """Write a fileset with rare and common alleles; returns its prefix."""
    rng = np.random.default_rng(1)
    share = rng.beta(0.4, 1.2, variants) / 2 + 0.001
    with stem.with_suffix(".bed").open("wb") as file:
        file.write(b"\x6c\x1b\x01")
        for part in np.array_split(share, max(1, variants // 2_000)):
            copies = rng.binomial(2, part[:, None], (part.size, (samples + 3) // 4 * 4))
            codes = np.array([3, 2, 0], np.uint8)[copies]
            codes[rng.random(codes.shape) < MISSING] = 1
            quads = codes.reshape(part.size, -1, 4) << np.array([0, 2, 4, 6], np.uint8)
            file.write(quads.sum(axis=2, dtype=np.uint8).tobytes())
    return labelled(stem, 1 + 22 * np.arange(variants) // variants, samples)


def lose_calls(bed: Path) -> None:
    """Make one call in a hundred missing: code 1 of the two bits of a call."""
    raw = np.fromfile(bed, np.uint8)
    body = raw[3:]
    rng = np.random.default_rng(1)
    for shift in (0, 2, 4, 6):
        lost = rng.random(body.size, np.float32) < MISSING
        body[lost] = body[lost] & np.uint8(0xFF ^ 3 << shift) | np.uint8(1 << shift)
    raw.tofile(bed)
