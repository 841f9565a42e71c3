"""One cosine unit of Barron's net as a function of u = (y + 1)/2 in [0, 1], and how well threshold units and sigmoids follow it."""

import math

import numpy as np
from scipy.special import expit

from headway.lab.certified import certified_sup
from headway.lab.tools.curves import Turning
from headway.lab.tools.staircase import Staircase, staircase


def cosine_unit(C: float, norm: float, b: float) -> Turning:
    """h(y) = (C/‖w‖) (cos(b + ‖w‖y) - cos b); it turns where the sine is 0."""
    k = np.arange(math.ceil((b - norm) / math.pi), math.floor((b + norm) / math.pi) + 1)
    turns = ((k * math.pi - b) / norm + 1) / 2
    return Turning(f"‖w‖ = {norm:g}", lambda u: C / norm * (np.cos(b + norm * (2 * u - 1)) - math.cos(b)), turns)


def sigmoids(stairs: Staircase, kappa: float, u: np.ndarray) -> np.ndarray:
    """Every 1{u >= b_i} becomes a sigmoid of steepness κ; the first one, 1 on [0, 1], moves a step to the left."""
    b = stairs.b.copy()
    b[0] = -1 / b.size
    return expit(kappa * (u[:, None] - b)) @ stairs.a


def step_error(curve: Turning, m: int) -> float:
    """sup |h - staircase of m steps with values from their middles|, exact."""
    return staircase(curve, int(m), 0.5).sup_error(curve)


def sigmoid_error(C: float, epsilon: float, m: int, curve: Turning) -> float:
    """A certified sup |h - Σ a_i σ(κ(u - b_i))| / 2ε, with κ such that all tails, 3C σ(-κ/2m), weigh at most ε.

    Slope of the sum: at most max |a_i| (κ/4 + m) inside, because κσ' is a bump of height κ/4 and area 1 seen at spacing 1/m.
    """
    stairs, kappa = staircase(curve, m, 0.5), 2 * m * math.log(3 * C / epsilon)
    inside = float(np.max(np.abs(stairs.a[1:]), initial=0.0)) * (kappa / 4 + m)
    lip = 2 * C + inside + abs(float(stairs.a[0])) * kappa * math.exp(-kappa / m)
    return certified_sup(lambda u: curve(u) - sigmoids(stairs, kappa, u), lip, 0.0, 1.0, 0.05).high / (2 * epsilon)
