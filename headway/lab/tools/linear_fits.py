"""Least squares ½|y - Xw|² as training sees it: by steps of an optimizer with a penalty, as matrices from y to w, and by ridge."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch.nn import Parameter

from headway.lab.tools.given_gradients import Rule, follow
from headway.training.optimizers.gradient_descent import GradientDescent
from headway.training.penalties import Weights, l2


Penalty = Callable[[Weights, float], None]
Factor = Callable[[int], float]


def descend(
    X: np.ndarray, y: np.ndarray, steps: int, rule: Rule, penalty: Penalty = l2, strength: float = 0.0, factor: Factor | None = None
) -> np.ndarray:
    """The weights from 0, before and after each step, with a penalty inside the gradient; `factor(t)` is that of the rate."""

    def gradient(t: int, w: np.ndarray) -> np.ndarray:
        p = Parameter(torch.from_numpy(w))
        p.grad = torch.from_numpy(X.T @ (X @ w - y))
        penalty([p], strength)
        return p.grad.numpy()

    return follow(rule, gradient, np.zeros(X.shape[1]), steps, factor=factor)


def descent_matrices(X: np.ndarray, eta: float, times: np.ndarray, start: np.ndarray | float = 0.0) -> np.ndarray:
    """A_t "time problem d n" of gradient descent, w_t = A_t y: it descends for each unit vector y at once."""
    T, one, found = X.swapaxes(1, 2), np.eye(X.shape[1]), [np.zeros(X.shape).swapaxes(1, 2) + start]
    for steps in np.diff(times, prepend=0):
        path = follow(partial(GradientDescent, lr=eta), lambda t, A: T @ (X @ A - one), found[-1], steps)
        found.append(path[-1])
    return np.array(found[1:])


def ridge_matrices(X: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """(XᵀX + λI)⁻¹ Xᵀ for each λ: "λ problem d n"."""
    T = X.swapaxes(1, 2)
    return np.linalg.solve(T @ X + lam[:, None, None, None] * np.eye(X.shape[2]), T)


def shares(A: np.ndarray, X: np.ndarray) -> np.ndarray:
    """v_iᵀ A u_i σ_i: how much of each singular direction of X is fitted by w = A y, "... problem i"."""
    U, s, V = np.linalg.svd(X, full_matrices=False)
    return np.einsum("kid,tkdn,kni->tki", V, A, U, optimize=True) * s
