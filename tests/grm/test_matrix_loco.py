"""Relationship matrices without the variants of each contig."""

from __future__ import annotations

import numpy as np
import pytest

import genobit as gb
from tests.grm.cohorts import (
    FORMS,
    RULES,
    SUMMED,
    assert_close,
    exact,
    in_form,
    whole_calls,
)
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.reference import dosages, relationships, variants_compared

# Two forms of a method: each form is that of one at least.
METHODS_IN_FORMS = [
    (method, FORMS[(k + shift) % len(FORMS)])
    for k, method in enumerate([*SUMMED, "hadamard"])
    for shift in (0, 3)
]


@pytest.mark.parametrize(("method", "form"), METHODS_IN_FORMS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_loco__is_the_matrix_without_the_contig(
    method: str, rule: str, form: str, missing: float
) -> None:
    calls = whole_calls(2, 150, 40, missing=missing)
    calls[:50] = np.abs(calls[:50])
    p = np.random.default_rng(1).uniform(0.1, 0.9, 150)
    contig = cohort(calls, contigs=4).variant_contig.values
    for frequency in (None, p):
        with gb.set_options(chunk_rows=17):
            ds = in_form(form, calls, contigs=4)
            found = ds.genobit.grm(method, missing=rule, allele_frequency=frequency, loco=True)
            found = found.compute()
        assert found.dims == ("contigs", "samples_0", "samples_1")
        assert found.contig_left_out.values.tolist() == ["chr1", "chr2", "chr3", "chr4"]
        for k, values in enumerate(found.values):
            rest = contig != k
            g = dosages(calls[rest]).T
            q = None if frequency is None else frequency[rest]
            assert_close(values, relationships(method, g, missing=rule, frequency=q))
            if rule == "pairwise":
                np.testing.assert_array_equal(found.variants_compared[k], variants_compared(g, q))
            if method == "vanraden1" and frequency is None and not missing:
                np.testing.assert_array_equal(values, exact(calls[rest]))


def test_loco__of_contigs_of_one_variant() -> None:
    calls = np.abs(random_calls(2, 70, 9))
    found = cohort(calls, contigs=70).genobit.grm(loco=True, autosomes=70).values
    assert found.shape == (70, 9, 9)
    for k in (0, 13, 69):
        np.testing.assert_array_equal(found[k], exact(np.delete(calls, k, axis=0)))


def test_loco__of_the_only_contig_is_nan() -> None:
    ds = cohort(random_calls(2, 70, 9, missing=0.1))
    for method in SUMMED:
        for rule in RULES:
            found = ds.genobit.grm(method, missing=rule, loco=True)
            assert found.shape == (1, 9, 9)
            assert np.isnan(found).all()


def test_loco__contigs_may_go_without_names_or_have_them_in_place() -> None:
    ds = cohort(random_calls(2, 70, 9), contigs=2)
    expected = ds.genobit.grm(loco=True)
    unnamed = ds.drop_vars("contig_id").genobit.grm(loco=True)
    assert unnamed.contig_left_out.values.tolist() == ["0", "1"]
    names = ds.contig_id.values[ds.variant_contig.values]
    named = ds.assign(variant_contig=("variants", names)).genobit.grm(loco=True)
    assert named.contig_left_out.values.tolist() == ["chr1", "chr2"]
    for found in (unnamed, named):
        np.testing.assert_array_equal(found.values, expected.values)
