"""Simulate gene expression with known modules, in memory."""

from __future__ import annotations

import numpy as np
import xarray as xr

from genobit.engine.own_words import own_words

# Increase it when the simulated data change.
_VERSION = 1

_GENES = 1_500
_SAMPLES = 160
_MODULES = (90, 72, 60, 52, 45, 40, 36, 32, 28, 24, 20, 18, 16, 14, 12, 10, 8, 8)
#: Loadings of a module's first and last gene: the share of the signal in the gene's deviation.
_LOADINGS = (0.97, 0.6)
#: Every seventh gene of a module has the opposite sign.
_OPPOSITE = 7
#: Weight of the module before it in the signal of every second module.
_SHARED = 0.72
#: Modules that treatment raises, by this many standard deviations.
_TREATED, _EFFECT = (0, 5, 9), 1.5


@own_words
def sample_expression() -> xr.DataArray:
    """Simulate the expression of 1,500 genes in 160 samples, with 18 known modules.

    The genes of a module follow one hidden signal. The first genes follow it closely (hubs), and
    the last genes loosely. Every seventh gene follows it in the opposite direction. Modules M02,
    M04 and so on share part of the signal of the preceding module. The other 915 genes are noise.
    The values are the same every time. The simulation takes less than 0.1 s and downloads nothing.

    Returns
    -------
    DataArray `expression`, float64, shape (gene, sample), in memory, log2 of counts per million,
    with the labels

    - `gene`: "G0000" to "G1499"; `gene_module`: "M01" to "M18", "" for noise; `gene_loading`:
      weight of the module's signal in a gene, from -1 to 1; 0 for noise.
    - `sample`: "S000" to "S159"; `sample_condition`: "control" or "treated". Treatment raises
      modules M01, M06 and M10. `sample_age`: years, without any effect.

    Examples
    --------
    >>> expr = sample_expression()
    >>> dict(expr.sizes), int((expr.gene_module == "M01").sum())
    ({'gene': 1500, 'sample': 160}, 90)
    """
    random = np.random.default_rng(_VERSION)
    treated = np.arange(_SAMPLES) % 2
    module = np.full(_GENES, -1)
    module[: sum(_MODULES)] = np.repeat(np.arange(len(_MODULES)), _MODULES)
    loading = np.zeros(_GENES)
    loading[: sum(_MODULES)] = np.concatenate([_loadings(size) for size in _MODULES])
    # Shuffle the genes, so that the modules must be found.
    order = random.permutation(_GENES)
    module, loading = module[order], loading[order]
    signal = _signals(treated, random)
    noise = random.normal(size=(_GENES, _SAMPLES))
    deviation = loading[:, None] * signal[module] + np.sqrt(1 - loading**2)[:, None] * noise
    level = random.normal(6, 2, size=_GENES)[:, None]
    spread = random.uniform(0.4, 1.2, size=_GENES)[:, None]
    names = np.array(["", *(f"M{k + 1:02d}" for k in range(len(_MODULES)))], dtype=object)
    return xr.DataArray(
        level + spread * deviation,
        {
            "gene": [f"G{k:04d}" for k in range(_GENES)],
            "sample": [f"S{k:03d}" for k in range(_SAMPLES)],
            "gene_module": ("gene", names[module + 1]),
            "gene_loading": ("gene", loading),
            "sample_condition": ("sample", np.array(["control", "treated"])[treated]),
            "sample_age": ("sample", random.integers(20, 80, _SAMPLES).astype("f8")),
        },
        ("gene", "sample"),
        name="expression",
        attrs={
            "long_name": "expression",
            "units": "log2 of counts a million",
            "source": f"genobit.sample_expression, version {_VERSION}",
        },
    )


def _loadings(size: int) -> np.ndarray:
    loadings = np.linspace(*_LOADINGS, size)
    loadings[_OPPOSITE - 1 :: _OPPOSITE] *= -1
    return loadings


def _signals(treated: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the signal of each module, of variance 1: (modules, samples)."""
    signal = random.normal(size=(len(_MODULES), _SAMPLES))
    signal[1::2] = _SHARED * signal[0:-1:2] + np.sqrt(1 - _SHARED**2) * signal[1::2]
    signal[list(_TREATED)] += _EFFECT * treated
    signal -= signal.mean(axis=1, keepdims=True)
    signal /= signal.std(axis=1, keepdims=True)
    return signal
