"""The Fourier transform of a function on a periodic box, and functions to try it on."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headway.lab.certified import certified_sup

BOX = {1: 192.0, 2: 24.0}  # side of the periodic box by dimension; what is tested has decayed to 1e-16 at its border
Function = Callable[[np.ndarray], np.ndarray]  # (..., d) -> (...)


@dataclass(frozen=True)
class Mixture:
    """Σ a_k exp(-‖x - c_k‖² / 2s_k²)."""

    a: np.ndarray
    centre: np.ndarray  # (bumps, d)
    s: np.ndarray

    def parts(self, x: np.ndarray) -> np.ndarray:
        return self.a * np.exp(-np.sum((x[..., None, :] - self.centre) ** 2, axis=-1) / (2 * self.s**2))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.parts(x).sum(axis=-1)

    def stretched(self, factor: float) -> "Mixture":
        """f(·/factor)."""
        return Mixture(self.a, factor * self.centre, factor * self.s)

    def moved(self, by: np.ndarray) -> "Mixture":
        """f(· - by)."""
        return Mixture(self.a, self.centre + by, self.s)

    def steepness(self, x: np.ndarray) -> np.ndarray:
        """‖∇f(x)‖."""
        slopes = np.einsum("...k,...kd->...d", self.parts(x) / self.s**2, x[..., None, :] - self.centre)
        return np.linalg.norm(slopes, axis=-1)

    def steepest(self) -> float:
        """‖∇f‖_∞, certified: a Gaussian's Hessian has a norm of at most a/s². Outside the cube nothing is steeper."""
        d = self.centre.shape[1]
        lip = math.sqrt(d) * float(np.sum(np.abs(self.a) / self.s**2))
        return certified_sup(self.steepness, lip, [-4.0] * d, [4.0] * d, 0.02).high


def mixture(bumps: int, d: int, rng: np.random.Generator) -> Mixture:
    a = rng.choice([-1, 1], bumps) * rng.uniform(0.5, 1.5, bumps)
    return Mixture(a, rng.uniform(-3, 3, (bumps, d)), rng.uniform(0.3, 0.8, bumps))


def spectrum(f: Function, d: int, n: int, box: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """‖w‖ and |f̂(w)| dw on the dual grid of the box, by FFT of f at n^d points."""
    box = box or BOX[d]
    x, w = (np.arange(n) - n // 2) * box / n, 2 * math.pi * np.fft.fftfreq(n, box / n)
    mesh = np.stack(np.meshgrid(*[x] * d, indexing="ij"), axis=-1)
    return np.sqrt(sum(np.meshgrid(*[w**2] * d, indexing="ij"))), np.abs(np.fft.fftn(f(mesh))) / n**d


def constant(f: Function, d: int, n: int, box: float | None = None) -> float:
    """C = Σ ‖w‖ |f̂(w)| dw."""
    norm, mass = spectrum(f, d, n, box)
    return float(np.sum(norm * mass))


def combined(f: Function, g: Function, operation: np.ufunc) -> Function:
    """Their sum, product ... as a function."""
    return lambda x: operation(f(x), g(x))


def ridge(g: Function, a: np.ndarray) -> Function:
    """x -> g(<a,x>) in the plane, with g repeated beyond the box."""
    return lambda x: g(((x @ a + BOX[2] / 2) % BOX[2] - BOX[2] / 2)[..., None])


def bump(x: np.ndarray) -> np.ndarray:
    """exp(1 - 1 / (1 - ‖x‖²/4)) inside the ball of radius 2, else 0: infinitely smooth."""
    inside = 1 - np.sum(x**2, axis=-1) / 4
    return np.exp(1 - 1 / np.maximum(inside, 1e-3)) * (inside > 1e-3)


def plateau(x: np.ndarray) -> np.ndarray:
    """1 on the unit ball, 0 outside the ball of radius 3, infinitely smooth."""
    t = np.clip((np.linalg.norm(x, axis=-1) - 1) / 2, 2e-3, 1 - 2e-3)
    return 1 / (1 + np.exp(1 / (1 - t) - 1 / t))
