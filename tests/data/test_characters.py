from __future__ import annotations

import numpy as np
import pytest

from genobit.data.characters import state_sets

IUPAC = {
    "A": "A", "C": "C", "G": "G", "T": "T", "U": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT",
    "K": "GT", "M": "AC", "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT", "X": "ACGT",
    "?": "ACGT", "-": "ACGT",
}  # fmt: skip


def names(found: int, symbols: tuple[str, ...]) -> str:
    return "".join(symbol for number, symbol in enumerate(symbols) if found >> number & 1)


@pytest.mark.parametrize("case", [str.upper, str.lower])
def test_nucleotides__every_code(case) -> None:
    sets, symbols = state_sets([[case(code) for code in IUPAC]], "dna")
    assert sets.dtype == np.uint64
    assert [names(int(found), symbols) for found in sets[0]] == list(IUPAC.values())


def test_nucleotides__a_gap_is_a_state_that_only_missing_shares() -> None:
    sets, symbols = state_sets([list("A-?NR")], "dna", gap="state")
    assert symbols == ("A", "C", "G", "T", "-")
    assert [names(int(f), symbols) for f in sets[0]] == ["A", "-", "ACGT-", "ACGT", "AG"]


def test_amino_acids__two_of_a_code_and_any() -> None:
    sets, symbols = state_sets([list("ABZJX?-")], "protein")
    assert "".join(symbols) == "ACDEFGHIKLMNPQRSTVWY"
    every = "".join(symbols)
    found = [names(int(f), symbols) for f in sets[0]]
    assert found == ["A", "DN", "EQ", "IL", every, every, every]


def test_amino_acids__a_stop_is_a_state_and_no_amino_acid() -> None:
    sets, symbols = state_sets([list("*XU?")], "protein")
    assert "".join(symbols) == "ACDEFGHIKLMNPQRSTVWYU*"
    found = [names(int(f), symbols) for f in sets[0]]
    assert found == ["*", "ACDEFGHIKLMNPQRSTVWYU", "U", "ACDEFGHIKLMNPQRSTVWYU*"]


def test_standard__states_are_what_occurs_numbers_first() -> None:
    sets, symbols = state_sets([["10", "2", "a"], ["?", "{2,10}", "(a2)"]], "standard")
    assert symbols == ("2", "10", "A")
    assert sets.tolist() == [[2, 1, 4], [7, 3, 5]]


def test_standard__states_given_keep_their_order_and_case() -> None:
    sets, symbols = state_sets([["a", "A", "1", "0"]], states=["1", "0", "A", "a"])
    assert symbols == ("1", "0", "A", "a")
    assert sets.tolist() == [[8, 4, 1, 2]]


def test_polymorphic_entries_hold_gaps_and_codes() -> None:
    sets, _ = state_sets([["{A-}", "{RC}", "(A?)"]], "dna", gap="state")
    assert sets.tolist() == [[17, 7, 31]]
    assert state_sets([["{A-}"]], "dna").sets.tolist() == [[15]]


@pytest.mark.parametrize("dtype", ["S1", "U1", "U4", object, np.dtypes.StringDType()])
def test_text_of_every_dtype(dtype) -> None:
    values = np.array([list("ACGT-"), list("RYN?A")], dtype=dtype)
    assert state_sets(values, "dna").sets.tolist() == [[1, 2, 4, 8, 15], [5, 10, 15, 15, 1]]


def test_arrays_that_are_not_contiguous() -> None:
    values = np.array([list("ACGT"), list("CGTA")])
    np.testing.assert_array_equal(
        state_sets(values[:, ::-2], "dna").sets, state_sets(values, "dna").sets[:, ::-2]
    )
    np.testing.assert_array_equal(
        state_sets(values.T, "dna").sets, state_sets(values, "dna").sets.T
    )


@pytest.mark.parametrize("dtype", ["i1", "i8", "u1"])
def test_numbers(dtype) -> None:
    values = np.array([[0, 2, 1], [1, 0, 3]], dtype)
    sets, symbols = state_sets(values)
    assert symbols == ("0", "1", "2", "3")
    np.testing.assert_array_equal(sets, 1 << values.astype(np.uint64))


def test_numbers__missing_is_minus_one() -> None:
    assert state_sets(np.array([[0, -1]]), states=["x", "y"]).sets.tolist() == [[1, 3]]
    assert state_sets(np.array([[0, -1]]), gap="state").sets.tolist() == [[1, 3]]
    assert state_sets(np.array([[3, -1]]), "dna").sets.tolist() == [[8, 15]]


def test_states_of_no_symbols_are_those_that_occur() -> None:
    assert state_sets(np.array([[0, 2]]), "standard", states=[]).sets.tolist() == [[1, 4]]
    assert state_sets([["0", "2"]], "standard", states=[]).sets.tolist() == [[1, 2]]


@pytest.mark.parametrize("values", [[["?", "-"]], [[-1, -1]]])
def test_one_state_where_all_is_missing(values) -> None:
    assert state_sets(values, "standard").symbols == ("0",)
    assert state_sets(values, "standard").sets.tolist() == [[1, 1]]


def test_sixty_four_states_and_missing() -> None:
    values = np.arange(64)[None]
    sets, symbols = state_sets(np.concatenate([values, [[-1]]], axis=1))
    assert len(symbols) == 64
    assert [int(found) for found in sets[0]] == [*(1 << n for n in range(64)), 2**64 - 1]
    text = np.array([[*map(str, range(64)), "?"]])
    np.testing.assert_array_equal(state_sets(text, "standard").sets, sets)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ACGTN-?", "dna"),
        ("acgu", "dna"),
        ("ACGTRYKM", "dna"),
        ("0102?-", "standard"),
        ("01A", "standard"),
        ("MKVLW", "protein"),
        ("MKWSVD", "protein"),
        ("ACGTE", "protein"),
    ],
)
def test_kind_is_guessed(text: str, kind: str) -> None:
    guessed = state_sets([list(text)])
    assert guessed.symbols == state_sets([list(text)], kind).symbols


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"values": [list("ACGT"), list("ACEE")], "kind": "dna", "taxa": ["x", "y"]},
            (
                r"taxon 1 \('y'\), site 2: 'E' is not a symbol of kind 'dna'"
                ".*ACGT.*IUPAC.*another kind, in kind="
            ),
        ),
        ({"values": [["A", ""]], "kind": "standard"}, "taxon 0, site 1: '' is not a symbol"),
        ({"values": [["A", "{A"]], "kind": "standard"}, r"taxon 0, site 1: '\{A' is not a symbol"),
        ({"values": [["A", "{}"]], "kind": "dna"}, "taxon 0, site 1: '{}' is not a symbol"),
        ({"values": [["0", "{02}"]], "states": "01"}, r"site 1: '\{02\}' is not a .*attrs..states"),
        ({"values": [["A"]], "gap": "fifth"}, "gap='fifth' is neither 'missing' nor 'state'"),
        (
            {"values": [["A"]], "kind": "rna"},
            "kind='rna' is not one of 'dna', 'protein', 'standard'",
        ),
        ({"values": ["ACGT"]}, r"shape \(1,\), expected \(taxa, sites\)"),
        ({"values": np.zeros((2, 0), "U1")}, r"shape \(2, 0\)"),
        ({"values": [["0"]], "states": ["0", "0"]}, "repeats a state"),
        ({"values": [["0"]], "states": ["0", "-"]}, "has '-', the symbol of an unknown"),
        ({"values": [[0, -2]]}, "taxon 0, site 1: -2 is not a state .*-1 for missing"),
        ({"values": [[0, 4]], "kind": "dna"}, "site 1: 4 is not a state from 0 to 3"),
        (
            {"values": np.array([["0", None]], object)},
            "site 1: None is neither text .*use '\\?' for",
        ),
        ({"values": np.array([["0", np.nan]], object)}, "taxon 0, site 1: nan is neither text"),
        (
            {"values": np.array([[0, -1]], object)},
            "site 1: -1 is neither text nor a whole number of",
        ),
        ({"values": np.array([["0", True]], object)}, "site 1: True is neither text"),
        ({"values": [[0, 2**62]]}, f"has {2**62 + 1} states.*largest of them {2**62} at .*site 1"),
        ({"values": [[0, 64]]}, "65 states, more than the 64 .*largest of them 64 at .*site 1"),
        (
            {"values": [[str(n) for n in range(65)]]},
            "65 states, more than the 64 .*'64' at taxon 0, site 64: merge",
        ),
        ({"values": np.arange(64)[None], "gap": "state"}, "65 states.*63 at taxon 0, site 63"),
    ],
)
def test_refusals(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        state_sets(**arguments)


def test_refuses_floats() -> None:
    with pytest.raises(TypeError, match="dtype float64, expected text"):
        state_sets(np.zeros((2, 2)))
