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
import threading
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dask.callbacks import Callback

from genobit.engine.options import Options, get_options, set_options
from genobit.engine.progress import DELAY, within
from genobit.launcher.machine import Info, info

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

USAGE = """%genobit info                  show the CPU, memory and packages, and the chosen kernels
%genobit bench [--quick] [--only NAME ...]    speed against this machine's own limits
%genobit options               the settings in force
%genobit options progress=False plot_scale=1.5 plot_theme=dark    change them"""

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
        self.bars = CellBars()
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


class CellBars(Callback):
    """A progress bar for the dask computations of a cell, shown after one second.

    It is active only while a cell runs; widgets show their own progress. A distributed cluster
    calls no such callbacks; use `dask.distributed.progress` there.
    """

    def __init__(self) -> None:
        Callback.__init__(self)
        self._bars: dict[int, Any] = {}
        self._in_a_cell = False

    def begin(self, *_: Any) -> None:
        """Start watching dask's computations."""
        self._in_a_cell = True
        # Add it in each cell: a computation in another thread may have set the callbacks aside.
        Callback.active.add(self._callback)

    def end(self, *_: Any) -> None:
        """Stop watching dask's computations."""
        self._in_a_cell = False
        Callback.active.discard(self._callback)

    def _start_state(self, _graph: Any, state: Any) -> None:
        from tqdm.auto import tqdm

        main = threading.current_thread() is threading.main_thread()
        # A method with its own bar needs no second one.
        if main and self._in_a_cell and get_options().progress and not within():
            total = sum(len(state[kind]) for kind in ("ready", "waiting", "running", "finished"))
            self._bars[id(state)] = tqdm(total=total, desc="computing", unit="task", delay=DELAY)

    def _posttask(self, _key: Any, _result: Any, _graph: Any, state: Any, _worker: Any) -> None:
        if id(state) in self._bars:
            self._bars[id(state)].update()

    def _finish(self, _graph: Any, state: Any, failed: bool) -> None:  # noqa: FBT001 - dask's call
        bar = self._bars.pop(id(state), None)
        if bar is not None:
            if not failed:
                # tqdm turns a bar red if it ends below its total.
                bar.update(bar.total - bar.n)
            bar.close()
            if hasattr(bar, "container"):
                # Hide finished bars, because a method may compute many passes. A closed widget
                # (leave=False) becomes an error message in Voila.
                bar.container.layout.display = "none"


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
