"""Smooth functions with constants that are known, quadratics first of all, and the path that an optimizer of the package takes on them.

    ‖∇f(x) - ∇f(y)‖ <= L ‖x - y‖,      f >= f*,      ½‖∇f(x)‖² >= μ (f(x) - f*)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call

from headway.models.shallow import Shallow
from headway.training.optimizers.gradient_descent import GradientDescent

Rule = Callable[[list[Tensor]], torch.optim.Optimizer]


@dataclass(frozen=True)
class Smooth:
    """A function of points "... d", with its constants."""

    name: str
    f: Callable[[Tensor], Tensor]  # points "... d" -> values "..."
    L: float  # of the gradient: Lipschitz everywhere
    least: float = 0.0  # f*, no value is below it
    mu: float = 0.0  # μ of the Polyak-Łojasiewicz inequality, or 0 where it does not hold

    def __call__(self, x: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return self.f(torch.from_numpy(np.asarray(x, dtype=float))).numpy()

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """∇f at each point, in rows."""
        w = torch.tensor(np.asarray(x, dtype=float), requires_grad=True)
        return torch.autograd.grad(self.f(w).sum(), w)[0].numpy()

    def curvature(self, x: np.ndarray) -> np.ndarray:
        """The eigenvalues of the Hessian at one point "d", the least first."""
        return np.linalg.eigvalsh(torch.autograd.functional.hessian(self.f, torch.from_numpy(x)).numpy())


@dataclass(frozen=True)
class Path:
    """What an optimizer passes: steps + 1 points "t ... d", their values "t ..." and gradients "t ... d"."""

    points: np.ndarray
    values: np.ndarray
    gradients: np.ndarray

    @property
    def slopes(self) -> np.ndarray:
        """‖∇f‖² at each point."""
        return np.sum(self.gradients**2, axis=-1)


def descend(h: Smooth, start: np.ndarray, steps: int, rate: float | None = None, rule: Rule | None = None) -> Path:
    """The path of `rule`, by default of gradient descent with this rate (1/L), from a point "d" or from many "... d" at once."""
    w = torch.tensor(np.array(start, dtype=float), requires_grad=True)
    optimizer = rule([w]) if rule else GradientDescent([w], lr=1 / h.L if rate is None else rate)
    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for _ in range(steps + 1):
        values = h.f(w)
        (w.grad,) = torch.autograd.grad(values.sum(), w)
        rows.append((w.detach().numpy().copy(), values.detach().numpy().copy(), w.grad.numpy().copy()))
        optimizer.step()
    points, found, gradients = (np.array(part) for part in zip(*rows, strict=True))
    return Path(points, found, gradients)


def quadratic(eigenvalues: Sequence[float] | np.ndarray, rng: np.random.Generator | None = None) -> Smooth:
    """½ xᵀAx for A with these eigenvalues (not negative), on the axes or, with `rng`, on random orthogonal ones; f* = 0."""
    values = np.asarray(eigenvalues, dtype=float)
    basis = np.eye(values.size) if rng is None else np.linalg.qr(rng.normal(size=(values.size, values.size)))[0]
    A = torch.from_numpy(basis * values @ basis.T)
    positive = values[values > 0]
    return Smooth("quadratic", lambda x: ((x @ A) * x).sum(-1) / 2, float(values.max()), 0.0, float(positive.min()))


def least_squares(A: np.ndarray, b: np.ndarray) -> Smooth:
    """½‖Ax - b‖². With A of any rank L = σ_max², μ = σ_min² of the singular values that are not 0, f* by lstsq."""
    sigma = np.linalg.svd(A, compute_uv=False)
    sigma = sigma[sigma > 1e-10 * sigma[0]]
    rest = A @ np.linalg.lstsq(A, b, rcond=None)[0] - b
    at, bt = torch.from_numpy(A), torch.from_numpy(b)
    L, least, mu = float(sigma[0] ** 2), float(rest @ rest) / 2, float(sigma[-1] ** 2)
    return Smooth("least squares", lambda x: ((x @ at.T - bt) ** 2).sum(-1) / 2, L, least, mu)


def logistic_loss(X: np.ndarray, y: np.ndarray) -> Smooth:
    """(1/s) Σ log(1 + exp(-y_i <x_i, w>)) for rows x_i and labels y_i = ±1: L = λ_max(XᵀX)/(4s), because σ' <= 1/4."""
    z = torch.from_numpy(y[:, None] * X)
    L = float(np.linalg.norm(X, 2) ** 2) / (4 * len(X))
    return Smooth("logistic", lambda w: torch.nn.functional.softplus(-(w @ z.T)).mean(-1), L)


def wells(d: int, ridge: float = 0.05) -> Smooth:
    """Σ_i (1 - cos x_i) + ridge ‖x‖², which has many local minima: L = 1 + 2 ridge, f* = 0 at 0."""
    return Smooth("wells", lambda x: (1 - torch.cos(x) + ridge * x * x).sum(-1), 1 + 2 * ridge)


CORNER = Smooth("|x|", lambda x: x.abs().sum(-1), 1.0)  # 1 is no Lipschitz constant: the gradient jumps


def sine_wave() -> Smooth:
    """x² + 3 sin²x, not convex: f'' = 2 + 6 cos 2x <= 8 = L, and μ = 1/32 (Karimi, Nutini and Schmidt 2016, section 2.2)."""
    return Smooth("x² + 3 sin²x", lambda x: (x * x + 3 * torch.sin(x) ** 2).sum(-1), 8.0, 0.0, 1 / 32)


def robust_regression(X: np.ndarray, y: np.ndarray) -> Smooth:
    """(1/s) Σ ρ(<x_i, w> - y_i), ρ(r) = ½ r²/(1 + r²) (Geman and McClure 1987), not convex: |ρ''| <= 1, so L = λ_max(XᵀX)/s."""
    at, bt = torch.from_numpy(X), torch.from_numpy(y)
    L = float(np.linalg.norm(X, 2) ** 2) / len(X)

    def f(w: Tensor) -> Tensor:
        squares = (w @ at.T - bt) ** 2
        return (squares / (1 + squares)).mean(-1) / 2

    return Smooth("robust regression", f, L)


def hidden_layer(net: Shallow, x: np.ndarray, y: np.ndarray) -> Smooth:
    """(1/2s) Σ (f(x_i) - y_i)² of a tanh net with one output, as a function of one point: V and a; its head W, b is fixed.

    With z = (x, 1), |tanh'| <= 1 and |tanh''| <= 4/√27 the Hessian of an example is at most ‖z‖² (‖W‖² + 4/√27 max|W| |f - y|), and
    |f - y| <= ‖W‖₁ + |b - y|. The mean of that is L: not the least one, but valid everywhere.
    """
    inputs, wanted = torch.from_numpy(x), torch.from_numpy(y)
    w, b = net.head.weight.detach().numpy()[0], float(net.head.bias.detach())
    rest = np.abs(w).sum() + np.abs(b - y)
    L = float(np.mean((1 + np.sum(x**2, axis=1)) * (w @ w + 4 / 27**0.5 * np.abs(w).max() * rest)))

    def f(theta: Tensor) -> Tensor:
        weight, bias = theta.split((x.shape[1] * w.size, w.size))
        hidden = functional_call(net, {"hidden.weight": weight.view(w.size, -1), "hidden.bias": bias}, (inputs,))
        return ((net.logits(hidden)[:, 0] - wanted) ** 2).mean() / 2

    return Smooth("hidden layer", f, L)
