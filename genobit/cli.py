"""The command line: `genobit demo | app | lab | bench | info | warm | pack | report`.

Commands import their modules when they run, so that `genobit --help` answers at once.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from genobit import __version__
from genobit.engine.extras import require
from genobit.engine.files import local_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    import xarray as xr

REFUSED = (OSError, ValueError, TypeError, KeyError, ImportError, MemoryError, RuntimeError)
"""Exceptions that genobit raises for unusable inputs or environments."""
PACKAGE = Path(__file__).parent
CHECKOUT = PACKAGE.parent


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    The status is 0 on success, 2 for arguments that argparse refuses, and 130 after Ctrl-C. It is 1
    if the command cannot use an input or the environment; standard error gives the reason. `argv`
    defaults to the arguments of the process.

    Examples
    --------
    >>> from genobit.cli import main
    >>> main(["pack", "missing.bed", "out.gb"])
    1
    """
    top = parser()
    options, rest = top.parse_known_args(argv)
    if rest and options.run not in {run_app, run_bench, run_lab}:
        top.error(f"unrecognized arguments: {' '.join(rest)}")
    options.arguments = rest
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, options.command)
            return run(options)
    except KeyboardInterrupt:
        print(f"genobit {options.command}: stopped", file=sys.stderr)
        return 130
    except REFUSED as error:
        # str() of a KeyError puts its message into quotes.
        text = error.args[0] if isinstance(error, KeyError) else error
        print(f"genobit {options.command}: {text}", file=sys.stderr)
        return 1


def _show_warning(command: str, message: Warning | str, *_: object) -> None:
    """Print a warning as errors are: its line of Python tells a person at a shell nothing."""
    print(f"genobit {command}: warning: {message}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the commands and their options."""
    top = argparse.ArgumentParser(prog="genobit", description="Analyse genotypes and trees.")
    top.add_argument("--version", action="version", version=f"genobit {__version__}")
    commands = top.add_subparsers(dest="command", required=True)

    demo = commands.add_parser(
        "demo",
        help="write a report on sample data, and open the explorers if a person is at the terminal",
    )
    demo.add_argument("--out", type=Path, default=Path("genobit-demo"), help="folder of the report")
    demo.add_argument("--open", action="store_true", help="open the report in a browser")
    demo.add_argument(
        "--app",
        action=argparse.BooleanOptionalAction,
        help="then open the explorers in a browser; the default if a person is at the terminal",
    )
    demo.set_defaults(run=run_demo)

    app = commands.add_parser(
        "app",
        help="open every explorer on sample data in a browser",
        epilog="All other arguments are passed to voila: --no-browser, --port=8866 ...",
    )
    app.set_defaults(run=run_app)

    lab = commands.add_parser(
        "lab",
        help="open the tour and the other notebooks in JupyterLab",
        epilog="All other arguments are passed to jupyter lab.",
    )
    lab.set_defaults(run=run_lab)

    bench = commands.add_parser(
        "bench",
        help="measure speed, and compare it with the limits of this machine",
        epilog="All other arguments are passed to the benchmarks: --only NAME ...",
    )
    bench.add_argument("--json", action="store_true", help="print JSON instead of a table")
    bench.add_argument("--quick", action="store_true", help="use small data; takes a few minutes")
    bench.set_defaults(run=run_bench)

    about = commands.add_parser(
        "info", help="show the CPU, memory and packages, and the chosen kernels"
    )
    about.add_argument("--json", action="store_true", help="print JSON instead of a table")
    about.set_defaults(run=run_info)

    warm = commands.add_parser("warm", help="compile the code of analyses beforehand")
    warm.add_argument(
        "analyses", nargs="*", metavar="ANALYSIS", help="ld, grm, kendall ...; by default all"
    )
    warm.set_defaults(run=run_warm)

    _add_pack(commands.add_parser("pack", help="pack a genotype file into a Zarr store"))
    _add_report(commands.add_parser("report", help="write an HTML report about a genotype file"))
    return top


def _add_pack(pack: argparse.ArgumentParser) -> None:
    pack.add_argument(
        "source", type=Path, metavar="IN", help=".bed, .bgen, .pgen, .trees, .vcf, .bcf, VCF Zarr"
    )
    pack.add_argument("store", type=Path, metavar="OUT", help="the Zarr store to write")
    pack.add_argument("--phased", action="store_true", help="pack haplotypes instead of dosages")
    pack.add_argument(
        "--rows",
        choices=("variants", "samples"),
        default="variants",
        help="rows of a plane: variants for LD (default), samples for relationship matrices",
    )
    pack.add_argument(
        "--multiallelic",
        choices=("refuse", "drop", "split"),
        default="refuse",
        help="rule for variants with three or more alleles; refuse (default) raises an error",
    )
    pack.add_argument(
        "--region",
        help="pack this contig or region only: 2, 2:136.5Mb-136.7Mb, chr2:136,500,000-136,700,000",
    )
    pack.set_defaults(run=run_pack)


def _add_report(report: argparse.ArgumentParser) -> None:
    report.add_argument(
        "source", type=Path, metavar="FILE", help=".bed, .bgen, .pgen, .trees, .vcf, .bcf, VCF Zarr"
    )
    report.add_argument("--out", type=Path, default=Path("report.html"), help="the page to write")
    report.add_argument("--join", type=Path, metavar="TABLE", help="table of samples to join")
    report.add_argument("--colour-by", metavar="NAME", help="column or label that colours samples")
    report.set_defaults(run=run_report)


def run_demo(options: argparse.Namespace) -> int:
    """Write the demonstration report and print its path."""
    # Check before the work. The sample itself needs its simulator only if it is not cached.
    require("genobit demo", "bokeh", "holoviews", "pyarrow", "dendropy")
    from genobit.launcher.demo import run

    report = run(options.out)
    print(f"\nThe report, one file that opens offline: {report}")
    if options.open:
        import webbrowser

        webbrowser.open(report.resolve().as_uri())
    if options.app is None:
        # A script or CI must not wait in an app.
        person = sys.stdin.isatty() and sys.stdout.isatty() and "CI" not in os.environ
        options.app = person and importlib.util.find_spec("voila") is not None
    if options.app:
        return run_app(options)
    print("The explorers, live in a browser: genobit app; as notebooks: genobit lab")
    return 0


def run_app(options: argparse.Namespace) -> int:
    """Serve the tour notebook as a web app with its pictures and live widgets."""
    require("genobit app", "voila")
    from genobit.launcher.app import serve

    print("The explorers open in a browser; Ctrl-C here ends them", flush=True)
    folder = CHECKOUT / "notebooks"
    if not folder.is_dir():
        folder = PACKAGE / "_notebooks"
    serve(folder / "tour.ipynb", options.arguments)
    return 0


def run_lab(options: argparse.Namespace) -> int:
    """Open the tour notebook in JupyterLab, in a folder with the other notebooks.

    Notebooks from a wheel are first copied to the current folder.
    """
    require("genobit lab", "jupyterlab")
    notebook = CHECKOUT / "notebooks" / "tour.ipynb"
    if not notebook.is_file():
        folder = Path.cwd() / "genobit-notebooks"
        folder.mkdir(exist_ok=True)
        # Keep the file names, by which the notebooks link to each other.
        for packaged in sorted((PACKAGE / "_notebooks").glob("*.ipynb")):
            copy = folder / packaged.name
            if not copy.exists():
                shutil.copyfile(packaged, copy)
        notebook = folder / "tour.ipynb"
    # The address that JupyterLab prints is then that of the tour.
    tour = f"--LabApp.default_url=/lab/tree/{notebook.name}"
    root = f"--ServerApp.root_dir={notebook.parent}"
    command = [sys.executable, "-m", "jupyterlab", root, tour, *options.arguments]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # Containers often run as root, which Jupyter refuses without this flag.
        command.append("--allow-root")
    return subprocess.run(command, check=False).returncode


def run_bench(options: argparse.Namespace) -> int:
    """Run the benchmarks, from the checkout or from their copy in the wheel."""
    flags = [f"--{name}" for name in ("json", "quick") if getattr(options, name)]
    flags += options.arguments
    status: int = load_benchmarks().main(flags)
    return status


def run_info(options: argparse.Namespace) -> int:
    """Print a description of this machine."""
    from genobit.launcher.machine import info

    found = info()
    print(json.dumps(found.sections, indent=1) if options.json else found)
    return 0


def run_warm(options: argparse.Namespace) -> int:
    """Compile the kernels of some or all analyses, and print each analysis when it is done."""
    from genobit.launcher.warm import warm_on_all_cores

    for name in warm_on_all_cores(*options.analyses):
        print(f"{name}: compiled", flush=True)
    return 0


def load_benchmarks() -> ModuleType:
    """Import `tests/benchmarks` as the package `genobit_benchmarks`, and return its `run` module.

    The folder is not part of `genobit`, so its import contracts and type checks do not cover it. A
    wheel has a copy.
    """
    folders = (CHECKOUT / "tests" / "benchmarks", PACKAGE / "_benchmarks")
    folder = next((folder for folder in folders if (folder / "run.py").is_file()), None)
    if folder is None:
        raise FileNotFoundError(f"the benchmarks are in none of {', '.join(map(str, folders))}")
    spec = importlib.util.spec_from_file_location(
        "genobit_benchmarks", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is not a Python package")
    package = importlib.util.module_from_spec(spec)
    sys.modules["genobit_benchmarks"] = package
    spec.loader.exec_module(package)
    return importlib.import_module("genobit_benchmarks.run")


def run_pack(options: argparse.Namespace) -> int:
    """Pack a genotype file into a Zarr store of bit planes, with a progress bar.

    If the data are invalid, a new store is removed. After an interruption or a full disk, repeat
    the command to resume.
    """
    from genobit.io.resumable_zarr import discard, to_zarr, unfinished

    fresh = not options.store.exists()
    dataset = open_genotypes(options.source, "genobit pack", options.region)
    bits = dataset.genobit.pack(
        rows=options.rows, phased=options.phased, multiallelic=options.multiallelic
    )
    try:
        to_zarr(bits, options.store, progress=True)
    except (ValueError, TypeError, KeyError):
        if fresh:
            discard(options.store)
        raise
    except (OSError, MemoryError, KeyboardInterrupt):
        if unfinished(options.store):
            print(f"{options.store} is not complete; the same command resumes", file=sys.stderr)
        raise
    sizes = dict(dataset.sizes)
    print(
        f"{options.store}: {sizes['variants']:,} variants x {sizes['samples']:,} samples, "
        f"{bits.attrs['genobit_layout']} planes of {bits.attrs['genobit_bits']:,} bits a row, "
        f"{folder_size(options.store) / 1e6:,.1f} MB"
    )
    return 0


def run_report(options: argparse.Namespace) -> int:
    """Write a report about a genotype file, and print its path."""
    require("genobit report", "bokeh", "holoviews")
    dataset = open_genotypes(options.source, "genobit report")
    if options.join is not None:
        dataset = dataset.genobit.join(options.join)
    print(dataset.genobit.report(options.out, colour_by=options.colour_by))
    return 0


def open_genotypes(source: Path, command: str, region: str | None = None) -> xr.Dataset:
    """Open a genotype file, or a region of it, with the reader for its file name."""
    import genobit as gb

    source = local_path(source, command)
    if not source.exists():
        raise FileNotFoundError(f"no such file: {source}")
    name = source.name
    if name.endswith((".vcf", ".vcf.gz", ".vcf.bgz", ".bcf")):
        return gb.open_vcf(source, region=region)
    readers: dict[str, Callable[[Path], xr.Dataset]] = {
        ".bed": gb.open_plink,
        ".bgen": gb.open_bgen,
        ".pgen": gb.open_pgen,
        ".trees": gb.open_tskit,
    }
    if not source.is_dir() and source.suffix not in readers:
        raise ValueError(
            f"{source} has none of the endings {', '.join(readers)}, .vcf, .vcf.gz, .vcf.bgz, "
            ".bcf, and is not the folder of a VCF Zarr store"
        )
    whole = gb.open_vcf_zarr(source) if source.is_dir() else readers[source.suffix](source)
    return whole if region is None else whole.genobit.sel(variants=region)


def folder_size(folder: Path) -> int:
    """Return the total size of a folder's files, in bytes."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
