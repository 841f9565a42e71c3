"""Tangent propagation is the derivative that autograd and finite differences find, and the law of a layer is its integral."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import chi

from headway.lab.tools import trajectories
from headway.lab.tools.trajectories import (
    HARD_TANH,
    RELU,
    Activation,
    circle,
    growth,
    images,
    layers,
    polyline_length,
    relu_factor,
    stretch,
)

TORCH = {"relu": (RELU, torch.relu), "hard tanh": (HARD_TANH, torch.nn.functional.hardtanh)}


@pytest.mark.parametrize("name", TORCH)
def test_stretch_is_the_product_with_the_jacobian(name: str) -> None:
    activation, function = TORCH[name]
    rng = np.random.default_rng(0)
    net, start = list(layers(rng, 7, 3, 4)), rng.standard_normal((4, 2, 7))
    found = stretch(iter(net), start, [1.5, 3.0], 0.3, activation)
    assert found.shape == (4, 2, 4)
    for j, sigma in enumerate((1.5, 3.0)):
        for draw in range(4):

            def forward(z: torch.Tensor, sigma: float = sigma, draw: int = draw) -> torch.Tensor:
                for w, b in net:
                    z = function(sigma * torch.from_numpy(w[draw]).double() @ z + 0.3 * torch.from_numpy(b[draw, :, 0]).double())
                return z

            z, u = torch.from_numpy(start[draw])
            _, tangent = torch.autograd.functional.jvp(forward, z, u / u.norm())
            assert found[-1, j, draw] == pytest.approx(float(tangent.norm()), rel=1e-4, abs=1e-6)


def test_a_short_polyline_is_stretched_as_its_tangent() -> None:
    rng = np.random.default_rng(1)
    net = list(layers(rng, 6, 3, 1))
    x, u = rng.standard_normal((2, 6))
    short = (x[:, None] + 1e-4 * u[:, None] * np.arange(3) / np.linalg.norm(u)).astype(np.float64)
    *_, last = images(iter(net), short, 2.0, 0.5)
    ratio = polyline_length(np.maximum(last, 0))[0] / polyline_length(short)
    assert stretch(iter(net), np.stack([x, u])[None], [2.0], 0.5)[-1, 0, 0] == pytest.approx(ratio, rel=1e-3)


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_relu_factor_is_the_mean_of_chi(n: int) -> None:
    """The norm of k Gaussians has the distribution chi; its mean by quadrature, over the number of open gates."""
    mean = sum(math.comb(n, k) / 2**n * quad(lambda r, k=k: r * chi.pdf(r, k), 0, np.inf)[0] for k in range(1, n + 1))
    assert relu_factor(n) == pytest.approx(mean / math.sqrt(n), rel=1e-6)


def test_entries_have_their_variance() -> None:
    rng, shape = np.random.default_rng(2), (4, 200, 200)
    laws = ((trajectories.gaussian, 1), (trajectories.rademacher, 1), (trajectories.uniform, 1), (trajectories.sparse(0.3), 0.3))
    for draw, variance in laws:
        w = draw(rng, shape)
        assert w.var() == pytest.approx(variance, rel=0.02) and abs(w.mean()) < 0.02
    w = trajectories.pruned(0.3)(rng, shape)
    assert np.mean(w != 0) == pytest.approx(0.3, abs=1e-3) and w.var() > 0.6


def test_growth_after_all_units_are_off_is_no_number() -> None:
    off = Activation(np.zeros_like, np.zeros_like)
    lengths = stretch(layers(np.random.default_rng(3), 5, 3, 2), np.random.default_rng(4).standard_normal((2, 2, 5)), [1.0], 0.0, off)
    ratios = growth(lengths)
    assert ratios.shape == (1, 6) and np.all(ratios[0, :2] == 0) and np.all(np.isnan(ratios[0, 2:]))


def test_the_circle_is_closed_and_round() -> None:
    x = circle(8, 1000)
    assert np.allclose(x[:, 0], x[:, -1], atol=1e-5) and np.allclose(np.linalg.norm(x, axis=0), 2)
    assert polyline_length(x) == pytest.approx(4 * math.pi, rel=1e-4)
