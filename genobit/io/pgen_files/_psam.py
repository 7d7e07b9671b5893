"""Read the samples beside a .pgen: .psam or .fam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import sexes
from genobit.io._plink_text import phenotype_variable, read_fam, sample_ids, sample_variables
from genobit.io._text_tables import Table

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Variable = tuple[str, NDArray[Any], dict[str, str]]

COLUMNS = {
    "FID": "sample_family_id",
    "SID": "sample_SID",
    "PAT": "sample_father_id",
    "MAT": "sample_mother_id",
    "SEX": "sample_sex",
    "PHENO1": "sample_phenotype",
}
"""Variable of each known column of a .psam; another column NAME is ``sample_NAME``."""


def read_samples(path: Path) -> dict[str, Variable]:
    """Return the variables along samples of a .psam or .fam file.

    Raises ValueError with the number of the first malformed line, or for two equal samples.
    """
    if path.suffix == ".fam":
        return sample_variables(read_fam(path), path)
    table = Table(path)
    if not table.columns:
        # Without a header, a .psam has the columns of a .fam.
        return sample_variables(read_fam(path), path)
    table.require_columns("IID")
    if table.columns[0] not in {"FID", "IID"}:
        msg = (
            f"{path}, line {table.first - 1}: the header begins with #{table.columns[0]}; a .psam "
            "begins with #FID or #IID."
        )
        raise ValueError(msg)
    columns = table.read()
    individual = columns.pop("IID")
    family = columns.get("FID", np.full(individual.size, "0", object))
    ids = sample_ids(path, family, individual, table.first)
    found: dict[str, Variable] = {"sample_id": ("samples", *ids)}
    for column, text in columns.items():
        name = COLUMNS.get(column, f"sample_{column}")
        if name in found:
            msg = (
                f"{path}, line {table.first - 1}: the column {column!r} would be the variable "
                f"{name!r}, which is there already; rename it."
            )
            raise ValueError(msg)
        found[name] = _variable(path, column, name, text)
    return found


def _variable(path: Path, column: str, name: str, text: NDArray[Any]) -> Variable:
    if column in {"FID", "PAT", "MAT", "SID"}:
        return "samples", text, {}
    if column == "SEX":
        return "samples", sexes.from_codes(text), {}
    code = f"pd.read_csv({path.name!r}, sep=r'\\s+')[{column!r}]"
    return "samples", *phenotype_variable(text, name, path.suffix, code)
