"""Rules that make calls missing, by their quality, their depth and the balance of their reads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.quality.filter import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_CALLED = 1
"""Bit of a call with an allele; larger bits are those of the rules that it fails."""


class Rule(NamedTuple):
    """A rule with its threshold."""

    name: str
    field: str
    """Variable of the values."""
    limit: float


FIELDS = {
    "min_gq": "call_GQ",
    "min_dp": "call_DP",
    "max_dp": "call_DP",
    "min_balance": "call_AD",
}
"""Variable that each rule needs."""


class Masked(NamedTuple):
    """Calls after all rules, lazy if an input is."""

    calls: Any
    """(variants, samples, ploidy)"""
    phased: Any
    """(variants, samples), or None."""
    likely: dict[str, Any]
    """Dosages and probabilities by name."""
    counts: Any
    """Masked calls (rules + 1,): by each rule, and by any."""
    called: Any
    """Number of calls before, with one allele or more."""


def masked(
    calls: Any,
    phased: Any,
    likely: dict[str, Any],
    fields: dict[str, Any],
    rules: tuple[Rule, ...],
) -> Masked:
    """Return calls that fail a rule as missing, and how many each rule masks.

    calls: (variants, samples, ploidy); phased: (variants, samples), or None; likely: dosages and
    probabilities by name, (variants, samples) or (variants, samples, n); fields: values by name,
    (variants, samples) or (variants, samples, alleles).
    """
    arrays = calls, phased, *likely.values(), *fields.values()
    lazy = any(isinstance(x, da.Array) for x in arrays)
    run = _blockwise if lazy else _at_once
    places = (np.arange(calls.shape[0]), "v"), (np.arange(calls.shape[1]), "s")
    signed = np.promote_types(calls.dtype, np.int8)
    inputs = [(calls, "vsp"), *places]
    inputs += [(fields[rule.field], "vsa"[: fields[rule.field].ndim]) for rule in rules]
    failing = run(_failing, "vs", inputs, np.uint8, rules=rules)
    tally = run(_tally, "vsr", [(failing, "vs")], np.int64, {"r": len(rules) + 2}, rules=rules)
    counts = tally.sum(axis=(0, 1))
    return Masked(
        run(_without, "vsp", [(calls, "vsp"), (failing, "vs")], signed, to=signed),
        None if phased is None else run(_unphased, "vs", [(phased, "vs"), (failing, "vs")], bool),
        {name: _without_values(run, values, failing) for name, values in likely.items()},
        counts[:-1],
        counts[-1],
    )


def _at_once(
    change: Callable[..., Any], _out: str, inputs: list[tuple[Any, str]], *_: Any, **more: Any
) -> Any:
    return change(*(array for array, _ in inputs), **more)


def _blockwise(
    change: Callable[..., Any],
    out: str,
    inputs: list[tuple[Any, str]],
    dtype: Any,
    new: dict[str, int] | None = None,
    **more: Any,
) -> da.Array:
    """Return the blocks of ``change``; with ``new``, a block has one row of them."""
    return da.blockwise(
        change,
        out,
        *(x for each in inputs for x in each),
        new_axes=new,
        adjust_chunks={"v": lambda _: 1, "s": lambda _: 1} if new else None,
        concatenate=True,
        dtype=dtype,
        meta=np.empty((0,) * len(out), dtype),
        **more,
    )


def _failing(
    calls: NDArray[Any],
    variants: NDArray[np.int64],
    samples: NDArray[np.int64],
    *values: NDArray[Any],
    rules: tuple[Rule, ...],
) -> NDArray[np.uint8]:
    """Return whether there is a call, and more bits for the rules that it fails.

    variants, samples: the numbers of those in the block, for messages.
    """
    # A reduction along so short an axis takes ten times as long.
    called = np.zeros(calls.shape[:2], bool)
    for alleles in np.moveaxis(calls, 2, 0):
        called |= alleles >= 0
    found = np.where(called, np.uint8(_CALLED), np.uint8(0))
    for k, (rule, of_rule) in enumerate(zip(rules, values, strict=True)):
        fails = _RULES[rule.name](of_rule, rule.limit, calls, variants, samples)
        np.bitwise_or(found, np.uint8(2 << k), out=found, where=fails)
    return found


def _below(values: NDArray[Any], limit: float, *_: Any) -> NDArray[np.bool_]:
    # An integer stays in its type: a float64 would take eight times the memory.
    if values.dtype.kind == "f":
        return values < limit
    return (values >= 0) & (values < math.ceil(limit))


def _above(values: NDArray[Any], limit: float, *_: Any) -> NDArray[np.bool_]:
    return values > (limit if values.dtype.kind == "f" else math.floor(limit))


def _unbalanced(
    depths: NDArray[Any],
    limit: float,
    calls: NDArray[Any],
    variants: NDArray[np.int64],
    samples: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return heterozygous calls of which an allele has too small a share of the reads of both."""
    one, other = calls[:, :, 0], calls[:, :, -1]
    v, s = np.nonzero((one >= 0) & (other >= 0) & (one != other))
    pair = one[v, s], other[v, s]
    wide = np.flatnonzero(np.maximum(*pair) >= depths.shape[2])
    if wide.size:
        k = wide[0]
        msg = (
            f"call_genotype has allele {max(pair[0][k], pair[1][k])} at variants={variants[v[k]]}, "
            f"samples={samples[s[k]]}, and call_AD has the depths of {depths.shape[2]} alleles: "
            "give a depth of each allele, or leave out min_balance="
        )
        raise ValueError(msg)
    first, second = (depths[v, s, allele].astype(np.float64) for allele in pair)
    known = (first >= 0) & (second >= 0) & (first + second > 0)
    low = np.minimum(first, second) < limit * (first + second) * (1 - ROUNDING)
    found = np.zeros(one.shape, bool)
    found[v, s] = known & low
    return found


_RULES: dict[str, Callable[..., NDArray[np.bool_]]] = {
    "min_gq": _below,
    "min_dp": _below,
    "max_dp": _above,
    "min_balance": _unbalanced,
}


def _tally(failing: NDArray[np.uint8], rules: tuple[Rule, ...]) -> NDArray[np.int64]:
    """Return the number of calls (1, 1, rules + 2) that each rule masks, that any does, and all."""
    called = failing * (failing & np.uint8(_CALLED))
    bits = [np.count_nonzero(called & (2 << k)) for k in range(len(rules))]
    counts = [*bits, np.count_nonzero(called > _CALLED), np.count_nonzero(called)]
    return np.array(counts, np.int64)[None, None]


def _without(calls: NDArray[Any], failing: NDArray[np.uint8], to: np.dtype[Any]) -> NDArray[Any]:
    """Return calls in which the alleles of masked ones are missing; fill stays."""
    found, is_masked = calls.astype(to), failing > _CALLED
    for alleles in np.moveaxis(found, 2, 0):
        np.copyto(alleles, -1, where=is_masked & (alleles >= 0))
    return found


def _unphased(phased: NDArray[np.bool_], failing: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return phased & ((failing <= _CALLED) | (failing & _CALLED == 0))


def _without_values(run: Callable[..., Any], values: Any, failing: Any) -> Any:
    """Return dosages or probabilities that are missing where a rule fails, also without a call."""
    to = values.dtype if values.dtype.kind == "f" else np.promote_types(values.dtype, np.int8)
    axes = "vsg"[: values.ndim]
    return run(_missing, axes, [(values, axes), (failing, "vs")], to, to=to)


def _missing(values: NDArray[Any], failing: NDArray[np.uint8], to: np.dtype[Any]) -> NDArray[Any]:
    missing = np.nan if to.kind == "f" else -1
    fails = (failing > _CALLED).reshape(failing.shape + (1,) * (values.ndim - 2))
    return np.where(fails, to.type(missing), values.astype(to, copy=False))
