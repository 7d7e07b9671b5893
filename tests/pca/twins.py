"""Structured samples, and components by numpy alone."""

from __future__ import annotations

import numpy as np

SINGLE = 2e-5
"""float32 values and products, relative to the largest score."""


def standardised(
    dosage: np.ndarray, frequency: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Z (samples, variants) of dosages (variants, samples), NaN where missing; which vary."""
    with np.errstate(all="ignore"):
        p = np.nansum(dosage, axis=1) / (2 * (~np.isnan(dosage)).sum(axis=1))
        p = p if frequency is None else frequency
        z = (dosage.T - 2 * p) / np.sqrt(2 * p * (1 - p))
    vary = (p > 0) & (p < 1)
    z[:, ~vary] = 0
    return np.nan_to_num(z), vary


def oracle(z: np.ndarray, vary: np.ndarray, k: int) -> tuple[np.ndarray, ...]:
    """Scores, loadings, eigenvalues and shares by numpy's SVD; signs of no rule."""
    u, s, vt = np.linalg.svd(z / np.sqrt(vary.sum()), full_matrices=False)
    v = vt[:k].T
    return u[:, :k] * s[:k], v, s[:k] ** 2, s[:k] ** 2 / (s**2).sum()


def structured(seed: int, variants: int, samples: int, *, missing: float = 0.0) -> np.ndarray:
    """Calls of three populations and a cline, so that the first components stand apart."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.2, 0.8, (variants, 1))
    apart = rng.normal(0, 0.15, (variants, 3))
    cline = np.linspace(-1, 1, samples) * rng.normal(0, 0.08, (variants, 1))
    p = np.clip(base + apart[:, np.arange(samples) % 3] + cline, 0.02, 0.98)
    calls = (rng.uniform(size=(variants, samples, 2)) < p[:, :, None]).astype(np.int8)
    calls[rng.uniform(size=(variants, samples)) < missing] = -1
    return calls
