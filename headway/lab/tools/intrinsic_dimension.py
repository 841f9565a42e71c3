"""Intrinsic dimension from distances between points: five estimators on one pass over the pairs.

    seen = survey(points)                     the nearest neighbours of each point and a histogram of all squared distances
    hein_audibert(seen), correlation(seen), takens(seen), levina_bickel(seen), two_nn(seen)

The pass multiplies blocks of points (float32; float64 where rounding would reach the nearest neighbours), each pair
once. Memory is that of one block, not of N² distances: the histogram has 1024 cells for each factor of 2 in d², and an
estimate from it differs from that of the distances themselves by less than 1 %
(tests/lab/test_tools_intrinsic_dimension.py compares them).
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import threshold

from headway.core.errors import DataError

PARTS = 5  # Hein and Audibert compare the whole sample with its halves, thirds, quarters and fifths
BLOCK = 1024  # points that are compared with all others at a time
KEPT = 13  # of the 23 bits of a float32 mantissa this many are dropped: 1024 cells for each factor of 2
FINITE = 255 << (23 - KEPT)  # the cell of infinity, and so the number of cells of finite numbers
LEAST = 50  # points, so that a fifth of them has neighbours


@dataclass(frozen=True)
class Distances:
    """What the pass over all pairs keeps.

    nearest   distances of each point to its nearest others, the nearest first
    edges     squared distances between cells of the histogram
    below     for r = 1 ... 5, how many pairs are closer than each edge, both in the same of r random parts of the sample
    """

    nearest: Float[np.ndarray, "n k"]
    edges: Float[np.ndarray, "edges"]
    below: Float[np.ndarray, "parts edges"]

    @property
    def n(self) -> int:
        return len(self.nearest)

    @property
    def scale(self) -> float:
        """The mean distance to the nearest neighbour."""
        return float(self.nearest[:, 0].mean())

    def closer(self, h: Any, r: int = 1) -> Any:
        """How many pairs have d < h, for one or several h."""
        return np.interp(np.square(h), self.edges, self.below[r - 1])

    def total(self, h: Any, values: Float[np.ndarray, "cells"], r: int = 1) -> Any:
        """Σ f(d²) over the pairs with d < h, from the value of f in each cell."""
        inside = np.append(0.0, np.cumsum(np.diff(self.below[r - 1]) * values))
        return np.interp(np.square(h), self.edges, inside)

    @property
    def middles(self) -> Float[np.ndarray, "cells"]:
        return (self.edges[1:] + self.edges[:-1]) / 2


def survey(points: Float[np.ndarray, "n dimensions"], neighbours: int = 20) -> Distances:
    """Compare all pairs once. Neighbouring rows may belong together (one writer, one class), so parts are drawn at random.

    neighbours   how many of each point are kept
    """
    rows = torch.as_tensor(np.asarray(points, dtype=np.float64))
    if rows.ndim != 2 or len(rows) < max(LEAST, neighbours + 1):
        raise DataError(f"{tuple(rows.shape)} is no sample of points", f"bring at least {max(LEAST, neighbours + 1)} rows.")
    if not bool(torch.isfinite(rows).all()):
        raise DataError("a coordinate is not a finite number")
    order = np.random.default_rng(0).permutation(len(rows))
    rows = (rows - rows.mean(0))[order]
    spread = float(rows.square().sum(1).mean())
    found = _compare(rows.float(), neighbours)
    # |x|² + |y|² - 2xy is rounded to about 1e-7 |x|²; where that is more than 1e-4 of some neighbours' d², double precision.
    if float(np.quantile(found.nearest[:, 0], 0.01)) ** 2 < 1e-3 * spread:
        found = _compare(rows, neighbours)
    if np.mean(found.nearest[:, 0] > 0) < 0.5:
        raise DataError("most points have a copy of themselves", "remove rows that occur twice.")
    return replace(found, nearest=found.nearest[np.argsort(order)])


def _compare(x: Float[Tensor, "n d"], k: int) -> Distances:
    n, square = len(x), x.square().sum(1)
    rounding = 8 * torch.finfo(x.dtype).eps * float(square.mean())  # what is less is 0
    nearest = x.new_full((n, k), math.inf)  # squared
    cells = torch.zeros(PARTS, FINITE, dtype=torch.int64)
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        d2 = torch.addmm(square[None, start:], x[start:end], x[start:].T, alpha=-2).add_(square[start:end, None])
        threshold(d2, rounding, 0.0, inplace=True)
        own, rest = d2[:, : end - start], d2[:, end - start :]
        own.fill_diagonal_(math.inf)
        _merge(nearest[start:end], d2)
        if end < n:
            _merge(nearest[end:], rest.T)
        own.masked_fill_(torch.ones_like(own, dtype=torch.bool).tril(-1), math.inf)  # a pair counts once
        cell = d2.float().view(torch.int32) >> KEPT
        for r in range(1, PARTS + 1):
            for part in range(r):  # points i with i mod r = part
                same = cell[(part - start) % r :: r, (part - start) % r :: r]
                cells[r - 1] += torch.bincount(same.reshape(-1), minlength=FINITE + 1)[:FINITE]
    used = torch.nonzero(cells[0]).flatten()
    low, high = int(used[0]), int(used[-1])
    edges = (torch.arange(low, high + 2, dtype=torch.int32) << KEPT).view(torch.float32).double().numpy()
    below = np.cumsum(np.pad(cells[:, low : high + 1].double().numpy(), ((0, 0), (1, 0))), axis=1)
    return Distances(nearest.sqrt().double().numpy(), edges, below)


def _merge(nearest: Float[Tensor, "n k"], d2: Float[Tensor, "n m"]) -> None:
    """The k smallest of those that are known and of those that are new, in place."""
    k = nearest.shape[1]
    new = d2.topk(min(k, d2.shape[1]), dim=1, largest=False).values
    nearest.copy_(torch.cat([nearest, new], 1).topk(k, dim=1, largest=False).values)


# -- estimators --------------------------------------------------------------------------------------------------------


def hein_audibert(seen: Distances, most: int = 100) -> int:
    """The l whose U-statistic neither grows nor falls with the scale.

        U_l(n, h) = 2/(n (n - 1)) Σ_{i<j} h^{-l} (1 - |x_i - x_j|²/h²)_+  ~  h^{m - l}   on a manifold of dimension m,
        h_l(N) = mean distance to the nearest neighbour,      h_l(n) = h_l(N) ((N/n) (ln n / ln N))^{1/l}

    for n = ⌊N/r⌋, r = 1 ... 5, averaged over the r parts. Hein & Audibert 2005,
    https://doi.org/10.1145/1102351.1102388; lecture B.

    most   the largest l that is tried
    """
    return 1 + int(np.argmin(np.abs(slopes(seen, most))))


def slopes(seen: Distances, most: int) -> Float[np.ndarray, "most"]:
    """For l = 1 ... most, the slope of log U_l against log h with weights 1/r; infinite where no pair is that close."""
    r, dimension = np.arange(1, PARTS + 1), np.arange(1, most + 1)[:, None]
    n = seen.n // r
    pairs = seen.below[:, -1]
    h = seen.scale * (seen.n / n * np.log(n) / math.log(seen.n)) ** (1 / dimension)  # (most, parts)
    kernel = [seen.closer(h[:, q], q + 1) - seen.total(h[:, q], seen.middles, q + 1) / h[:, q] ** 2 for q in range(PARTS)]
    u = np.maximum(np.stack(kernel, axis=1), 0.0) / pairs
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = np.log(h), np.log(u) - dimension * np.log(h)
        x -= np.average(x, axis=1, weights=1 / r)[:, None]
        found = np.sum(x * y / r, axis=1) / np.sum(x * x / r, axis=1)
    return np.where(np.all(u > 0, axis=1), found, math.inf)


def correlation(seen: Distances, low: int = 10, high: int = 20) -> float:
    """The slope of log C(h), C(h) the share of pairs closer than h, between the median distances to two neighbours.

    Grassberger & Procaccia 1983, https://doi.org/10.1016/0167-2789(83)90298-1.

    low, high   which neighbours: the 10th and the 20th
    """
    h, g = np.median(seen.nearest[:, low - 1]), np.median(seen.nearest[:, high - 1])
    return math.log(seen.closer(g) / seen.closer(h)) / math.log(g / h)


def takens(seen: Distances) -> float:
    """-1 / mean of ln(d/h) over the pairs with 0 < d < h = mean distance to the nearest neighbour. Takens 1985."""
    h, zero = seen.scale, seen.edges[0] == 0
    pairs = seen.closer(h) - (seen.below[0, 1] if zero else 0.0)
    logs = np.log(seen.middles)
    logs[0] = 0.0 if zero else logs[0]  # copies of a point are left out
    return -float(pairs) / (seen.total(h, logs) / 2 - pairs * math.log(h))


def levina_bickel(seen: Distances, low: int = 10, high: int = 20) -> float:
    """The mean over k of m_k, 1/m_k = mean over points of Σ_{j<k} ln(T_k/T_j) / (k - 1), T_j the distance to neighbour j.

    Levina & Bickel 2004, https://papers.nips.cc/paper/2577; averaged as MacKay & Ghahramani 2005 correct it.

    low, high   the first and the last k
    """
    logs = np.log(seen.nearest[seen.nearest[:, 0] > 0])
    inverse = [np.mean(logs[:, k - 1 : k] - logs[:, : k - 1]) for k in range(low, high + 1)]
    return float(np.mean(1 / np.array(inverse)))


def two_nn(seen: Distances, kept: float = 0.9) -> float:
    """The slope through 0 of -ln(1 - F(μ)) against ln μ, μ = T_2/T_1 of each point, F its empirical distribution.

    Facco et al. 2017, https://doi.org/10.1038/s41598-017-11873-y.

    kept   the share of points, those with the smallest μ
    """
    near = seen.nearest[seen.nearest[:, 0] > 0]
    mu = np.sort(np.log(near[:, 1] / near[:, 0]))[: int(kept * len(near))]
    y = -np.log1p(-np.arange(1, len(mu) + 1) / len(near))
    return float(mu @ y / (mu @ mu))
