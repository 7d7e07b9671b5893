"""The IPython extension: `%load_ext genobit`.

It sets what a notebook wants (bars for work of over a second, plots that suit JupyterLab's theme,
summaries of packed Datasets) and adds the magic `%genobit`. `%unload_ext genobit` undoes all of it.
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

USAGE = """%genobit info                  what this machine has, and which kernels were chosen
%genobit bench [--quick] [--only NAME ...]    speed against this machine's own limits
%genobit options               the settings in force
%genobit options progress=False plot_scale=1.5 plot_theme=dark    change them"""

_EXTENSION = "_genobit_extension"
_THEMES = "lab/user-settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Set notebook defaults and add `%genobit`; a second time does nothing."""
    if not hasattr(shell, _EXTENSION):
        setattr(shell, _EXTENSION, Extension(shell))


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Put back what `load_ipython_extension` changed."""
    extension: Extension | None = shell.__dict__.pop(_EXTENSION, None)
    if extension is not None:
        extension.remove()


class Extension:
    """What was changed in one shell, and how to put it back."""

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
        """Undo; settings that the user has changed since stay as they are."""
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
    """A bar for what a cell lets dask compute, once it has taken a second.

    Only while a cell runs: what a widget computes afterwards shows in the widget. A distributed
    cluster does not ask callbacks; there `dask.distributed.progress` shows bars.
    """

    def __init__(self) -> None:
        super().__init__()
        self._bars: dict[int, Any] = {}
        self._in_a_cell = False

    def begin(self, *_: Any) -> None:
        """Watch from here."""
        self._in_a_cell = True
        # Each time: a computation in another thread has put the set of callbacks aside meanwhile.
        Callback.active.add(self._callback)

    def end(self, *_: Any) -> None:
        """Watch no longer."""
        self._in_a_cell = False
        Callback.active.discard(self._callback)

    def _start_state(self, _graph: Any, state: Any) -> None:
        from tqdm.auto import tqdm

        main = threading.current_thread() is threading.main_thread()
        # A method that has a bar of its own computes under it.
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
                # A bar that ends below its total is red.
                bar.update(bar.total - bar.n)
            bar.close()
            if hasattr(bar, "container"):
                # Hidden when it is done, as a method may compute pass after pass; a widget that is
                # closed (leave=False) is an error message in Voila.
                bar.container.layout.display = "none"


def dataset_html(ds: Any) -> str:
    """A Dataset as xarray shows it, below a summary where it is packed."""
    from genobit.engine.bits.layout import Layout

    plain: str = ds._repr_html_()
    try:
        packed = Layout.from_attributes(ds.attrs) is not None
    except ValueError:
        packed = False
    return f"{ds.genobit._repr_html_()}{plain}" if packed else plain


def jupyterlab_theme(settings: Path | None = None) -> str:
    """The theme that suits the one chosen in JupyterLab, "light" where that is not known.

    Parameters
    ----------
    settings
        JupyterLab's file; by default the one in Jupyter's configuration folder.
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
    # JSON with comments: a look at the one entry, instead of a parser of such files.
    chosen = re.search(r'^\s*"theme"\s*:\s*"([^"]*)"', text, re.MULTILINE)
    return "dark" if chosen and "dark" in chosen.group(1).lower() else "light"


def magic(line: str) -> Info | None:
    """`%genobit info`, `%genobit bench`, `%genobit options`."""
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
    """Change settings written as name=value, and show all."""
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
    """Run the benchmarks in a process of their own, which pins itself to a core."""
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
