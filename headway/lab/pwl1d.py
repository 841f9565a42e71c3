"""Piecewise-linear functions of one variable, exactly: breakpoints of a ReLU net, sup and L1 distances.

Between two neighbouring breakpoints of the layers below, every unit is affine, so the places where it bends are found in closed form:

    z(t) = z_0 + (z_1 - z_0) (t - t_0) / (t_1 - t_0) = 0     at     t = t_0 + (t_1 - t_0) z_0 / (z_0 - z_1)     if z_0 z_1 < 0

and on the two rays outside likewise. Nothing is sampled on a grid; with dyadic weights the arithmetic is exact.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.core.errors import ConfigError
from headway.lab.relu_net import ReluNet

SAME = 1e-9  # slopes that differ by less, relative to the largest, are one piece


@dataclass(frozen=True, eq=False)
class Pwl:
    """A continuous piecewise-linear function on the line: values at the knots, slopes of the two rays."""

    knots: np.ndarray
    values: np.ndarray
    left: float  # slope before the first knot
    right: float  # slope after the last knot

    def __call__(self, x: Any) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        inside = np.interp(x, self.knots, self.values)
        before, after = np.minimum(x - self.knots[0], 0.0), np.maximum(x - self.knots[-1], 0.0)
        return inside + self.left * before + self.right * after

    @property
    def slopes(self) -> np.ndarray:
        """Of all pieces from left to right, rays included: one more than there are knots."""
        return np.concatenate([[self.left], np.diff(self.values) / np.diff(self.knots), [self.right]])

    def simplified(self, same: float = SAME) -> "Pwl":
        """Without the knots where the slope does not change (one knot stays, so that there is a value)."""
        slopes = self.slopes
        bends = np.abs(np.diff(slopes)) > same * max(1.0, float(np.max(np.abs(slopes))))
        if not bends.any():
            bends[0] = True
        return Pwl(self.knots[bends], self.values[bends], self.left, self.right)

    def pieces(self, lo: float = -np.inf, hi: float = np.inf, same: float = SAME) -> int:
        """How many linear pieces meet the open interval (lo, hi)."""
        slopes = self.slopes
        bends = np.abs(np.diff(slopes)) > same * max(1.0, float(np.max(np.abs(slopes))))
        return 1 + int(np.sum(bends & (self.knots > lo) & (self.knots < hi)))

    def crossings(self, level: float, lo: float, hi: float) -> int:
        """How often the function changes from one side of the level to the other inside (lo, hi)."""
        signs = np.sign(self(_between(lo, hi, self.knots)) - level)
        signs = signs[signs != 0]
        return int(np.sum(signs[1:] != signs[:-1]))


def constant(value: float) -> Pwl:
    return Pwl(np.zeros(1), np.full(1, float(value)), 0.0, 0.0)


def pwl1d(net: ReluNet, output: int = 0) -> Pwl:
    """The function of a net with one input, with every place where any unit bends as a knot (see `simplified` and `pieces`)."""
    if net.inputs != 1:
        raise ConfigError(f"the network has {net.inputs} inputs, expected 1", "take its restriction to a line first.")
    t = np.zeros(1)
    before = after = np.ones(1)  # slopes of the units' inputs on the two rays
    for depth, (w, _) in enumerate(net.layers):
        z = ReluNet(net.layers[: depth + 1])(t[:, None])
        low, high = w @ before, w @ after
        if depth == net.depth - 1:
            return Pwl(t, z[:, output], float(low[output]), float(high[output]))
        i, unit = np.nonzero(z[:-1] * z[1:] < 0)
        zero, one = z[i, unit], z[i + 1, unit]
        found = [t, t[i] + (t[i + 1] - t[i]) * (zero / (zero - one))]
        with np.errstate(divide="ignore", invalid="ignore"):
            first, last = t[0] - z[0] / low, t[-1] - z[-1] / high
        found += [first[np.isfinite(first) & (first < t[0])], last[np.isfinite(last) & (last > t[-1])]]
        t = _distinct(np.concatenate(found))
        ends = ReluNet(net.layers[: depth + 1])(t[[0, -1], None])
        before = np.where(np.where(low != 0, -low, ends[0]) > 0, low, 0.0)
        after = np.where(np.where(high != 0, high, ends[1]) > 0, high, 0.0)
    raise AssertionError  # a net has a last layer


def _distinct(t: np.ndarray) -> np.ndarray:
    """Sorted, without those that rounding alone tells apart."""
    t = np.unique(t)
    keep = np.append(True, np.diff(t) > 4 * np.finfo(float).eps * np.maximum(np.abs(t[1:]), np.abs(t[:-1])))
    return t[keep]


def _between(lo: float, hi: float, *knots: np.ndarray) -> np.ndarray:
    t = np.unique(np.concatenate([[lo, hi], *knots]))
    return t[(t >= lo) & (t <= hi)]


def sup_distance(f: Pwl, g: Pwl, lo: float = 0.0, hi: float = 1.0) -> float:
    """max |f - g| over [lo, hi]: it is attained at a knot of one of them or at an end."""
    t = _between(lo, hi, f.knots, g.knots)
    return float(np.max(np.abs(f(t) - g(t))))


def l1_distance(f: Pwl, g: Pwl, lo: float = 0.0, hi: float = 1.0) -> float:
    """The integral of |f - g| over [lo, hi]: trapezoids, or two triangles where the difference changes its sign."""
    t = _between(lo, hi, f.knots, g.knots)
    d = f(t) - g(t)
    a, b, h = np.abs(d[:-1]), np.abs(d[1:]), np.diff(t)
    crossed = d[:-1] * d[1:] < 0
    area = np.where(crossed, (a * a + b * b) / np.where(crossed, 2 * (a + b), 1.0), (a + b) / 2)
    return float(np.sum(area * h))
