"""How many linear pieces a net with one input has: counted, bounded, and met on a walk."""

import math
from fractions import Fraction

import numpy as np

from headway.lab.pwl1d import Pwl, pwl1d
from headway.lab.relu_net import ReluNet


def product_bound(widths: tuple[int, ...]) -> int:
    """∏ (m_ℓ + 1): each unit of a layer bends at most once inside each piece of the layers below."""
    return math.prod(m + 1 for m in widths)


def pieces_of(net: ReluNet) -> int:
    """Linear pieces on the line. Knots that rounding tells apart (two units that bend at one place) count once."""
    f = pwl1d(net)
    keep = np.append(True, np.diff(f.knots) > 1e-12 * np.maximum(1.0, np.abs(f.knots[1:])))
    return Pwl(f.knots[keep], f.values[keep], f.left, f.right).pieces()


def pieces_by_slopes(net: ReluNet) -> int:
    """The same with the slope in the middle of every piece by the chain rule; on a piece of 1e-8 a difference of values is too coarse."""
    t = pwl1d(net).knots
    t = t[np.append(True, np.diff(t) > 1e-12 * np.maximum(1.0, np.abs(t[1:])))]
    return pieces_met(net, np.concatenate([[t[0] - 1], (t[1:] + t[:-1]) / 2, [t[-1] + 1]]))


def pieces_met(net: ReluNet, x: np.ndarray) -> int:
    """Pieces met on a walk along x: changes of the derivative, by the chain rule; a lower bound without `pwl1d`."""
    h, derivative = x[:, None], np.ones((x.size, 1))
    for w, b in net.layers[:-1]:
        z = h @ w.T + b
        h, derivative = np.maximum(z, 0.0), (derivative @ w.T) * (z > 0)
    last = (derivative @ net.layers[-1][0].T)[:, 0]
    return 1 + int(np.sum(np.abs(np.diff(last)) > 1e-9 * max(1.0, float(np.max(np.abs(last))))))


def bounds_are_ordered(widths: tuple[int, ...]) -> bool:
    """∏ (m_ℓ + 1) <= (m/L + 1)^L <= (2m/L)^L, m = Σ m_ℓ, in fractions."""
    m, L = sum(widths), len(widths)
    return product_bound(widths) <= (Fraction(m, L) + 1) ** L <= Fraction(2 * m, L) ** L
