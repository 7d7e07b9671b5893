"""Find samples by their names and by their labels, such as a family or a population."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from genobit.data import labels
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    import xarray as xr


class Finder:
    """Samples by name, and groups of samples by label.

    names: (samples,). Labels are all text variables of the samples. Upper and lower case matter
    only where both are in use.
    """

    def __init__(self, names: np.ndarray, variables: Mapping[str, np.ndarray]) -> None:
        self._found: dict[str, np.ndarray] = {}
        self._lower: dict[str, list[str]] = {}
        self.kinds = ["sample"]
        # Later ones win: a sample may have the name of its family.
        for name, values in variables.items():
            if not labels.is_text(labels.decoded(values, name)):
                continue
            self.kinds.append(name.removeprefix("sample_").removesuffix("_id").replace("_", " "))
            texts = labels.text(values, name)
            self._learn({t: np.flatnonzero(texts == t) for t in np.unique(texts.astype(str))})
        self._learn({str(name): np.array([k]) for k, name in enumerate(names)})

    def _learn(self, found: Mapping[str, np.ndarray]) -> None:
        self._found.update({text: places for text, places in found.items() if text})
        for text in found:
            self._lower.setdefault(text.lower(), []).append(text)

    @property
    def wanted(self) -> str:
        """Kinds of names in words, such as "sample, family or population"."""
        first = ", ".join(self.kinds[:-1])
        return f"{first} or {self.kinds[-1]}" if first else self.kinds[-1]

    def find(self, text: str) -> tuple[int, ...]:
        """Return the positions of the samples that names and labels in a text select, ascending.

        Commas or spaces separate names. Raises ValueError that lists unknown names.
        """
        found, unknown = [], []
        for part in re.split(r"[,;\n]", text):
            # A label may have spaces, and names may be separated by them.
            whole = self._one(part.strip())
            for word in [part.strip()] if whole is not None else part.split():
                places = self._one(word)
                found.append(np.empty(0, "i8") if places is None else places)
                unknown += [word] if places is None else []
        if unknown:
            listed = ", ".join(map(repr, unknown[:5])) + (", …" if len(unknown) > 5 else "")
            meant = did_you_mean(unknown[0], self._found)
            raise ValueError(f"there is no {self.wanted} named {listed}{meant}")
        return tuple(np.unique(np.concatenate([np.empty(0, "i8"), *found])).tolist())

    def _one(self, word: str) -> np.ndarray | None:
        if word in self._found:
            return self._found[word]
        alike = set(self._lower.get(word.lower(), ()))
        return self._found[alike.pop()] if len(alike) == 1 else None


def label_variables(ds: xr.Dataset, variables: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the variables whose labels the search finds, the family first.

    Other identifiers, such as those of parents, are left out: 0 would stand for many samples.
    """
    known = {name: values for name, values in variables.items() if not name.endswith("_id")}
    if "sample_family_id" in ds.variables:
        known = {"sample_family_id": ds["sample_family_id"].values, **known}
    return known
