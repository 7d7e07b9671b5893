"""Search box of the Kendall explorer: find variables, observations and groups by name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.spelling import did_you_mean
from genobit.visual.colouring import MISSING, categories

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Examples in a message.
SHOWN = 3


@dataclass
class Found:
    """Positions of variables and observations that a text names."""

    variables: list[int] = field(default_factory=list)
    observations: list[int] = field(default_factory=list)
    in_groups: bool = False
    """Whether a group of variables is among them."""


class Finder:
    """Names of variables, and the names and groups that a search box finds.

    ``within`` returns the positions of variants in a region, or none for another text.
    """

    def __init__(
        self,
        variables: Mapping[str, int],
        observations: Mapping[str, int],
        variable_labels: Mapping[str, np.ndarray],
        observation_labels: Mapping[str, np.ndarray],
        within: Callable[[str], list[int]],
    ) -> None:
        self._variables, self._observations = variables, observations
        self._groups = _groups(variable_labels)
        self._groups_of_observations = _groups(observation_labels)
        self._within = within

    def find(self, text: str) -> Found:
        """Return the variables and observations of a text.

        Names are separated by commas, or by spaces if they have none. Raises ValueError for the
        first name that is unknown.
        """
        found = Found()
        for part in filter(None, (part.strip() for part in re.split("[,;]", text))):
            if not self._take(part, found):
                for name in part.split():
                    if not self._take(name, found):
                        raise ValueError(self._unknown(name))
        found.variables = list(dict.fromkeys(found.variables))
        return found

    def _take(self, name: str, found: Found) -> bool:
        if name in self._variables:
            found.variables.append(self._variables[name])
        elif name in self._observations:
            found.observations.append(self._observations[name])
        elif name in self._groups:
            found.variables += self._groups[name]
            found.in_groups = True
        elif name in self._groups_of_observations:
            found.observations += self._groups_of_observations[name]
        elif inside := self._within(name):
            found.variables += inside
            found.in_groups = True
        else:
            return False
        return True

    def _unknown(self, name: str) -> str:
        kinds = {
            "variables": list(self._variables),
            "groups of variables": list(self._groups),
            "observations": list(self._observations),
            "groups of observations": list(self._groups_of_observations),
        }
        known = [f"{_some(names)} are {kind}" for kind, names in kinds.items() if names]
        meant = did_you_mean(name, [other for names in kinds.values() for other in names])
        return f"there is no {name!r}: {'; '.join(known)}{meant}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")


def _groups(labels: Mapping[str, np.ndarray]) -> dict[str, list[int]]:
    """Return the positions of the members of each category of some labels, by its name."""
    found: dict[str, list[int]] = {}
    for name, values in labels.items():
        each = categories(name, values)
        if each is not None:
            for category in np.unique(each[each != MISSING].astype(str)):
                found.setdefault(str(category), np.flatnonzero(each == category).tolist())
    return found
