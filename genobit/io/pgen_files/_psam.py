"""Read the samples beside a .pgen: .psam or .fam."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.io._plink_text import read_fam, sample_variables
from genobit.io._text_tables import Table

if TYPE_CHECKING:
    from pathlib import Path

    from genobit.io._plink_text import Variable


def read_samples(path: Path) -> dict[str, Variable]:
    """Return the variables along samples of a .psam or .fam file.

    Raises ValueError with the number of the first malformed line, or for two equal samples.
    """
    if path.suffix == ".fam":
        return read_fam(path)
    table = Table(path)
    if not table.columns:
        # Without a header, a .psam has the columns of a .fam.
        return read_fam(path)
    table.require_columns("IID")
    if table.columns[0] not in {"FID", "IID"}:
        raise ValueError(
            f"{path}, line {table.first - 1}: the header begins with #{table.columns[0]}; a .psam "
            "begins with #FID or #IID."
        )
    return sample_variables(path, table.read(), table.first)
