"""Penalties against closed forms: the soft threshold, ridge regression, and what beta-lasso sets to zero."""

import pytest
import torch
from torch import nn

from headway.core.errors import ConfigError
from headway.layers.roles import roles
from headway.models.gpt import GPT, Config
from headway.models.weights import redraw
from headway.tasks.recipe import Training
from headway.training.learner import Learner
from headway.training.penalties import beta_lasso
from headway.training.plan import Settings

A = torch.tensor([[1.5, -0.8, 0.3, -0.1, 0.0, 0.05]])


def minimum(rate: float = 1e-3, steps: int = 8000, **penalty: float) -> torch.Tensor:
    """argmin |w - a|^2 / 2 + penalty, by gradient descent with a learner."""
    net = nn.Linear(6, 1, bias=False)
    learner = Learner(net, Settings(steps, 1, rate, optimizer="sgd", decay=0.0, **penalty))
    for _ in range(steps):
        net.weight.grad = net.weight.detach() - A
        learner.step(rate, learner.norm(), clip=1e9, average=0.0)
    return net.weight.detach()


def test_l1_ends_at_the_soft_threshold() -> None:
    expected = A.sign() * (A.abs() - 0.2).clamp(min=0)  # Donoho 1995
    torch.testing.assert_close(minimum(l1=0.2), expected, atol=1e-3, rtol=0)


def test_l2_ends_at_ridge_regression() -> None:
    torch.testing.assert_close(minimum(l2=0.25), A / 1.25, atol=1e-4, rtol=0)


def test_beta_lasso_sets_exact_zeros_where_l1_only_comes_close() -> None:
    # A step from zero is rate * |a|: 3e-4 for the third weight, 1e-4 for the fourth; the threshold, 2e-4, is between them.
    plain, lasso = minimum(l1=0.2), minimum(l1=0.2, beta=1e-3)
    zero = torch.tensor([[False, False, False, True, True, True]])
    assert torch.equal(lasso == 0, zero) and (plain != 0).any(dim=0)[zero[0]].any()
    torch.testing.assert_close(lasso[~zero], plain[~zero], atol=1e-3, rtol=0)


def test_the_threshold_is_beta_times_lambda() -> None:
    w = nn.Parameter(torch.tensor([0.5, -0.0999, 0.1001, -0.2, 0.0]))
    beta_lasso([w], 0.02, 5.0)
    assert w.tolist() == pytest.approx([0.5, 0.0, 0.1001, -0.2, 0.0])


def test_only_matrices_and_tables_are_penalised() -> None:
    net = GPT(Config(width=6, depth=1, heads=2, inner=10, context=4), 7)
    learner, before = Learner(net, Settings(1, 1, 0.1, optimizer="sgd", decay=0.0, l1=1.0)), dict(net.named_parameters())
    before = {name: p.detach().clone() for name, p in before.items()}
    for p in net.parameters():
        p.grad = torch.zeros_like(p)
    learner.step(0.1, learner.norm(), clip=1.0, average=0.0)
    for name, role in roles(net).items():
        moved = before[name] - dict(net.named_parameters())[name].detach()
        torch.testing.assert_close(moved, 0.1 * before[name].sign() * (role in ("matrix", "map", "table")))


def test_beta_needs_a_penalty() -> None:
    with pytest.raises(ConfigError, match="`training.beta` must be 0 without `training.l1`"):
        Training(beta=3.0)


@pytest.mark.parametrize("rule", ["orthogonal", "He"])
def test_first_weights_by_name(rule: str) -> None:
    torch.manual_seed(1)
    net = GPT(Config(width=64, depth=1, heads=2, inner=256, context=4), 7)
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    redraw(net, Training(initialisation=rule).initialisation or "")
    for name, role in roles(net).items():
        w = dict(net.named_parameters())[name].detach()
        assert torch.equal(w, before[name]) == (role != "matrix"), name
        if role == "matrix" and rule == "orthogonal":
            short = w if len(w) <= w.shape[1] else w.T
            torch.testing.assert_close(short @ short.T, torch.eye(len(short)), atol=1e-5, rtol=0)
        elif role == "matrix":
            assert float(w.std()) == pytest.approx((2 / w.shape[1]) ** 0.5, rel=0.05)
