"""Caches have a folder where there is no home."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from genobit.engine.simd.user_cache import user_cache
from tests.helpers.programs import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names folders of Linux")

# A cache of each kind: compiled kernels, and stores of the readers.
PROGRAM = """
import os, sys
# Before the user changes, who may not be able to read them.
import numba, numpy as np, xarray
import genobit as gb
if len(sys.argv) > 1:
    os.setgroups([])
    os.setgid(int(sys.argv[1]))
    os.setuid(int(sys.argv[1]))
else:
    import pwd
    def unknown(user):
        raise KeyError(f"uid not found: {user}")
    pwd.getpwuid = unknown
for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
    os.environ.pop(name, None)
from genobit.engine.simd.jit import cache_folder
from genobit.io._cache import cached_store
from genobit.engine.bits.words import count_rows

assert count_rows(np.array([[7]], np.uint64)).tolist() == [3]
print(cache_folder())
print(cached_store("sample", "nothing", lambda path: path.mkdir(), None))
"""


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def permissions(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def test_user_cache__is_below_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache() == tmp_path / ".cache" / "genobit"


@pytest.mark.parametrize("home", ["/proc/none", "/dev/null", ""])
def test_user_cache__is_temporary_and_private_if_the_home_cannot_be_written(
    home: str, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", home)
    if not home:
        monkeypatch.setattr("platformdirs.user_cache_path", lambda _: Path("~/.cache/genobit"))
    found = user_cache()
    assert found == temporary / f"genobit-{os.getuid()}" == user_cache()
    assert permissions(found) == 0o700


@pytest.mark.parametrize("kind", ["open to others", "a link", "a file"])
def test_user_cache__is_not_a_folder_that_another_user_may_have_made(
    kind: str, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    taken = temporary / f"genobit-{os.getuid()}"
    if kind == "open to others":
        taken.mkdir()
        taken.chmod(0o777)
    elif kind == "a link":
        (temporary / "other").mkdir()
        taken.symlink_to(temporary / "other")
    else:
        taken.touch()
    found = user_cache()
    assert found.parent == temporary
    assert found != taken
    assert permissions(found) == 0o700


def test_user_cache__names_a_folder_even_if_nothing_can_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    monkeypatch.setattr(tempfile, "tempdir", "/proc/none")
    assert user_cache().is_absolute()


def folders(text: str) -> list[Path]:
    kernels, store = map(Path, text.split())
    assert list(kernels.glob("*.nbc"))
    assert store.is_dir()
    return [kernels.parent.parent, store.parent.parent]


@pytest.mark.compiled("looks for compiled kernels")
def test_caches__work_without_an_account_and_without_home(tmp_path: Path) -> None:
    first, second = folders(run("-c", PROGRAM, TMPDIR=str(tmp_path)))
    assert first == second == tmp_path / f"genobit-{os.getuid()}"


@pytest.mark.compiled("looks for compiled kernels")
@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root takes the id of another user"
)
def test_caches__work_for_a_user_id_without_an_account() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        if not all(parent.stat().st_mode & stat.S_IXOTH for parent in Path(__file__).parents):
            pytest.skip("other users cannot read the sources")
        text = run("-c", PROGRAM, "12345", TMPDIR=folder, PYTHONDONTWRITEBYTECODE="1")
        first, second = folders(text)
        assert first == second == Path(folder) / "genobit-12345"
        assert permissions(first) == 0o700
