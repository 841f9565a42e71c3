"""Squaring, deep and with one hidden layer, and multiplication by nets.

Yarotsky 2017, propositions 2 and 3, https://arxiv.org/abs/1610.01145
"""

import math
from typing import Any

import numpy as np

from headway.lab.pwl1d import Pwl
from headway.lab.relu_net import ReluNet, affine, compose, hinges, side_by_side
from headway.lab.tools.tents import TENT


def square_net(m: int, tent: ReluNet = TENT, base: float = 4.0) -> ReluNet:
    """f_m = x - Σ_s Δ^s / base^s: m hidden layers, each with the units of a tent and one channel for the sum so far.

    After s layers the units hold those of Δ^s and the channel holds f_{s-1}(x), which is not negative, so ReLU leaves
    it alone. The next layer adds -Δ^s / base^s to the channel. With `TENT` a layer has 4 units, with `TENT_ON_UNIT` 3;
    both are x² on [0, 1] only.
    """
    (w, b), (v, _) = tent.layers
    first = (np.vstack([w, [[1.0]]]), np.append(b, 0.0))  # the units of Δ, and x itself

    def onward(s: int) -> np.ndarray:
        """From layer s, the two numbers that go on: Δ^s(x) and f_s(x)."""
        return np.vstack([np.append(v, 0.0), np.append(-v / base**s, 1.0)])

    inner = [(np.vstack([np.outer(w, onward(s)[0]), onward(s)[1]]), np.append(b, 0.0)) for s in range(1, m)]
    return ReluNet((first, *inner, (onward(m)[1:], [0.0])))


def shallow_square(N: int) -> ReluNet:
    """The best N pieces: chords at k/N, lowered by 1/(8N²). One hidden layer of N units, on [0, 1]."""
    h = 1 / N
    return hinges(np.arange(N) / N, np.append(h, np.full(N - 1, 2 * h)), shift=-h * h / 8)


def sup_to_square(f: Pwl) -> float:
    """max |f - x²| on [0, 1], exactly: on a piece of slope a it is attained at an end or where 2x = a."""
    t = np.unique(np.concatenate([[0.0, 1.0], f.knots[(f.knots > 0) & (f.knots < 1)]]))
    turn = np.clip(np.diff(f(t)) / np.diff(t) / 2, t[:-1], t[1:])
    x = np.concatenate([t, turn])
    return float(np.max(np.abs(f(x) - x * x)))


def absolute(rows: Any) -> ReluNet:
    """x -> |row · x| for each row, as |z| = σ(z) + σ(-z)."""
    rows = np.atleast_2d(np.asarray(rows, dtype=float))
    eye, zero = np.eye(len(rows)), np.zeros(len(rows))
    return ReluNet(((np.vstack([rows, -rows]), np.append(zero, zero)), (np.hstack([eye, eye]), zero)))


def product_net(m: int, M: float, tent: ReluNet = TENT, factor: float = 2.0) -> ReluNet:
    """(x, y) -> factor M² (f_m(|x + y| / 2M) - f_m(|x| / 2M) - f_m(|y| / 2M)) for |x|, |y| <= M.

    12m + 9 units, depth m + 3. The scaled squares pass through a last ReLU (they are not negative), so that equal ones
    cancel to the last bit when a factor is 0.
    """
    squares = side_by_side(*[compose(square_net(m, tent), affine([row], [0.0])) for row in np.eye(3)])
    combine = ReluNet(((factor * M * M * np.eye(3), np.zeros(3)), ([[1.0, -1.0, -1.0]], [0.0])))
    return compose(combine, compose(squares, absolute(np.array([[1, 1], [1, 0], [0, 1]]) / (2 * M))))


def product_error(m: Any, M: float) -> Any:
    """M² 4^{-m}: the largest error of the gate, which is attained."""
    return M * M * 4.0**-m


def product_gap(net: ReluNet, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """×̃(x, y) - xy"""
    return net(np.stack([x, y], axis=-1))[..., 0] - x * y


def cell_middles(m: int, M: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Middles of the cells of side 2M/2^m of [-M, M]²: all of them up to m = 7, beyond it 4000."""
    side = 2**m
    i, j = np.divmod(np.arange(side * side), side) if m <= 7 else rng.integers(0, side, (2, 4000))
    return M * (2 * i + 1 - side) / side, M * (2 * j + 1 - side) / side


def fewest_pieces(e: int) -> int:
    """The smallest N with 1/(8N²) <= 2^-e, in whole numbers: 8N² >= 2^e."""
    return math.isqrt((2**e + 7) // 8 - 1) + 1


def rival_error(n: int, rng: np.random.Generator) -> float:
    """The error of lowered chords, at n - 1 random knots if n is odd, else of equal pieces with values a little off."""
    knots = np.concatenate([[0.0], np.sort(rng.random(n - 1)), [1.0]]) if n % 2 else np.arange(n + 1) / n
    values = knots**2 - np.max(np.diff(knots)) ** 2 / 8 + rng.normal(0, 1e-3 / n**2, n + 1)
    return sup_to_square(Pwl(knots, values, 0.0, 0.0))
