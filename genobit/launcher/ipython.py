"""The IPython extension: `%load_ext genobit`.

It sets defaults for notebooks: progress bars after one second, plots in JupyterLab's theme, and
summaries of packed Datasets. It also adds the magic `%genobit`. `%unload_ext genobit` removes the
defaults and the magic.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genobit.engine.options import Options, get_options, set_options
from genobit.engine.schedule.computing import TaskBars
from genobit.launcher.machine import Info, info

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

USAGE = """%genobit info                  show the CPU, memory and packages, and the chosen kernels
%genobit bench [--quick] [--only NAME ...]    measure speed, and compare it with the limits
%genobit options               show the settings
%genobit options progress=False plot_scale=1.5 plot_theme=dark    change settings"""

_EXTENSION = "_genobit_extension"
_THEMES = "lab/user-settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Set notebook defaults and add `%genobit`; a second call does nothing."""
    if not hasattr(shell, _EXTENSION):
        setattr(shell, _EXTENSION, Extension(shell))


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Undo the changes of `load_ipython_extension`."""
    extension: Extension | None = shell.__dict__.pop(_EXTENSION, None)
    if extension is not None:
        extension.remove()


class Extension:
    """The changes that the extension makes in one shell, and their removal."""

    def __init__(self, shell: InteractiveShell) -> None:
        import xarray as xr

        self.shell = shell
        # Only while a cell runs: widgets show their own progress.
        self.bars = TaskBars(lambda: bool(get_options().progress))
        self.earlier = get_options()
        set_options(progress=True, plot_theme=jupyterlab_theme())
        self.set = get_options()
        shell.events.register("pre_run_cell", self.bars.begin)
        shell.events.register("post_run_cell", self.bars.end)
        # The cell that loads the extension is running already.
        self.bars.begin()
        displays: Any = shell.display_formatter
        self.html = displays.formatters["text/html"]
        self.shown = self.html.for_type(xr.Dataset, dataset_html)
        register: Any = shell.register_magic_function
        register(magic, "line", "genobit")

    def remove(self) -> None:
        """Undo the changes; settings that the user has changed since are kept."""
        import xarray as xr

        now = get_options()
        ours = {
            field.name: getattr(self.earlier, field.name)
            for field in fields(Options)
            if getattr(now, field.name) == getattr(self.set, field.name)
        }
        set_options(**ours)
        self.bars.end()
        self.shell.events.unregister("pre_run_cell", self.bars.begin)
        self.shell.events.unregister("post_run_cell", self.bars.end)
        self.html.pop(xr.Dataset, None)
        if self.shown is not None:
            self.html.for_type(xr.Dataset, self.shown)
        self.shell.magics_manager.magics["line"].pop("genobit", None)


def dataset_html(ds: Any) -> str:
    """Return xarray's HTML of a Dataset; if it is packed, put a summary above."""
    from genobit.engine.bits.layout import Layout

    plain: str = ds._repr_html_()
    try:
        packed = Layout.from_attributes(ds.attrs) is not None
    except ValueError:
        packed = False
    return f"{ds.genobit._repr_html_()}{plain}" if packed else plain


def jupyterlab_theme(settings: Path | None = None) -> str:
    """Return the plot theme that matches JupyterLab's theme, or "light" if that is unknown.

    `settings` is the file of JupyterLab's settings, by default in Jupyter's configuration folder.
    """
    if settings is None:
        try:
            from jupyter_core.paths import jupyter_config_dir
        except ImportError:
            return "light"
        settings = Path(jupyter_config_dir()) / _THEMES
    try:
        text = settings.read_text(encoding="utf-8")
    except OSError:
        return "light"
    # The file is JSON with comments, which the json module cannot read; one entry is enough.
    chosen = re.search(r'^\s*"theme"\s*:\s*"([^"]*)"', text, re.MULTILINE)
    return "dark" if chosen and "dark" in chosen.group(1).lower() else "light"


def magic(line: str) -> Info | None:
    """Run `%genobit info`, `%genobit bench` or `%genobit options`; else print the usage."""
    command, *arguments = shlex.split(line) or ["help"]
    if command == "info" and not arguments:
        return info()
    if command == "options":
        return _options(arguments)
    if command == "bench":
        _bench(arguments)
        return None
    print(USAGE)
    return None


_JSON = {"True": "true", "False": "false", "None": "null"}


def _options(settings: list[str]) -> Info:
    """Change settings written as name=value, and return all settings."""
    given = {}
    for setting in settings:
        name, _, text = setting.partition("=")
        try:
            given[name] = json.loads(_JSON.get(text, text))
        except json.JSONDecodeError:
            given[name] = text
    set_options(**given)
    now = {name: str(value) for name, value in asdict(get_options()).items()}
    return Info({"Settings": now})


def _bench(arguments: list[str]) -> None:
    """Run the benchmarks in their own process, which pins itself to a core."""
    command = [sys.executable, "-m", "genobit", "bench", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
    ) as process:
        try:
            for line in process.stdout or ():
                print(line, end="", flush=True)
        except KeyboardInterrupt:
            process.terminate()
            print("stopped")
