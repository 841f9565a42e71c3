"""Attention is one step of an associative memory."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal, published
from headway.lab.classical.hopfield_capacity_0138 import settle
from headway.lab.classical.hopfield_crosstalk import hebb, patterns
from headway.lab.old import Experiment
from headway.layers.attention.hopfield import Retrieval

GRID = np.geomspace(0.02, 2, 11)
BINARY = (2, 4, 6, 8, 12, 16, 24, 32, 64, 128, 1000, 10000)  # numbers of ±1 patterns


@dataclass(frozen=True)
class Config:
    d: int = 64  # dimension of states and patterns
    sizes: tuple[int, ...] = (100, 1000, 10000)  # stored patterns N
    betas: tuple[float, ...] = (0.05, 0.125, 1.0)  # inverse temperature β; 1/√d is attention's
    queries: int = 20  # noisy patterns to start from
    noise: float = 0.5  # standard deviation of the noise

    def __post_init__(self) -> None:
        require((16 <= self.d <= 256, "d is 16 to 256"), (all(20 <= n <= 100_000 for n in self.sizes), "sizes are 20 to 100000"))
        require(
            (self.betas[0] > 0 and self.betas == tuple(sorted(self.betas)), "β grows, above 0"),
            (2 <= self.queries <= 20, "queries: 2 to 20"),
        )


def weights(X: np.ndarray, xi: np.ndarray, beta: float) -> np.ndarray:
    """softmax(β X ξ); the rows of X are the patterns, those of ξ the states."""
    e = beta * (xi @ X.T)
    p = np.exp(e - e.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def update(X: np.ndarray, xi: np.ndarray, beta: float, times: int = 1) -> np.ndarray:
    for _ in range(times):
        xi = weights(X, xi, beta) @ X
    return xi


def energy(X: np.ndarray, xi: np.ndarray, beta: float) -> np.ndarray:
    """-(1/β) log Σ exp(β x_j·ξ) + |ξ|²/2 + (1/β) log N + M²/2, which is never negative."""
    e = beta * (xi @ X.T)
    top = e.max(axis=1)
    lse = (top + np.log(np.exp(e - top[:, None]).sum(axis=1))) / beta
    return -lse + (xi**2).sum(axis=1) / 2 + math.log(len(X)) / beta + (X**2).sum(axis=1).max() / 2


def layer(X: np.ndarray, xi: np.ndarray, beta: float, updates: int) -> np.ndarray:
    """The project's own attention `hopfield`: queries ξ, keys and values X."""
    q, k = (torch.from_numpy(z)[None, None] for z in (xi, X))
    return Retrieval(X.shape[1], updates, beta)(q, k, k)[0, 0].numpy()


def kernel(X: np.ndarray, xi: np.ndarray, scale: float | None = None) -> np.ndarray:
    """torch's scaled dot-product attention."""
    return F.scaled_dot_product_attention(*(torch.from_numpy(z)[None] for z in (xi, X, X)), scale=scale)[0].numpy()


class ModernHopfield(Experiment):
    """Retrieval from a modern Hopfield network is attention: the state is the query, the patterns are keys and values.

        ξ⁺ = X softmax(β Xᵀξ)        E(ξ) = -β⁻¹ log Σ_j exp(β x_j·ξ) + ½|ξ|² + const never increases

    With β = 1/√d_k this is scaled dot-product attention. One step retrieves what is well separated (M = max |x_j|, N patterns):

        |ξ⁺ - x_i| <= 2M (N-1) exp(-β min_{j≠i} (x_i - x_j)·ξ).

    At small β all states go to one point near the mean of the patterns: |ξ - mean| <= M (exp(2βM|ξ|) - 1) at a fixed point. The package
    `hflayers` that the specification names is not installed; torch's kernel and the project's layer are compared in its place.
    """

    lecture = "C"
    kinds = ("EXACT", "BOUND")
    cost = "S"
    source = "Ramsauer et al. 2020, https://arxiv.org/abs/2008.02217"
    assumptions = ("keys are values", "patterns on a sphere of radius √d, the query near one of them")
    aliases = ("modern Hopfield retrieval is attention", "Hopfield networks is all you need")
    panels = 2
    small = {"sizes": (100, 1000), "queries": 10}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        q, M = c.queries, math.sqrt(c.d)
        for N in c.sizes:
            X = rng.normal(size=(N, c.d))
            X *= M / np.linalg.norm(X, axis=1, keepdims=True)
            xi = X[:q] + c.noise * rng.normal(size=(q, c.d))
            ours = np.array([[update(X, xi, b), update(X, xi, b, 2)] for b in c.betas])
            theirs = np.array([[layer(X, xi, b, 1), layer(X, xi, b, 2)] for b in c.betas])
            yield close(f"one and two updates, N = {N}: the attention `hopfield`", theirs, ours, 1e-12)
            yield close(f"β = 1/√d, N = {N}: torch's kernel", kernel(X, xi), update(X, xi, c.d**-0.5), 1e-12)
            trace, miss, bound = [], [], []
            for b in c.betas:
                states = [xi]
                for _ in range(8):
                    states.append(update(X, states[-1], b))
                trace.append([energy(X, z, b) for z in states])
                p, gap = weights(X, xi, b), (X[:q] * xi).sum(axis=1, keepdims=True) - xi @ X.T
                np.fill_diagonal(p, 0)  # Σ_{j≠i} p_j (x_j - x_i), without cancellation
                np.fill_diagonal(gap, np.inf)
                miss.append(np.linalg.norm(p @ X - p.sum(axis=1, keepdims=True) * X[:q], axis=1))
                bound.append(2 * M * (N - 1) * np.exp(-b * gap.min(axis=1)))
            yield at_most(f"energy after a step, N = {N}", np.array(trace)[:, 1:], np.array(trace)[:, :-1], rounding=1e-12)
            yield at_most(f"distance from the pattern after one step, N = {N}", miss, bound)
            b, end = c.betas[0], update(X, xi, c.betas[0], 30)
            yield close(f"β = {b:g}, N = {N}: all states meet", end, np.broadcast_to(end[0], end.shape), 1e-9)
            limit = M * math.expm1(2 * b * M * float(np.linalg.norm(end[0])))
            yield at_most(f"β = {b:g}, N = {N}: distance from the mean", float(np.linalg.norm(end[0] - X.mean(axis=0))), limit)
        self.X, near = X, np.linalg.norm(ours[-1, 0] - X[:q], axis=1) / M
        yield equal(f"retrieved in one step, N = {N}, β = {c.betas[-1]:g}", int(np.sum(near < 1e-3)), q)
        if (N, c.d, c.betas[-1], c.noise) == (10000, 64, 1.0, 0.5):
            yield published("log₁₀ of the median relative error, reference", float(np.log10(np.median(near))), -12, 2)
        self.compare(c, rng)
        yield at_least(f"share of ±1 patterns that one step retrieves, N = {BINARY[-1]}", self.rates[1][-1], 1)

    def compare(self, c: Config, rng: np.random.Generator) -> None:
        """For the figure: sign net and modern net on the same ±1 patterns, and the overlap with the pattern against β."""
        self.rates: tuple[list[float], list[float]] = ([], [])
        self.overlap: dict[int, list[float]] = {}
        for N in BINARY:
            x = patterns(max(N, 20), c.d, rng)[:N]
            target = x[np.arange(20) % N]
            start = target + c.noise * rng.normal(size=target.shape)
            end = settle(hebb(x)[None], np.zeros(20, dtype=int), np.where(start < 0, -1, 1).astype(np.float32), rng)
            self.rates[0].append(float(np.mean((end == target).all(axis=1))))
            self.rates[1].append(float(np.mean(np.linalg.norm(update(x, start, 1.0) - target, axis=1) < 1e-3)))
        for N in c.sizes:
            X, start = self.X[:N], self.X[:4] + c.noise * rng.normal(size=(4, c.d))
            self.overlap[N] = [float(np.mean((update(X, start, b, 10) * X[:4]).sum(axis=1) / c.d)) for b in GRID]

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield at_least(f"share of ±1 patterns that the classical net retrieves, N = {BINARY[-1]}", self.rates[0][-1], 1)
        X, high = self.X, c.betas[-1]
        xi = X[: c.queries] + c.noise * rng.normal(size=(c.queries, c.d))
        far = np.linalg.norm(update(X, xi, high) - X.mean(axis=0), axis=1)
        yield at_most(f"β = {high:g} ends near the mean too", far, 0.5 * math.sqrt(c.d))
        yield close("attention without 1/√d is the update with β = 1/√d", kernel(X, xi, 1.0), update(X, xi, c.d**-0.5), 1e-12)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        axes[0].semilogx(BINARY, np.array(self.rates[0]) * 100, **style.CONTROL, label="classical (sign) net")
        axes[0].semilogx(BINARY, np.array(self.rates[1]) * 100, **style.MEASURED, label="modern net, β = 1, one step")
        axes[0].axvline(0.138 * c.d, **style.BOUND, label=f"0.138 d = {0.138 * c.d:.1f}")
        axes[0].set(title="What is retrieved", xlabel=f"stored ±1 patterns N, d = {c.d}", ylabel="retrieved (%)", ylim=(-4, 118))
        axes[0].legend(loc="center right")
        for i, (N, overlap) in enumerate(self.overlap.items()):
            axes[1].semilogx(GRID, overlap, **style.series(i), label=f"N = {N}")
        axes[1].axvline(c.d**-0.5, **style.BOUND, label="β = 1/√d")
        axes[1].set(title="From the mean to a pattern", xlabel="inverse temperature β", ylabel="overlap with the pattern after 10 steps")
        axes[1].legend(loc="upper left")
