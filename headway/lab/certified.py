"""An upper bound on a supremum that is true, not only the largest value on a grid.

    |d(x)| <= |d(c)| + lip max_k |x_k - c_k|      for every x of the box with centre c

Boxes whose bound is above the largest value seen are cut in half along every axis until both agree to `rtol` (branch and bound).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from headway.core.errors import ConfigError


class Sup(NamedTuple):
    """The supremum lies between: `low` was attained, nothing is above `high`."""

    low: float
    high: float


def certified_sup(d: Callable[[np.ndarray], Any], lip: float, lo: Any, hi: Any, rtol: float = 1e-3, most: int = 4_000_000) -> Sup:
    """sup |d| over the box [lo, hi]. `lip` is a Lipschitz constant of d for the largest-coordinate norm.

    With scalars `lo` and `hi`, d maps an array (n,) to (n,); with vectors of length k it maps (n, k) to (n,). `most` limits evaluations:
    when they run out the bound is still true, only wider.
    """
    low_corner, high_corner = np.atleast_1d(np.asarray(lo, dtype=float)), np.atleast_1d(np.asarray(hi, dtype=float))
    if not (lip >= 0 and np.all(high_corner > low_corner)):
        raise ConfigError(f"cannot bound over [{lo}, {hi}] with the Lipschitz constant {lip}", "it must be a number, and lo < hi.")
    k = low_corner.size
    per_axis = max(2, round(4096 ** (1 / k)))
    axes = [(np.arange(per_axis) + 0.5) / per_axis] * k
    centres = low_corner + (high_corner - low_corner) * np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)
    half = (high_corner - low_corner) / (2 * per_axis)
    corners = np.stack([a.ravel() for a in np.meshgrid(*[[-0.5, 0.5]] * k, indexing="ij")], axis=1)
    best, closed, spent = 0.0, 0.0, 0
    while True:
        value = np.abs(np.asarray(d(centres[:, 0] if np.ndim(lo) == 0 else centres), dtype=float))
        if np.isnan(value).any():
            return Sup(float("nan"), float("nan"))
        spent += value.size
        best = max(best, float(value.max()))
        bound = value + lip * half.max()
        open_ = bound > best * (1 + rtol) + 1e-300
        closed = max(closed, float(np.max(bound[~open_], initial=0.0)))
        if not open_.any() or spent + open_.sum() * 2**k > most:
            return Sup(best, max(best, closed, float(np.max(bound[open_], initial=0.0))))
        centres, half = (centres[open_][:, None] + corners * half).reshape(-1, k), half / 2
