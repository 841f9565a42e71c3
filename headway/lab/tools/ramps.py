"""Ramps and bumps of ReLUs on the line: h_a = g_a - g_{a+δ} with g_a(x) = relu((x - a)/δ), and I_{a,b} = h_a - h_b."""

import numpy as np

from headway.lab.relu_net import ReluNet
from headway.lab.tools.curves import Curve, Function


def ramps(starts: np.ndarray, heights: np.ndarray, delta: float) -> ReluNet:
    """Σ_i heights_i h_{starts_i}: two ReLUs for each ramp."""
    a, height = np.concatenate([starts, starts + delta]), np.append(heights, -heights)
    return ReluNet(((np.full((a.size, 1), 1 / delta), -a / delta), (height[None], [0.0])))


def around_knots(K: int, delta: float) -> np.ndarray:
    """Where the K + 1 ramps of a sum of K bumps begin: around each inner knot k/K, and outside of [0, 1] at both ends."""
    return np.concatenate([[-delta], np.arange(1, K) / K - delta / 2, [1.0]])


def bumps(f: Function, starts: np.ndarray, delta: float) -> ReluNet:
    """Σ_k f(k/K) I_{s_k, s_{k+1}}, as written: four ReLUs for each of the K bumps."""
    values = f(np.arange(starts.size - 1) / (starts.size - 1))
    return ramps(np.concatenate([starts[:-1], starts[1:]]), np.append(values, -values), delta)


def shared(f: Function, starts: np.ndarray, delta: float) -> ReluNet:
    """The same function, one ramp where one bump ends and the next begins: Σ_k (f(t_k) - f(t_{k-1})) h_{s_k}."""
    values = f(np.arange(starts.size - 1) / (starts.size - 1))
    return ramps(starts, np.diff(values, prepend=0.0, append=0.0), delta)


def sup_error(net: ReluNet, f: Curve, starts: np.ndarray, delta: float) -> float:
    """A bound of sup |net - f| on [0, 1], exact where the net is constant: between neighbouring points both are monotone."""
    x = np.concatenate([[0.0, 1.0], f.turns, (starts[1:-1, None] + delta * np.arange(9) / 8).ravel()])
    x = np.unique(x[(x >= 0) & (x <= 1)])
    F, values = net.at(x), f(x)
    return float(max(np.max(np.abs(u - v)) for u in (F[:-1], F[1:]) for v in (values[:-1], values[1:])))
