"""The traits of the LD explorer, actions that set them, and their controls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets
import traitlets

from genobit.data import model
from genobit.data.contigs import contig_named
from genobit.data.regions import known_contig, parse_region
from genobit.data.selection_by_label import named_after, unknown
from genobit.engine.spelling import did_you_mean
from genobit.ld.explorer.region import Region, region_text
from genobit.visual.explorer.controls import button, dropdown, linked, slider
from genobit.visual.explorer.explorer import Explorer
from genobit.visual.explorer.traits import Member, Members
from genobit.visual.pixels import AGGREGATES
from genobit.visual.style import number, scale_of

if TYPE_CHECKING:
    from genobit.ld.explorer.data import Cohort
    from genobit.ld.explorer.views import Genes


class RegionTrait(traitlets.Tuple):
    """A region as (contig, from, to), or as text."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Parse text, and check the parts."""
        if isinstance(value, str):
            shown = obj.region[0] if obj.trait_has_value("region") else obj.contigs[0]
            region = parse_region(value, obj.contigs, shown)
            if ":" not in value and contig_named(region.contig, obj.contigs) is None:
                with named_after("region", "variants"):
                    raise unknown(obj._whole.bits, value, "variants", obj.contigs)
            end = float("inf") if region.end is None else float(region.end)
            value = region.contig, float(region.start), end
        return super().validate(obj, value)


class LDTraits(Explorer):
    """The state of an LD explorer.

    Attributes
    ----------
    statistic
        Statistic to draw: "r2", "r", "D" or "dprime" for haplotypes; "r2", "r", "r2_em" or
        "dprime_em" for dosages.
    region
        Region in view: (contig, from, to) in base pairs, both ends included. Text such as
        "2:136.5Mb-136.7Mb" sets it.
    min_maf
        Smallest minor allele frequency. Rarer variants are removed before anything is computed.
    threshold
        Pairs whose absolute statistic is below this value are white. For D, the limit is a quarter
        of this value, because D is at most 0.25.
    view
        Shape of the picture: "triangle" or "square".
    axis
        Spacing of the variants: "rank" (even) or "position" (to scale).
    aggregate
        Value of a pixel that shows several pairs: the value farthest from 0 ("max"), the mean
        ("mean"), or the first pair ("sample").
    show_blocks
        Whether haplotype blocks are outlined.
    tab
        Tab in view: the "picture", a table of the strongest "pairs" or of the "variants" in view,
        or the "decay" of their LD with distance.
    selected
        Indices along `variants` of the selected variants, which the picture and the table mark.
        Ids, regions or a mask set them too. A click on a pair selects both variants.
    lead
        Index along `variants` of the lead variant, or None. Its id sets it too. Its r² with each
        variant in view is drawn.
    of_samples
        Samples to use for LD: "all", or "selected" for the selected samples only. With fewer than
        two selected samples, all are used.
    """

    _cohort: Cohort
    _whole: Cohort
    _among: tuple[tuple[int, ...], Cohort] | None = None
    _genes: Genes
    statistics: tuple[str, ...]
    contigs: list[str]

    css = "genobit-ld"
    opened_by = "explore.ld"
    tabs = ("picture", "pairs", "variants", "decay")
    statistic = traitlets.Unicode("r2")
    region: Any = RegionTrait(traitlets.Unicode(), traitlets.Float(), traitlets.Float())
    min_maf = traitlets.Float(0.0, min=0.0, max=0.5)
    threshold = traitlets.Float(0.0, min=0.0, max=1.0)
    view = traitlets.Enum(("triangle", "square"), "triangle")
    axis: Any = traitlets.Enum(("rank", "position"), "rank")
    aggregate: Any = traitlets.Enum(tuple(AGGREGATES), "max")
    show_blocks = traitlets.Bool(False)  # noqa: FBT003  traitlets takes the default first
    selected: Any = Members(lambda _: model.VARIANTS, default_value=())
    of_samples = traitlets.Enum(("all", "selected"), "all")
    lead = Member(lambda _: model.VARIANTS, None, allow_none=True)

    @traitlets.validate("statistic")
    def _check_statistic(self, proposal: Any) -> str:
        if proposal["value"] not in self.statistics:
            layout = self._cohort.layout
            raise traitlets.TraitError(
                f"{proposal['value']!r} cannot be computed from {layout}s; "
                f"use one of {', '.join(self.statistics)}"
                + (", or pack(phased=True)" if layout == "dosage" else "")
                + did_you_mean(proposal["value"], self.statistics).rstrip(".")
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
        if start > there[-1] or end < there[0]:
            raise traitlets.TraitError(
                f"no variant is in the region; those of contig {contig} are at {there[0]:,} to "
                f"{there[-1]:,}"
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

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> tuple[int, ...]:
        selected = tuple(sorted({int(k) for k in proposal["value"]}))
        if selected and not 0 <= selected[0] <= selected[-1] < len(self._cohort):
            raise traitlets.TraitError(
                f"selected has {selected[0]} to {selected[-1]}, and the Dataset has variants 0 to "
                f"{len(self._cohort) - 1}"
            )
        return selected

    # Actions of the controls.

    def go_to(self, text: str) -> None:
        """Show the region that a text names; errors go to the status line.

        Parameters
        ----------
        text
            A region as `contig:from-to`, the id of a variant, or the name of a gene in the table.
        """
        gene = self._genes.find(text)
        try:
            if gene is not None:
                contig, start, end = gene
                margin = (end - start) / 4
                self.region = (contig, max(start - margin, 0.0), end + margin)
            elif (variant := self._whole.find(text)) is not None:
                self.go_to_variant(variant)
            else:
                self.region = text
        except KeyError:
            known = [*self.contigs, *self._genes.names, *self._whole.ids]
            kinds = "region, variant or gene" if self._genes.names else "region or variant"
            self._refuse(ValueError(f"there is no {kinds} {text!r}{did_you_mean(text, known)}"))
        except (ValueError, traitlets.TraitError) as error:
            self._refuse(error)

    def go_to_variant(self, variant: int) -> None:
        """Centre the region on a variant, and make it the lead and the selected variant.

        The length of the region stays the same.

        Parameters
        ----------
        variant
            Its index along `variants`.
        """
        contig, start, end = self.region
        there, position = self._whole.contig_of(variant), float(self._whole.position[variant])
        if there != contig:
            self.lead = None
        half = max(end - start, 10_000.0) / 2
        self.region = (there, max(position - half, 0.0), position + half)
        self.lead, self.selected = variant, (variant,)

    def go_to_contig(self, contig: str) -> None:
        """Show the first variants of another contig, without a lead.

        Parameters
        ----------
        contig
            Name of the contig.
        """
        self.lead = None
        self.region = self._cohort.first_look(contig)

    def widen(self, factor: float) -> None:
        """Zoom in or out about the middle of the region.

        Parameters
        ----------
        factor
            Factor by which the length of the region changes; above 1 zooms out.
        """
        contig, start, end = self.region
        middle, half = (start + end) / 2, max(end - start, 1_000.0) / 2 * factor
        self.region = (contig, max(middle - half, 0.0), middle + half)

    def go_to_selection(self) -> None:
        """Show the region of the selected variants, on the contig of the first one."""
        if not self.selected:
            raise ValueError("no variant is selected; click a pair, or select variants by name")
        self.region = self._whole.region_of(self.selected)

    # The samples of `of_samples`.

    def _choose_cohort(self) -> None:
        """Use only the selected samples if `of_samples` asks for it and two or more exist."""
        if self.of_samples == "all" or len(places := self._places("samples")) < 2:
            self._cohort = self._whole
            return
        if self._among is None or self._among[0] != tuple(places):
            self._among = tuple(places), self._whole.among(places)
        self._cohort = self._among[1]

    def _of_samples_in_words(self) -> str:
        if self.of_samples == "all":
            return ""
        if self._cohort is self._whole:
            return "; fewer than two samples are selected, so all are used"
        return f"; among {number(self._cohort.n_samples, 'selected sample')}"


def toolbar(explorer: LDTraits) -> list[ipywidgets.Widget]:
    """Return the controls over the picture: statistic, frequency and zoom."""
    statistic = ipywidgets.Dropdown(
        options=[(scale_of(name).label, name) for name in explorer.statistics],
        value=explorer.statistic,
        tooltip="statistic of each pair of variants",
        layout={"width": "84px"},
    )
    min_maf = slider("MAF ≥", explorer.min_maf, 0.5)
    min_maf.layout.width = "180px"
    zoom = (
        button(explorer, "", "minus", "32px", explorer.widen, 2.0).add_class("genobit-ld-zoom-out"),
        button(explorer, "", "plus", "32px", explorer.widen, 0.5).add_class("genobit-ld-zoom-in"),
    )
    for way, made in zip(("out", "in"), zoom, strict=True):
        made.tooltip = f"Zoom {way} about the middle of the region"
    return [
        linked(explorer, "statistic", statistic),
        linked(explorer, "min_maf", min_maf),
        ipywidgets.HBox(zoom).add_class("genobit-group"),
    ]


def drawer(explorer: LDTraits) -> dict[str, list[ipywidgets.Widget]]:
    """Return the sections of the drawer."""
    view = dropdown("shape", [(name, name) for name in ("triangle", "square")], "")
    axis = dropdown("spacing", [("even", "rank"), ("to scale", "position")], "")
    threshold = slider("hide below", explorer.threshold, 1.0)
    aggregate = dropdown("many pairs in a pixel", [(name, name) for name in AGGREGATES], "")
    blocks = ipywidgets.Checkbox(
        value=explorer.show_blocks,
        description="haplotype blocks",
        tooltip="outline blocks of Gabriel et al. (2002)",
        indent=False,
    )
    samples = dropdown("samples", [("all", "all"), ("selected", "selected")], "")
    return {
        "View": [
            linked(explorer, "view", view),
            linked(explorer, "axis", axis),
            linked(explorer, "threshold", threshold),
            linked(explorer, "aggregate", aggregate),
        ],
        "Place": [
            _contig(explorer),
            button(explorer, "to selection", "crosshairs", "", explorer.go_to_selection),
        ],
        "Tracks": [linked(explorer, "show_blocks", blocks)],
        "Samples": [linked(explorer, "of_samples", samples)],
    }


def search(explorer: LDTraits) -> ipywidgets.Text:
    """Return the search box, which shows the region and takes another, a variant or a gene."""
    text = ipywidgets.Text(
        value=region_text(explorer.region),
        placeholder="region, variant or gene",
        tooltip=(
            "contig:from-to in base pairs, kb or Mb, the id of a variant, or the name of a gene; "
            "then Enter"
        ),
        continuous_update=False,
    ).add_class("genobit-ld-region")

    def show(change: Any) -> None:
        # No loop: `ask` ignores a text that names the current region.
        text.value = region_text(change["new"])

    def ask(change: Any) -> None:
        if change["new"].strip() and change["new"] != region_text(explorer.region):
            explorer.try_to(explorer.go_to, change["new"])
        else:
            explorer._forget_refusal()
            text.value = region_text(explorer.region)

    explorer.observe(show, "region")
    text.observe(ask, "value")
    return text


def _contig(explorer: LDTraits) -> ipywidgets.Dropdown:
    contig = dropdown("contig", [(name, name) for name in explorer.contigs], "")
    contig.value = explorer.region[0]
    contig.tooltip = "show the first variants of a contig"

    def show(change: Any) -> None:
        contig.value = change["new"][0]

    def change_contig(change: Any) -> None:
        if change["new"] != explorer.region[0]:
            explorer.try_to(explorer.go_to_contig, change["new"])

    explorer.observe(show, "region")
    contig.observe(change_contig, "value")
    return contig.add_class("genobit-ld-contig")


#: Parts of the explorer that a change of a trait makes stale.
STALE_BY_TRAIT = {
    "statistic": {"window", "track", "plot"},
    "region": {"window", "track"},
    "min_maf": {"window", "track", "aim"},
    "threshold": {"colours"},
    "view": {"plot"},
    "axis": {"plot"},
    "aggregate": {"colours"},
    "show_blocks": {"blocks"},
    "tab": {"tab"},
    "selected": {"selected"},
    "lead": {"track"},
    "of_samples": {"window", "track"},
}
#: Stale parts, other than the window, that redraw a list.
LISTS = {"picture": set(), "variants": {"track"}, "pairs": {"colours"}, "decay": set()}
