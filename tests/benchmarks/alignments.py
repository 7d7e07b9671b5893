"""From a file of an alignment to planes of states, against Biopython reading the FASTA as text."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import dask
import numpy as np

import genobit as gb
from genobit.data.alignment import alignment_of
from genobit.ld.sites import sites_of

from .measure import Row, compared

if TYPE_CHECKING:
    from collections.abc import Iterator

SITES, WIDTH = 30_000, 60


def alignments(taxa: int) -> Iterator[Row]:
    """FASTA, PHYLIP and NEXUS of so many taxa; more than 16 million symbols are lazy."""
    from Bio import AlignIO

    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="synchronous"):
        paths = _written(Path(folder), taxa)
        theirs = partial(AlignIO.read, paths["FASTA"], "fasta")
        work = float(taxa * SITES)
        for name, path in paths.items():
            what = f"{name} to planes of states, {taxa:,} taxa x {SITES:,} sites"
            at, ours = "Biopython, FASTA to text", partial(_planes, path)
            yield compared("readers", what, "symbols/s", at, ours, theirs, work, 1.0)


def _planes(path: Path) -> object:
    found = alignment_of(gb.open_alignment(path), "missing")
    made = sites_of(found.values, found.coding, found.taxa, "T")
    return dask.compute(*made.planes.values())


def _written(folder: Path, taxa: int) -> dict[str, Path]:
    """Write an alignment of like rows, some with N, in each format."""
    rng = np.random.default_rng(1)
    rows = rng.choice(np.frombuffer(b"ACGT", np.uint8), SITES)[None].repeat(taxa, axis=0)
    rows[::7, rng.integers(0, SITES, 200)] = ord("N")
    texts = [row.tobytes().decode() for row in rows]
    named = "".join(f"t{k}  {text}\n" for k, text in enumerate(texts))
    parts = [[text[at : at + WIDTH] for at in range(0, SITES, WIDTH)] for text in texts]
    blocks = "".join(
        f"t{k}  {part}\n" for block in zip(*parts, strict=True) for k, part in enumerate(block)
    )
    head = f"#NEXUS\nbegin data;\ndimensions ntax={taxa} nchar={SITES};\nformat datatype=dna"
    files = {
        "FASTA": "".join(f">t{k}\n" + "\n".join(part) + "\n" for k, part in enumerate(parts)),
        "PHYLIP": f"{taxa} {SITES}\n{named}",
        "NEXUS": f"{head};\nmatrix\n{named};\nend;\n",
        "interleaved NEXUS": f"{head} interleave;\nmatrix\n{blocks};\nend;\n",
    }
    paths = {name: folder / name for name in files}
    for name, path in paths.items():
        path.write_text(files[name])
    return paths
