from __future__ import annotations

import errno
import os
import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba.core.errors import TypingError

from genobit.engine.simd.jit import cache_folder, njit, target_description
from tests.engine.simd.processes import only_x86, run, start

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.compiled("of compilation itself")

# All products with some kernels, or every one that the CPU has, and every way of an LD matrix.
WORK = """
import hashlib
import sys
import numpy as np
import genobit as gb
from genobit.engine.gemm import products as gemm
from genobit.ld.kernels import pairs as linked_pairs, r2 as ld
from tests.helpers.cohorts import random_calls
from tests.ld.kernels import ld_square
from tests.helpers.windows import rows_of
from tests.helpers.sized import KERNELS

digests = set()
every = ["auto", *KERNELS]
for kernel in sys.argv[1:] or every:
    digest = hashlib.sha256()
    with gb.set_options(kernel=kernel):
        words = np.random.default_rng(1).integers(0, 2**64, (2, 70, 11), np.uint64)
        for product in ("and", "xor", "ternary"):
            planes = tuple(words) if product == "ternary" else (words[0],)
            whole = np.empty((70, 70), np.int64)
            for block in gemm.products(product, planes):
                whole[block.rows, block.columns] = block.counts
            digest.update(whole.tobytes())
        for missing in (0.0, 0.1):
            calls = random_calls(1, 70, 65, missing=missing)
            for haploid in (True, False):
                rows = rows_of(calls, haploid=haploid)
                digest.update(ld_square("r2", rows).tobytes())
                last = np.minimum(np.arange(70) + 9, 69)
                for found in linked_pairs.pairs(rows, None, last, 0, 0.2):
                    digest.update(found.tobytes())
    digests.add(digest.hexdigest())
(found,) = digests
print(found, gemm.chosen_kernel("and", 70), sum(linked_pairs._collect.stats.cache_misses.values()))
"""


# Little work, and how many kernels this process compiled for it. Kernels that only other kernels
# call are not cached, nor are numba's own parts.
COUNTED = """
from numba.core import event
from numba.core.caching import NullCache

class Compiled(event.Listener):
    names = []
    def on_start(self, event):
        kernel = event.data["dispatcher"]
        if kernel.__module__.startswith("genobit") and not isinstance(kernel._cache, NullCache):
            self.names.append(kernel.__name__)
    def on_end(self, event):
        pass

event.register("numba:compile", Compiled())
import numpy as np
from genobit.engine.bits import words as bits
words = np.arange(12, dtype=np.uint64).reshape(3, 4)
some = bits.select_bits(words, np.arange(0, 200, 3))
bits.interleave(words[:, :2].copy(), words[:, 2:].copy(), words)
checks = int(some.sum() + words.sum() + bits.count_rows(words).sum())
print(checks, bits.transpose_bits(words, 200).sum(), len(Compiled.names))
"""


def cpu(name: str) -> dict[str, str]:
    """Environment to compile for another CPU: the name alone keeps the features of the host."""
    name, _, features = name.partition(" ")
    return {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}


def test_njit__releases_the_gil_and_divides_as_numpy_does() -> None:
    @njit
    def divide(x: float, y: float) -> float:
        return x / y

    assert np.isnan(divide(0.0, 0.0))
    assert divide(1.0, 0.0) == np.inf
    assert divide.targetoptions["nogil"]
    assert "parallel" not in divide.targetoptions
    assert "fastmath" not in divide.targetoptions


def test_kernels__are_found_in_the_cache_of_the_package() -> None:
    from genobit.engine.bits import words

    words.count_rows(np.zeros((1, 1), np.uint64))
    found = words.count_rows.stats
    assert Path(found.cache_path) == cache_folder()
    assert [p.name for p in cache_folder().glob("genobit.engine.bits.words.count_rows-*.nbc")]


def test_kernels__can_be_sent_to_another_process() -> None:
    from genobit.engine.bits import words

    again = pickle.loads(pickle.dumps(words.count_rows))
    assert again(np.array([[3, 1]], np.uint64)).tolist() == [3]


@only_x86
def test_cache_folder__is_another_for_each_cpu() -> None:
    code = (
        "from genobit.engine.simd import jit; "
        "print(jit.cache_folder(), jit.target_description()[1])"
    )
    found = {name: run(code, **cpu(name)).stdout.split() for name in ("haswell", "x86-64")}
    assert [name for _, name in found.values()] == ["haswell", "x86-64"]
    folders = {folder for folder, _ in found.values()}
    assert len(folders) == 2
    if target_description()[1] not in found:
        assert str(cache_folder()) not in folders


def test_cache_folder__is_another_when_a_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from genobit.engine.simd import jit

    names = ("engine/simd/cpu.py", "engine/gemm/popcount.py", "ld/kernels/r2.py")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("one")
    monkeypatch.setattr(jit, "PACKAGE", tmp_path)
    folders = [cache_folder.__wrapped__()]
    for name in names:
        (tmp_path / name).write_text("two")
        folders.append(cache_folder.__wrapped__())
    assert len(set(folders)) == 4


@pytest.mark.parametrize("folder", ["/proc/none/cache", "/dev/null/cache"])
@pytest.mark.skipif(sys.platform != "linux", reason="names folders of Linux")
def test_a_cache_that_cannot_be_written_costs_no_result(folder: str) -> None:
    code = """
import numpy as np
from genobit.engine.bits.words import count_rows
print(count_rows(np.array([[7]], np.uint64)))
"""
    assert run(code, NUMBA_CACHE_DIR=folder).stdout == "[3]\n"


def add_one(x: float) -> float:
    return x + 1


def add_two(x: float) -> float:
    return x + 2


def computed_by_new_dispatchers() -> tuple[list[float], int]:
    """Return results of three signatures, and how many of them had to be compiled."""
    kernels = [njit(add_one), njit(add_two)]
    found = [kernels[0](1), kernels[0](0.5), kernels[1](1)]
    return found, sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels)


def damages(intact: bytes, other: bytes) -> Iterator[bytes]:
    """What may stand in a file instead of what was written to it."""
    yield b""
    yield from (intact[:length] for length in (1, 32, 33, len(intact) - 1))
    yield intact + b"\0"
    yield pickle.dumps(None)
    yield other
    random = np.random.default_rng(len(intact))
    yield random.bytes(len(intact))
    for bit in random.integers(8 * len(intact), size=4).tolist():
        flipped = bytearray(intact)
        flipped[bit // 8] ^= 1 << bit % 8
        yield bytes(flipped)


@pytest.fixture
def small_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three compiled signatures."""
    monkeypatch.setattr("genobit.engine.simd.jit.cache_folder", lambda: tmp_path)
    assert computed_by_new_dispatchers() == ([2, 1.5, 3], 3)
    return tmp_path


def test_a_damaged_file_of_the_cache__is_compiled_again_and_replaced(small_cache: Path) -> None:
    assert computed_by_new_dispatchers() == ([2, 1.5, 3], 0)
    files = sorted(small_cache.glob("*.nbc"))
    assert len(files) == 3
    for file, other in zip(files, files[1:] + files[:1], strict=True):
        intact = file.read_bytes()
        for damage in damages(intact, other.read_bytes()):
            file.write_bytes(damage)
            assert computed_by_new_dispatchers() == ([2, 1.5, 3], 1)
            assert computed_by_new_dispatchers() == ([2, 1.5, 3], 0)
    assert not list(small_cache.glob("*.tmp"))


@pytest.mark.parametrize("kind", ["nbc", "lock"])
def test_a_folder_in_place_of_a_file_of_the_cache__costs_no_result(
    small_cache: Path, kind: str
) -> None:
    for file in small_cache.glob("*.lock"):
        file.unlink()
    for kernel in small_cache.glob("*.nbc"):
        file = (
            kernel if kind == "nbc" else kernel.with_name(kernel.name.rsplit(".", 2)[0] + ".lock")
        )
        kernel.unlink()
        file.mkdir()
        assert computed_by_new_dispatchers() == ([2, 1.5, 3], 1)
        file.rmdir()
        computed_by_new_dispatchers()


def test_a_file_of_the_cache_that_cannot_be_read__is_compiled_again(small_cache: Path) -> None:
    for file in small_cache.glob("*.nbc"):
        file.chmod(0)
        # The root user reads it all the same.
        misses = 0 if os.access(file, os.R_OK) else 1
        assert computed_by_new_dispatchers() == ([2, 1.5, 3], misses)
        assert computed_by_new_dispatchers() == ([2, 1.5, 3], 0)


def test_a_full_disk__leaves_no_part_of_a_file_of_the_cache(
    small_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in small_cache.glob("*.nbc"):
        file.unlink()

    def half(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    assert computed_by_new_dispatchers() == ([2, 1.5, 3], 3)
    assert not [file for file in small_cache.iterdir() if file.suffix != ".lock"]


# Kernels that compile quickly, as five processes do it; LD has functions of several signatures.
QUICK = ("popcount", "scalar")


@pytest.mark.long
@pytest.mark.distributed
def test_processes_that_start_at_once_share_an_empty_cache(tmp_path: Path) -> None:
    alone = run(WORK, *QUICK, NUMBA_CACHE_DIR=str(tmp_path / "alone")).stdout.split()
    together = [start(WORK, *QUICK, NUMBA_CACHE_DIR=str(tmp_path / "shared")) for _ in range(4)]
    for process in together:
        out, errors = process.communicate(timeout=1500)
        assert process.returncode == 0, errors
        assert out.split()[:2] == alone[:2]
    names = [sorted(p.name for p in (tmp_path / f).rglob("*.nbc")) for f in ("alone", "shared")]
    assert names[0] == names[1]
    later = run(WORK, *QUICK, NUMBA_CACHE_DIR=str(tmp_path / "shared")).stdout.split()
    assert later == [*alone[:2], "0"]


@pytest.mark.slow
@pytest.mark.distributed
def test_a_kernel__is_compiled_by_one_of_the_processes_that_start_at_once(tmp_path: Path) -> None:
    together = [start(COUNTED, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    answers = []
    for process in together:
        out, errors = process.communicate(timeout=1500)
        assert process.returncode == 0, errors
        answers.append(out.split())
    assert answers[0][:2] == answers[1][:2]
    entries = len(list(tmp_path.rglob("*.nbc")))
    assert entries > 3
    assert sum(int(answer[2]) for answer in answers) == entries


@pytest.mark.slow
@pytest.mark.distributed
def test_a_process_that_was_killed_while_it_compiled__holds_up_no_other(tmp_path: Path) -> None:
    held = """
import sys, time
from genobit.engine.bits import words as bits
cache = bits.count_rows._cache
assert cache._wait()
print("held", flush=True)
time.sleep(1500)
"""
    with start(held, NUMBA_CACHE_DIR=str(tmp_path)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        process.kill()
    assert int(run(COUNTED, NUMBA_CACHE_DIR=str(tmp_path)).stdout.split()[2]) > 3


def test_a_kernel_that_does_not_compile__lets_its_lock_go() -> None:
    @njit
    def wrong(x: int) -> int:
        return x + "text"  # type: ignore[operator]

    for _ in range(2):
        with pytest.raises(TypingError):
            wrong(1)
    assert wrong._cache._held is None


@pytest.fixture(scope="module")
def work_here() -> list[str]:
    return run(WORK).stdout.split()


@pytest.mark.slow
@pytest.mark.distributed
@only_x86
@pytest.mark.parametrize(
    ("name", "needs", "kernel"),
    [
        ("haswell", "avx2", "table"),
        ("x86-64-v2", "sse4.2", "table"),
        ("x86-64-v2 +avx", "avx", "table"),
        ("x86-64", "sse2", "scalar"),
    ],
)
def test_same_bits__on_every_cpu(name: str, needs: str, kernel: str, work_here: list[str]) -> None:
    if not llvm.get_host_cpu_features().get(needs):
        pytest.skip(f"this CPU has no {needs}")
    there = run(WORK, **cpu(name)).stdout.split()
    assert there[:2] == [work_here[0], kernel]


@only_x86
def test_table_kernel__is_refused_where_the_cpu_has_no_byte_lookup() -> None:
    code = """
import numpy as np
import genobit as gb
from genobit.engine.gemm.products import products
with gb.set_options(kernel="table"):
    try:
        list(products("and", (np.ones((1, 1), np.uint64),)))
    except ValueError as error:
        print(error)
"""
    assert "table" in run(code, **cpu("x86-64")).stdout


@only_x86
def test_popcount_kernel__uses_the_vector_popcount_of_avx_512(tmp_path: Path) -> None:
    # Compiled for a CPU that need not be this one, and never run. numba shows no cached assembly.
    code = """
from genobit.engine.simd import cpu
from genobit.engine.gemm import popcount as popcount_gemm
from genobit.engine.gemm.products import chosen_kernel
print(chosen_kernel(), cpu.host())
kernel = popcount_gemm.multiply_and
kernel.compile("void(uint64[:,::1], uint64[:,:,::1], int64, int64[::1], int32[:,::1])")
(assembly,) = kernel.inspect_asm().values()
print(assembly.count("vpopcntq"), assembly.count("zmm"))
"""
    out = run(code, NUMBA_CACHE_DIR=str(tmp_path), **cpu("znver4")).stdout
    first, second = out.splitlines()
    assert first.startswith("popcount Host(vector_popcount=True, byte_lanes=")
    vpopcntq, zmm = map(int, second.split())
    assert vpopcntq >= 16
    assert zmm > 16


@only_x86
def test_matrix_kernel__compiles_to_tile_instructions(tmp_path: Path) -> None:
    # As above: nothing here may run a kernel. The twin is compiled without tiles, which other CPUs
    # lack.
    code = """
from numba import typeof, types
from genobit.engine.gemm import matrix_unit
counts = types.Array(types.int32, 2, "C")
words = types.Array(types.uint64, 2, "C")
bits = types.NamedTuple((words, *(types.none,) * 3), matrix_unit.Operand)
octets = types.Array(types.int8, 2, "C")
digits = types.NamedTuple((words, words, words, octets), matrix_unit.Operand)
memory, tops = typeof(matrix_unit._thread.memory), types.Array(types.int64, 1, "C")
on_unit, by_twin = (types.boolean, types.none), (types.none, types.boolean)
for rows, by in (digits, on_unit), (bits, on_unit), (bits, by_twin):
    matrix_unit.multiply.compile((rows, bits, *by, memory, types.intp, tops, counts))
names = "ldtilecfg", "tileloadd", "tileloaddt1", "tdpbssd", "tilestored", "tilerelease"
for assembly in matrix_unit.multiply.inspect_asm().values():
    print(*(name in assembly for name in names))
"""
    environment = cpu("sapphirerapids +amx-tile,+amx-int8")
    out = run(code, NUMBA_CACHE_DIR=str(tmp_path), **environment).stdout
    of_unit, of_twin = (" ".join([found] * 6) for found in ("True", "False"))
    assert out.splitlines() == [of_unit, of_unit, of_twin]


@pytest.mark.slow
def test_kernel_outside_the_package__is_compiled_anew_for_another_name_or_text(
    tmp_path: Path,
) -> None:
    code = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location(sys.argv[2], sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules[sys.argv[2]] = module
spec.loader.exec_module(module)
print(module.kernel(1), sum(module.kernel.stats.cache_hits.values()))
"""
    file, found = tmp_path / "benchmark.py", []
    for name, more in (("one", 1), ("one", 1), ("another", 1), ("another", 2)):
        kernel = f"@njit\ndef kernel(x):\n    return x + {more}\n"
        text = f"from genobit.engine.simd.jit import njit\n\n\n{kernel}"
        file.write_text(text)
        # Python's own cache knows a file by its size and second, which two of these may share.
        settings = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = run(code, str(file), name, **settings)
        found.append(done.stdout.split())
    assert found == [["2", "0"], ["2", "1"], ["2", "0"], ["3", "0"]]


def test_kernel_of_no_file__is_compiled_and_not_kept(tmp_path: Path) -> None:
    code = """
from genobit.engine.simd.jit import njit
space = {"njit": njit}
exec("@njit\\ndef kernel(x):\\n    return x + 1", space)
print(space["kernel"](1))
"""
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).stdout == "2\n"
    assert not list(tmp_path.rglob("*.nbc"))
