"""Numbers and text of INFO and FORMAT as variables: `variant_AF`, `call_DP`."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import count
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.engine.options import require_fits
from genobit.engine.schedule.graphs import named_layer
from genobit.engine.spelling import did_you_mean
from genobit.io._filters import attributes
from genobit.io.kernels import vcf_fields
from genobit.io.kernels.vcf_fields import FILL, MISSING, VALUE
from genobit.io.vcf_files.calls import Located
from genobit.io.vcf_files.field_texts import split_texts, typed_spans
from genobit.io.vcf_files.records import decoded
from genobit.io.vcf_files.scan import n_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.io.vcf_files.header import Header
    from genobit.io.vcf_files.records import Records

_PART = re.compile("##(INFO|FORMAT)=<")
_NUMBER = re.compile(r"\d+|L?[ARG]|[PM.]")
_RESERVED = {
    ("FORMAT", "DP"): ("1", "Integer"),
    ("FORMAT", "GQ"): ("1", "Integer"),
    ("FORMAT", "AD"): ("R", "Integer"),
}
"""Number and type of fields that a header may leave out, as the specification has them."""
_MOST_GENOTYPES = 10_000
"""Of more possible genotypes, the records decide how many values there are."""
_TYPES: dict[str, type] = {
    "Integer": np.int32,
    "Float": np.float32,
    "Flag": np.bool_,
    "String": object,
    "Character": object,
}
_KINDS = {
    "Integer": (1, 2, 3),
    "Float": (1, 2, 3, 5),
    "Flag": range(16),
    "String": (7,),
    "Character": (7,),
}
"""Types that a BCF has for each Type."""
_MISSING_FLOAT, _FILL_FLOAT = np.array([0x7F800001, 0x7F800002], np.uint32).view(np.float32)
"""VCF Zarr and BCF tell them apart by their bits; both are NaN."""
_NUMBERS, _TEXTS, _VALUE = 2**25, 2**20, 16
"""Values of a chunk: about 128 MB, and the memory of a number while it is read. A text takes 160
bytes."""


@dataclass(frozen=True)
class Field:
    """A field of INFO or FORMAT."""

    part: str
    key: str
    number: str
    kind: str

    @property
    def name(self) -> str:
        """The variable's name in VCF Zarr."""
        return f"{'call' if self.part == 'FORMAT' else 'variant'}_{self.key}"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return np.dtype(_TYPES[self.kind])

    @property
    def is_text(self) -> bool:
        """Whether the values are text."""
        return self.dtype.kind == "O"

    def width(self, alleles: int, ploidy: int) -> int | None:
        """Return the most values at a site of some alleles; None if the records decide."""
        genotypes = comb(alleles + max(ploidy, 2) - 1, max(ploidy, 2))
        by_alleles = {"A": max(alleles - 1, 1), "R": alleles}
        if genotypes <= _MOST_GENOTYPES:
            by_alleles["G"] = genotypes
        if self.kind == "Flag":
            return 1
        if self.number.isdigit():
            return max(int(self.number), 1)
        return by_alleles.get(self.number)

    def dims(self) -> tuple[str, ...]:
        """Return the dimensions, as VCF Zarr names them."""
        own = ("variants", "samples") if self.part == "FORMAT" else ("variants",)
        alone = self.kind == "Flag" or self.number == "1"
        return own if alone else (*own, f"{self.part}_{self.key}_dim")


def named_fields(fields: Sequence[str], header: Header, name: str) -> list[Field]:
    """Return the fields by name: "DP" or "FORMAT/DP" of calls, "INFO/AF" of variants.

    Raises ValueError for GT, for a field that the header lacks, and for a Type or Number that the
    specification lacks.
    """
    if isinstance(fields, str):
        fields = [fields]
    declared: dict[tuple[str, str], tuple[str, str]] = {}
    for line in header.lines:
        part, said = _PART.match(line), attributes(line)
        if part and said.keys() >= {"ID", "Number", "Type"}:
            declared[part[1], said["ID"]] = said["Number"], said["Type"]
    # GT is call_genotype, which is read anyway.
    names = sorted("/".join(x) for x in declared if x != ("FORMAT", "GT"))
    declared = {**_RESERVED, **declared}
    chosen = []
    for k, text in enumerate(fields):
        given, slash, key = text.rpartition("/")
        where = (given if slash else "FORMAT", key)
        if where not in declared:
            same = [known for known in names if known.endswith(f"/{key}")]
            meant = f"; did you mean {same[0]!r}?" if same else did_you_mean("/".join(where), names)
            msg = (
                f"fields[{k}] is {text!r}, which the header of {name} lacks; it has "
                f"{', '.join(names) or 'none'}{meant}"
            )
            raise ValueError(msg)
        times, what = declared[where]
        if where == ("FORMAT", "GT"):
            msg = f"fields[{k}] is {text!r}, which call_genotype always holds: leave it out"
            raise ValueError(msg)
        if what not in _TYPES or not _NUMBER.fullmatch(times):
            msg = (
                f"fields[{k}] is {text!r}, of Type={what} and Number={times} in {name}; a Type is "
                f"{', '.join(_TYPES)}, and a Number digits, a dot, A, R, G, LA, LR, LG, P or M. "
                "Correct the header with 'bcftools reheader'."
            )
            raise ValueError(msg)
        chosen.append(Field(*where, times, what))
    return chosen


def field_readers(
    fields: Sequence[Field],
    file: Located,
    chosen: NDArray[np.intp] | None,
    most: tuple[int, int],
    parts: Sequence[tuple[Any, ...]],
) -> list[FieldReader]:
    """Return readers of fields of a file with at most so many alleles and copies of a chromosome.

    ``parts`` of the file are read here if the header leaves the number of values open: the
    dimension has the length of the longest list, as in VCF Zarr.
    """
    readers = []
    for field in fields:
        width = field.width(*most)
        reader = FieldReader(file.source, file.header, field, chosen, width or 1)
        if not width:
            reader = replace(reader, width=reader.longest(parts))
        what = f"{file.source.name}: {field.part}/{field.key} of a record"
        require_fits(what, reader.width * reader.lists, _VALUE)
        readers.append(reader)
    return readers


@dataclass(frozen=True)
class FieldReader(Located):
    """A file, and the field of it to read."""

    field: Field
    chosen: NDArray[np.intp] | None
    width: int

    @property
    def rows(self) -> int:
        """Records of a chunk that takes about 128 MB."""
        most = _TEXTS if self.field.is_text else _NUMBERS
        return max(most // (self.width * self.lists), 1)

    @property
    def lists(self) -> int:
        """Lists of values that a record of the file has."""
        return len(self.header.samples) if self.field.part == "FORMAT" else 1

    def longest(self, parts: Sequence[tuple[Any, ...]]) -> int:
        """Return the most values of a record or call in parts of the file."""
        with ThreadPoolExecutor(n_threads()) as pool:
            return max(1, *pool.map(lambda part: self._most(*part), parts))

    def _most(self, table: NDArray[np.int64], places: NDArray[np.int64], number: int) -> int:
        steps = self.located(table, places, number)
        return max(self._of(form, records, self.lists)[2] for _, form, records in steps)

    def variable(
        self, table: NDArray[np.int64], places: NDArray[np.int64], sizes: tuple[int, ...]
    ) -> xr.Variable:
        """Return the field as a lazy variable, whose chunks inflate their own blocks."""
        dims, data = self.field.dims(), self._decoded(table, places, sizes)
        return xr.Variable(dims, data if len(dims) == data.ndim else data[..., 0])

    def _decoded(
        self, table: NDArray[np.int64], places: NDArray[np.int64], sizes: tuple[int, ...]
    ) -> da.Array:
        """Return the values (variants, samples, width) or (variants, width), lazily."""
        import dask.array as da

        own = () if self.field.part == "INFO" else (self.kept,)
        parts = self.parts(table, places, sizes)
        name, graph = named_layer("vcf-field", _tasks, self, parts, len(own) + 2)
        chunks = (sizes, *((n,) for n in own), (self.width,))
        return da.Array(graph, name, chunks, self.field.dtype)

    @property
    def kept(self) -> int:
        """Number of samples to read."""
        return len(self.header.samples) if self.chosen is None else self.chosen.size

    def read(self, table: NDArray[np.int64], places: NDArray[np.int64], number: int) -> Any:
        """Return the values of some records."""
        found = [
            self._values(form, records) for _, form, records in self.located(table, places, number)
        ]
        return np.concatenate(found)

    def _values(self, form: Any, records: Records) -> NDArray[Any]:
        samples = self.lists
        values, codes, most = self._of(form, records, samples)
        if most > self.width and self.field.kind != "Flag":
            raise self._too_many(form, records, samples)
        if self.field.kind == "Flag":
            return values
        if not self.field.is_text:
            floats = self.field.kind == "Float"
            missing: Any = (_MISSING_FLOAT, _FILL_FLOAT) if floats else (-1, -2)
            values[codes == MISSING] = missing[0]
            values[codes == FILL] = missing[1]
        if self.field.part == "INFO":
            return values
        values = values.reshape(len(records), samples, self.width)
        return values if self.chosen is None else values[:, self.chosen]

    def _of(
        self, form: Any, records: Records, samples: int
    ) -> tuple[NDArray[Any], NDArray[np.uint8], int]:
        """Return values, what each is, and the most values of a record or call."""
        codes = np.empty((len(records) * samples, self.width), np.uint8)
        if self.field.is_text:
            values, most = self._texts(form, records, samples)
        elif self.header.is_bcf:
            values, most = self._typed(form, records, samples, codes)
        else:
            values, most = self._parsed(form, records, samples, codes)
        return values, codes, most

    def _too_many(self, form: Any, records: Records, samples: int) -> ValueError:
        """Return the error for the first record with more values than Number allows."""
        each = (self._of(form, records.chosen(slice(k, k + 1)), samples)[2] for k in count())
        k, most = next((k, most) for k, most in enumerate(each) if most > self.width)
        return ValueError(
            f"{form.place(records, k)} has {most} values of {self.field.part}/{self.field.key}, "
            f"where Number={self.field.number} allows {self.width}. Leave the field out, or "
            "correct the file."
        )

    def _typed(
        self, form: Any, records: Records, samples: int, codes: NDArray[np.uint8]
    ) -> tuple[NDArray[Any], int]:
        """Read the values of a BCF."""
        found = self._found(form, records, samples)
        if self.field.kind == "Flag":
            return (found[:, 2:] >= 0), 1
        values = np.empty(codes.shape, np.int64)
        most = vcf_fields.read_typed(records.text, found, samples, values, codes)
        kinds = np.repeat(found[:, 2] == 5, samples)
        if self.field.kind == "Integer":
            return values.astype(np.int32), most
        floats = values.astype(np.float32)
        floats[kinds] = values[kinds].astype(np.uint32).view(np.float32)
        return floats, most

    def _parsed(
        self, form: Any, records: Records, samples: int, codes: NDArray[np.uint8]
    ) -> tuple[NDArray[Any], int]:
        """Read the values of text."""
        text, spans = records.text, self._spans(records, samples)
        if self.field.kind == "Flag":
            return (spans[:, :1] >= 0), 1
        numbers, others = np.empty(codes.shape), np.empty((1024, 4), np.int64)
        while True:
            n, most = vcf_fields.parse_numbers(text, spans, numbers, codes, others)
            if n <= others.shape[0]:
                break
            others = np.empty((n, 4), np.int64)
        for row, place, first, last in others[:n].tolist():
            numbers[row, place] = self._number(form, records, row // samples, text[first:last])
        if self.field.kind == "Integer":
            whole = np.where(codes == VALUE, numbers, 0)
            wrong = np.argwhere((whole != np.rint(whole)) | (abs(whole) >= 2**31))
            if wrong.size:
                row = int(wrong[0, 0])
                raise self._wrong(form, records, row // samples, f"{whole[tuple(wrong[0])]:g}")
            return whole.astype(np.int32), most
        return numbers.astype(np.float32), most

    def _texts(self, form: Any, records: Records, samples: int) -> tuple[NDArray[Any], int]:
        """Read text, of a VCF or of a BCF."""
        if self.header.is_bcf:
            spans = typed_spans(self._found(form, records, samples), samples)
        else:
            spans = self._spans(records, samples)
        column = f"{self.field.part}/{self.field.key}"

        def decode(row: int, octets: bytes) -> str:
            return decoded(self.source.name, records, row // samples, octets, column)

        # A comma belongs to the text of a field that has one value.
        split = self.field.number != "1"
        return split_texts(records.text, spans, self.width, decode, split=split)

    def _found(self, form: Any, records: Records, samples: int) -> NDArray[np.int64]:
        """Return where the values of each record of a BCF lie."""
        words = self.header.word_by_number()
        key = next((k for k, word in words.items() if word == self.field.key), -1)
        found = np.empty((len(records), 3), np.int64)
        own = samples if self.field.part == "FORMAT" else 0
        vcf_fields.find_typed(records.text, records.starts, records.where, key, own, found)
        wrong = np.flatnonzero(~np.isin(found[:, 2], [-1, 0, *_KINDS[self.field.kind]]))
        if wrong.size:
            k = int(wrong[0])
            msg = (
                f"{form.place(records, k)}: the values of {self.field.part}/{self.field.key} are "
                f"not of the Type {self.field.kind} that the header gives. Leave the field out, or "
                "correct the header."
            )
            raise ValueError(msg)
        return found

    def _spans(self, records: Records, samples: int) -> NDArray[np.int64]:
        """Return where the values of each record or call of text lie."""
        key = np.frombuffer(self.field.key.encode(), np.uint8)
        spans = np.empty((len(records) * samples, 2), np.int64)
        if self.field.part == "INFO":
            vcf_fields.find_info(records.text, records.where, key, spans)
        else:
            vcf_fields.find_samples(records.text, records.where, key, samples, spans)
        return spans

    def _number(self, form: Any, records: Records, record: int, text: NDArray[np.uint8]) -> float:
        shown = text.tobytes().decode(errors="replace")
        try:
            return float(shown.replace("_", "x"))
        except ValueError:
            raise self._wrong(form, records, record, shown) from None

    def _wrong(self, form: Any, records: Records, record: int, text: str) -> ValueError:
        return ValueError(
            f"{form.place(records, record)}: {text!r} of {self.field.part}/{self.field.key} is no "
            f"{self.field.kind}. Leave the field out, or correct the file."
        )


def _tasks(
    name: str, reader: FieldReader, parts: list[tuple[Any, ...]], ndim: int
) -> dict[Any, Any]:
    rest = (0,) * (ndim - 1)
    return {(name, k, *rest): (reader.read, *part) for k, part in enumerate(parts)}
