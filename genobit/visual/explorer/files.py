"""Write new files for explorers, in the format of the ending; existing files are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from genobit.engine.files import WRITE, local_path, replacing
from genobit.io.resumable_zarr import to_zarr
from genobit.visual.explorer.picture import Picture

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from bokeh.document import Document


#: Functions that write a file, by file ending.
Writers = Mapping[str, Callable[[Path], object]]


class Export(NamedTuple):
    """An entry of an explorer's save menu."""

    text: str
    ending: str
    """Appended to the name that the reader gives."""
    save: Callable[[str], Any]
    """A method of the explorer that takes a path."""
    meaning: str


def write_new(path: str | Path, writers: Writers) -> Path:
    """Write a new file in the format of its ending, and return its absolute path.

    Raises ValueError for an unknown ending, FileExistsError for an existing file, and
    FileNotFoundError for a missing folder.
    """
    target = local_path(path, "saving", WRITE).absolute()
    if target.suffix not in writers:
        raise ValueError(
            f"{target.name} does not say what to write; end it with {', '.join(writers)}"
        )
    if target.exists():
        raise FileExistsError(f"{target} exists already; choose another name")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent}; make it first")
    with replacing(target) as (new,):
        writers[target.suffix](new)
    return target


def csv_writer(table: pd.DataFrame) -> Callable[[Path], object]:
    """Return a function that writes the table as CSV, without row numbers."""
    return lambda target: table.to_csv(target, index=False)


def dataset_writers(ds: xr.Dataset) -> Writers:
    """Return the functions that write a Dataset, by file ending."""
    return {
        ".zarr": lambda target: to_zarr(ds, target, progress=False),
        ".nc": ds.to_netcdf,
    }


def write_page(widget: Any, title: str, target: Path) -> None:
    """Write the plots and tables of a widget to an HTML page that needs no network.

    Hidden parts of the widget are left out. Raises ValueError if nothing has been drawn yet.
    """
    from bokeh.document import Document
    from bokeh.embed import file_html
    from bokeh.models import Plot
    from bokeh.models.widgets.tables import TableWidget
    from bokeh.resources import INLINE

    shown = []
    for document in _documents(widget):
        # A model that is shown must stay in its document.
        copy = Document.from_json(document.to_json())
        for kind in (Plot, TableWidget):
            shown += [found for root in copy.roots for found in root.select({"type": kind})]
    if not shown:
        raise ValueError("nothing has been drawn yet; wait for the pictures, then save them")
    target.write_text(file_html(shown, INLINE, title), encoding="utf-8")


def _documents(widget: Any) -> list[Document]:
    """Return the bokeh documents of the pictures in a widget, from top to bottom."""
    if widget.layout.display == "none":
        return []
    if isinstance(widget, Picture):
        return [widget.document]
    children = getattr(widget, "children", ())
    return [found for child in children for found in _documents(child)]
