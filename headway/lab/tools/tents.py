"""The tent map as a net, and its powers: sawtooth functions, deep and with one hidden layer."""

import numpy as np

from headway.lab.relu_net import ReluNet, hinges, power

TENT = hinges([0, 0.5, 1], [2, -4, 2])  # Δ(x) = 2σ(x) - 4σ(x - ½) + 2σ(x - 1) on the whole line
TENT_ON_UNIT = hinges([0, 0.5], [2, -4])  # the same on [0, 1], where the third unit is always 0


def teeth(p: int, tent: ReluNet = TENT) -> ReluNet:
    """Δ^p = Δ ∘ … ∘ Δ as a net: `TENT` on the line (3p units), `TENT_ON_UNIT` on [0, 1] (2p units)."""
    return power(tent, p)


def low_tent(height: float) -> ReluNet:
    """A tent of that height."""
    return hinges([0, 0.5, 1], [2 * height, -4 * height, 2 * height])


def shallow_teeth(p: int, units: int | None = None) -> ReluNet:
    """Δ^p with one hidden layer: a hinge at every k/2^p, 2^p + 1 of them; with fewer (an odd number) it is 0 from the last one on."""
    units = units or 2**p + 1
    jumps = np.where(np.arange(units) % 2, -2.0, 2.0) * 2**p
    jumps[[0, -1]] /= 2
    return hinges(np.arange(units) / 2**p, jumps)


def some_teeth(p: int, j: int, units: int) -> ReluNet:
    """Δ^p from (j + ½)/2^p on for `units` - 2 pieces, ½ elsewhere: one hidden layer with one hinge fewer than pieces."""
    knots = (j + np.concatenate([[0.5], np.arange(1, units - 1), [units - 1.5]])) / 2**p
    heights = np.concatenate([[0.5], (j + np.arange(1, units - 1)) % 2, [0.5]])
    slopes = np.concatenate([[0.0], np.diff(heights) / np.diff(knots), [0.0]])
    return hinges(knots, np.diff(slopes), shift=0.5)
