"""Many independent runs of stochastic gradient descent on a quadratic, by the optimizer that trains networks.

    f(x) = ½ Σ_i λ_i x_i²,     x <- x - η_t (λ x + σ ξ),  ξ ~ N(0, 1),     E x² <- (1 - η_t λ)² E x² + η_t² σ²
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from headway.training.optimizers.sgd import SGD


def descend(
    x: np.ndarray, curvature: np.ndarray, sigma: float, rates: Sequence[float] | np.ndarray, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """The states (runs, d) after each step, from states x; `curvature` holds the λ_i."""
    w = torch.nn.Parameter(torch.from_numpy(np.array(x, dtype=float)))
    rule, bend = SGD([w], lr=float(rates[0])), torch.from_numpy(np.asarray(curvature, dtype=float))
    noise = torch.Generator().manual_seed(int(rng.integers(2**31)))
    for rate in rates:
        w.grad = w.detach() * bend + sigma * torch.randn(w.shape, dtype=torch.float64, generator=noise)
        rule.param_groups[0]["lr"] = float(rate)
        rule.step()
        yield w.detach().numpy().copy()


def second_moments(x: float, curvature: float, sigma: float, rates: Sequence[float] | np.ndarray) -> np.ndarray:
    """E x² and E x̄² of the mean x̄ of all iterates, after each step from x, for one coordinate: (steps, 2).

    With the sum s of the iterates and a = 1 - ηλ: E xs <- a E xs + E x², E s² <- E s² + 2a E xs + E x².
    """
    xx, xs, ss = x * x, 0.0, 0.0
    found = []
    for t, rate in enumerate(rates, 1):
        a = 1 - rate * curvature
        xx = a * a * xx + (rate * sigma) ** 2
        xs, ss = a * xs + xx, ss + 2 * a * xs + xx
        found.append((xx, ss / t**2))
    return np.array(found)
