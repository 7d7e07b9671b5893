"""Broken files through every reader: right or refused, clearly, soon, and never worse."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.hostile.deadlines import within
from tests.hostile.mutations import broken
from tests.hostile.readers import READERS, STORES, put

if TYPE_CHECKING:
    pass

# Of each way to break a file, where 8 would take long.
NUMBERS = {"zarr2": 1, "zip2": 4, "zip3": 4, "planes": 1}
FILES = [(name, file) for name, reader in READERS.items() for file in reader.parts()]
WORDS = {"newick": ("tip",), "trees": ("tip",), "planes": ("plane",)}
ALONE = [(name, file) for name, file in FILES if READERS[name].refusals is not STORES]


def refusal(name: str, folder: Path) -> str | None:
    """What a reader says of the files; none if it reads them. Any other exception passes."""
    reader, refused = READERS[name], None
    try:
        with within(600):
            reader.read(folder)
    except reader.refusals as error:
        refused = error
    # A subclass, such as UnicodeDecodeError, is one that nobody has put into words.
    assert type(refused) in {*reader.refusals, type(None)}, repr(refused)
    return None if refused is None else str(refused)


def refused(folder: Path, name: str, file: str, seed: int, number: int) -> tuple[int, int]:
    """Break a file in many ways; returns how many were tried, and refused by name."""
    files, tried, count = READERS[name].files, 0, 0
    for tried, (how, data) in enumerate(broken(files[file], seed, number), 1):
        case = folder / f"{file}{tried}"
        put(case, {**files, file: data})
        said = refusal(name, case)
        if said is not None:
            count += 1
            # Which taxa a tree lacks is said of the tree, and what a layout lacks of the planes;
            # both need not be in a file.
            known = (str(case), *files, *WORDS.get(name, ()))
            assert any(word in said for word in known), (how, said)
    return tried, count


@pytest.mark.parametrize("name", READERS)
def test_whole_files_are_read(tmp_path: Path, name: str) -> None:
    put(tmp_path / "whole", READERS[name].files)
    assert refusal(name, tmp_path / "whole") is None


@pytest.mark.parametrize(("name", "file"), FILES)
def test_broken_files_are_read_or_refused_by_name(tmp_path: Path, name: str, file: str) -> None:
    assert refused(tmp_path, name, file, 1, NUMBERS.get(name, 8))[1] > 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize("name", ["bgen", "bgen.zlib", "bgen.zstd"])
def test_more_broken_files__of_a_decoder_in_c(tmp_path: Path, name: str, seed: int) -> None:
    for file in READERS[name].parts():
        refused(tmp_path, name, file, seed, 100)


@pytest.mark.parametrize(("name", "file"), ALONE)
def test_files_that_are_missing_or_folders(tmp_path: Path, name: str, file: str) -> None:
    files = {key: data for key, data in READERS[name].files.items() if key != file}
    for kind in ("missing", "folder"):
        put(tmp_path / kind, files)
    (tmp_path / "folder" / file).mkdir()
    # Where the only file is missing, the reader is given another name.
    named = pytest.raises(FileNotFoundError, match=rf"a\.none|a.*{re.escape(file[1:])}")
    for kind in ("missing", "folder"):
        with contextlib.nullcontext() if file == "a.grm.N.bin" else named:
            READERS[name].read(tmp_path / kind)


MANY = ("pvar.zst", "tskit", "map", "hapmap", "shapeit.gz", "pheno", "covar", "sample", "regenie")


@pytest.mark.long
@pytest.mark.parametrize("name", [*MANY, "table.gz"])
def test_a_thousand_broken_files(tmp_path: Path, name: str) -> None:
    (file,) = READERS[name].parts()
    tried, count = refused(tmp_path, name, file, 3, 200)
    assert count > 250
    assert tried > 1000


@pytest.mark.long
@pytest.mark.parametrize("file", READERS["pgen"].parts())
def test_a_thousand_broken_files_of_plink_2(tmp_path: Path, file: str) -> None:
    """The library that reads .pgen is compiled: a crash would end this process."""
    tried, count = refused(tmp_path, "pgen", file, 2, 165)
    assert count > 300
    assert tried > 900
