"""The command line: arguments, messages, and files in and out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import xarray as xr

from genobit import cli


def test_no_command__is_refused_with_usage(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([])
    assert stop.value.code == 2
    assert "usage: genobit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "message"),
    [("absent.bed", "no such file"), ("table.txt", "none of the endings .bed, .vcf")],
)
def test_pack__unusable_input_is_one_line_on_stderr(tmp_path, capsys, name, message):
    (tmp_path / "table.txt").write_text("rs1 0 1\n")
    assert cli.main(["pack", str(tmp_path / name), str(tmp_path / "out.gb")]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_pack__bed_to_planes_that_open_again(tmp_path, capsys, shared_data):
    store = tmp_path / "lct.gb"
    source = shared_data / "lct_1kg" / "lct_1kg.bed"
    assert cli.main(["pack", str(source), str(store)]) == 0
    assert "607 variants x 503 samples" in capsys.readouterr().out
    bits = xr.open_zarr(store)
    assert bits.attrs["genobit_layout"] == "dosage"
    assert bits.genobit.ld("r2").shape == (607, 607)


def test_pack__existing_store_is_kept(tmp_path, capsys, shared_data):
    store = tmp_path / "mine"
    store.mkdir()
    source = shared_data / "lct_1kg" / "lct_1kg.bed"
    assert cli.main(["pack", str(source), str(store)]) == 1
    assert "exists" in capsys.readouterr().err
    assert list(store.iterdir()) == []


def test_lab__opens_the_notebook_of_the_checkout(monkeypatch):
    commands = []

    def remember(command, check):
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(cli.subprocess, "run", remember)
    assert cli.main(["lab", "--no-browser"]) == 0
    assert commands[0][:3] == [sys.executable, "-m", "jupyterlab"]
    assert Path(commands[0][3]).name == "tour.ipynb"
    assert commands[0][4:5] == ["--no-browser"]


def test_lab__copies_the_notebooks_of_a_wheel(monkeypatch, tmp_path):
    package = tmp_path / "package"
    (package / "_notebooks").mkdir(parents=True)
    for name in ("grm", "ld"):
        (package / "_notebooks" / f"{name}.ipynb").write_text(name)
    monkeypatch.setattr(cli, "CHECKOUT", tmp_path / "nowhere")
    monkeypatch.setattr(cli, "PACKAGE", package)
    monkeypatch.setattr(cli.subprocess, "run", lambda *a, **_: subprocess.CompletedProcess(a, 0))
    monkeypatch.chdir(tmp_path)
    copies = tmp_path / "genobit-notebooks"
    copies.mkdir()
    (copies / "ld.ipynb").write_text("mine")
    assert cli.main(["lab"]) == 0
    assert (copies / "ld.ipynb").read_text() == "mine"
    assert (copies / "grm.ipynb").read_text() == "grm"


@pytest.mark.parametrize(
    ("arguments", "person", "ci", "served"),
    [
        ([], True, False, True),
        ([], False, False, False),
        ([], True, True, False),
        (["--no-app"], True, False, False),
        (["--app"], False, True, True),
    ],
)
def test_demo__goes_on_to_the_explorers_where_somebody_watches(
    monkeypatch, tmp_path, capsys, arguments, person, ci, served
):
    served_by = pytest.importorskip("voila.app")
    commands = []
    monkeypatch.setattr("genobit.demo.run", lambda folder: folder / "report.html")
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda _: "there")
    monkeypatch.setattr(cli.sys.stdin, "isatty", lambda: person)
    monkeypatch.setattr(cli.sys.stdout, "isatty", lambda: person)
    monkeypatch.delenv("CI", raising=False)
    if ci:
        monkeypatch.setenv("CI", "true")

    def remember(arguments, **settings):
        commands.append(arguments)

    monkeypatch.setattr(served_by.Voila, "launch_instance", remember)
    assert cli.main(["demo", "--out", str(tmp_path), *arguments]) == 0
    assert bool(commands) is served
    assert ("genobit app" in capsys.readouterr().out) is not served
    if served:
        assert Path(commands[0][0]).name == "tour.ipynb"


def test_info__as_text_and_as_json(capsys):
    assert cli.main(["info"]) == 0
    assert "vector popcount" in capsys.readouterr().out
    assert cli.main(["info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["Settings"]["kernel"] == "auto"
