"""Describe this machine and genobit's choices on it: `genobit info` and `%genobit info`."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, fields
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from genobit.engine.extras import install_command
from genobit.engine.options import get_options, in_units

#: Packages whose versions are listed.
PACKAGES = (
    "numpy",
    "numba",
    "xarray",
    "dask",
    "zarr",
    "scipy",
    "distributed",
    "holoviews",
    "jupyterlab",
    "isal",
    "pyarrow",
    "msprime",
    "dendropy",
)
_STYLE = (
    "<style>.genobit-info td, .genobit-info th {text-align: left !important; vertical-align: top; "
    "padding: 1px 14px 1px 0; color: var(--jp-content-font-color1, inherit); border: none; "
    "font-size: 13px; background: none} .genobit-info th {padding-top: 8px}</style>"
)


@dataclass(frozen=True)
class Info:
    """Headings with their entries, shown as text, as HTML in a notebook, or as a dict."""

    sections: dict[str, dict[str, str]]

    def __str__(self) -> str:
        """Return lines for a terminal."""
        width = max(len(name) for rows in self.sections.values() for name in rows) + 2
        blocks = (
            "\n".join([title, *(f"  {name:<{width}}{text}" for name, text in rows.items())])
            for title, rows in self.sections.items()
        )
        return "\n\n".join(blocks)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        lines = []
        for title, rows in self.sections.items():
            lines.append(f'<tr><th colspan="2">{escape(title)}</th></tr>')
            lines += [
                f"<tr><td>{escape(name)}</td><td>{escape(text)}</td></tr>"
                for name, text in rows.items()
            ]
        return f'{_STYLE}<table class="genobit-info">{"".join(lines)}</table>'


def info() -> Info:
    """Return a description of this machine, the chosen kernels and the settings in force.

    The first call measures the products of one core, in half a second, and a few seconds more where
    it has to compile first. `genobit bench` compares them with the limits of the CPU.

    Examples
    --------
    >>> list(info().sections)
    ['Machine', 'Kernels', 'Compile cache', 'Settings', 'Packages']
    """
    options = get_options()
    settings = {field.name: str(getattr(options, field.name)) for field in fields(options)}
    settings["eager_limit"] = in_units(options.eager_limit)
    return Info(
        {
            "Machine": _hardware(),
            "Kernels": _kernels(),
            "Compile cache": _cache(),
            "Settings": settings,
            "Packages": _packages(),
        }
    )


def processor() -> str:
    """Return the name of the processor from Linux, or from Python elsewhere."""
    description = Path("/proc/cpuinfo")
    if description.is_file():
        for line in description.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _hardware() -> dict[str, str]:
    processors = f"{os.cpu_count()} logical"
    if hasattr(os, "sched_getaffinity"):
        processors += f", {len(os.sched_getaffinity(0))} for this process"
    found = {"processor": processor(), "processors": processors}
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found["memory"] = in_units(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    found["system"] = f"{platform.system()} {platform.machine()}"
    return found


def _kernels() -> dict[str, str]:
    from genobit.engine.gemm.matrix_unit import usable
    from genobit.engine.gemm.products import chosen_kernel
    from genobit.engine.gemm.speed import speed
    from genobit.engine.simd.amx import permitted
    from genobit.engine.simd.cpu import host
    from genobit.engine.simd.jit import target_description
    from genobit.engine.simd.levels import level_in_use
    from genobit.kendall.kernels.registry import costs

    has = host()
    refused = "not permitted by this system" if not permitted() else "no, its sums are wrong"
    tau = {n: next(iter(costs(n, 1_000, tied=False, fitted=False))) for n in (50, 353, 20_000)}
    products = {
        "LD (AND products)": "and",
        "distances (XOR products)": "xor",
        "relationships (ternary products)": "ternary",
    }
    few = {product: chosen_kernel(product, rows=1) for product in products.values()}
    return {
        "compiled for": level_in_use(*target_description()[1:]) or target_description()[1],
        "matrix unit": "yes" if usable("ternary") else refused if has.tiles else "no",
        "vector popcount": "yes" if has.vector_popcount else "no",
        "byte lookup": f"{has.byte_lanes} bytes at a time" if has.byte_lanes else "no",
        **{
            name: f"{speed(product)}"
            + (f"; {few[product]} for few rows" if few[product] != chosen_kernel(product) else "")
            for name, product in products.items()
        },
        "Kendall's tau, 1,000 variables": ", ".join(
            f"{name} for {n:,} observations" for n, name in tau.items()
        ),
    }


def _cache() -> dict[str, str]:
    from genobit.engine.simd.jit import SHIPPED, cache_folder

    folder = cache_folder()
    return {
        "folder": str(folder),
        "compiled": _kernels_in(folder) or "nothing yet",
        "of the wheel": _kernels_in(SHIPPED / folder.name) or "none for this CPU and Python",
    }


def _kernels_in(folder: Path) -> str:
    files = list(folder.rglob("*.nbc"))
    size = in_units(sum(file.stat().st_size for file in files))
    return f"{len(files)} versions of kernels, {size}" if files else ""


def _packages() -> dict[str, str]:
    from genobit import __version__

    found = {"genobit": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = f"not installed: {install_command(name)}"
    return found
