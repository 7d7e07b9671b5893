"""The core computes without the extras, and what needs an extra says how to install it."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

import genobit
from genobit.engine.extras import EXTRAS, REQUIREMENTS, install_command, needed_by, require
from tests.helpers.programs import run

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = Path(genobit.__file__).parent
# Parts of the program that runs: a notebook, JupyterLab or voila.
HOSTS = {"IPython", "jupyter_core", "jupyter_server", "tornado"}

DATA = """
import json, os, sys
import numpy as np, xarray as xr
import genobit as gb

def cohort():
    rng = np.random.default_rng(0)
    calls = rng.integers(0, 2, (60, 40, 2)).astype("i1")
    return xr.Dataset({
        "call_genotype": (("variants", "samples", "ploidy"), calls),
        "variant_position": ("variants", np.arange(60) * 1000 + 1),
        "variant_contig": ("variants", np.zeros(60, "i4")),
        "contig_id": ("contigs", ["1"]),
        "sample_id": ("samples", [f"s{i}" for i in range(40)]),
    })

def alignment():
    letters = np.random.default_rng(0).choice(list("ACGT"), (6, 30))
    taxa = [f"t{i}" for i in range(6)]
    return xr.DataArray(letters, dims=("taxa", "sites"), coords={"taxa": taxa})
"""

# pandas looks for pyarrow when it is imported: what is blocked is blocked before.
CORE = (
    """
import sys
for package in sys.argv[1:]:
    sys.modules[package] = None
"""
    + DATA
    + """
from genobit import *
ds, aln = cohort(), alignment()
bits = ds.genobit.pack()
rng = np.random.default_rng(1)
case, trait = rng.integers(0, 2, 40), rng.normal(size=40)
expr = xr.DataArray(rng.normal(size=(8, 20)), dims=("gene", "cell"))
fingerprints = xr.DataArray(rng.integers(0, 2, (6, 30)).astype(bool), dims=("mol", "bit"))
stored = os.path.join(os.environ["STORES"], "c.gb")
results = {
    "ld": ds.genobit.ld().compute(),
    "a window": bits.genobit.ld(window="10kb").compute(),
    "EM": ds.genobit.ld("r2_em").compute(),
    "ld_prune": bits.genobit.ld_prune(20, 5, 0.3),
    "ld_clump": bits.genobit.ld_clump(rng.uniform(size=60), 0.2, 40, 0.5, 0.9),
    "ld_score": bits.genobit.ld_score(30).compute(),
    "ld_decay": bits.genobit.ld_decay("100kb", bins=5, resamples=4, parts=3),
    "ld_blocks": bits.genobit.ld_blocks("100kb"),
    "sites": aln.genobit.ld("T").compute(),
    "similarity": fingerprints.genobit.similarity(dim="bit").compute(),
    "grm": ds.genobit.grm().compute(),
    "king": ds.genobit.grm("king").compute(),
    "unrelated": ds.genobit.unrelated(),
    "crossproduct": ds.genobit.crossproduct().compute(),
    "pca": ds.genobit.pca(3),
    "kendall": ds.genobit.kendall().compute(),
    "kendall of arrays": expr.genobit.kendall(pvalue=True).compute(),
    "kendall_pairs": expr.genobit.kendall_pairs(0.1, None),
    "epistasis": ds.genobit.epistasis(case, order=2, top=3),
    "epistasis of a trait": ds.genobit.epistasis(trait, order=2, top=3, statistic="f"),
    "epistasis with covariates": ds.genobit.epistasis(
        case, top=3, statistic="logistic", covariates=ds.genobit.pca(1).scores
    ),
    "parsimony_search": aln.genobit.parsimony_search(
        seed=1, effort=gb.SearchEffort(replicates=2, iterations=2)
    ),
    "frequency": ds.genobit.allele_frequency().compute(),
}
gb.to_zarr(bits, stored)
xr.testing.assert_equal(xr.open_zarr(stored, consolidated=False).compute(), bits.compute())
chosen = gb.Selection(ds, samples=["s1", "s3"])
results["selection"] = chosen
print(len([name for name, result in results.items() if result is not None]))
"""
)

# A child for each package, which forgets it and calls what needs it.
REFUSED = (
    """
import sys
sys.modules["pyarrow"] = None
"""
    + DATA
    + """
import pathlib
folder = pathlib.Path(sys.argv[1])
(folder / "some.vcf").write_text("##fileformat=VCFv4.2\\n")
(folder / "some.nex").write_text(
    "#NEXUS\\nbegin data;\\ndimensions ntax=2 nchar=2;\\nformat datatype=dna;\\n"
    "matrix\\na AC\\nb AG\\n;\\nend;\\n"
)

def plots():
    from genobit import plots

def command(name):
    from genobit.cli import main
    import contextlib, io
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        assert main([name]) == 1
    return said.getvalue()

for name, text in ("psam", "#IID\\na\\n"), ("pvar", "#CHROM POS ID REF ALT\\n1 1 x A C\\n"):
    (folder / f"other.{name}").write_text(text)
(folder / "other.pgen").write_bytes(b"")

def alleles():
    ds = cohort()
    return ds.assign(variant_allele=(("variants", "alleles"), [["A", "C"]] * 60))

def vcf():
    return gb.open_vcf(folder / "some.vcf", cache_dir=folder)

def explore():
    return cohort().genobit.explore.ld()

def explore_array():
    return alignment().genobit.explore.parsimony()

calls = {
    "aiohttp": [lambda: gb.open_plink("http://127.0.0.1:9/cohort.bed")],
    "anywidget": [explore, explore_array],
    "bokeh": [plots, explore, explore_array],
    "dendropy": [lambda: gb.sample_alignment()],
    "holoviews": [plots, explore, explore_array, lambda: command("demo")],
    "ipywidgets": [explore, explore_array, lambda: cohort().genobit.explore()],
    "jupyterlab": [lambda: command("lab")],
    "matplotlib": [plots, lambda: cohort().genobit.plot.relatedness()],
    "msprime": [lambda: gb.sample_dataset(cache_dir=folder)],
    "pgenlib": [
        lambda: gb.to_pgen(alleles(), folder / "some"),
        lambda: gb.open_pgen(folder / "other"),
    ],
    "pyarrow": [
        lambda: cohort().genobit.ld_pairs(threshold=0.3).to_parquet(folder / "pairs"),
        lambda: cohort().genobit.grm_pairs(threshold=0.1).to_parquet(folder / "pairs"),
        lambda: cohort().genobit.kendall_pairs(0.1).to_parquet(folder / "pairs"),
        lambda: gb.open_pairs(folder / "pairs.parquet"),
        lambda: command("demo"),
    ],
    "s3fs": [lambda: gb.open_plink("s3://bucket/cohort.bed")],
    "tskit": [lambda: gb.open_tskit(folder / "some.trees")],
    "voila": [lambda: command("app")],
}
os.environ["CI"] = "true"
for package, needed in calls.items():
    child = os.fork()
    if child == 0:
        status = 1
        try:
            sys.modules[package] = None
            for call in needed:
                try:
                    said, kind = call(), "returned"
                except BaseException as error:
                    said, kind = str(error), [type(error).__name__, getattr(error, "name", "")]
                print(json.dumps([package, kind, str(said)]), flush=True)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
"""
)


def extras() -> dict[str, set[str]]:
    """Return the packages that each extra brings, and of "" those of the core."""
    pyproject = PACKAGE.parent / "pyproject.toml"
    if pyproject.is_file():
        project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
        named = {"": project["dependencies"], **project["optional-dependencies"]}
        lines = [(line, extra) for extra, lines in named.items() for line in lines]
    else:
        marked = (line.partition(";") for line in importlib.metadata.requires("genobit") or [])
        lines = [(line, "".join(re.findall(r"['\"](\w+)['\"]", of))) for line, _, of in marked]
    found: dict[str, set[str]] = {}
    for line, extra in lines:
        name = re.match(r"[A-Za-z0-9_.-]+", line)
        assert name
        found.setdefault(extra, set()).add(name[0].replace("-", "_"))
    return found


def test_each_optional_package__is_in_the_extra_that_messages_name() -> None:
    found = extras()
    optional = set().union(*(packages for extra, packages in found.items() if extra))
    assert optional - found[""] - {"genobit"} == set(EXTRAS)
    for package, extra in EXTRAS.items():
        assert package in found[extra]


def requirement(line: str) -> Requirement:
    """Return a requirement by name and extras, without the version and the marker."""
    found = Requirement(line)
    return Requirement(str(Requirement(f"{found.name}[{','.join(sorted(found.extras))}]")))


def test_install_commands__install_what_the_extra_does() -> None:
    pyproject = PACKAGE.parent / "pyproject.toml"
    if not pyproject.is_file():
        pytest.skip("a wheel has no pyproject.toml")
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    named = project["optional-dependencies"]
    assert set(REQUIREMENTS) == set(named) - {"all"}
    for package, extra in EXTRAS.items():
        program, verb, *packages = shlex.split(install_command(package))
        assert (program, verb) == ("pip", "install")
        assert set(map(requirement, packages)) == set(map(requirement, named[extra]))


def imported(file: Path) -> set[str]:
    """Return the top-level packages that a file imports, for types alone too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def test_each_package_that_is_imported__is_declared() -> None:
    found = set().union(*(imported(file) for file in PACKAGE.rglob("*.py")))
    found -= {*sys.stdlib_module_names, "genobit", "pytest", *HOSTS}
    # numba's own library, in the one version that it asks for.
    assert found - {"llvmlite"} <= extras()[""] | set(EXTRAS)


def test_core__computes_without_any_extra(tmp_path: Path) -> None:
    assert int(run("-c", CORE, *EXTRAS, STORES=str(tmp_path))) == 24


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, EXTRAS)), reason="blocks installed packages in turn"
)
def test_what_needs_an_extra__says_how_to_install_it(tmp_path: Path) -> None:
    lines = run("-W", "ignore", "-c", REFUSED, str(tmp_path)).splitlines()
    seen = set()
    for package, kind, said in map(json.loads, lines):
        seen.add(package)
        if said.startswith("genobit "):  # of a command, on standard error
            assert kind == "returned"
        else:
            assert kind == ["ModuleNotFoundError", package], said
        line = f" needs the package {package}: {install_command(package)}"
        assert said.rstrip("\n").endswith(line), said
    # distributed is asked for by those who have a client.
    assert seen == set(EXTRAS) - {"distributed"}


def nothing_of_this_name() -> None:
    import nothing_of_this_name  # noqa: F401


def nothing_in_numpy() -> None:
    from numpy import nothing_of_this_name  # noqa: F401


def pyarrow_in_other_words() -> None:
    try:
        # As sys.modules says of what is not there.
        importlib.import_module("pyarrow.nothing_of_this_name")
    except ModuleNotFoundError as error:
        raise ImportError("tables are not installed") from error


@pytest.mark.parametrize(
    ("imports", "words"),
    [
        (nothing_of_this_name, "No module named 'nothing_of_this_name'"),
        (nothing_in_numpy, "cannot import name"),
        (pyarrow_in_other_words, "This needs the package pyarrow: pip install"),
    ],
)
def test_needed_by__speaks_of_optional_packages_alone(
    imports: Callable[[], None], words: str
) -> None:
    with pytest.raises(ImportError, match=words), needed_by("This"):
        imports()


def test_require__passes_where_all_are_there() -> None:
    require("This", "numpy", "xarray")
