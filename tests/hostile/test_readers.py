"""Broken files through every reader: right or refused, clearly, soon, and never worse."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.hostile.mutations import broken
from tests.hostile.readers import READERS, STORES, put

if TYPE_CHECKING:
    from collections.abc import Iterator

# Of each way to break a file, where 8 would take long.
NUMBERS = {"zarr2": 1, "zip2": 4, "zip3": 4, "planes": 1}
FILES = [(name, file) for name, reader in READERS.items() for file in reader.parts()]
ALONE = [(name, file) for name, file in FILES if READERS[name].refusals is not STORES]


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fail, instead of waiting for ever, where a reader does not come to an end."""

    def stop(*_: object) -> None:
        raise AssertionError(f"no end after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


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


@pytest.mark.parametrize("name", READERS)
def test_whole_files_are_read(tmp_path: Path, name: str) -> None:
    put(tmp_path / "whole", READERS[name].files)
    assert refusal(name, tmp_path / "whole") is None


@pytest.mark.parametrize(("name", "file"), FILES)
def test_broken_files_are_read_or_refused_by_name(tmp_path: Path, name: str, file: str) -> None:
    files = READERS[name].files
    refused = 0
    for k, (how, data) in enumerate(broken(files[file], 1, NUMBERS.get(name, 8))):
        folder = tmp_path / f"case{k}"
        put(folder, {**files, file: data})
        said = refusal(name, folder)
        if said is not None:
            refused += 1
            # Which taxa a tree lacks is said of the tree, and what a layout lacks of the planes;
            # both need not be in a file.
            known = str(folder) in said or file in said or "tip" in said or "plane" in said
            assert known, (how, said)
    assert refused > 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize("name", ["bgen", "bgen.zlib", "bgen.zstd"])
def test_more_broken_files__of_a_decoder_in_c(tmp_path: Path, name: str, seed: int) -> None:
    for file in READERS[name].parts():
        for k, (how, data) in enumerate(broken(READERS[name].files[file], seed, 100)):
            folder = tmp_path / f"{file}{k}"
            put(folder, {**READERS[name].files, file: data})
            said = refusal(name, folder)
            assert said is None or str(folder) in said, (how, said)


@pytest.mark.parametrize(("name", "file"), ALONE)
def test_files_that_are_missing_or_folders(tmp_path: Path, name: str, file: str) -> None:
    files = {key: data for key, data in READERS[name].files.items() if key != file}
    for kind in ("missing", "folder"):
        put(tmp_path / kind, files)
    (tmp_path / "folder" / file).mkdir()
    optional = file == "a.grm.N.bin"
    for kind in ("missing", "folder"):
        with contextlib.nullcontext() if optional else pytest.raises(FileNotFoundError):
            READERS[name].read(tmp_path / kind)


MANY = ("pvar.zst", "tskit", "map", "hapmap", "shapeit.gz", "pheno", "covar", "sample", "regenie")


@pytest.mark.long
@pytest.mark.parametrize("name", [*MANY, "table.gz"])
def test_a_thousand_broken_files(tmp_path: Path, name: str) -> None:
    (file,) = READERS[name].parts()
    refused = 0
    for k, (how, data) in enumerate(broken(READERS[name].files[file], 3, 200)):
        folder = tmp_path / f"case{k}"
        put(folder, {**READERS[name].files, file: data})
        said = refusal(name, folder)
        refused += said is not None
        assert said is None or str(folder) in said or file in said, (how, said)
    assert refused > 250
    assert k >= 1000


@pytest.mark.long
@pytest.mark.parametrize("file", READERS["pgen"].parts())
def test_a_thousand_broken_files_of_plink_2(tmp_path: Path, file: str) -> None:
    """The library that reads .pgen is compiled: a crash would end this process."""
    files, refused = READERS["pgen"].files, 0
    for k, (how, data) in enumerate(broken(files[file], 2, 165)):
        folder = tmp_path / f"case{k}"
        put(folder, {**files, file: data})
        said = refusal("pgen", folder)
        refused += said is not None
        assert said is None or str(folder) in said or "a." in said, (how, said)
    assert refused > 300
    assert k >= 900
