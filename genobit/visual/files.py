"""What explorers write: a new file, never over another, in the format that its name ends with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from genobit.data.labels import as_objects
from genobit.engine.files import WRITE, local_path, replacing

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


#: By the endings of names, what writes such a file.
Writers = Mapping[str, Callable[[Path], object]]


class Export(NamedTuple):
    """What an explorer offers to save: a line of its menu."""

    text: str
    ending: str
    """Put behind the name that the reader gives."""
    save: Callable[[str], Any]
    """A method of the explorer that takes a path."""
    meaning: str


def write_new(path: str | Path, writers: Writers) -> Path:
    """Write a new file.

    Parameters
    ----------
    path
        Where to.
    writers
        By the endings of names, what writes such a file.

    Returns
    -------
    The absolute path.

    Raises
    ------
    ValueError
        If the ending is another.
    FileExistsError
        If there is such a file already.
    FileNotFoundError
        If its folder does not exist.
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
    """Give what writes a table as CSV, without numbers of its rows.

    Parameters
    ----------
    table
        What to write.
    """
    return lambda target: table.to_csv(target, index=False)


def dataset_writers(ds: xr.Dataset) -> Writers:
    """Give what writes a Dataset, by the endings of files.

    Parameters
    ----------
    ds
        What to write.
    """
    return {
        ".zarr": lambda target: _with_stored_strings(ds).to_zarr(target, consolidated=False),
        ".nc": ds.to_netcdf,
    }


def _with_stored_strings(ds: xr.Dataset) -> xr.Dataset:
    # Zarr format 3 has strings of any length, and no others that are specified.
    return ds.assign({name: as_objects(v, str(name)) for name, v in ds.variables.items()})


def write_page(widget: Any, title: str, target: Path) -> None:
    """Write the plots and tables of a widget as a page that any browser shows without a network.

    Parameters
    ----------
    widget
        An ipywidget; what is hidden in it is left out.
    title
        Of the page.
    target
        The file.

    Raises
    ------
    ValueError
        If nothing has been drawn in it yet.
    """
    from bokeh.document import Document
    from bokeh.embed import file_html
    from bokeh.models import Plot
    from bokeh.models.widgets.tables import TableWidget
    from bokeh.resources import INLINE

    shown = []
    for model in _models(widget):
        # A copy: what is drawn stays in its document. Panel's own models need its scripts.
        copy = Document.from_json(model.document.to_json())
        for plot in (found for root in copy.roots for found in root.select({"type": Plot})):
            # Panel gave it the frame's size alone, of which bokeh would warn.
            plot.update(sizing_mode=None)
            shown.append(plot)
        shown += [found for root in copy.roots for found in root.select({"type": TableWidget})]
    if not shown:
        raise ValueError("nothing has been drawn yet; wait for the pictures, then save them")
    target.write_text(file_html(shown, INLINE, title), encoding="utf-8")


def _models(widget: Any) -> list[Any]:
    """Find the bokeh models in a widget, from top to bottom."""
    if widget.layout.display == "none":
        return []
    if hasattr(widget, "_model") and hasattr(widget._model, "document"):
        return [widget._model]
    children = getattr(widget, "children", ())
    return [found for child in children for found in _models(child)]
