"""Sharpness: the largest eigenvalue of the Hessian of the loss, beside the largest that gradient descent tolerates.

    w <- w - r g on a quadratic of curvature a:   stable while a < 2 / r;   heavy ball: a < (2 + 2 mu) / r

Lanczos: T = Q^T H Q is tridiagonal for an orthonormal basis Q of the vectors v, Hv, H^2 v ...; the largest eigenvalue
theta of T is at most that of H, and H has an eigenvalue within beta |s| of it (s: the last entry of theta's eigenvector).
A product Hv is the derivative of the gradient along v. Cohen et al. 2021, https://arxiv.org/abs/2103.00065; lecture C.
"""

from collections.abc import Callable

import numpy as np
import torch
from scipy.linalg import eigh_tridiagonal
from torch import Tensor

from headway.probe.finding import Finding
from headway.probe.subject import Subject
from headway.tasks.panels import Mark, Plot

ROWS, STEPS = 32, 20
# Lipschitz constant times rate at which each rule becomes unstable on a quadratic, with the usual momentum of 0.9
LIMITS = {"gradient_descent": 2.0, "sgd": 2.0, "heavy_ball": 2 + 2 * 0.9, "nesterov": (2 + 2 * 0.9) / (1 + 2 * 0.9)}


def sharpness(subject: Subject) -> Finding:
    batch = subject.few(ROWS)
    weights = [p for p in subject.model.parameters() if p.requires_grad]
    loss = subject.run(batch).mean_loss
    grads = torch.autograd.grad(loss, weights, create_graph=True, allow_unused=True)
    used = [(w, g) for w, g in zip(weights, grads, strict=True) if g is not None and g.requires_grad]

    def product(v: Tensor) -> Tensor:
        parts = torch.split(v, [w.numel() for w, _ in used])
        inner = sum(((g.flatten() * part).sum() for (_, g), part in zip(used, parts, strict=True)), loss.new_zeros(()))
        found = torch.autograd.grad(inner, [w for w, _ in used], retain_graph=True, allow_unused=True)
        return torch.cat(
            [(torch.zeros_like(w) if h is None else h).flatten() for (w, _), h in zip(used, found, strict=True)]
        )

    size = sum(w.numel() for w, _ in used)
    value, error, ritz = lanczos(product, size, STEPS, subject.random())
    limit = LIMITS.get(subject.optimizer)
    if limit is None:
        beside = (
            f"`{subject.optimizer}` rescales the gradient, so the threshold 2/rate does not apply to it as it stands"
        )
    else:
        threshold = limit / subject.rate
        where = "above" if value > threshold else "below"
        beside = f"{where} the {threshold:.4g} at which `{subject.optimizer}` at its largest rate {subject.rate:g} becomes unstable"
    reading = f"The loss has a largest curvature of {value:.4g}: {beside}."
    marks = [Mark("line", range(1, len(ritz) + 1), ritz, "Lanczos")]
    if limit is not None:
        marks.append(Mark("line", [1, len(ritz)], [limit / subject.rate] * 2, "threshold", soft=True))
    plot = Plot("Largest eigenvalue of the Hessian", tuple(marks), "Lanczos step", "curvature", "Converges from below.")
    basis = f"{len(ritz)} steps of Lanczos on {size:,} weights and {len(subject.run(batch).x)} rows; an eigenvalue lies within {error:.2g}"
    numbers = {"sharpness": value, "error": error} | ({"threshold": limit / subject.rate} if limit else {})
    return Finding(reading, "estimate", basis, numbers, (plot,))


def lanczos(
    product: Callable[[Tensor], Tensor], size: int, steps: int, random: torch.Generator
) -> tuple[float, float, list[float]]:
    """The largest eigenvalue of a symmetric matrix, a bound of its error, and the value after each step.

    product   the matrix times a vector
    """
    q = torch.randn(size, generator=random, dtype=torch.float64)
    q, before, beta = q / q.norm(), torch.zeros_like(q), 0.0
    alphas: list[float] = []
    betas: list[float] = []
    values: list[float] = []
    error = 0.0
    for _ in range(min(steps, size)):
        r = product(q).double() - beta * before
        alphas.append(float(q @ r))
        r = r - alphas[-1] * q
        beta = float(r.norm())
        found, vectors = eigh_tridiagonal(np.array(alphas), np.array(betas))
        values.append(float(found[-1]))
        error = beta * abs(float(vectors[-1, -1]))
        if beta < 1e-10 * max(1.0, abs(values[-1])):
            break
        betas.append(beta)
        before, q = q, r / beta
    return values[-1], error, values
