"""ReLU nets against torch, exact breakpoints against dense evaluation and quadrature, certified suprema against known ones."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad

from headway.core.errors import ConfigError
from headway.core.files import write_tensors
from headway.lab.certified import certified_sup
from headway.lab.pwl1d import Pwl, l1_distance, pwl1d, sup_distance
from headway.lab.relu_net import (
    ReluNet,
    add,
    affine,
    compose,
    deepen,
    hinges,
    identity,
    power,
    random_net,
    scale,
    side_by_side,
)

TENT = hinges([0, 0.5, 1], [2, -4, 2])
RNG = np.random.default_rng(7)


def sequential(*widths: int) -> torch.nn.Sequential:
    layers: list[torch.nn.Module] = []
    for i, o in itertools.pairwise(widths):
        layers += [torch.nn.Linear(i, o), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def test_a_net_is_the_sequential_of_torch(doubles, tmp_path) -> None:
    module = sequential(3, 5, 7, 2)
    x = torch.randn(11, 3)
    net = ReluNet.of(module)
    assert np.allclose(net(x.numpy()), module(x).detach().numpy(), atol=1e-14)
    assert (net.inputs, net.outputs, net.widths, net.depth, net.nodes) == (3, 2, (5, 7), 3, 12)
    assert net.weights == sum(p.numel() for p in module.parameters())
    write_tensors(tmp_path / "net.safetensors", dict(module.state_dict()))
    assert np.array_equal(ReluNet.load(tmp_path / "net.safetensors")(x.numpy()), net(x.numpy()))
    assert ReluNet.of(net) is net and ReluNet.of(net.layers).nodes == 12
    with pytest.raises(ConfigError, match="cannot read a network of Linear, Tanh, Linear"):
        ReluNet.of(torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1)))


def test_shapes_that_do_not_fit_are_told() -> None:
    with pytest.raises(ConfigError, match="layer 2 takes 3 values, but layer 1 gives 2"):
        ReluNet(((np.ones((2, 1)), np.zeros(2)), (np.ones((1, 3)), np.zeros(1))))
    with pytest.raises(ConfigError, match="layer 1 has weights of shape"):
        ReluNet(((np.ones((2, 1)), np.zeros(3)),))
    with pytest.raises(ConfigError, match="expected 1"):
        pwl1d(random_net([2, 3, 1], RNG))


def test_zeros_are_not_counted_as_weights() -> None:
    assert ReluNet((([[1.0, 0.0]], [0.0]), ([[2.0]], [3.0]))).weights == 3


def test_combinations_are_the_functions_they_say() -> None:
    f, g, h = random_net([2, 4, 3], RNG), random_net([3, 5, 5, 2], RNG), random_net([2, 6, 6, 6, 3], RNG)
    x = RNG.normal(size=(50, 2))
    assert np.allclose(compose(g, f)(x), g(f(x))) and compose(g, f).nodes == f.nodes + g.nodes
    assert np.allclose(side_by_side(f, h)(x), np.hstack([f(x), h(x)]))
    assert np.allclose(add(f, h, coefficients=[2, -3])(x), 2 * f(x) - 3 * h(x)) and np.allclose(add(f, h)(x), f(x) + h(x))
    assert np.allclose(scale(f, -2, 1)(x), 1 - 2 * f(x)) and np.array_equal(identity(2, 4)(x), x) and np.array_equal(identity(2)(x), x)
    assert np.allclose(deepen(f, 5)(x), f(x)) and deepen(f, 5).depth == 5 and deepen(f, 5).nodes == f.nodes + 3 * 2 * 3
    assert np.allclose(affine([[1, 2]], [3])(x)[:, 0], x @ [1, 2] + 3)
    t = np.linspace(-2, 2, 101)
    assert np.allclose(hinges([0, 1], [3, -1], 0.5, 2).at(t), 2 + 0.5 * t + 3 * np.maximum(t, 0) - np.maximum(t - 1, 0))
    assert np.array_equal(power(TENT, 3).at(t), TENT.at(TENT.at(TENT.at(t)))) and power(TENT, 3).nodes == 9


@pytest.mark.parametrize("widths", [(1, 1), (1, 4, 1), (1, 6, 5, 1), (1, 3, 3, 3, 3, 1)], ids=str)
def test_breakpoints_are_all_and_only_the_bends(widths: tuple[int, ...]) -> None:
    for seed in range(20):
        net = random_net(widths, np.random.default_rng(seed))
        f = pwl1d(net)
        x = np.sort(np.concatenate([np.linspace(-50, 50, 4001), RNG.normal(0, 3, 4000), f.knots]))
        assert np.allclose(f(x), net.at(x), atol=1e-11 * np.max(np.abs(net.at(x))))
        assert np.allclose(f.simplified()(x), net.at(x), atol=1e-9 * np.max(np.abs(net.at(x))))
        assert f.simplified().pieces() == f.pieces() <= np.prod([w + 1 for w in net.widths])


def test_teeth_are_counted_exactly() -> None:
    for p in range(1, 12):
        f = pwl1d(power(TENT, p))
        assert f.pieces(0, 1) == 2**p and f.crossings(0.5, 0, 1) == 2**p
        assert np.array_equal(f(np.arange(2**p + 1) / 2**p), np.arange(2**p + 1) % 2)


def test_distances_against_quadrature() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        f, g = pwl1d(random_net([1, 5, 4, 1], rng)), pwl1d(random_net([1, 6, 1], rng))
        knots = np.unique(np.concatenate([f.knots, g.knots]))
        inside = knots[(knots > -1) & (knots < 2)]
        area = quad(lambda x, f=f, g=g: abs(float(f(x) - g(x))), -1, 2, points=inside, limit=500)[0]
        assert l1_distance(f, g, -1, 2) == pytest.approx(area, rel=1e-6)
        dense = np.max(np.abs(f(np.linspace(-1, 2, 200_001)) - g(np.linspace(-1, 2, 200_001))))
        assert dense <= sup_distance(f, g, -1, 2) * (1 + 1e-12) and sup_distance(f, g, -1, 2) == pytest.approx(dense, rel=1e-3)
    spike = Pwl(np.array([0.5, 0.5 + 1e-9, 0.5 + 2e-9]), np.array([0.0, 1.0, 0.0]), 0.0, 0.0)  # no grid sees it
    assert sup_distance(spike, Pwl(np.zeros(1), np.zeros(1), 0.0, 0.0)) == 1.0


def test_a_constant_has_one_piece() -> None:
    f = pwl1d(hinges([0.0, 1.0], [0.0, 0.0], shift=2.0))
    assert f.pieces() == 1 and np.array_equal(f(np.array([-5.0, 0.5, 9.0])), [2, 2, 2]) and f.simplified().knots.size == 1


def test_certified_suprema_are_above_and_close() -> None:
    for d, lip, lo, hi, true in [
        (lambda x: np.sin(7 * x), 7, 0, 1, 1.0),
        (lambda x: x**2 - 0.3, 2, 0, 1, 0.7),
        (lambda x: np.maximum(1 - 1e4 * np.abs(x - 1 / 3), 0), 1e4, 0, 1, 1.0),  # a spike between the points of the first grid
        (lambda x: np.sin(3 * x[:, 0]) + np.cos(4 * x[:, 1]), 7, [0, 0], [1, 1], 2.0),
        (lambda x: x[:, 0] * x[:, 1] * x[:, 2], 3, [0, 0, 0], [1, 1, 1], 1.0),
    ]:
        found = certified_sup(d, lip, lo, hi, rtol=0.01)
        assert found.low <= true <= found.high <= true * 1.0102
    cut = certified_sup(lambda x: np.sin(7 * x), 7, 0, 1, rtol=1e-9, most=5000)
    assert cut.low <= 1 <= cut.high
    assert math.isnan(certified_sup(lambda x: np.full(len(x), np.nan), 1, 0, 1).high)
    with pytest.raises(ConfigError, match="Lipschitz"):
        certified_sup(np.sin, math.nan, 0, 1)


def test_a_network_of_ones_own_is_examined(doubles) -> None:
    import headway

    net = sequential(1, 6, 1)
    result = headway.lab.run("pwl-relu-sum", network=net)
    assert result.ok and {c.name for c in result.checks} >= {"pieces of your net with 6 units"}
    assert headway.lab.run("telgarsky-32", network=sequential(1, 4, 1), largest=2).ok
    assert not headway.lab.run("telgarsky-32", network=power(TENT, 6), largest=2).ok
    with pytest.raises(ConfigError, match="no place for a network"):
        headway.lab.run("threshold-1d", network=net)
