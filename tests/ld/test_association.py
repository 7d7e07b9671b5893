"""P-values of tables, matched to variants."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from genobit.ld.association import SMALLEST, Variants, match

KNOWN = Variants(
    np.array(["rs1", "rs2", ".", "."], object),
    np.array(["2", "2", "2", "X"], object),
    np.array([10, 20, 30, 30]),
)


def test_rows_are_matched_by_identifier_and_others_are_counted():
    table = pd.DataFrame({"ID": ["rs2", "rs9", "."], "POS": [20, 25, 30], "P-value": [0.01, 1, 0]})
    found = match(table, KNOWN)
    np.testing.assert_array_equal(found.strength, [np.nan, 2, np.nan, np.nan])
    # The table has no contigs, and the variants are on two.
    assert found.lost("2", 0, 22) == 2


def test_rows_are_matched_by_contig_and_position_where_no_identifier_matches():
    table = pd.DataFrame(
        {"#CHROM": ["chr2", "chrX", "2", "3"], "bp": [30, 30, 11, 10], "p": [0.1, 0.01, 1, 1]}
    )
    found = match(table, KNOWN)
    np.testing.assert_allclose(found.strength, [np.nan, np.nan, 1, 2])
    assert found.lost("2", 0, 100) == 1
    assert found.lost("2", 12, 100) == 0


def test_a_p_of_0_is_the_smallest_number():
    found = match(pd.DataFrame({"rsid": ["rs1", "rs2"], "pval": [0.0, 1e-320]}), KNOWN)
    assert found.strength[0] == SMALLEST
    assert found.underflow.tolist() == [True, False, False, False]
    assert 319 < found.strength[1] < SMALLEST


def test_minus_log10_is_taken_as_it_is():
    table = pd.DataFrame({"ID": ["rs1"], "LOG10P": [400.0], "P": [0.5]})
    assert match(table, KNOWN, log10=True).strength[0] == 400


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"P": [0.1], "P_value": [0.2]}, {}, "2 columns 'P', 'P_value'.*p='P'"),
        ({"LOG10P": [3]}, {}, "give p='LOG10P', log10=True"),
        ({"P": [0.1]}, {"p": "Pp"}, "did you mean 'P'"),
        ({"P": [1.5]}, {}, r"P\[0\] = 1.5 is outside"),
        ({"P": ["x"]}, {}, r"P\[0\] is 'x'"),
        ({"P": [0.1 + 1j]}, {}, r"association\['P'\] holds values of dtype complex128"),
    ],
)
def test_columns_that_are_no_p_values_are_named(columns, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        match(pd.DataFrame({"SNP": ["rs1"], **columns}), KNOWN, **options)


def test_several_p_values_of_a_variant_are_refused():
    table = pd.DataFrame({"ID": ["rs1", "rs2", "rs1"], "TEST": ["ADD", "ADD", "AGE"], "P": 0.5})
    with pytest.raises(ValueError, match=r"for rs1, in rows 0 and 2.*association\['TEST'\]"):
        match(table, KNOWN)
    # A row without a value is no second value.
    assert match(table.assign(P=[0.1, 0.5, np.nan]), KNOWN).strength[0] == 1


def test_a_position_of_several_variants_is_refused():
    twice = Variants(None, np.array(["2"] * 3, object), np.array([5, 5, 8]))
    table = pd.DataFrame({"pos": [5], "p": [0.1]})
    with pytest.raises(ValueError, match="several variants are at 2:5"):
        match(table, twice)
    assert match(table.assign(pos=8), twice).strength[2] == 1


def test_a_table_of_other_variants_is_refused():
    with pytest.raises(ValueError, match="none of the 1 rows"):
        match(pd.DataFrame({"ID": ["rs7"], "P": [0.5]}), KNOWN)
    with pytest.raises(ValueError, match="neither a column of identifiers"):
        match(pd.DataFrame({"gene": ["rs7"], "P": [0.5]}), KNOWN)
