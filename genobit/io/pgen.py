"""Open PLINK 2 filesets lazily, and provide counts of ALT for packing."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import dask.array as da
import numpy as np
import xarray as xr

from genobit.data import packer
from genobit.engine.bits.layout import Layout, words_for
from genobit.engine.extras import require
from genobit.engine.files import local_path
from genobit.engine.own_words import own_words
from genobit.engine.schedule.graphs import layer_name
from genobit.engine.schedule.packing import DaskPlanes, pack_file, row_chunk
from genobit.io._chunks import Rows, file_behind, stamp_of, variant_chunks
from genobit.io._plink_text import variant_variables, without_skipped
from genobit.io.pgen_files._header import COUNTED_ALLELE, PROVISIONAL, Header, read_header
from genobit.io.pgen_files._psam import read_samples
from genobit.io.pgen_files._pvar import read_variants
from genobit.io.several import takes_several

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_BUFFER = 2**20
"""Allele indices that are read at once, as int32."""
_MISSING = -9
_TABLES = (".pvar", ".pvar.zst", ".psam", ".bim", ".fam")
_DTYPES = {"calls": np.int8, "phased": np.bool_, "dosages": np.float32}


@dataclass(frozen=True, eq=False)
class PgenFile:
    """A validated .pgen file, reopened for each read.

    ``path`` is absolute. No file is held open, so the object can be pickled. A reader of pgenlib
    must not be shared by threads.
    """

    path: str
    n_variants: int
    n_samples: int
    stamp: tuple[int, int]
    """Size and time of the file when it was opened."""
    multiallelic: NDArray[np.int64] | None = None
    """Numbers of the variants with more than two alleles, and their alleles (2, variants)."""

    @contextmanager
    def _reader(self, what: str) -> Iterator[Any]:
        """Yield a reader of pgenlib; errors name the file and ``what`` is read.

        Raises OSError if the file has changed since it was opened.
        """
        import pgenlib

        if stamp_of(self.path) != self.stamp:
            raise OSError(f"{self.path} was changed while in use. Open it again.")

        offsets = None
        if self.multiallelic is not None:
            alleles = np.full(self.n_variants, 2)
            alleles[self.multiallelic[0]] = self.multiallelic[1]
            offsets = np.concatenate([[0], np.cumsum(alleles)]).astype(np.uintp)
        try:
            with pgenlib.PgenReader(
                os.fsencode(self.path),
                raw_sample_ct=self.n_samples,
                variant_ct=self.n_variants,
                allele_idx_offsets=offsets,
            ) as reader:
                yield reader
        except RuntimeError as error:
            # Messages of the library itself are bytes.
            said = error.args[0] if error.args else ""
            reason = (said.decode(errors="replace") if isinstance(said, bytes) else said).strip()
            raise ValueError(
                f"{self.path} is damaged or was changed: {what} cannot be read ({reason}). Copy it "
                "again, or check it with plink2 --pfile NAME --validate."
            ) from error

    def validate(self) -> Header:
        """Check the header and the size of the file, and return the header.

        Raises ValueError if the file is not a .pgen, or has other numbers of variants and samples.
        """
        header = read_header(self.path)
        found = (header.n_variants, header.n_samples)
        for what, has, lists in zip(
            ("variants", "samples"), found, (self.n_variants, self.n_samples), strict=True
        ):
            if has != lists:
                table = "the .pvar or .bim" if what == "variants" else "the .psam or .fam"
                raise ValueError(
                    f"{self.path} has {has} {what}, and {table} beside it lists {lists}. The "
                    "files do not belong together, or one is truncated."
                )
        return header

    def require_readable(self) -> None:
        """Raise ValueError if the index of the file is damaged."""
        with self._reader("its index"):
            pass

    def counts(self, start: int, stop: int) -> NDArray[np.int8]:
        """Return copies of the first ALT, -9 if missing: int8 (stop - start, samples)."""
        found = np.empty((stop - start, self.n_samples), np.int8)
        with self._reader(f"variants {start}:{stop}") as reader:
            reader.read_range(start, stop, found)
        return found

    def part(self, start: int, stop: int) -> PgenFile:
        """Return the file: it is small."""
        del start, stop
        return self

    def planes(self, start: int, stop: int) -> NDArray[np.uint64]:
        """Return carrier, hom_alt and called of ALT: uint64 (3, stop - start, words)."""
        from genobit.engine.bits.pack import pack_counts

        planes = np.empty((3, stop - start, words_for(self.n_samples)), np.uint64)
        pack_counts(self.counts(start, stop), planes)
        return planes

    def calls(self, start: int, stop: int) -> NDArray[np.int8]:
        """Return allele indices, -1 if missing: int8 (stop - start, samples, 2)."""
        from genobit.io.kernels.pgen import narrow_alleles

        found = np.empty((stop - start, 2 * self.n_samples), np.int8)
        with self._reader(f"variants {start}:{stop}") as reader:
            for at, buffer in self._buffers(start, stop):
                reader.read_alleles_range(at, at + len(buffer), buffer)
                narrow_alleles(buffer, found[at - start : at - start + len(buffer)])
        return found.reshape(stop - start, self.n_samples, 2)

    def phased(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Return which calls have known phase: bool (stop - start, samples)."""
        found = np.empty((stop - start, self.n_samples), bool)
        with self._reader(f"variants {start}:{stop}") as reader:
            for at, buffer in self._buffers(start, stop):
                part = found[at - start : at - start + len(buffer)]
                reader.read_alleles_and_phasepresent_range(at, at + len(buffer), buffer, part)
        return found

    def dosages(self, start: int, stop: int) -> NDArray[np.float32]:
        """Return dosages of the first ALT, NaN if missing: float32 (stop - start, samples)."""
        found = np.empty((stop - start, self.n_samples), np.float32)
        numbers = np.empty(0, np.int64) if self.multiallelic is None else self.multiallelic[0]
        several = numbers[(numbers >= start) & (numbers < stop)]
        counts, at = np.empty(self.n_samples, np.int8), start
        with self._reader(f"the dosages of variants {start}:{stop}") as reader:
            # The library reads no dosages of variants with more alleles, and plink2 stores none.
            for number in [*several.tolist(), stop]:
                if at < number:
                    reader.read_dosages_range(at, number, found[at - start : number - start])
                if number < stop:
                    reader.read(number, counts)
                    found[number - start] = counts
                at = number + 1
        found[found == _MISSING] = np.nan
        return found

    def _buffers(self, start: int, stop: int) -> Iterator[tuple[int, NDArray[np.int32]]]:
        """Yield the number of a first variant, and room for its alleles and those of the next."""
        width = 2 * self.n_samples
        rows = max(_BUFFER // width, 1)
        buffer = np.empty((min(rows, stop - start), width), np.int32)
        for at in range(start, stop, rows):
            yield at, buffer[: min(rows, stop - at)]

    def array(self, kind: str, sizes: tuple[int, ...]) -> da.Array:
        """Return what a method reads of all variants as a lazy array, chunked along variants."""
        facts = (self.path, self.n_variants, self.n_samples, self.multiallelic)
        name = layer_name(f"pgen-{kind}", *facts, *self.stamp, sizes)
        shape = (self.n_variants, self.n_samples) + ((2,) if kind == "calls" else ())
        return Rows(getattr(self, kind), shape, np.dtype(_DTYPES[kind])).lazy(sizes, name)


@own_words
@takes_several(".pgen")
def open_pgen(
    path: str | os.PathLike[str],
    *,
    dosages: bool = False,
    chunks: int | Literal["auto"] = "auto",
) -> xr.Dataset:
    r"""Open a PLINK 2 fileset (.pgen, .pvar, .psam) as a lazy Dataset.

    Opening checks the header and the size of the .pgen, but reads no genotypes. If no variant has
    more than two alleles, `pack()` makes bit planes directly from counts of ALT. It then makes no
    int8 copy of the calls.

    Parameters
    ----------
    path
        Path of the .pgen file, or the common prefix of the three files. The variants may be in a
        .pvar, .pvar.zst or .bim, the samples in a .psam or .fam. A list of paths, or a pattern
        such as "chr*.pgen", joins files of the same samples along the variants; see `concat`.
    dosages
        Whether to read `call_dosage` too.
    chunks
        Variants per chunk of the calls; "auto" makes chunks of about 64 MB of calls. A chunk has
        all samples.

    Returns
    -------
    Dataset over `variants`, `samples`, `ploidy` (2), `alleles` and `contigs`:

    - `call_genotype`: int8, lazy; allele index, 0 is REF and -1 is missing. A heterozygous call
      without phase has the lower index first. Ploidy is always 2. Calls of males on X, Y and MT
      stay as stored in the file.
    - `call_genotype_phased`: bool, lazy; true for homozygous calls and for heterozygous calls with
      phase.
    - `call_dosage`, with ``dosages``: float32, lazy; dosage of the first ALT from 0 to 2, NaN is
      missing. If no dosage is stored for a call, this is its number of copies of the first ALT.
    - `variant_contig`, `contig_id` (in order of first appearance), `variant_position` and
      `variant_id`.
    - `variant_allele`: REF first, then each ALT; "" if a variant has fewer alleles.
    - `variant_quality` if the file has QUAL, `variant_filter`, `filter_id` and
      `filter_description` if it has FILTER.
    - `variant_genetic_position`, in centimorgan, if a number of the CM column is positive;
      NaN for a negative one. A variant with a negative position is left out, as in plink2;
      `variant_position.attrs["note"]` counts them.
    - `sample_id` (IID, or FID_IID if individual ids repeat). `sample_family_id`,
      `sample_father_id`, `sample_mother_id`, and `sample_sex` (0 unknown, 1 male, 2 female), if
      the file has these columns.
    - phenotypes: `sample_phenotype` for the column PHENO1, and `sample_NAME` for another column
      NAME. NaN for -9 and NA; in a case/control phenotype, 0 is NaN too, as in PLINK. A column of
      text is a column of categories, and "" is missing.

    A dosage is the number of copies of the first ALT, as stated in
    `call_genotype.attrs["counted_allele"]`. This text also says if the reference is provisional, as
    in files that were made from a .bed.

    Raises
    ------
    FileNotFoundError
        If one of the three files is missing.
    ValueError
        If the .pgen is damaged or another kind of file, or if its numbers of variants or samples
        differ from those of the tables. If a line of a table is malformed, or two samples have the
        same ids. If a variant has more than 128 alleles. A damaged record is an error when its
        chunk is computed.
    OSError
        If the file is changed between opening and computing.
    ModuleNotFoundError
        If pgenlib is not installed.

    Notes
    -----
    Each task opens the file anew, which takes 50 us for 50,000 variants, and holds one chunk.
    INFO columns are not read.

    References
    ----------
    Chang CC et al. (2015) Second-generation PLINK: rising to the challenge of larger and richer
    datasets. *GigaScience* 4:7.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> header = bytes([0x6C, 0x1B, 0x02]) + bytes([1, 0, 0, 0, 4, 0, 0, 0, 0x40])
    >>> _ = (folder / "tiny.pgen").write_bytes(header + bytes([0b11_10_01_00]))
    >>> _ = (folder / "tiny.pvar").write_text("#CHROM POS ID REF ALT\n1 1000 rs1 G A")
    >>> _ = (folder / "tiny.psam").write_text("#IID SEX\na 1\nb 2\nc 2\nd NA\n")
    >>> ds = open_pgen(folder / "tiny.pgen")
    >>> ds.call_genotype.sum("ploidy").values
    array([[ 0,  1,  2, -2]])
    >>> ds.sample_sex.values.tolist(), ds.call_genotype.attrs["counted_allele"]
    ([1, 2, 2, 0], 'variant_allele[:, 1] (ALT)')
    """
    pgen_path = _pgen_path(path)
    stamp = stamp_of(pgen_path)
    variants = read_variants(_beside(pgen_path, (".pvar", ".pvar.zst", ".bim")))
    samples = read_samples(_beside(pgen_path, (".psam", ".fam")))
    require("open_pgen", "pgenlib")
    counts = variants["allele_counts"]
    several = np.flatnonzero(counts > 2)
    pgen = PgenFile(
        str(pgen_path),
        n_variants=counts.size,
        n_samples=samples["sample_id"][1].size,
        stamp=stamp,
        multiallelic=np.stack([several, counts[several]]) if several.size else None,
    )
    header = pgen.validate()
    pgen.require_readable()
    sizes = variant_chunks(chunks, pgen.n_variants, 2 * pgen.n_samples)
    calls = pgen.array("calls", sizes)
    attrs = {
        "counted_allele": PROVISIONAL if header.provisional else COUNTED_ALLELE,
        "plink_pgen": pgen.path,
        "plink_pgen_name": calls.name,
    }
    variables: dict[str, Any] = {
        "call_genotype": (("variants", "samples", "ploidy"), calls, attrs),
        "call_genotype_phased": (("variants", "samples"), pgen.array("phased", sizes)),
        **_variant_variables(variants),
        **samples,
    }
    if dosages:
        variables["call_dosage"] = (("variants", "samples"), pgen.array("dosages", sizes))
    return without_skipped(xr.Dataset(variables, attrs={"source": pgen.path}))


def _variant_variables(variants: dict[str, NDArray[Any]]) -> dict[str, Any]:
    found = variant_variables(variants)
    if "quality" in variants:
        found["variant_quality"] = ("variants", variants["quality"])
    if "filter" in variants:
        found["variant_filter"] = (("variants", "filters"), variants["filter"])
        found["filter_id"] = ("filters", variants["filter_id"])
        found["filter_description"] = ("filters", variants["filter_description"])
    return found


def pgen_source(call_genotype: xr.DataArray) -> PgenFile | None:
    """Return the .pgen file of unmodified genotypes, or None; see `file_behind`.

    The name of a file with more than two alleles contains them, so such a file is not found.
    """
    return file_behind(call_genotype, "plink_pgen", _reopened)


def _reopened(path: str, calls: da.Array) -> tuple[PgenFile, da.Array]:
    pgen = PgenFile(path, calls.shape[0], calls.shape[1], stamp_of(path))
    pgen.validate()
    return pgen, pgen.array("calls", calls.chunks[0])


def _pgen_path(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path of the .pgen, from its own path or the name of the fileset."""
    given = local_path(path, "open_pgen")
    pgen = given if given.suffix == ".pgen" else given.with_name(given.name + ".pgen")
    if not pgen.is_file():
        advice = "Give the .pgen file, or the name that .pgen, .pvar and .psam share."
        if given.suffix == ".bed":
            advice = f"For PLINK 1 filesets use genobit.open_plink({str(path)!r})."
        elif given.name.endswith(_TABLES):
            stem = given.name.removesuffix(".zst").rpartition(".")[0]
            advice = f"Give the .pgen file beside {given.name}, {given.with_name(stem + '.pgen')}."
        raise FileNotFoundError(f"{pgen} does not exist. {advice}")
    return pgen.absolute()


def _beside(pgen: Path, suffixes: tuple[str, ...]) -> Path:
    """Return the first file of the fileset with one of the suffixes."""
    for suffix in suffixes:
        path = pgen.with_suffix(suffix)
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"{pgen.with_suffix(suffixes[0])} does not exist. A PLINK 2 fileset is three files of one "
        f"name, and {pgen.name} needs one that ends in {' or '.join(suffixes)}."
    )


def _planes(calls: xr.DataArray, layout: Layout, chunk: int | None) -> DaskPlanes | None:
    """Return the planes of the .pgen file behind calls; see `packer.FILE_PLANES`."""
    pgen = pgen_source(calls)
    if pgen is None:
        return None
    # A chunk of packed calls is read as int8.
    return pack_file(pgen, pgen.stamp, layout, row_chunk(pgen.n_samples, chunk))


packer.FILE_PLANES.append(_planes)
