"""`%load_ext genobit` in a shell: what it changes, and that all of it is put back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import dask
import numpy as np
import pytest
import xarray as xr
from dask.callbacks import Callback, local_callbacks
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import genobit as gb
from genobit.engine import progress
from genobit.engine.progress import bar
from genobit.launcher import ipython


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    before = gb.get_options()
    shell = InteractiveShell()
    yield shell
    ipython.unload_ipython_extension(shell)
    shell.history_manager.end_session()
    gb.set_options(**vars(before))


def packed() -> xr.Dataset:
    calls = np.array([[[0, 1], [1, 1], [-1, -1]]], "int8")
    ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    return ds.genobit.pack()


def html(shell: InteractiveShell, value: object) -> str:
    return shell.display_formatter.format(value)[0].get("text/html", "")


def test_load_and_unload__change_and_put_back(shell: InteractiveShell) -> None:
    before, plain = gb.get_options(), html(shell, packed())
    shell.run_line_magic("load_ext", "genobit")
    assert gb.get_options().progress
    assert "genobit" in shell.magics_manager.magics["line"]
    assert "genobit-summary" in html(shell, packed())
    assert "genobit-summary" not in html(shell, xr.Dataset())
    shell.run_line_magic("unload_ext", "genobit")
    assert gb.get_options() == before
    assert "genobit" not in shell.magics_manager.magics["line"]
    assert "genobit-summary" not in html(shell, packed())
    assert ("genobit-summary" in plain) is False


def test_unload__keeps_what_the_user_has_set_since(shell: InteractiveShell) -> None:
    shell.run_line_magic("load_ext", "genobit")
    shell.run_line_magic("genobit", "options plot_scale=1.5")
    assert gb.get_options().plot_scale == 1.5
    shell.run_line_magic("unload_ext", "genobit")
    assert (gb.get_options().plot_scale, gb.get_options().progress) == (1.5, None)


def test_magic_info__names_kernels_and_escapes(shell: InteractiveShell) -> None:
    shell.run_line_magic("load_ext", "genobit")
    found = shell.run_line_magic("genobit", "info")
    assert "vector popcount" in str(found)
    assert "genobit" in found.sections["Packages"]
    shown = ipython.Info({"<a>": {"&": "<script>"}})._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_magic__says_what_there_is(shell: InteractiveShell, capsys) -> None:
    shell.run_line_magic("load_ext", "genobit")
    shell.run_line_magic("genobit", "")
    assert "%genobit bench" in capsys.readouterr().out


def test_magic_bench__refuses_in_the_words_of_the_command(shell: InteractiveShell, capsys) -> None:
    shell.run_line_magic("load_ext", "genobit")
    shell.run_line_magic("genobit", "bench --only nothing")
    assert "invalid choice" in capsys.readouterr().out


def test_a_cell__shows_a_bar_for_work_of_a_while(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.05)
    shell.user_ns.update(dask=dask, time=time, bar=bar)
    tasks = "[dask.delayed(time.sleep)(0.1) for _ in range(3)]"
    compute = f"dask.compute(*{tasks}, scheduler='sync')"
    shell.run_line_magic("load_ext", "genobit")
    with capture_output() as shown:
        shell.run_cell(compute)
    assert "computing" in shown.stderr
    with capture_output() as shown:
        dask.compute(*[dask.delayed(time.sleep)(0.1) for _ in range(3)], scheduler="sync")
        shell.run_cell(f"with bar(progress=True, desc='own'): {compute}")
    assert "own" in shown.stderr
    assert "computing" not in shown.stderr
    shell.run_line_magic("unload_ext", "genobit")
    with capture_output() as shown:
        shell.run_cell(compute)
    assert "computing" not in shown.stderr


@pytest.mark.parametrize(
    ("text", "theme"),
    [
        ('{\n    // "theme": "JupyterLab Dark",\n    "theme": "JupyterLab Light"\n}', "light"),
        ('{\n    "theme": "JupyterLab Dark"\n}', "dark"),
        (None, "light"),
    ],
)
def test_theme__is_that_of_jupyterlab(tmp_path: Path, text: str | None, theme: str) -> None:
    settings = tmp_path / "themes.jupyterlab-settings"
    if text is not None:
        settings.write_text(text)
    assert ipython.jupyterlab_theme(settings) == theme


def test_cells__begin_and_end_while_another_thread_computes(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    # dask puts the callbacks of all threads aside while one of them computes.
    shell.run_line_magic("load_ext", "genobit")
    with local_callbacks(), capture_output() as shown:
        shell.run_cell("1 + 1")
    assert "Error" not in shown.stdout + shown.stderr
    shell.run_line_magic("unload_ext", "genobit")
    assert Callback.active == set()
