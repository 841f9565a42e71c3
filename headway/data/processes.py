"""Series with a known law, to hold a forecast against: autoregressive processes.

    y_t = a_1 y_{t-1} + ... + a_p y_{t-p} + s e_t,   e_t standard normal and independent

The best forecast of y_t is a_1 y_{t-1} + ... + a_p y_{t-p}, with error variance s^2, so no forecast has a larger R2 than
1 - s^2 / var(y). Yule 1927, https://doi.org/10.1098/rsta.1927.0007; Box & Jenkins 1970, ch. 3.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headway.core.errors import ConfigError

FORGET = 1000  # first values that are thrown away, so that the beginning at zero is forgotten


def autoregressive(coefficients: Sequence[float], noise: float, length: int, seed: int = 0) -> Float[np.ndarray, "t"]:
    """A series of `length` values; `coefficients` are a_1 .. a_p and `noise` is s."""
    random, p = np.random.default_rng(seed), len(coefficients)
    a, y = np.array(coefficients), np.zeros(FORGET + length + p)
    for t in range(p, len(y)):
        y[t] = a @ y[t - p : t][::-1] + noise * random.standard_normal()
    return y[-length:]


def best_r2(coefficients: Sequence[float]) -> float:
    """1 - s^2 / var(y): the R2 that no forecast exceeds.

    With the state (y_t .. y_{t-p+1}) and its companion matrix F, the covariance solves C = F C F^T + s^2 E, which is linear in C.
    """
    p = len(coefficients)
    companion = np.eye(p, k=-1)
    companion[0] = coefficients
    if np.abs(np.linalg.eigvals(companion)).max() >= 1:
        raise ConfigError("the process is not stationary", "its coefficients let it grow without bound.")
    source = np.zeros((p, p))
    source[0, 0] = 1.0
    covariance = np.linalg.solve(np.eye(p * p) - np.kron(companion, companion), source.ravel())
    return float(1 - 1 / covariance[0])
