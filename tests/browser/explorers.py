"""The explorers that tests open, and their parts on a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Explorer:
    """An explorer: cells that make its data and show it, and its parts by their CSS classes."""

    name: str
    data: str
    show: str

    @property
    def cells(self) -> tuple[str, str]:
        """The cells of a notebook that opens it."""
        return self.data, self.show

    def part(self, page: Any, part: str) -> Any:
        return page.locator(f".genobit-{self.name}-{part}")

    def figure(self, page: Any, view: str) -> Any:
        return page.locator(f".genobit-{self.name}-{view} .bk-Figure").first

    def rows(self, page: Any, table: str = "table") -> Any:
        return page.locator(f".genobit-{self.name}-{table} .slick-row")

    def text(self, page: Any, part: str) -> str:
        return str(self.part(page, part).inner_text())

    def status(self, page: Any) -> str:
        return self.text(page, "status")

    def selection(self, page: Any) -> str:
        return self.text(page, "selection")

    def press(self, page: Any, part: str) -> None:
        self.part(page, part).click()

    def turn(self, page: Any, tab: str) -> None:
        """Show another tab."""
        self.press(page, f"tab-{tab}")

    def search(self, page: Any, words: str, box: str = "search") -> None:
        """Type words into a box, and press Enter."""
        text = page.locator(f".genobit-{self.name}-{box} input")
        text.fill(words)
        text.press("Enter")


LD = Explorer(
    "ld",
    """
import numpy as np
import xarray as xr
import genobit

# A mosaic of 12 founders: neighbours share long stretches, so there is LD to look at.
generator = np.random.default_rng(2)
n_variants, n_haplotypes = 600, 400
founders = generator.random((n_variants, 12)) < generator.uniform(0.05, 0.5, (n_variants, 1))
haplotypes = np.empty((n_variants, n_haplotypes), np.int8)
copied = generator.integers(0, 12, n_haplotypes)
for variant in range(n_variants):
    switch = generator.random(n_haplotypes) < 0.02
    copied[switch] = generator.integers(0, 12, int(switch.sum()))
    haplotypes[variant] = founders[variant, copied]
position = np.sort(generator.choice(np.arange(1_000_000, 1_300_000), n_variants, replace=False))
ds = xr.Dataset(
    {
        "call_genotype": (
            ("variants", "samples", "ploidy"),
            haplotypes.reshape(n_variants, n_haplotypes // 2, 2),
        ),
        "call_genotype_phased": (("variants", "samples"), np.ones((n_variants, 200), bool)),
        "variant_position": ("variants", position),
        "variant_contig": ("variants", np.zeros(n_variants, np.int32)),
        "variant_id": ("variants", np.array([f"v{k}" for k in range(n_variants)])),
        "contig_id": ("contigs", np.array(["7"])),
    }
)
bits = ds.genobit.pack(phased=True)
""",
    "explorer = bits.genobit.explore.ld(statistic='r2')\nexplorer",
)
GRM = Explorer(
    "grm",
    """
import numpy as np
import xarray as xr
import genobit

# Three populations, and in the first a family: parents 0 and 1, children 2 and 3, a copy of 3.
generator = np.random.default_rng(5)
n_variants, n_samples = 800, 90
base = generator.uniform(0.1, 0.9, n_variants)
frequency = np.clip(base[:, None] + generator.normal(0, 0.15, (n_variants, 3)), 0.02, 0.98)
population = np.repeat([0, 1, 2], n_samples // 3)
calls = generator.random((n_variants, n_samples, 2)) < frequency[:, population, None]
for child in (2, 3):
    for parent in (0, 1):
        which = generator.integers(0, 2, n_variants)
        calls[:, child, parent] = calls[np.arange(n_variants), parent, which]
calls[:, 4] = calls[:, 3]
ds = xr.Dataset(
    {
        "call_genotype": (("variants", "samples", "ploidy"), calls.astype("int8")),
        "sample_id": ("samples", np.array([f"s{k:02d}" for k in range(n_samples)])),
        "sample_population": ("samples", np.array(["north", "south", "west"])[population]),
        "sample_height": ("samples", generator.normal(size=n_samples)),
    }
)
""",
    "explorer = ds.genobit.explore.grm()\nexplorer",
)
KENDALL = Explorer(
    "kendall",
    "import genobit as gb\n\nexpr = gb.sample_expression()",
    "explorer = expr.genobit.explore.kendall(threshold=0.7)\nexplorer",
)
EPISTASIS = Explorer(
    "epistasis",
    """
import genobit, numpy as np, xarray as xr

generator = np.random.default_rng(5)
calls = generator.integers(0, 2, (60, 600, 2)).astype("int8")
hets = calls.sum(axis=2) == 1
case = generator.random(600) < np.where(hets[7] ^ hets[40] ^ hets[51], 0.75, 0.25)
ds = xr.Dataset({
    "call_genotype": (("variants", "samples", "ploidy"), calls),
    "variant_id": ("variants", np.array([f"rs{1000 + 17 * k}" for k in range(60)])),
    "variant_contig": ("variants", np.repeat([0, 1, 2], 20)),
    "variant_position": ("variants", np.tile(250_000 * np.arange(1, 21), 3)),
    "variant_allele": (("variants", "alleles"), np.array([["A", "G"]] * 60)),
    "contig_id": ("contigs", np.array(["1", "2", "X"])),
    "sample_case": ("samples", case.astype("int8")),
})
top = ds.genobit.epistasis("sample_case", order=3, permutations=20, seed=1)
""",
    "explorer = ds.genobit.explore.epistasis(top)\nexplorer",
)
PARSIMONY = Explorer(
    "parsimony",
    """
import genobit as gb

aln = gb.sample_alignment()
tree = aln.attrs["tree"]
swapped = tree.replace("species_01", "x").replace("species_12", "species_01")
trees = [tree, swapped.replace("x", "species_12")]
""",
    "explorer = aln.genobit.explore.parsimony(trees)\nexplorer",
)
RANDOM = Explorer(
    "ld",
    """
import genobit, numpy as np, xarray as xr

calls = np.random.default_rng(5).integers(0, 2, (600, 100, 2)).astype("int8")
ds = xr.Dataset({
    "call_genotype": (("variants", "samples", "ploidy"), calls),
    "variant_position": ("variants", 1_000 * np.arange(600)),
    "variant_contig": ("variants", np.zeros(600, "i4")),
})
""",
    "explorer = ds.genobit.explore.ld()\nexplorer",
)
"""LD of random calls."""
