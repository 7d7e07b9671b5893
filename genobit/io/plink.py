"""Open PLINK 1 filesets lazily, and provide the raw .bed rows for packing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import dask.array as da
import numpy as np
import xarray as xr

from genobit.data import model, packer
from genobit.engine.bits.layout import Layout, words_for
from genobit.engine.files import address, is_address, local_path
from genobit.engine.own_words import own_words
from genobit.engine.schedule.graphs import layer_name
from genobit.engine.schedule.packing import DaskPlanes, pack_file, row_chunk
from genobit.io import _remote
from genobit.io._chunks import Rows, file_behind, stamp_of, variant_chunks
from genobit.io._plink_text import read_bim, read_fam, variant_variables, without_skipped
from genobit.io.ped import read_text
from genobit.io.several import takes_several

COUNTED_ALLELE = "variant_allele[:, 1] (A1, bim column 5)"

Chunks = int | Literal["auto"] | tuple[int, ...]
# https://www.cog-genomics.org/plink/1.9/formats#bed: two fixed bytes, then the order.
MAGIC = b"\x6c\x1b"
_VARIANT_MAJOR, _SAMPLE_MAJOR = 1, 0
HEADER = MAGIC + bytes([_VARIANT_MAJOR])
_HEADER_BYTES = len(HEADER)


@dataclass(frozen=True)
class BedFile:
    """A validated variant-major .bed file, reopened for each read.

    ``path`` is absolute, or an address. No file is held open, so the object can be pickled to a
    process or machine that sees the same path.
    """

    path: str
    n_variants: int
    n_samples: int

    @property
    def bytes_per_row(self) -> int:
        """Bytes per variant: four samples per byte, the last byte padded."""
        return (self.n_samples + 3) // 4

    def validate(self) -> None:
        """Check the three header bytes and the file size.

        Raises ValueError if the file is not a .bed or is sample-major. Also if its size does not
        match the numbers of variants and samples.
        """
        header = self._bytes(0, _HEADER_BYTES)
        if header[:2] != MAGIC or len(header) < _HEADER_BYTES:
            raise ValueError(
                f"{self.path} is not a PLINK 1 .bed file: it begins with "
                f"{header[:2].hex(' ') or 'nothing'} instead of {MAGIC.hex(' ')}. For VCF or BCF "
                "use open_vcf."
            )
        if header[2] == _SAMPLE_MAJOR:
            raise ValueError(
                f"{self.path} is sample-major, an order that PLINK stopped writing in 2007. "
                "Rewrite it variant-major: plink --bfile NAME --make-bed --out NEW."
            )
        if header[2] != _VARIANT_MAJOR:
            raise ValueError(
                f"{self.path} has {header[2]} as its third byte; a variant-major .bed has 1. "
                "For PLINK 2 .pgen use open_pgen."
            )
        self._validate_size()

    def _validate_size(self) -> None:
        expected = _HEADER_BYTES + self.n_variants * self.bytes_per_row
        found = self._size_and_mark()[0]
        if found == expected:
            return
        fault = "truncated" if found < expected else "too long"
        raise ValueError(
            f"{self.path} is {fault}: {self.n_variants} variants (.bim) of {self.n_samples} "
            f"samples (.fam) take {expected} bytes, the file has {found}. Copy it again, or "
            "check that .bed, .bim and .fam were written together."
        )

    def read_raw(self, start: int, stop: int) -> np.ndarray:
        """Return rows start:stop as stored: uint8 (stop - start, bytes_per_row), two bits a call.

        See `genobit.io.kernels.bed` for the codes. The padding bits of the last byte are undefined.
        Raises IndexError for a range outside the file, and OSError if the file has been shortened.
        """
        if not 0 <= start <= stop <= self.n_variants:
            msg = f"variants {start}:{stop} are not within the {self.n_variants} of {self.path}."
            raise IndexError(msg)
        width = self.bytes_per_row
        count, first = (stop - start) * width, _HEADER_BYTES + start * width
        if is_address(self.path):
            raw = np.frombuffer(self._bytes(first, first + count), np.uint8)
        else:
            raw = np.fromfile(self.path, dtype=np.uint8, count=count, offset=first)
        if raw.size != count:
            msg = f"{self.path} was changed while in use: variants {start}:{stop} are not there."
            raise OSError(msg)
        return raw.reshape(stop - start, width)

    def part(self, start: int, stop: int) -> BedFile:
        """Return the file: it is small."""
        del start, stop
        return self

    def planes(self, start: int, stop: int) -> np.ndarray:
        """Return carrier, hom_alt and called of A1: uint64 (3, stop - start, words)."""
        from genobit.engine.bits.pack import split_bed

        planes = np.empty((3, stop - start, words_for(self.n_samples)), np.uint64)
        split_bed(self.read_raw(start, stop), self.n_samples, planes)
        return planes

    def calls(self, start: int, stop: int) -> np.ndarray:
        """Return allele indices, -1 if missing: int8 (stop - start, samples, 2)."""
        from genobit.io.kernels.bed import expand_bed_rows

        return expand_bed_rows(self.read_raw(start, stop), self.n_samples)

    def _bytes(self, start: int, stop: int) -> bytes:
        if is_address(self.path):
            return _remote.read_range(self.path, start, stop)
        with Path(self.path).open("rb") as file:
            file.seek(start)
            return file.read(stop - start)

    def _size_and_mark(self) -> tuple[int, object]:
        """Return the size in bytes, and what changes if the file changes."""
        if is_address(self.path):
            return _remote.info_of(self.path)
        return stamp_of(self.path)

    def raw_array(self, chunks: Chunks = "auto") -> da.Array:
        """Return the rows lazily: uint8 (variants, bytes_per_row), chunked along variants."""
        rows = Rows(self.read_raw, (self.n_variants, self.bytes_per_row), np.dtype(np.uint8))
        return self._lazy(rows, chunks, "rows")

    def call_array(self, chunks: Chunks = "auto") -> da.Array:
        """Return the calls as a lazy array: int8 (variants, samples, 2), chunked along variants.

        0 is A2, 1 is A1 and -1 is missing.
        """
        rows = Rows(self.calls, (self.n_variants, self.n_samples, 2), np.dtype(np.int8))
        return self._lazy(rows, chunks, "calls")

    def _lazy(self, rows: Rows, chunks: Chunks, kind: str) -> da.Array:
        """Return a lazy array; its name is equal for the same bytes in the same chunks."""
        sizes = chunks
        if not isinstance(sizes, tuple):
            sizes = variant_chunks(sizes, self.n_variants, 2 * self.n_samples)
        return rows.lazy(sizes, layer_name(f"plink-{kind}", self, *self._size_and_mark(), sizes))


@dataclass(frozen=True, eq=False)
class _TextRows(BedFile):
    """Rows of a .bed in memory, as `read_text` packs them; they are part of the name."""

    rows: np.ndarray

    def read_raw(self, start: int, stop: int) -> np.ndarray:
        return self.rows[start:stop]

    def _size_and_mark(self) -> tuple[int, object]:
        return 0, None


@own_words
@takes_several(".bed", ".ped", ".tped")
def open_plink(
    path: str | os.PathLike[str], *, chunks: int | Literal["auto"] = "auto"
) -> xr.Dataset:
    r"""Open a PLINK 1 fileset (.bed, .bim, .fam; or .ped, .map; or .tped, .tfam) as a Dataset.

    Opening checks the header and the size of the .bed, but reads no genotypes. `pack()` converts
    its rows to bit planes without an int8 copy of the calls. A1 of a text fileset is the rarer
    allele in founders, as ``plink --make-bed`` chooses it; "0" is missing.

    Parameters
    ----------
    path
        Path of the .bed file, or the common prefix of the three files. A list of paths, or a
        pattern such as "chr*.bed", joins files of the same samples along the variants; see
        `concat`. A .ped or .tped is read into memory at once, in two bits a call. From an address,
        such as "https://host/cohort.bed" or "s3://bucket/cohort", only the needed parts of a .bed
        are downloaded. This needs the extra "remote".
    chunks
        Variants per chunk of `call_genotype`; "auto" makes chunks of about 64 MB. A chunk
        has all samples.

    Returns
    -------
    Dataset over `variants`, `samples`, `ploidy` (2), `alleles` (2) and `contigs`:

    - `call_genotype`: int8, lazy; 0 is A2, 1 is A1, -1 is missing. A .bed has no phase, so a
      heterozygous call is (0, 1). Ploidy is always 2. Calls of males on X, Y and MT stay as stored
      in the file.
    - `variant_contig`, `contig_id` (in order of first appearance), `variant_position`, `variant_id`
      and `variant_allele` (A2, then A1). If column 3 of the .bim has a positive number, also
      `variant_genetic_position` in centimorgan, NaN for a negative one. A variant with a negative
      position is left out, as in PLINK; `variant_position.attrs["note"]` counts them.
    - `sample_id` (the individual id, or FAMILY_INDIVIDUAL if individual ids repeat),
      `sample_family_id`, `sample_father_id`, `sample_mother_id`, `sample_sex` (0
      unknown, 1 or M male, 2 or F female).
    - `sample_phenotype`: NaN for -9, NA and ".". In a case/control phenotype, 0 is NaN too, as in
      PLINK. If the file has 0 and 1 but never 2, `attrs["note"]` warns that 0 became NaN. A column
      with text, such as names of populations, holds categories; "" is missing.

    A dosage is the number of copies of A1, as stated in
    `call_genotype.attrs["counted_allele"]`.

    Raises
    ------
    FileNotFoundError
        If one of the three files is missing.
    OSError
        If an address cannot be read, or its server cannot send parts of files.
    ValueError
        If the .bed has a wrong header or size, or is sample-major. If a line of text is malformed,
        has a third allele or half a genotype, or two samples have the same ids.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "tiny.bed").write_bytes(bytes([0x6C, 0x1B, 1, 0b00_10_01_11]))
    >>> _ = (folder / "tiny.bim").write_text("1 rs1 0 1000 A G")
    >>> _ = (folder / "tiny.fam").write_text("".join(f"F S{i} 0 0 0 -9\n" for i in range(4)))
    >>> ds = open_plink(folder / "tiny.bed")
    >>> ds.call_genotype.sum("ploidy").values
    array([[ 0, -2,  1,  2]])
    >>> ds.call_genotype.attrs["counted_allele"]
    'variant_allele[:, 1] (A1, bim column 5)'

    >>> _ = (folder / "tiny.map").write_text("1 rs1 0 1000")
    >>> _ = (folder / "tiny.ped").write_text("F S0 0 0 0 -9 A G" + chr(10) + "F S1 0 0 0 -9 G G")
    >>> open_plink(folder / "tiny.ped").variant_allele.values
    array([['G', 'A']], dtype=object)
    """
    bed: BedFile
    if str(path).endswith((".ped", ".tped")):
        text = local_path(path, "open_plink").absolute()
        bim, samples, rows = read_text(text)
        bed = _TextRows(str(text), bim["id"].size, samples[model.SAMPLE_ID][1].size, rows)
    else:
        bed_path = _bed_path(path)
        bim, samples = _tables(bed_path)
        bed = BedFile(bed_path, bim["id"].size, samples[model.SAMPLE_ID][1].size)
        bed.validate()
    calls = bed.call_array(variant_chunks(chunks, bed.n_variants, 2 * bed.n_samples))
    attrs = {"counted_allele": COUNTED_ALLELE, "plink_bed": bed.path, "plink_bed_name": calls.name}
    variables: dict[str, Any] = {
        "call_genotype": (("variants", "samples", "ploidy"), calls, attrs),
        **variant_variables(bim),
        **samples,
    }
    return without_skipped(xr.Dataset(variables, attrs={"source": bed.path}))


def _tables(bed_path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of the .bim and the variables of the .fam beside a .bed."""
    beside = [bed_path.removesuffix(".bed") + ending for ending in (".bim", ".fam")]
    if not is_address(bed_path):
        bim, fam = map(Path, beside)
        return read_bim(bim), read_fam(fam)
    with _remote.copied(*beside) as (bim, fam):
        return read_bim(bim), read_fam(fam)


def bed_source(call_genotype: xr.DataArray) -> BedFile | None:
    """Return the .bed file of unmodified genotypes, or None; see `file_behind`."""
    return file_behind(call_genotype, "plink_bed", _reopened)


def _reopened(path: str, calls: da.Array) -> tuple[BedFile, da.Array]:
    bed = BedFile(path, n_variants=calls.shape[0], n_samples=calls.shape[1])
    bed.validate()
    return bed, bed.call_array(calls.chunks[0])


def _bed_path(path: str | os.PathLike[str]) -> str:
    """Return the absolute path of the .bed, from its own path or the name of the fileset."""
    if is_address(path):
        found = address(path)
        if "?" in found:
            raise ValueError(
                f"open_plink takes no address with a query, such as {found!r}: .bim and .fam need "
                "addresses of their own. Download the three files, and open the copy"
            )
        return found.removesuffix(".bed") + ".bed"
    given = Path(path).expanduser()
    bed = given if given.suffix == ".bed" else given.with_name(given.name + ".bed")
    if not bed.is_file():
        advice = "Give the .bed file, or the name that .bed, .bim and .fam share."
        if given.is_dir():
            inside = next(iter(sorted(given.glob("*.bed"))), None)
            advice = (
                f"{given} is a folder: give a .bed in it{f', such as {inside}' * bool(inside)}."
            )
        elif given.suffix in {".pgen", ".pvar", ".psam"}:
            pgen = str(given.with_suffix(".pgen"))
            advice = f"For PLINK 2 filesets use genobit.open_pgen({pgen!r})."
        elif given.suffix in {".bim", ".fam"}:
            advice = f"Give the .bed file beside {given.name}, {given.with_suffix('.bed')}."
        elif given.is_file():
            advice = (
                f"{given.name} is no .bed: for VCF use genobit.open_vcf, for .bgen open_bgen, for "
                "alignments open_alignment, and join a table with ds.genobit.join(path)."
            )
        raise FileNotFoundError(f"{bed} does not exist. {advice}")
    return str(bed.absolute())


def _planes(calls: xr.DataArray, layout: Layout, chunk: int | None) -> DaskPlanes | None:
    """Return the planes of the .bed file behind calls; see `packer.FILE_PLANES`."""
    bed = bed_source(calls)
    if bed is None:
        return None
    rows = row_chunk(bed.bytes_per_row, chunk)
    return pack_file(bed, bed._size_and_mark(), layout, rows)


packer.FILE_PLANES.append(_planes)
