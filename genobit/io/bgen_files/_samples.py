"""Read the samples of a .sample file, which names those of a .bgen or .gen file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data import sexes
from genobit.data.guards.bounded import read_bytes
from genobit.data.guards.damage import named_damage
from genobit.engine.files import require_file

if TYPE_CHECKING:
    from pathlib import Path

FIRST_LINE = 3
"""Number of the line of the first sample."""


def read_sample_file(path: Path) -> dict[str, np.ndarray]:
    """Return the columns that identify samples, and their sex if the file has it.

    `individual`: ID_2, or the only id; `family`: ID_1, if it is another; `sex`: int8 of
    `sexes.from_codes`. Raises FileNotFoundError for a missing file, and ValueError with the number
    of the first malformed line.
    """
    require_file(path, "give the .sample file as sample=")
    with named_damage(path):
        lines = read_bytes(path).decode().splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    names = lines[0].split() if lines else []
    types = lines[1].split() if len(lines) > 1 else []
    if not names or types[:1] != ["0"] or len(types) != len(names):
        raise ValueError(
            f"{path} is not a .sample file: line 1 names the columns, as in 'ID_1 ID_2 missing', "
            "and line 2 their types, as in '0 0 0'. Add these two lines."
        )
    rows = [line.split() for line in lines[FIRST_LINE - 1 :]]
    for number, row in enumerate(rows, FIRST_LINE):
        if len(row) != len(names):
            msg = f"{path}, line {number} has {len(row)} fields, line 1 has {len(names)}."
            raise ValueError(msg)
    table = np.array(rows, object).reshape(len(rows), len(names))
    two = len(names) > 1 and types[1] == "0" and names[1].lower() == "id_2"
    found = {"individual": table[:, 1 if two else 0]}
    if two and not np.isin(table[:, 0], ["0", "NA"]).all() and (table[:, 0] != table[:, 1]).any():
        found["family"] = table[:, 0]
    if "sex" in (lower := [name.lower() for name in names]):
        found["sex"] = sexes.from_codes(table[:, lower.index("sex")])
    return found
