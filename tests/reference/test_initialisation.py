"""Initialisations against torch.nn.init: the same seed gives the same numbers, and the numbers have the moments of the formula."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.layers.initialisation import (
    INITIALISATIONS,
    fans,
    gaussian,
    glorot_normal,
    he_normal,
    orthogonal,
    sparse,
    uniform,
)

SHAPES = [(60, 80), (80, 60), (30, 20, 3), (20, 15, 3, 3)]
TORCH: dict[str, Callable[[Tensor], Any]] = {
    "gaussian": lambda w: nn.init.normal_(w, 0.0, 0.01),
    "uniform": lambda w: nn.init.uniform_(w, -0.01, 0.01),
    "glorot_normal": nn.init.xavier_normal_,
    "glorot_uniform": nn.init.xavier_uniform_,
    "he_normal": lambda w: nn.init.kaiming_normal_(w, nonlinearity="relu"),
    "he_uniform": lambda w: nn.init.kaiming_uniform_(w, nonlinearity="relu"),
    "orthogonal": nn.init.orthogonal_,
}
VARIANCE: dict[str, Callable[[int, int], float]] = {
    "gaussian": lambda n_in, n_out: 1e-4,
    "uniform": lambda n_in, n_out: 1e-4 / 3,
    "glorot_normal": lambda n_in, n_out: 2 / (n_in + n_out),
    "glorot_uniform": lambda n_in, n_out: 2 / (n_in + n_out),
    "he_normal": lambda n_in, n_out: 2 / n_in,
    "he_uniform": lambda n_in, n_out: 2 / n_in,
}
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


def test_every_initialisation_is_compared() -> None:
    assert set(TORCH) | {"sparse"} == set(INITIALISATIONS)


@each_shape
@pytest.mark.parametrize("name", TORCH)
def test_the_same_seed_gives_torchs_numbers(name: str, shape: tuple[int, ...]) -> None:
    ours, theirs = nn.Parameter(torch.empty(shape)), nn.Parameter(torch.empty(shape))
    torch.manual_seed(7)
    assert INITIALISATIONS[name](ours) is ours and ours.requires_grad
    torch.manual_seed(7)
    TORCH[name](theirs)
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7)


@each_shape
@pytest.mark.parametrize("name", VARIANCE)
def test_moments(name: str, shape: tuple[int, ...]) -> None:
    """Mean 0 and the variance of the formula, within four standard errors: Var(mean) = v / n, Var(w^2) = (kurtosis - 1) v^2."""
    taps = math.prod(shape[2:])
    v = VARIANCE[name](shape[1] * taps, shape[0] * taps)
    w = INITIALISATIONS[name](torch.empty(shape, dtype=torch.float64))
    kurtosis = 1.8 if "uniform" in name else 3.0
    assert abs(w.mean().item()) < 4 * math.sqrt(v / w.numel())
    assert abs(w.square().mean().item() - v) < 4 * v * math.sqrt((kurtosis - 1) / w.numel())
    if "uniform" in name:
        assert w.abs().max() <= math.sqrt(3 * v)
    assert abs((w.square().mean() / w.var(correction=0)).item() - 1) < 0.01


def test_arguments() -> None:
    torch.manual_seed(7)
    twice = glorot_normal(torch.empty(50, 70), gain=2.0)
    torch.manual_seed(7)
    torch.testing.assert_close(twice, nn.init.xavier_normal_(torch.empty(50, 70), gain=2.0))
    assert gaussian(torch.empty(300, 300), 3.0).std().item() == pytest.approx(3.0, rel=0.02)
    assert uniform(torch.empty(300, 300), 3.0).abs().max().item() == pytest.approx(3.0, rel=0.001)
    assert fans(torch.empty(5, 7, 3, 2)) == (42, 30)


@each_shape
def test_orthogonality(shape: tuple[int, ...]) -> None:
    w = orthogonal(torch.empty(shape, dtype=torch.float64), gain=1.5).flatten(1)
    small = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    torch.testing.assert_close(small, 2.25 * torch.eye(len(small), dtype=torch.float64), rtol=0.0, atol=1e-12)


def test_orthogonal_matrices_are_uniform() -> None:
    """Without the signs of R the diagonal of Q would be negative more often than not; uniform, its trace has mean 0 and variance 1."""
    traces = torch.stack([orthogonal(torch.empty(4, 4)).trace() for _ in range(1000)])
    assert abs(traces.mean().item()) < 4 / math.sqrt(1000)
    assert abs(traces.square().mean().item() - 1) < 4 * math.sqrt(2 / 1000)


def test_sparse_units_hear_fifteen_inputs() -> None:
    w = sparse(torch.empty(200, 300, dtype=torch.float64))
    assert ((w != 0).sum(1) == 15).all()
    values = w[w != 0]
    assert abs(values.mean().item()) < 4 / math.sqrt(3000) and abs(values.square().mean().item() - 1) < 4 * math.sqrt(2 / 3000)
    heard = (w != 0).sum(0).double()  # every input is as likely: binomial with 200 draws of 1/20
    assert abs(heard.var().item() - 200 * 0.05 * 0.95) < 4 * 9.5 * math.sqrt(2 / 299) and heard.min() > 0
    theirs = nn.init.sparse_(torch.empty(300, 200), sparsity=0.95, std=1.0)  # torch counts columns: ours, transposed
    assert ((theirs.T != 0).sum(1) == 15).all()
    assert ((sparse(torch.empty(7, 5, 3), incoming=4, sigma=2.0) != 0).flatten(1).sum(1) == 4).all()
    assert (sparse(torch.empty(7, 5)) != 0).all()  # fewer inputs than fifteen: all are heard


def test_he_keeps_the_second_moment_through_relus() -> None:
    """Depth 30, width 200: the factor per layer is 1; with variance 1/n it is a half."""
    z = torch.randn(512, 200, dtype=torch.float64)
    for name, expected in (("he_normal", 1.0), ("half", 0.5)):
        y = z
        for _ in range(30):
            w = he_normal(torch.empty(200, 200, dtype=torch.float64))
            y = torch.relu(y) @ (w if name == "he_normal" else w / math.sqrt(2)).T
        factor = (y.square().mean() / z.square().mean()).item() ** (1 / 30)
        assert factor == pytest.approx(expected, rel=0.05)
