"""The command line: arguments, messages, and files in and out."""

from __future__ import annotations

import errno
import itertools
import json
import subprocess
import sys
import warnings
from pathlib import Path

import dask
import numpy as np
import pytest
import xarray as xr

import genobit
from genobit import cli
from genobit.io import resumable_zarr


def test_no_command__is_refused_with_usage(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([])
    assert stop.value.code == 2
    assert "usage: genobit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.bed", "no such file"),
        ("table.txt", "none of the endings .bed, .bgen, .pgen, .trees, .vcf"),
    ],
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


def test_pack__a_region_of_each_format(tmp_path, capsys, shared_data):
    bed = shared_data / "lct_1kg" / "lct_1kg.bed"
    whole = xr.open_zarr(packed(bed, tmp_path / "whole.gb"))
    region = ("--region", "chr2:136.5Mb-136.6Mb")
    some = xr.open_zarr(packed(bed, tmp_path / "some.gb", *region))
    expected = whole.genobit.sel(variants=region[1])
    xr.testing.assert_equal(some.compute(), expected.compute())
    vcf = shared_data / "kg1_chr22" / "kg1_chr22.vcf.gz"
    region = ("--region", "chr22:16.05Mb-16.1Mb", "--multiallelic", "drop")
    some = xr.open_zarr(packed(vcf, tmp_path / "vcf.gb", *region))
    assert some.variant_position.max() <= 16_100_000
    capsys.readouterr()
    assert cli.main(["pack", str(bed), str(tmp_path / "no.gb"), "--region", "7:1-2"]) == 1
    assert "'7:1-2' is not in variant_id" in capsys.readouterr().err
    assert not (tmp_path / "no.gb").exists()


def test_pack__tree_sequences_and_bgen(tmp_path):
    tskit = pytest.importorskip("tskit", reason="the extra tskit is not installed")
    tables = tskit.Tree.generate_comb(4, span=10).tree_sequence.dump_tables()
    for _ in range(2):
        tables.individuals.add_row()
    tables.nodes.individual = [0, 0, 1, 1, *[-1] * (len(tables.nodes) - 4)]
    tables.mutations.add_row(tables.sites.add_row(3, "A"), node=1, derived_state="T")
    tables.tree_sequence().dump(tmp_path / "a.trees")
    planes = xr.open_zarr(packed(tmp_path / "a.trees", tmp_path / "a.gb"))
    assert planes.genobit.allele_frequency().values.tolist() == [0.25]
    (tmp_path / "a.bgen").write_bytes(b"no BGEN")
    assert cli.main(["pack", str(tmp_path / "a.bgen"), str(tmp_path / "b.gb")]) == 1


def packed(source, store, *options):
    assert cli.main(["pack", str(source), str(store), *options]) == 0
    return store


def test_pack__existing_store_is_kept(tmp_path, capsys, shared_data):
    store = tmp_path / "mine"
    store.mkdir()
    source = shared_data / "lct_1kg" / "lct_1kg.bed"
    assert cli.main(["pack", str(source), str(store)]) == 1
    assert "exists" in capsys.readouterr().err
    assert list(store.iterdir()) == []


def refused_genotypes(folder):
    calls = np.random.default_rng(1).integers(0, 2, (20, 6, 2)).astype("i1")
    alleles = np.array([["A", "C"]] * 20, object)
    ds = xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "variant_position": ("variants", np.arange(1, 21)),
            "variant_contig": ("variants", np.zeros(20, int)),
            "variant_allele": (("variants", "alleles"), alleles),
            "contig_id": ("contigs", np.array(["1"], object)),
            "sample_id": ("samples", np.array(list("abcdef"), object)),
        }
    )
    ds.to_zarr(folder / "good.zarr", consolidated=False)
    ds.call_genotype.values[3, 3, 1] = 5
    ds.to_zarr(folder / "bad.zarr", consolidated=False)
    ds.assign(call_genotype=ds.call_genotype.astype(float)).to_zarr(
        folder / "float.zarr", consolidated=False
    )


@pytest.mark.parametrize("name", ["bad", "float"])
def test_pack__refused_genotypes_leave_nothing(tmp_path, capsys, name):
    refused_genotypes(tmp_path)
    before = sorted(tmp_path.iterdir())
    out = tmp_path / "out.gb"
    for _ in range(2):
        assert cli.main(["pack", str(tmp_path / f"{name}.zarr"), str(out)]) == 1
        assert "call_genotype" in capsys.readouterr().err
        assert sorted(tmp_path.iterdir()) == before
    assert cli.main(["pack", str(tmp_path / "good.zarr"), str(out)]) == 0
    assert xr.open_zarr(out).sizes["variants"] == 20


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 1),
        (MemoryError("too large"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_pack__interrupted_is_refused_and_resumed(tmp_path, capsys, monkeypatch, error, status):
    refused_genotypes(tmp_path)
    out, command = (
        tmp_path / "out.gb",
        ["pack", str(tmp_path / "good.zarr"), str(tmp_path / "out.gb")],
    )

    store, chunks = resumable_zarr._store, itertools.count()

    def stopped(*arguments):
        # A run without a finished chunk would be none.
        if next(chunks):
            raise error
        store(*arguments)

    monkeypatch.setattr(resumable_zarr, "_store", stopped)
    with dask.config.set(scheduler="synchronous"):
        assert cli.main(command) == status
    monkeypatch.undo()
    assert "the same command resumes" in capsys.readouterr().err
    with pytest.raises(ValueError, match="is not complete: to resume"):
        xr.open_zarr(out)
    # Another question in its place is refused, and what is there stays.
    assert cli.main([*command, "--rows", "samples"]) == 1
    assert "holds another run" in capsys.readouterr().err
    assert cli.main(command) == 0
    assert xr.open_zarr(out).genobit.allele_frequency().notnull().all()
    assert not (tmp_path / "out.gb.progress").exists()


def test_pack__an_address_is_refused(tmp_path, capsys, monkeypatch, shared_data):
    monkeypatch.chdir(tmp_path)
    source = shared_data / "lct_1kg" / "lct_1kg.bed"
    for arguments in (["s3://b/x.bed", "out.gb"], [str(source), "s3://b/out.gb"]):
        assert cli.main(["pack", *arguments]) == 1
        assert "'s3://b/" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_key_error__is_shown_without_quotes(capsys, monkeypatch):
    def run(_):
        raise KeyError("no variable 'x'")

    monkeypatch.setattr(cli, "run_info", run)
    assert cli.main(["info"]) == 1
    assert capsys.readouterr().err == "genobit info: no variable 'x'\n"


def test_a_warning__is_one_line_without_code(capsys, monkeypatch):
    def warned(*_):
        warnings.warn("few variants", stacklevel=1)
        return 0

    monkeypatch.setattr(cli, "run_info", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert cli.main(["info"]) == 0
        shown = warnings.showwarning
    assert capsys.readouterr().err == "genobit info: warning: few variants\n"
    assert "_show_warning" not in repr(shown)


def test_lab__opens_the_notebook_of_the_checkout(monkeypatch):
    commands = []

    def remember(command, check):
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(cli.subprocess, "run", remember)
    assert cli.main(["lab", "--no-browser"]) == 0
    assert commands[0][:3] == [sys.executable, "-m", "jupyterlab"]
    (root,) = (part for part in commands[0] if part.startswith("--ServerApp.root_dir="))
    assert (Path(root.partition("=")[2]) / "tour.ipynb").is_file()
    # The address that JupyterLab prints is that of the tour.
    assert "--LabApp.default_url=/lab/tree/tour.ipynb" in commands[0]
    assert commands[0][5:6] == ["--no-browser"]
    # JupyterLab makes a token unless it is told not to.
    assert not any("token" in part or "password" in part for part in commands[0])


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
    monkeypatch.setattr("genobit.launcher.demo.run", lambda folder: folder / "report.html")
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


def test_version__is_printed(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"genobit {genobit.__version__}\n"


def test_info__as_text_and_as_json(capsys):
    assert cli.main(["info"]) == 0
    out = capsys.readouterr().out
    assert "vector popcount" in out
    assert "matrix unit" in out
    assert cli.main(["info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["Settings"]["kernel"] == "auto"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("only", "tables"),
    [(["packing"], 1), pytest.param([], 11, marks=pytest.mark.long)],
    ids=["packing", "all"],
)
def test_bench__runs_its_rows(only: list[str], tables: int) -> None:
    command = [sys.executable, "-m", "genobit", "bench", "--quick", "--json"]
    command += ["--only", *only] if only else []
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = json.loads(done.stdout)["rows"]
    assert len({row["table"] for row in rows}) >= tables
    assert all(row["value"] > 0 for row in rows)
