"""Shared selection of the LD explorer: variants are marked, samples can be the cohort."""

from __future__ import annotations

from typing import Any

import numpy as np

from genobit.visual.style import number


class LDLinking:
    """Selection methods of the explorer."""

    def go_to_selection(self: Any) -> None:
        """Show the region of the selected variants, on the contig of the first."""
        if not self.selected:
            raise ValueError("no variant is selected; click a pair, or select variants by name")
        contig = self._whole.contig_of(self.selected[0])
        there = [k for k in self.selected if self._whole.contig_of(k) == contig]
        position = self._whole.position[there].astype("f8")
        margin = max(float(np.ptp(position)), 10_000.0) / 4
        self.region = (contig, max(position.min() - margin, 0.0), position.max() + margin)

    def _follow(self: Any, kind: str, *, own: bool) -> None:
        if kind == "variants" and not own:
            self.selected = tuple(self._places("variants").tolist())
        elif kind == "samples" and self.of_samples == "selected":
            self._mark({"window", "track"})

    def _choose_cohort(self: Any) -> None:
        """Use only the selected samples if `of_samples` asks for it and two or more exist."""
        places = self._places("samples") if self.of_samples == "selected" else ()
        if len(places) < 2:
            self._cohort = self._whole
        elif self._among is None or self._among[0] != tuple(places):
            self._among = tuple(places), self._whole.among(places)
        if len(places) >= 2:
            self._cohort = self._among[1]

    def _of_samples_in_words(self: Any) -> str:
        if self.of_samples == "all":
            return ""
        if self._cohort is self._whole:
            return "; fewer than two samples are selected, so of all"
        return f"; among {number(self._cohort.n_samples, 'selected sample')}"
