"""Given gradients beside sums written out, and beside torch's own optimizer and schedule."""

import numpy as np
import torch

from headway.lab.tools.given_gradients import follow
from headway.training.optimizers.adam import Adam
from headway.training.optimizers.sgd import SGD


def test_plain_descent_adds_up_the_gradients_with_the_factor_of_each_step() -> None:
    found = follow(lambda p: SGD(p, lr=0.5), lambda t, x: np.array([t, -1.0]), np.array([1.0, 2.0]), 4, factor=lambda t: 1 / (t + 1))
    assert np.allclose(found[:, 0], 1 - 0.5 * np.cumsum([0, 0, 1 / 2, 2 / 3, 3 / 4]))
    assert np.allclose(found[:, 1], 2 + 0.5 * np.cumsum([0, 1, 1 / 2, 1 / 3, 1 / 4]))


def test_the_gradient_sees_the_point_and_the_box_holds_it() -> None:
    found = follow(lambda p: SGD(p, lr=1.0), lambda t, x: -2 * x, np.array(0.3), 3, box=1.0)
    assert np.allclose(found, [0.3, 0.9, 1.0, 1.0])  # 2.7 is cut off, and the next step starts at 1


def test_adam_is_that_of_torch() -> None:
    gradients = np.random.default_rng(0).normal(size=(20, 3))
    w = torch.zeros(3, dtype=torch.float64)
    theirs = torch.optim.Adam([w], lr=0.1)
    for g in gradients:
        w.grad = torch.from_numpy(g)
        theirs.step()
    assert np.allclose(follow(lambda p: Adam(p, lr=0.1), lambda t, x: gradients[t], np.zeros(3), 20)[-1], w.numpy(), rtol=1e-12)
