"""Slow, obvious oracles: what the fast code must equal, in plain Python and numpy."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import factorial, isnan
from operator import mul

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.bool_]
Words = NDArray[np.uint64]


def bits_of(words: Words, bits: int) -> Bits:
    """Bits of rows of words, one shift at a time."""
    out = np.zeros((words.shape[0], bits), bool)
    for p in range(bits):
        out[:, p] = words[:, p // 64] >> np.uint64(p % 64) & np.uint64(1)
    return out


def sets_of(planes: NDArray[np.uint64], patterns: int) -> NDArray[np.uint64]:
    """State sets (rows, patterns) of state planes (blocks, rows, states, 8), a state at a time."""
    _, rows, states, _ = planes.shape
    out = np.zeros((rows, patterns), np.uint64)
    for state in range(states):
        words = planes[:, :, state].swapaxes(0, 1).reshape(rows, -1)
        out |= bits_of(words, patterns).astype(np.uint64) << np.uint64(state)
    return out


def words_of(bits: Bits) -> Words:
    """Words of rows of bits, padding bits zero."""
    padded = np.zeros((bits.shape[0], -(-bits.shape[1] // 64) * 64), bool)
    padded[:, : bits.shape[1]] = bits
    octets = np.packbits(padded, axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64, copy=False)


def and_counts(a: Bits, b: Bits) -> NDArray[np.int64]:
    return a.astype(np.int64) @ b.astype(np.int64).T


def xor_counts(a: Bits, b: Bits) -> NDArray[np.int64]:
    x, y = a.astype(np.int64), b.astype(np.int64)
    return x @ (1 - y).T + (1 - x) @ y.T


def ternary_products(a_mask: Bits, a_sign: Bits, b_mask: Bits, b_sign: Bits) -> NDArray[np.int64]:
    """Sums of products of values that are 0 outside the mask, -1 where the sign is set, else 1."""
    x = a_mask * (1 - 2 * a_sign.astype(np.int64))
    y = b_mask * (1 - 2 * b_sign.astype(np.int64))
    return x @ y.T


def dosage_products(a: NDArray[np.integer], b: NDArray[np.integer]) -> list[list[int]]:
    """Sums over variants of products of dosages (samples, variants), in Python's integers."""
    rows, columns = a.tolist(), b.tolist()
    return [[sum(x * y for x, y in zip(r, c, strict=True)) for c in columns] for r in rows]


def bed_rows(calls: NDArray[np.integer]) -> list[bytes]:
    """Rows of a PLINK 1 .bed of calls (variants, samples, 2), a call at a time."""
    rows = []
    for row in calls.tolist():
        octets = bytearray(-(-len(row) // 4))
        for s, pair in enumerate(row):
            code = 0b01 if min(pair) < 0 else (0b11, 0b10, 0b00)[sum(pair)]
            octets[s // 4] |= code << 2 * (s % 4)
        rows.append(bytes(octets))
    return rows


def dosages(calls: NDArray[np.integer], allele: int = 1) -> NDArray[np.float64]:
    """Copies of an allele in calls (variants, samples, 2); NaN where an allele is missing."""
    out = (calls == allele).sum(axis=-1).astype(float)
    out[(calls < 0).any(axis=-1)] = np.nan
    return out


def haplotypes(calls: NDArray[np.integer], allele: int = 1) -> NDArray[np.float64]:
    """Whether each haplotype has an allele, (variants, samples * ploidy); NaN where missing."""
    flat = calls.reshape(calls.shape[0], -1)
    return np.where(flat < 0, np.nan, (flat == allele).astype(float))


def linkage(statistic: str, x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """r, r2, D or D' of two variants over what is present at both."""
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    if x.size == 0:
        return np.nan
    if statistic in {"r", "r2"}:
        dx, dy = x - x.mean(), y - y.mean()
        if (x == x[0]).all() or (y == y[0]).all():
            return np.nan
        r = (dx * dy).sum() / np.sqrt((dx * dx).sum() * (dy * dy).sum())
        return r if statistic == "r" else r * r
    p, q, pq = x.mean(), y.mean(), (x * y).mean()
    d = pq - p * q
    if statistic == "D":
        return d
    bound = min(p * (1 - q), (1 - p) * q) if d >= 0 else min(p * q, (1 - p) * (1 - q))
    return d / bound if bound > 0 else np.nan


def known_haplotypes(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[int, int, int, int, int]:
    """Haplotypes 11, 00, 10, 01 of two variants that dosages show, and double heterozygotes."""
    k = {(1, 1): 0, (0, 0): 0, (1, 0): 0, (0, 1): 0}
    both = 0
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if isnan(a) or isnan(b):
            continue
        if a == 1 and b == 1:
            both += 1
            continue
        # Of a homozygote either allele goes with each allele of the other variant.
        first, second = (a / 2, a / 2) if a != 1 else (0, 1), (b / 2, b / 2) if b != 1 else (0, 1)
        for pair in zip(first, second, strict=True):
            k[pair] += 1
    return k[1, 1], k[0, 0], k[1, 0], k[0, 1], both


def haplotype_likelihood(
    f: NDArray[np.float64], known: tuple[int, int, int, int, int]
) -> NDArray[np.float64]:
    """Log-likelihood where f of the double heterozygotes have both alleles on one haplotype."""
    k11, k00, k10, k01, h = known
    p11, p00, p10, p01 = k11 + f, k00 + f, k10 + h - f, k01 + h - f
    total = np.zeros_like(f)
    with np.errstate(divide="ignore"):
        for count, p in (
            (k11, p11),
            (k00, p00),
            (k10, p10),
            (k01, p01),
            (h, p11 * p00 + p10 * p01),
        ):
            if count:
                total += count * np.log(p)
    return total


def coupled_double_heterozygotes(known: tuple[int, int, int, int, int]) -> float:
    """Where the likelihood is largest, on grids each 100 times finer; of equal ones the largest."""
    h = known[4]
    grid = np.linspace(0.0, h, 20_001)
    best = 0.0
    for step in h / 20_000 / 100.0 ** np.arange(4):
        found = haplotype_likelihood(grid, known)
        best = float(grid[np.flatnonzero(found >= found.max() - 1e-11)[-1]])
        grid = np.clip(np.linspace(best - 2 * step, best + 2 * step, 401), 0.0, h)
    return best


def linkage_from_haplotypes(
    statistic: str, known: tuple[int, int, int, int, int], f: float
) -> float:
    """r2 or D' where f of the double heterozygotes have both alleles on one haplotype."""
    k11, k00, k10, k01, h = known
    n = k11 + k00 + k10 + k01 + 2 * h
    if n == 0:
        return np.nan
    p, q, pq = (k11 + k10 + h) / n, (k11 + k01 + h) / n, (k11 + f) / n
    if p in {0, 1} or q in {0, 1}:
        return np.nan
    d = pq - p * q
    if statistic == "r2_em":
        return d * d / (p * (1 - p) * q * (1 - q))
    return d / (min(p * (1 - q), (1 - p) * q) if d >= 0 else min(p * q, (1 - p) * (1 - q)))


def dprime_interval(known: tuple[int, int, int, int, int]) -> tuple[int, int] | None:
    """Ends of the interval of |D'| in hundredths, as Haploview has it; none of one allele."""
    k11, k00, k10, k01, h = known
    n = k11 + k00 + k10 + k01 + 2 * h
    x, y = k11 + k10 + h, k11 + k01 + h
    if x in {0, n} or y in {0, n}:
        return None
    if linkage_from_haplotypes("dprime_em", known, coupled_double_heterozygotes(known)) < 0:
        k11, k00, k10, k01, y = k10, k01, k11, k00, n - y
    p, q = x / n, y / n
    p11 = p * q + np.arange(101) / 100 * min(p * (1 - q), (1 - p) * q)
    shares = [np.maximum(s, 1e-10) for s in (p11, 1 - p - q + p11, p - p11, q - p11)]
    logs = sum(k * np.log(s) for k, s in zip((k11, k00, k10, k01), shares, strict=True))
    logs = logs + h * np.log(shares[0] * shares[1] + shares[2] * shares[3])
    share = np.exp(logs - logs.max())
    share /= share.sum()
    low = int(np.flatnonzero(np.cumsum(share) > 0.05)[0]) - 1
    high = 100 - int(np.flatnonzero(np.cumsum(share[::-1]) > 0.05)[0]) + 1
    return low, min(high, 100)


def may_be_a_block(
    intervals: dict[tuple[int, int], tuple[int, int] | None],
    position: NDArray[np.integer],
    i: int,
    j: int,
) -> bool:
    """Gabriel's criterion with Haploview's rules for few variants, pair by pair."""
    size, span = j - i + 1, position[j] - position[i]
    pairs = [intervals[a, b] for a in range(i, j) for b in range(a + 1, j + 1)]
    high = [p is not None and p[1] >= 98 for p in pairs]
    above = {
        c: [p is not None and u and p[0] > c for p, u in zip(pairs, high, strict=True)]
        for c in (50, 69, 70, 80)
    }
    ends = intervals[i, j]
    if size == 2:
        return all(above[80]) and bool(span <= 20_000)
    if ends is None or ends[1] < 98 or ends[0] < 70:
        return False
    if size <= 4:
        return all(above[50]) and bool(size == 4 or span <= 30_000)
    strong, recombined = sum(above[70]), sum(p is not None and p[1] < 90 for p in pairs)
    return strong + recombined >= 6 and strong > Fraction(95, 100) * (strong + recombined)


def haplotype_blocks(
    x: NDArray[np.float64], position: NDArray[np.integer], span: float
) -> list[tuple[int, int]]:
    """First and last variant of blocks of dosages (variants, samples) on one contig."""
    n = len(x)
    near = [(i, j) for i in range(n) for j in range(i + 1, n) if position[j] - position[i] <= span]
    intervals = {(i, j): dprime_interval(known_haplotypes(x[i], x[j])) for i, j in near}
    found = [pair for pair in near if may_be_a_block(intervals, position, *pair)]
    found.sort(key=lambda pair: (position[pair[1]] - position[pair[0]], *pair), reverse=True)
    blocks: list[tuple[int, int]] = []
    for i, j in found:
        if all(j < a or i > b for a, b in blocks):
            blocks.append((i, j))
    return sorted(blocks)


def linkage_matrix(
    statistic: str, a: NDArray[np.float64], b: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    b = a if b is None else b
    return np.array([[linkage(statistic, x, y) for y in b] for x in a]).reshape(len(a), len(b))


def window_pairs(
    n: int,
    contig: NDArray[np.integer] | None,
    coordinate: NDArray[np.number] | None,
    size: float,
) -> Iterator[tuple[int, int]]:
    """Pairs i < j on one contig at most ``size`` apart."""
    place = np.arange(n) if coordinate is None else coordinate
    for i in range(n):
        for j in range(i + 1, n):
            together = contig is None or contig[i] == contig[j]
            if together and float(place[j]) <= float(place[i]) + size:
                yield i, j


def banded(matrix: NDArray[np.floating], pairs: set[tuple[int, int]]) -> NDArray[np.float32]:
    """The band of a matrix: [i, j - i - 1] for each pair, NaN elsewhere."""
    width = max((j - i for i, j in pairs), default=0)
    out = np.full((matrix.shape[0], width), np.nan, np.float32)
    for i, j in pairs:
        out[i, j - i - 1] = matrix[i, j]
    return out


def relatives(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float, float, int]:
    """Kinship, identity by state, share of opposite homozygotes and variants compared of a pair.

    By the formulas as published, over the dosages called in both.
    """
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    n = int(both.sum())
    hets, opposite = int(((x == 1) & (y == 1)).sum()), int((np.abs(x - y) == 2).sum())
    hx, hy = int((x == 1).sum()), int((y == 1).sum())
    least = min(hx, hy)
    kinship = np.nan
    if least:
        kinship = (hets - 2 * opposite) / (2 * least) + 0.5 - (hx + hy) / (4 * least)
    if not n:
        return kinship, np.nan, np.nan, n
    same, one = int((x == y).sum()), int((np.abs(x - y) == 1).sum())
    return kinship, (2 * same + one) / (2 * n), opposite / n, n


def relatives_matrices(
    a: NDArray[np.float64], b: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The four of `relatives` of all pairs of samples, (4, samples, samples).

    Of one set of samples the kinship of each with itself is 0.5.
    """
    other = a if b is None else b
    pairs = [[relatives(x, y) for y in other] for x in a]
    out = np.array(pairs, float).reshape(len(a), len(other), 4).transpose(2, 0, 1).copy()
    if b is None:
        np.fill_diagonal(out[0], 0.5)
    return out


def relationships(
    method: str,
    g: NDArray[np.float64],
    *,
    missing: str = "mean",
    frequency: NDArray[np.float64] | None = None,
    count_monomorphic: bool = False,
) -> NDArray[np.float64]:
    """A relationship matrix of dosages (samples, variants), NaN where missing, as published.

    Only the shrunk matrix takes `count_monomorphic`.
    """
    if method == "endelman_jannink":
        return _shrunk_relationships(g, frequency, count_monomorphic=count_monomorphic)
    with np.errstate(invalid="ignore", divide="ignore"):
        if method == "hadamard":
            squares = relationships("vanraden1", g, missing=missing, frequency=frequency) ** 2
            return squares / _mean(np.diagonal(squares))
        p = _frequencies(g) if frequency is None else frequency
        z, w = _standardised(method, g, p)
        called = ~np.isnan(g)
        z[~called] = 0
        compared = (called * w) @ called.T.astype(float)
        return (z @ z.T) / (w.sum() if missing == "mean" else compared)


def _mean(x: NDArray[np.float64]) -> float:
    known = x[~np.isnan(x)]
    return float(known.mean()) if known.size else np.nan


def _frequencies(g: NDArray[np.float64]) -> NDArray[np.float64]:
    """Frequency of the counted allele of each variant; 0 where nothing is called."""
    return np.nansum(g, axis=0) / np.maximum(1, 2 * (~np.isnan(g)).sum(axis=0))


def _standardised(
    method: str, g: NDArray[np.float64], p: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What calls count in the numerator, and what variants add to the denominator."""
    q, v = 1 - p, 2 * p * (1 - p)
    if method == "vanraden1":
        return g - 2 * p, v
    polymorphic = v > 0
    if method == "dominance":
        z = np.where(g == 0, -2 * p**2, np.where(g == 1, v, -2 * q**2))
        return np.where(polymorphic, z, 0.0), v**2
    return np.where(polymorphic, (g - 2 * p) / np.sqrt(v), 0.0), polymorphic.astype(float)


def _shrunk_relationships(
    g: NDArray[np.float64], frequency: NDArray[np.float64] | None, *, count_monomorphic: bool
) -> NDArray[np.float64]:
    """Equations 13 to 18 of Endelman and Jannink 2012, missing calls imputed by the mean."""
    p = _frequencies(g) if frequency is None else frequency
    varies = p * (1 - p) > 0
    counted = ~np.isnan(g).all(axis=0) if frequency is None else np.ones(p.size, bool)
    used = counted if count_monomorphic else varies
    w = np.where(np.isnan(g) | ~varies, 0, g - 2 * p)[:, used]
    samples, variants = w.shape
    if not variants:
        return np.full((samples, samples), np.nan)
    means = w.mean(axis=1)
    x = w - means[:, None]
    s = x @ x.T / variants
    target = np.diagonal(s).mean() * np.eye(samples)
    variance = ((x**2) @ (x**2).T / variants**2 - s**2 / variants).sum()
    distance = ((s - target) ** 2).sum()
    weight = min(1.0, max(0.0, variance / distance)) if distance > 0 else 0.0
    shrunk = weight * target + (1 - weight) * s + np.outer(means, means)
    return shrunk / (2 * (p * (1 - p))[used].mean())


def variants_compared(
    g: NDArray[np.float64], frequency: NDArray[np.float64] | None = None
) -> NDArray[np.int64]:
    """Variants of two alleles that both samples of a pair are called at."""
    p = _frequencies(g) if frequency is None else frequency
    called = (~np.isnan(g)).astype(np.int64)
    return (called * (p * (1 - p) > 0)) @ called.T


def exact_relationships(dosages: NDArray[np.integer]) -> list[list[float]]:
    """VanRaden 1 of complete dosages (samples, variants) in Python's integers and one fraction."""
    rows: list[list[int]] = dosages.tolist()
    n = len(rows)
    copies = [sum(column) for column in zip(*rows, strict=True)]
    # n (g - 2p) is a whole number, and so is 2 n^2 times the sum of 2pq.
    z = [[n * x - c for x, c in zip(row, copies, strict=True)] for row in rows]
    denominator = sum(c * (2 * n - c) for c in copies)
    if not denominator:
        return [[float("nan")] * n for _ in rows]
    return [[float(Fraction(2 * sum(map(mul, a, b)), denominator)) for b in z] for a in z]


def standardised_products(
    dosages: NDArray[np.integer], frequency: NDArray[np.float64]
) -> NDArray[np.longdouble]:
    """Sums of (g - 2p)(g' - 2p) / 2pq over the calls of both, -1 where missing.

    They are extended precision, which is float64 on some platforms.
    """
    p = frequency.astype(np.longdouble)
    variance = 2 * p * (1 - p)
    weights = np.divide(1, variance, out=np.zeros_like(p), where=variance > 0)
    z = np.where(dosages >= 0, dosages - 2 * p, 0)
    return (z * weights) @ z.T


def kendall_score(x: list[float], y: list[float]) -> int:
    """Concordant less discordant pairs of observations, where neither of the two is missing."""
    kept = [(p, q) for p, q in zip(x, y, strict=True) if not (isnan(p) or isnan(q))]
    score = 0
    for k, (p, q) in enumerate(kept):
        for r, s in kept[:k]:
            score += ((p > r) - (p < r)) * ((q > s) - (q < s))
    return score


def kendall_scores(a: NDArray[np.float64], b: NDArray[np.float64]) -> list[list[int]]:
    """`kendall_score` of each row of a with each row of b."""
    return [[kendall_score(x, y) for y in b.tolist()] for x in a.tolist()]


def kendall(statistic: str, x: NDArray[np.generic], y: NDArray[np.generic]) -> float:
    """tau-a, -b, -c, or Somers' D of x (rows) or y (columns), as published; NaN is missing."""
    both = (x == x) & (y == y)  # noqa: PLR0124 - NaN alone is not itself
    x, y = x[both], y[both]
    n = len(x)
    pairs = n * (n - 1) // 2
    untied_x = sum(int(x[i] != x[j]) for i in range(n) for j in range(i))
    untied_y = sum(int(y[i] != y[j]) for i in range(n) for j in range(i))
    if not untied_x or not untied_y:
        return float("nan")
    score = kendall_score(x.tolist(), y.tolist())
    levels = min(len(set(x.tolist())), len(set(y.tolist())))
    return {
        "tau_a": score / pairs,
        "tau_b": score / (untied_x * untied_y) ** 0.5,
        "tau_c": 2 * score * levels / (n * n * (levels - 1)),
        "somers_d_rows": score / untied_y,
        "somers_d_columns": score / untied_x,
    }[statistic]


def kendall_permuted(
    x: NDArray[np.generic], y: NDArray[np.generic], orders: list[NDArray[np.integer]]
) -> float:
    """Share of the orders of y, the given one included, that score at least as far from 0."""
    if (x == x[0]).all() or (y == y[0]).all():
        return float("nan")
    given = x.tolist()
    observed = abs(kendall_score(given, y.tolist()))
    scores = [kendall_score(given, y[order].tolist()) for order in orders]
    further = sum(abs(score) >= observed for score in scores)
    return (further + 1) / (len(orders) + 1)


def genotype_table(
    dosages: NDArray[np.float64], labels: NDArray[np.integer], classes: int
) -> NDArray[np.int64]:
    """Samples of dosages (k, samples), NaN where missing: (classes, 3, ..., 3), one by one."""
    out = np.zeros((classes, *[3] * len(dosages)), np.int64)
    for calls, label in zip(dosages.T, labels, strict=True):
        if label >= 0 and not np.isnan(calls).any():
            out[(label, *calls.astype(int))] += 1
    return out


def mutual_information(table: NDArray[np.int64]) -> float:
    """Of genotypes and class in nats, from the definition; NaN of no samples."""
    counts = table.reshape(len(table), -1)
    n = counts.sum()
    if n == 0:
        return np.nan
    total = 0.0
    for c, x in zip(*np.nonzero(counts), strict=True):
        p = counts[c, x] / n
        total += p * np.log(p / (counts[c].sum() / n * counts[:, x].sum() / n))
    return total


def pearson_chi2(table: NDArray[np.int64]) -> float:
    counts = table.reshape(len(table), -1)
    if counts.sum() == 0:
        return np.nan
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    used = expected > 0
    return float(((counts - expected)[used] ** 2 / expected[used]).sum())


def information_gain(table: NDArray[np.int64]) -> float:
    """Mutual information less the largest without one of the members."""
    subsets = [mutual_information(table.sum(axis=k)) for k in range(1, table.ndim)]
    return mutual_information(table) - max(subsets)


def interaction_ratio(table: NDArray[np.int64]) -> float:
    """Likelihood ratio of the interaction on two classes: logistic regressions by Newton's method.

    The model without it has a mean for each genotype of either variant.
    """
    controls, cases = table.astype(float).reshape(2, 9)
    design = np.array([[*np.eye(3)[a], *np.eye(3)[b]] for a in range(3) for b in range(3)])
    n, effects = cases + controls, np.zeros(6)
    for _ in range(200):
        p = 1 / (1 + np.exp(-design @ effects))
        weight = n * p * (1 - p)
        step = np.linalg.pinv(design.T @ (weight[:, None] * design), rcond=1e-13)
        effects = effects + np.clip(step @ (design.T @ (cases - n * p)), -3, 3)
    p = 1 / (1 + np.exp(-design @ effects))
    pairs = ((cases, n * p), (controls, n * (1 - p)))
    return 2 * sum((x[x > 0] * np.log(x[x > 0] / m[x > 0])).sum() for x, m in pairs)


def proportional_ratio(table: NDArray[np.int64], sweeps: int) -> float:
    """The same by iterative proportional fitting, which comes down to it: never below."""
    counts = table.astype(float)
    fitted = np.ones_like(counts)
    for _ in range(sweeps):
        for axis in range(3):
            wanted, found = (x.sum(axis=axis, keepdims=True) for x in (counts, fitted))
            fitted = fitted * np.divide(wanted, found, out=np.zeros_like(found), where=found > 0)
    some = counts > 0
    return 2 * float((counts[some] * np.log(counts[some] / fitted[some])).sum())


def interaction_f(
    x: NDArray[np.float64], y: NDArray[np.float64], trait: NDArray[np.float64]
) -> tuple[float, int, int]:
    """F of the interaction of two dosages on a trait, and its degrees of freedom.

    Least squares of a column a genotype, and of a column a pair of genotypes.
    """
    kept = ~(np.isnan(x) | np.isnan(y) | np.isnan(trait))
    x, y, trait = x[kept], y[kept], trait[kept]
    additive = np.array([which == g for which in (x, y) for g in range(3)])
    full = np.array([(x == a) & (y == b) for a in range(3) for b in range(3)])
    left, ranks = [], []
    for design in (additive.T.astype(float), full.T.astype(float)):
        effects, _, rank, _ = np.linalg.lstsq(design, trait, rcond=1e-10)
        left.append(((trait - design @ effects) ** 2).sum())
        ranks.append(int(rank))
    df, residual = ranks[1] - ranks[0], len(trait) - ranks[1]
    if df < 1 or residual < 1:
        return np.nan, df, residual
    return (left[0] - left[1]) / df / (left[1] / residual), df, residual


def regression_columns(
    x: NDArray[np.float64], y: NDArray[np.float64], covariates: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Columns (samples, c + 4): intercept, covariates (c, samples), two dosages and their product.

    Covariates are standardised; they and the intercept span the same.
    """
    centred = covariates - covariates.mean(axis=1, keepdims=True)
    scale = np.maximum(centred.std(axis=1, keepdims=True), 1e-300)
    return np.column_stack([np.ones(x.size), *centred / scale, x, y, x * y])


def linear_interaction(
    columns: NDArray[np.float64], trait: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Effect of the last column on a trait, its standard error and F; NaN if it has no estimate."""
    n, k = columns.shape
    if n <= k or np.linalg.matrix_rank(columns, tol=1e-7) < k:
        return np.nan, np.nan, np.nan
    effects = np.linalg.lstsq(columns, trait)[0]
    left = [
        ((trait - used @ np.linalg.lstsq(used, trait)[0]) ** 2).sum()
        for used in (columns[:, :-1], columns)
    ]
    variance = left[1] / (n - k)
    error = np.sqrt(variance * np.linalg.inv(columns.T @ columns)[-1, -1])
    return effects[-1], error, (left[0] - left[1]) / variance


def separated(columns: NDArray[np.float64], case: NDArray[np.bool_]) -> bool:
    """Whether a combination of the columns tells some cases from controls and errs for none."""
    from scipy.optimize import linprog

    signed = np.where(case, 1.0, -1.0)[:, None] * columns / np.abs(columns).max(axis=0)
    found = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=(-1, 1))
    return bool(-found.fun > 1e-7)


def logistic_interaction(
    columns: NDArray[np.float64], case: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Log odds ratio of the last column, its error and the likelihood ratio, as for a trait."""
    n, k = columns.shape
    if n <= k or np.linalg.matrix_rank(columns, tol=1e-7) < k or separated(columns, case):
        return np.nan, np.nan, np.nan
    reached = []
    for used in (columns[:, :-1], columns):
        effects, best = np.zeros(used.shape[1]), -n * np.log(2)
        for _ in range(100):
            # The odds of the wrong class: 1 - p would lose its digits near 0.
            odds = np.exp(np.where(case, -1, 1) * (used @ effects))
            wrong = odds / (1 + odds)
            root = np.sqrt(wrong / (1 + odds))
            left = np.where(case, wrong, -wrong)
            step = np.linalg.lstsq(used * root[:, None], left / root)[0]
            for _ in range(50):
                eta = used @ (effects + step)
                now = float((case * eta - np.logaddexp(0, eta)).sum())
                if now >= best - 1e-9:
                    break
                step /= 2
            effects, best = effects + step, max(now, best)
            if np.abs(used @ step).max() < 1e-10:
                break
        reached.append(now)
    weighted = columns * root[:, None]
    left = np.diag(np.linalg.qr(weighted)[1]) ** 2
    if (left < 1e-12 * (weighted**2).sum(axis=0)).any():
        return np.nan, np.nan, np.nan  # finite, but too far away for float64
    error = 1 / np.sqrt(left[-1])
    return effects[-1], error, 2 * (reached[1] - reached[0])


def fitch(sets: np.ndarray, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """State sets of tips (tips, sites) and a binary tree -> sets of all nodes, changes by site."""
    tips, sites = sets.shape
    found = [[int(value) for value in row] for row in sets]
    found += [[0] * sites for _ in range(parents.size - tips)]
    changes = np.zeros(sites, np.int64)
    for node in range(tips, parents.size):
        left, right = np.flatnonzero(parents == node)
        for site in range(sites):
            both = found[left][site] & found[right][site]
            found[node][site] = both or found[left][site] | found[right][site]
            changes[site] += not both
    return np.array(found, np.uint64), changes


def reconstructions(
    column: list[int], parents: list[int], costs: list[list[float]]
) -> tuple[float, list[tuple[int, ...]]]:
    """Least cost of a site on a tree and every assignment of states to nodes that has it."""
    states = range(len(costs))
    choices = [[s for s in states if found >> s & 1] for found in column]
    choices += [list(states)] * (len(parents) - len(column))
    least, best = float("inf"), []
    for nodes in itertools.product(*choices):
        cost = sum(costs[nodes[p]][nodes[v]] for v, p in enumerate(parents) if p >= 0)
        if cost < least:
            least, best = cost, []
        if cost == least:
            best.append(nodes)
    return least, best


def fewest_states(column: list[int], states: int) -> int:
    """Size of the smallest set of states that has one in common with every set of a site."""
    return min(
        chosen.bit_count()
        for chosen in range(1, 1 << states)
        if all(chosen & found for found in column)
    )


def linked(x: NDArray[np.float64], y: NDArray[np.float64], limit: float) -> bool:
    """Whether r2 of two variants, over what is present at both, is above a limit, exactly."""
    both = ~np.isnan(x) & ~np.isnan(y)
    a, b, n = x[both], y[both], int(both.sum())
    # Sums of small whole numbers are exact; what is made of them is Python's.
    covariance = n * int(a @ b) - int(a.sum()) * int(b.sum())
    variances = [n * int(v @ v) - int(v.sum()) ** 2 for v in (a, b)]
    # The slack of plink, 2^-44 of the limit.
    return covariance**2 > Fraction(limit * (1 + 2**-44)) * variances[0] * variances[1]


def pruned(
    x: NDArray[np.float64], reach: list[int], stops: list[int], step: int, limit: float
) -> list[bool]:
    """Which variants plink's --indep-pairwise leaves.

    Of dosages or haplotypes (variants, positions). A window that begins at i ends before
    ``reach[i]``; contigs end before ``stops``.
    """
    top = 2 if np.nanmax(x, initial=1) == 2 else 1
    present = [row[~np.isnan(row)] for row in x]
    counted = [Fraction(int(row.sum()), max(1, top * row.size)) for row in present]
    minor = [min(f, 1 - f) for f in counted]
    keep = [np.unique(row).size > 1 for row in present]
    above = functools.cache(lambda i, j: linked(x[i], x[j], limit))
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        for first in range(start, stop, step):
            window = range(first, reach[first])
            gone = True
            while gone:
                gone = False
                for i in window:
                    if not keep[i]:
                        continue
                    later = [j for j in window if j > i and keep[j]]
                    j = next((j for j in later if above(i, j)), None)
                    if j is not None:
                        gone = True
                        keep[i if minor[i] < minor[j] else j] = False
    return keep


def ld_scores(
    x: NDArray[np.float64], pairs: Iterable[tuple[int, int]], *, adjust: bool
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sum of r2 of each row with itself and with its pairs, and how many these are."""
    total, count = np.zeros(len(x)), np.zeros(len(x), int)
    for i, j in [*((k, k) for k in range(len(x))), *pairs]:
        n = int((~np.isnan(x[i]) & ~np.isnan(x[j])).sum())
        r2 = linkage("r2", x[i], x[j])
        if adjust:
            r2 = r2 - (1 - r2) / (n - 2) if n > 2 else np.nan
        if not np.isnan(r2):
            for k in {i, j}:
                total[k] += r2
                count[k] += 1
    return np.where(count > 0, total, np.nan), count


def clumped(
    r2: NDArray[np.float64],
    near: NDArray[np.bool_],
    p: NDArray[np.float64],
    p1: float,
    limit: float,
) -> list[tuple[int, list[int]]]:
    """Index variants and members by the rule of plink --clump, of matrices of all variants."""
    free = {i for i in range(len(p)) if not np.isnan(p[i])}
    clumps = []
    for i in sorted(free, key=lambda i: (p[i], i)):
        if i in free and p[i] <= p1:
            free.remove(i)
            members = [j for j in sorted(free) if near[i, j] and r2[i, j] > limit]
            free.difference_update(members)
            clumps.append((i, members))
    return clumps


def tanimoto(x: list[float], y: list[float]) -> float:
    """Positions set in both over those set in either, of those present in both; 0 of none set."""
    both = [(a, b) for a, b in zip(x, y, strict=True) if not isnan(a) and not isnan(b)]
    if not both:
        return np.nan
    either = sum(a == 1 or b == 1 for a, b in both)
    return sum(a == b == 1 for a, b in both) / either if either else 0.0


def agreement(x: list[float], y: list[float]) -> float:
    """The share of positions present in both that agree."""
    both = [(a, b) for a, b in zip(x, y, strict=True) if not isnan(a) and not isnan(b)]
    return sum(a == b for a, b in both) / len(both) if both else np.nan


def finite_sites(x: list[str], y: list[str], states: str = "ACGT") -> float:
    """T of two sites: r2 of all pairs of their states, over the taxa with one state at both."""
    both = [(a, b) for a, b in zip(x, y, strict=True) if a in states and b in states]
    of_x, of_y = sorted({a for a, _ in both}), sorted({b for _, b in both})
    if len(of_x) < 2 or len(of_y) < 2:
        return np.nan
    total = Fraction(0)
    for s, t in itertools.product(of_x, of_y):
        n = len(both)
        p = Fraction(sum(a == s for a, _ in both), n)
        q = Fraction(sum(b == t for _, b in both), n)
        d = Fraction(sum((a, b) == (s, t) for a, b in both), n) - p * q
        total += d * d / (p * (1 - p) * q * (1 - q))
    v, w = len(of_x), len(of_y)
    return float(Fraction((v - 1) * (w - 1) * len(both), v * w) * total)


def hardy_weinberg(het: int, one: int, other: int, *, midp: bool = False) -> float:
    """Exact p-value of Hardy-Weinberg equilibrium, from the probability of each het count."""
    samples, rare = het + one + other, 2 * min(one, other) + het
    if not samples:
        return 0.5 if midp else 1.0
    weight = {}
    for h in range(rare % 2, rare + 1, 2):
        few, many = (rare - h) // 2, samples - (rare + h) // 2
        ways = factorial(samples) // factorial(few) // factorial(h)
        weight[h] = Fraction(ways // factorial(many) * 2**h)
    same = [w for w in weight.values() if w == weight[het]]
    lower = sum((w for w in weight.values() if w <= weight[het]), Fraction(0))
    lower -= sum(same, Fraction(0)) / 2 if midp else 0
    return float(lower / sum(weight.values(), Fraction(0)))


def variant_counts(
    dosages: list[int], kind: str, sexes: list[int], counted: list[bool]
) -> dict[str, int]:
    """Genotypes and alleles of one variant; -1 is missing, ``kind`` is "", "X", "Y" or "MT"."""
    n = dict.fromkeys(
        ["n_called", "n_samples", "n_hom_ref", "n_het", "n_hom_alt", "allele_count"], 0
    )
    n |= {"allele_number": 0, "n_het_haploid": 0}
    for g, sex, use in zip(dosages, sexes, counted, strict=True):
        if kind == "Y" and sex != 1:
            continue
        n["n_samples"] += 1
        n["n_called"] += g >= 0
        if g < 0 or not use:
            continue
        if kind in {"Y", "MT"} or (kind == "X" and sex == 1):
            n["n_het_haploid"] += g == 1
            n["allele_number"] += g != 1
            n["allele_count"] += g == 2
        else:
            n[("n_hom_ref", "n_het", "n_hom_alt")[g]] += 1
            n["allele_number"] += 2
            n["allele_count"] += g
    return n


def sample_homozygosity(
    dosages: list[list[int]], frequencies: list[tuple[int, int]], sample: int, *, corrected: bool
) -> tuple[int, int, float]:
    """Calls, homozygotes and expected homozygotes of a sample at the variants with two alleles.

    ``frequencies`` are the copies of the counted allele and the called alleles of each variant.
    """
    calls, homozygous, expected = 0, 0, Fraction(0)
    for row, (copies, alleles) in zip(dosages, frequencies, strict=True):
        p = Fraction(copies, alleles) if alleles else Fraction(1, 2)
        if p in (0, 1) or row[sample] < 0 or (corrected and not alleles):
            continue
        het = 2 * p * (1 - p)
        if corrected:
            het *= Fraction(alleles, alleles - 1)
        calls += 1
        homozygous += row[sample] != 1
        expected += 1 - het
    return calls, homozygous, float(expected)


def bgen_calls(
    probabilities: NDArray[np.float32], phased: bool, swap: bool, threshold: float
) -> tuple[list[list[int]], list[str], list[float]]:
    """Calls, a remark on each, and dosages of a variant of BGEN, a sample at a time.

    probabilities: (samples, 2 to 4). A remark is "phased", "uncertain" or "". The dosage counts
    the second allele, or with ``swap`` the first.
    """
    calls, said, dosages = [], [], []
    for row in probabilities.astype(np.float64).tolist():
        known = [value for value in row if not isnan(value)]
        haplotypes = [known[k : k + 2] for k in range(0, len(known), 2)]
        if phased or len(known) == 2:
            copies = [pair[0] if swap else pair[1] for pair in haplotypes]
        else:
            each = known[::-1] if swap else known
            copies = [(each[1] + 2 * each[2]) / sum(each)] if known else []
        dosage = sum(copies) if known else float("nan")
        dosages.append(dosage)
        haploid = len(known) == 2
        of_two = 2 * dosage if haploid else dosage
        near = [k for k in (0, 2) if abs(of_two - k) <= threshold + 1e-6]
        if not known:
            calls.append([-1, -1])
            said.append("")
        elif near:
            allele = near[0] // 2
            calls.append([allele, -2 if haploid else allele])
            said.append("phased" if phased or haploid else "")
        elif not haploid and abs(dosage - 1) <= threshold + 1e-6:
            apart = phased and abs(copies[0] - copies[1]) > 0.5
            calls.append([1, 0] if apart and copies[0] > copies[1] else [0, 1])
            said.append("phased" if apart else "")
        else:
            calls.append([-1, -2 if haploid else -1])
            said.append("uncertain")
    return calls, said, dosages


def masked_calls(
    calls: NDArray[np.integer],
    fields: Mapping[str, NDArray[np.number]],
    limits: Mapping[str, float],
) -> tuple[NDArray[np.integer], dict[str, int], int]:
    """Calls without those that fail a rule, how many each rule masks, and how many calls there are.

    One call after the other; a value that is negative or NaN is missing, and so is a balance of no
    reads.
    """
    out, counts, called = calls.copy(), dict.fromkeys([*limits, "any"], 0), 0
    for at in np.ndindex(calls.shape[:2]):
        call = [int(allele) for allele in calls[at]]
        if max(call) < 0:
            continue
        called += 1
        failed = [name for name, limit in limits.items() if _fails(name, limit, call, at, fields)]
        for name in [*failed, *(["any"] if failed else [])]:
            counts[name] += 1
        if failed:
            out[at] = [-2 if allele == -2 else -1 for allele in call]
    return out, counts, called


def _fails(
    name: str,
    limit: float,
    call: list[int],
    at: tuple[int, ...],
    fields: Mapping[str, NDArray[np.number]],
) -> bool:
    if name == "min_balance":
        if len(call) != 2 or min(call) < 0 or call[0] == call[1]:
            return False
        one, other = (float(fields["call_AD"][at][allele]) for allele in call)
        if not (one >= 0 and other >= 0 and one + other > 0):
            return False
        return Fraction(min(one, other)) / Fraction(one + other) < Fraction(str(limit))
    value = float(fields[{"min_gq": "call_GQ"}.get(name, "call_DP")][at])
    if isnan(value) or value < 0:
        return False
    return value > limit if name == "max_dp" else value < limit


def joined_alleles(ours: list[str], theirs: list[str]) -> tuple[list[str], str]:
    """Alleles of a variant in two files together, and how those of the second file fit.

    The second result is "as they are", "flipped", "ambiguous" or "conflict".
    """
    other = {"A": "T", "C": "G", "G": "C", "T": "A"}
    here, there = [x for x in ours if x != "0"], [x for x in theirs if x != "0"]
    most = max(len(here), len(there), 2)
    straight = len({*here, *there}) <= most
    turned = [other.get(x, "") for x in there]
    bases = {*here, *there} <= other.keys()
    crossed = bases and len({*here, *turned}) <= most
    if straight:
        doubtful = crossed and here and there and len({*here, *turned}) <= len({*here, *there})
        return [*{*here, *there}], "ambiguous" if doubtful else "as they are"
    return ([*{*here, *turned}], "flipped") if crossed else ([], "conflict")
