"""The constants of the smooth functions are theirs, and the path on them is that of torch's own optimizer."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from headway.lab.tools import quadratics
from headway.lab.tools.layers import drawn
from headway.lab.tools.quadratics import Smooth, descend, quadratic
from headway.models.shallow import Config, Shallow
from headway.training.optimizers.heavy_ball import HeavyBall

RNG = np.random.default_rng(3)
X, LABELS = RNG.normal(size=(30, 4)), RNG.choice([-1.0, 1.0], 30)
FUNCTIONS = {
    "quadratic": (quadratic([0.5, 1, 3, 3.5], RNG), 4),
    "flat quadratic": (quadratic([0, 1, 2], RNG), 3),
    "least squares": (quadratics.least_squares(X[:, :1] @ X[:1] + X[:, 1:2] @ X[1:2], LABELS), 4),
    "logistic": (quadratics.logistic_loss(X, LABELS), 4),
    "wells": (quadratics.wells(3), 3),
    "sine": (quadratics.sine_wave(), 1),
    "robust": (quadratics.robust_regression(X, X @ np.ones(4)), 4),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_constants_hold(name: str) -> None:
    h, d = FUNCTIONS[name]
    x = RNG.normal(size=(300, d)) * 3
    bends = np.array([np.abs(h.curvature(row)).max() for row in (*x, np.zeros(d), np.ones(d))])
    assert bends.max() <= h.L * (1 + 1e-9)
    assert bends.max() >= 0.9 * h.L, "L is larger than it need be"
    gap = h(x) - h.least
    assert gap.min() >= 0
    assert np.all(np.sum(h.gradient(x) ** 2, axis=1) / 2 >= h.mu * gap * (1 - 1e-9))
    if name != "logistic":  # of which only a bound from below is known
        found = min(minimize(lambda w: float(h(w)), row * 0.1, tol=1e-12).fun for row in x[:3])
        assert found == pytest.approx(h.least, abs=1e-8)


def test_eigenvalues_are_those_asked_for() -> None:
    h = quadratic([0.5, 1, 3], np.random.default_rng(0))
    assert h.curvature(np.ones(3)) == pytest.approx([0.5, 1, 3])
    assert (h.L, h.mu) == (3, 0.5)


def test_the_path_is_that_of_torch() -> None:
    h = quadratics.wells(2)
    start = np.array([[2.0, -1.0], [4.0, 7.0]])
    path = descend(h, start, 5, rule=lambda w: HeavyBall(w, 0.3, 0.8))
    w = torch.tensor(start, requires_grad=True)
    theirs = torch.optim.SGD([w], lr=0.3, momentum=0.8)
    for t in range(6):
        assert path.points[t] == pytest.approx(w.detach().numpy())
        theirs.zero_grad()
        value = h.f(w)
        assert path.values[t] == pytest.approx(value.detach().numpy())
        value.sum().backward()
        assert path.gradients[t] == pytest.approx(w.grad.numpy())
        theirs.step()
    assert path.slopes.shape == (6, 2)


def test_the_rate_is_1_over_l_unless_given() -> None:
    h = Smooth("square", lambda x: 2 * (x * x).sum(-1), 4.0)
    assert descend(h, np.array([3.0]), 1).points[:, 0] == pytest.approx([3, 0])
    assert descend(h, np.array([3.0]), 1, rate=0.5).points[:, 0] == pytest.approx([3, -3])


def test_the_hidden_layer_is_that_of_the_net_and_its_bound_holds() -> None:
    x, y = RNG.normal(size=(20, 2)), RNG.normal(size=20)
    net = drawn(Shallow(Config(width=3, activation="tanh", dropout=0.0), 2, 1), RNG)
    h, theta = quadratics.hidden_layer(net, x, y), np.concatenate([p.detach().numpy().ravel() for p in net.hidden.parameters()])
    scores = net.logits(net(torch.from_numpy(x)))[:, 0].detach().numpy()
    assert float(h(theta)) == pytest.approx(np.mean((scores - y) ** 2) / 2)
    points = [RNG.normal(size=9) * size for size in (0.3, 1, 3) for _ in range(30)]
    bends = np.array([np.abs(h.curvature(p)).max() for p in points])
    assert h.L / 20 < bends.max() <= h.L
