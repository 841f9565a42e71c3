"""Best lines and trained nets, beside closed forms, enumeration and torch's own modules."""

import math

import numpy as np
import pytest
import torch

from headway.lab.pwl1d import Pwl, l1_distance, pwl1d
from headway.lab.relu_net import ReluNet
from headway.lab.tools.adam_fits import adam_fits, bent_net
from headway.lab.tools.line_fits import (
    GRID,
    best_at_random_knots,
    best_by_pieces,
    best_fit,
    best_lines,
    best_uniform_line,
)
from headway.lab.tools.tents import teeth


@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (0.3, 0.3001), (5.0, 5.00001)])
def test_the_best_uniform_line(a: float, b: float) -> None:
    """Of a parabola the error is h²/8, and of exp half of the largest gap to the chord: also where both are tiny."""
    h = b - a
    assert math.isclose(best_uniform_line(np.square, a, b), h * h / 8, rel_tol=1e-4)
    slope = math.exp(a) * math.expm1(h) / h
    top = math.exp(a) + slope * (math.log(slope) - a) - slope
    assert math.isclose(best_uniform_line(np.exp, a, b, 1001), top / 2, rel_tol=1e-3)
    assert best_uniform_line(lambda x: 3 * x + 1, a, b) < 1e-12


def test_the_dynamic_program_finds_the_best_cuts() -> None:
    cost = np.random.default_rng(0).random((4, GRID + 1)) + np.arange(GRID + 1) / 8
    total, _ = best_by_pieces(cost, 3)
    two = [cost[0, i] + cost[i % 4, GRID - i] for i in range(1, GRID)]
    three = [cost[0, i] + cost[i % 4, j - i] + cost[j % 4, GRID - j] for i in range(1, GRID - 1) for j in range(i + 1, GRID)]
    assert np.allclose(total, [cost[0, GRID], min(two), min(three)])


def test_lines_of_the_grid_follow_a_tooth_and_no_more() -> None:
    f = pwl1d(teeth(6)).simplified()
    cost, lines = best_lines(f)
    assert cost[0, 2] < 1e-9 and np.allclose(lines[0, 2], [0, 64])  # the rising side is a line
    assert cost[0, 4] > 0.1 * 4 / GRID and np.all(cost <= np.arange(GRID + 1) * 0.25 / GRID + 1e-15)
    errors, x, y = best_fit(cost, lines, 16)
    fits = [Pwl(s, v, 0.0, 0.0) for s, v in zip(x, y, strict=True)]
    assert np.isclose(errors[15], 0.1914, atol=5e-4) and x[0, 0] == 0 and x[-1, 1] == 1 and np.array_equal(x[1:, 0], x[:-1, 1])
    assert np.isclose(sum(l1_distance(f, g, *s) for g, s in zip(fits, x, strict=True)), errors[15])


def test_the_best_pieces_at_random_knots_are_found_in_the_span_of_their_hinges() -> None:
    """A function with a bend at one of the knots is met exactly, a parabola never better than by h²/8."""
    t = np.sort(np.random.default_rng(3).random(4))
    assert best_at_random_knots(lambda x: np.abs(x - t[2]), 5, np.random.default_rng(3)) < 1e-9
    assert best_at_random_knots(np.square, 5, np.random.default_rng(3)) >= 1 / (8 * 25)


def test_training_is_that_of_a_torch_module() -> None:
    """The stack of nets takes the steps that each would take alone."""
    f, rng = pwl1d(teeth(2)).simplified(), np.random.default_rng(1)
    starts = [bent_net((3, 2), rng) for _ in range(2)]
    found = adam_fits(f, starts, np.random.default_rng(7), steps=20, rate=0.01)
    nn = torch.nn
    module = nn.Sequential(nn.Linear(1, 3), nn.ReLU(), nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)).double()
    with torch.no_grad():
        for linear, (w, b) in zip(module[::2], starts[1].layers, strict=True):
            linear.weight.copy_(torch.tensor(w))
            linear.bias.copy_(torch.tensor(b))
    optimizer, rng = torch.optim.Adam(module.parameters(), lr=0.01), np.random.default_rng(7)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
    for _ in range(20):
        x = (np.arange(128) + rng.random(128)) / 128
        optimizer.zero_grad()
        (module(torch.tensor(x[:, None]))[:, 0] - torch.tensor(f(x))).abs().mean().backward()
        optimizer.step()
        schedule.step()
    x = np.linspace(0, 1, 50)
    assert np.allclose(found[1].at(x), ReluNet.of(module).at(x), atol=1e-9)
    assert not np.allclose(found[1].at(x), starts[1].at(x), atol=1e-3)


def test_four_units_learn_a_tent() -> None:
    f, rng = pwl1d(teeth(1)).simplified(), np.random.default_rng(2)
    starts = [bent_net((4,), rng) for _ in range(4)]
    bends = -np.concatenate([net.layers[0][1] / net.layers[0][0][:, 0] for net in starts])
    assert np.all((bends >= 0) & (bends <= 1))
    assert min(l1_distance(f, pwl1d(net)) for net in adam_fits(f, starts, rng)) < 0.01
