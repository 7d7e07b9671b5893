"""The traits of the LD explorer, with their valid values, and actions that set them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from genobit.ld.explorer.region import Region, known_contig, parse_region
from genobit.visual.explorer import Explorer
from genobit.visual.pixels import AGGREGATES
from genobit.visual.style import number

if TYPE_CHECKING:
    from genobit.ld.explorer.data import Cohort
    from genobit.ld.explorer.views import Genes


class LDTraits(Explorer):
    """The state of an LD explorer.

    Attributes
    ----------
    statistic
        "r2", "r", "D" or "dprime" for haplotypes; "r2", "r", "r2_em" or "dprime_em" for dosages.
    region
        (contig, from, to) in base pairs, both ends included.
    min_maf
        Smallest minor allele frequency. Rarer variants are removed before anything is computed.
    min_r2
        Pairs whose statistic is nearer to 0 stay white. A change only recolours the picture.
    view
        "triangle" or "square".
    axis
        "rank" (variants evenly spaced) or "position" (to scale).
    aggregate
        Value of a pixel of several pairs: the strongest pair ("max"), their "mean", or one pair
        ("sample").
    show_blocks
        Whether haplotype blocks are outlined.
    beside
        Content of the side panel: "nothing", a table of the "variants" or of the strongest "pairs"
        in view, or the "decay" of their LD with distance.
    selected
        Indices along `variants` that are marked in the picture and selected in the table. A click
        on a pair selects both variants.
    lead
        Index along `variants` of the variant whose r² with the region is drawn, or None.
    of_samples
        "all", or "selected": LD of the selected samples only.
    """

    _cohort: Cohort
    _whole: Cohort
    _among: tuple[tuple[int, ...], Cohort] | None = None
    _genes: Genes
    statistics: tuple[str, ...]
    contigs: list[str]

    css = "genobit-ld"
    statistic = traitlets.Unicode("r2")
    region = traitlets.Tuple(traitlets.Unicode(), traitlets.Float(), traitlets.Float())
    min_maf = traitlets.Float(0.0, min=0.0, max=0.5)
    min_r2 = traitlets.Float(0.0, min=0.0, max=1.0)
    view = traitlets.Enum(("triangle", "square"), "triangle")
    axis: Any = traitlets.Enum(("rank", "position"), "rank")
    aggregate: Any = traitlets.Enum(tuple(AGGREGATES), "max")
    show_blocks = traitlets.Bool(False)  # noqa: FBT003  traitlets takes the default first
    beside = traitlets.Enum(("nothing", "variants", "pairs", "decay"), "nothing")
    selected: Any = traitlets.Tuple(())
    of_samples = traitlets.Enum(("all", "selected"), "all")
    lead = traitlets.Int(None, allow_none=True)

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
            A region as `contig:from-to`, or the name of a gene in the table.
        """
        gene = self._genes.find(text)
        try:
            if gene is None:
                self.region = parse_region(text, self.contigs, self.region[0])
            else:
                contig, start, end = gene
                margin = (end - start) / 4
                self.region = (contig, max(start - margin, 0.0), end + margin)
        except (ValueError, traitlets.TraitError) as error:
            self._complain(error)

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
            Factor of the length; above 1 zooms out.
        """
        contig, start, end = self.region
        middle, half = (start + end) / 2, max(end - start, 1_000.0) / 2 * factor
        self.region = (contig, max(middle - half, 0.0), middle + half)

    def go_to_selection(self) -> None:
        """Show the region of the selected variants, on the contig of the first."""
        if not self.selected:
            raise ValueError("no variant is selected; click a pair, or select variants by name")
        contig = self._whole.contig_of(self.selected[0])
        there = [k for k in self.selected if self._whole.contig_of(k) == contig]
        position = self._whole.position[there].astype("f8")
        margin = max(float(np.ptp(position)), 10_000.0) / 4
        self.region = (contig, max(position.min() - margin, 0.0), position.max() + margin)

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
            return "; fewer than two samples are selected, so of all"
        return f"; among {number(self._cohort.n_samples, 'selected sample')}"
