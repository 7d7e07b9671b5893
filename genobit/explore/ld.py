"""The LD explorer: a heatmap that computes what is in view, and the region of a lead variant."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import holoviews as hv
import ipywidgets
import numpy as np
import traitlets
import xarray as xr

from genobit.plots import ld_heatmap, ld_track, ld_triangle
from genobit.plots.pixels import lay_out, pair_at
from genobit.plots.style import margins, number, scale_of

from .bridge import Coalesced, Gestures, as_widget
from .controls import ld_controls
from .explorer import Explorer
from .region import Region, known_contig, parse_region, region_text
from .window import Cohort, Window

#: Pixels on a side, and variants computed for them: beyond, the window is thinned and says so.
#: 2,000 variants x 4,000 haplotypes are 8e9 bit operations, 30 ms on one core.
MAX_PIXELS = 500
MAX_VARIANTS = 2_000

Frame = hv.streams.Stream.define("Frame", number=0)


class LDExplorer(Explorer):
    """Linkage disequilibrium of what is in view, as widget and as traits.

    Parameters
    ----------
    ds
        Packed planes with rows="variants" (or genotypes, which are packed first), with
        variant_position and variant_contig.
    **initial
        Any of the traits below.

    Attributes
    ----------
    statistic
        "r2", "r", "D" or "dprime" for haplotypes; "r2", "r", "r2_em" or "dprime_em" for dosages.
    region
        (contig, from, to) in base pairs, both ends included.
    min_maf
        Rarer variants are left out before anything is computed.
    min_r2
        Pairs whose statistic is nearer to 0 stay white; nothing is computed anew.
    view
        "triangle" or "square".
    axis
        "rank" (variants evenly spaced) or "position" (to scale).
    lead
        Index along `variants` of the variant whose r² with the region is drawn, or None.
    status
        What was computed last, or what went wrong, in words.

    Raises
    ------
    ValueError
        If the Dataset has no variants or no positions.
    """

    css = "genobit-ld"
    statistic = traitlets.Unicode("r2")
    region = traitlets.Tuple(traitlets.Unicode(), traitlets.Float(), traitlets.Float())
    min_maf = traitlets.Float(0.0, min=0.0, max=0.5)
    min_r2 = traitlets.Float(0.0, min=0.0, max=1.0)
    view = traitlets.Enum(("triangle", "square"), "triangle")
    axis: Any = traitlets.Enum(("rank", "position"), "rank")
    lead = traitlets.Int(None, allow_none=True)

    def __init__(self, ds: xr.Dataset, **initial: Any) -> None:
        self._cohort = cohort = Cohort(ds)
        self.statistics, self.contigs = cohort.statistics, cohort.contigs
        self._stale: set[str] = set()
        self._from_gesture = False
        self._window: Window | None = None
        self._row: xr.DataArray | None = None
        self._track: Any = None
        if "region" not in initial:
            initial["region"] = cohort.first_look(cohort.contig_of(0))
        super().__init__(**initial)
        self._plot_box = ipywidgets.VBox().add_class("genobit-ld-plot")
        self._track_box = ipywidgets.VBox(layout={"min_height": "240px"}).add_class(
            "genobit-ld-track"
        )
        self.controls = ld_controls(self)
        self.children = (*self.controls, self._status_line, self._track_box, self._plot_box)
        self._later = Coalesced(self._home, self.refresh)
        self.observe(self._on_trait, list(_STALE_BY_TRAIT))
        self._stale = {"window", "plot", "track"}
        self.refresh()

    # What the reader can take away.

    @property
    def visible(self) -> xr.Dataset:
        """The window in view: the statistic of all its pairs, and the lead's row if there is one.

        Dims (variants_0, variants_1), the variants after the frequency filter; `attrs` say the
        region, the filter and whether the window was thinned.
        """
        self.refresh()
        window = self._now()
        matrix = window.matrix
        kept = {key: value for key, value in matrix.attrs.items() if key != "contig_id"}
        variables = {str(matrix.name): matrix.drop_attrs().assign_attrs(kept)}
        if self._row is not None:
            variables["lead_r2"] = self._row.isel(variants_1=0, drop=True).drop_attrs()
        attrs = {
            "region": region_text(self.region),
            "min_maf": self.min_maf,
            "every_nth_variant": window.choice.step,
        }
        if self.lead is not None:
            attrs["lead_index"] = self.lead
            attrs["lead"] = self._cohort.name_of(self.lead)
        return xr.Dataset(variables, attrs=attrs)

    def save(self, path: str | Path) -> Path:
        """Write `visible` to a new .zarr or .nc file.

        Parameters
        ----------
        path
            Where to; the suffix says the format.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If the suffix is another one.
        FileExistsError
            If there is such a file already.
        """
        target = Path(path).expanduser().absolute()
        if target.suffix not in {".zarr", ".nc"}:
            raise ValueError(
                f"cannot tell the format of {target.name!r}; end the name in .zarr or .nc "
                "(for a picture use the disk button beside the plot)"
            )
        if target.exists():
            raise FileExistsError(f"{target} exists already; choose another name")
        visible = self.visible
        if target.suffix == ".nc":
            visible.to_netcdf(target)
        else:
            _with_stored_strings(visible).to_zarr(target, consolidated=False)
        self.status = f"Saved {number(visible.sizes['variants_0'], 'variant')} to {target}"
        return target

    # Traits in words.

    @traitlets.validate("statistic")
    def _check_statistic(self, proposal: Any) -> str:
        if proposal["value"] not in self.statistics:
            layout = self._cohort.layout
            raise traitlets.TraitError(
                f"{proposal['value']!r} cannot be computed from {layout}s; "
                f"use one of {', '.join(self.statistics)}"
                + (", or pack(phased=True)" if layout == "dosage" else "")
            )
        return str(proposal["value"])

    @traitlets.validate("region")
    def _check_region(self, proposal: Any) -> Region:
        contig, start, end = proposal["value"]
        try:
            contig = known_contig(contig, self.contigs)
            there = self._cohort.positions_on(contig)
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None
        if end < start:
            raise traitlets.TraitError(
                f"region ends before it begins ({start:,.0f} to {end:,.0f}); swap the positions"
            )
        return contig, max(start, float(there[0])), min(end, float(there[-1]))

    @traitlets.validate("lead")
    def _check_lead(self, proposal: Any) -> int | None:
        lead, n_variants = proposal["value"], len(self._cohort)
        if lead is not None and not 0 <= lead < n_variants:
            raise traitlets.TraitError(
                f"lead is {lead}, and the Dataset has variants 0 to {n_variants - 1}"
            )
        return lead

    def _on_trait(self, change: Any) -> None:
        stale = set(_STALE_BY_TRAIT[change["name"]])
        if change["name"] == "region" and not self._from_gesture:
            stale.add("aim")
        self._home.run(self._mark, stale)

    def _mark(self, stale: set[str]) -> None:
        self._stale |= stale
        self._later()

    # What the controls ask for.

    def go_to(self, text: str) -> None:
        """Show the region that a text names; say so in the status line if it cannot be read.

        Parameters
        ----------
        text
            As `contig:from-to`.
        """
        try:
            self.region = parse_region(text, self.contigs, self.region[0])
        except (ValueError, traitlets.TraitError) as error:
            self._complain(error)

    def go_to_contig(self, contig: str) -> None:
        """Show the first variants of another contig, without a lead.

        Parameters
        ----------
        contig
            Its name.
        """
        self.lead = None
        self.region = self._cohort.first_look(contig)

    def widen(self, factor: float) -> None:
        """Zoom about the middle of the region.

        Parameters
        ----------
        factor
            Above 1 shows more of the chromosome.
        """
        contig, start, end = self.region
        middle, half = (start + end) / 2, max(end - start, 1_000.0) / 2 * factor
        self.region = (contig, max(middle - half, 0.0), middle + half)

    def refresh(self) -> None:
        """Compute and draw whatever has become stale; the widget does so by itself."""
        stale, self._stale = self._stale, set()
        if not stale:
            return
        try:
            if "window" in stale:
                self._compute_window()
            if "track" in stale:
                self._compute_row()
            self._draw(stale)
        except Exception as error:  # noqa: BLE001  a dead widget tells nobody why
            self._complain(error)

    def _compute_window(self) -> None:
        self._window = self._cohort.window(self.statistic, self.region, self.min_maf, MAX_VARIANTS)
        self.status = self._window.in_words()

    def _compute_row(self) -> None:
        self._row = None
        if self.lead is None:
            return
        if self._cohort.contig_of(self.lead) != self.region[0]:
            raise ValueError(
                f"the lead variant {self._cohort.name_of(self.lead)} is not on contig "
                f"{self.region[0]}; choose another, or set lead = None"
            )
        self._row = self._cohort.row(self._now(), self.lead)

    def _now(self) -> Window:
        if self._window is None:
            raise ValueError(f"nothing has been computed yet. {self.status}")
        return self._window

    def _draw(self, stale: set[str]) -> None:
        if "plot" in stale:
            self._build_plot()
        elif stale & {"window", "colours", "track"}:
            if "aim" in stale:
                self._aim()
            self._frame.event(number=self._frame.number + 1)
        if self._row is None:
            if self._track is not None or not self._track_box.children:
                self._track_box.children = (_hint(),)
            self._track = None
        elif self._track is None or "plot" in stale:
            self._build_track()
        else:
            self._aim_track()
            self._track.event(number=self._track.number + 1)

    def _build_plot(self) -> None:
        self._frame = Frame()
        self._gestures = Gestures(self._home, self._on_move, self._on_tap, self._shape())
        self._aim()
        draw = hv.DynamicMap(self._picture, streams=[self._frame])
        self._plot_box.children = (as_widget(draw, self._home),)

    def _picture(self, number: int) -> hv.Overlay:  # noqa: ARG002  the counter of the stream
        function = ld_heatmap if self.view == "square" else ld_triangle
        window = self._now()
        step = window.choice.step
        picture = function(
            window.matrix,
            axis=self.axis,
            hidden_below=self.min_r2 * scale_of(self.statistic).limits[1],
            max_pixels=MAX_PIXELS,
            lead=window.index_of(self.lead),
            first_rank=window.choice.first_rank,
            rank_step=step,
            note=f"every {step}th variant" if step > 1 else "",
        )
        file_name = "ld_" + region_text(self.region).replace(",", "").replace(":", "_")
        return picture.opts(
            apply_ranges=False,
            framewise=False,
            hooks=[self._gestures.hook, margins, partial(_name_picture, file_name)],
        )

    def _build_track(self) -> None:
        self._track = Frame()
        self._track_gestures = Gestures(self._home, lambda *_: None, self._on_track_tap)
        self._aim_track()
        draw = hv.DynamicMap(self._track_picture, streams=[self._track])
        self._track_box.children = (as_widget(draw, self._home),)

    def _track_picture(self, number: int) -> hv.Overlay:  # noqa: ARG002  the counter of the stream
        choice = self._now().choice
        track = ld_track(
            self._row, axis=self.axis, first_rank=choice.first_rank, rank_step=choice.step
        )
        hooks = [self._track_gestures.hook, margins]
        return track.opts(apply_ranges=False, framewise=False, hooks=hooks)

    def _aim(self) -> None:
        self._gestures.aim(*self._now().extent(self.axis))

    def _aim_track(self) -> None:
        self._track_gestures.aim(*(self._gestures.target or self._now().extent(self.axis)))

    # Gestures in the browser.

    def _on_move(self, start: float, end: float) -> None:
        contig = self.region[0]
        if self.axis == "rank":
            start, end = self._cohort.members(contig, self.min_maf).positions_of_ranks(start, end)
        else:
            start, end = start * 1e6, end * 1e6
        self._from_gesture = True
        try:
            self.region = (contig, max(start, 0.0), end)
        except traitlets.TraitError:
            self.status = "There are no variants further on; zoom out or pan back"
        finally:
            self._from_gesture = False

    def _on_tap(self, x: float, y: float) -> None:
        self.try_to(self._choose_pair, x, y)

    def _choose_pair(self, x: float, y: float) -> None:
        window = self._now()
        choice = window.choice
        bins = lay_out(window.position, self.axis, MAX_PIXELS, choice.first_rank, choice.step)
        pair = pair_at(window.matrix.values, bins, self._shape(), x, y)
        first, second = choice.variants[list(pair)]
        # A second click on the pair turns to its other variant.
        self.lead = int(second if self.lead == first else first)

    def _on_track_tap(self, x: float, y: float) -> None:
        self.try_to(self._choose_point, x, y)

    def _choose_point(self, x: float, y: float) -> None:
        window = self._now()
        if self._row is None:
            return
        start, end = self._track_gestures.target or window.extent(self.axis)
        # The track is five times as wide as high: near is what is near to the eye.
        across = (window.coordinates(self.axis) - x) / (end - start) * 5
        away = np.hypot(across, np.nan_to_num(self._row.values[:, 0]) - y)
        self.lead = int(window.choice.variants[int(np.argmin(away))])

    def _shape(self) -> str:
        return "square" if self.view == "square" else "down"


_STALE_BY_TRAIT = {
    "statistic": {"window", "track", "plot"},
    "region": {"window", "track"},
    "min_maf": {"window", "track", "aim"},
    "min_r2": {"colours"},
    "view": {"plot"},
    "axis": {"plot"},
    "lead": {"track"},
}


def _with_stored_strings(ds: xr.Dataset) -> xr.Dataset:
    # Zarr format 3 has strings of any length, and no others that are specified.
    fixed = {name: v.astype(object) for name, v in ds.variables.items() if v.dtype.kind == "U"}
    return ds.assign_coords(fixed)


def _hint() -> ipywidgets.HTML:
    return ipywidgets.HTML(
        '<div style="height:190px;width:760px;margin:10px 20px;border:1px dashed #aaa;color:#555;'
        'display:flex;align-items:center;justify-content:center;text-align:center">'
        "Click a pair below: its first variant becomes the lead,<br>and its r² with the region "
        "appears here. Click again for the pair's other variant.</div>"
    )


def _name_picture(file_name: str, plot: Any, _element: Any) -> None:
    from bokeh.models import SaveTool

    for tool in plot.state.toolbar.tools:
        if isinstance(tool, SaveTool):
            tool.filename = file_name
