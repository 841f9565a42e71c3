"""A stationary Markov chain of order 2, p(c | a, b) = table[a, b, c]: exact laws of its windows, and samples."""

import numpy as np
from numpy.random import Generator
from scipy.special import rel_entr


def windows(table: np.ndarray) -> list[np.ndarray]:
    """The joint laws of 1, 2, 3, 4, 5 neighbours of the stationary chain."""
    K = len(table)
    pairs = np.einsum("abc,be->abec", table, np.eye(K))  # (a, b) → (b, c)
    system = np.vstack([pairs.reshape(K * K, K * K).T - np.eye(K * K), np.ones(K * K)])
    two = np.linalg.lstsq(system, np.append(np.zeros(K * K), 1.0), rcond=None)[0].reshape(K, K)
    laws = [two.sum(axis=0), two]
    for _ in range(3):
        laws.append(laws[-1][..., None] * table)  # table broadcasts over all but the last two tokens
    return laws


def conditional(joint: np.ndarray) -> np.ndarray:
    """p(next | context), the next token last."""
    return joint / joint.sum(axis=-1, keepdims=True)


def cross_entropy(joint: np.ndarray, model: np.ndarray) -> float:
    """E[-log q(next | context)] in nats; `joint` may know more tokens of the past than the model."""
    return float(-np.sum(joint * np.log(model)))


def divergence(joint: np.ndarray, model: np.ndarray) -> float:
    """KL(p(· | context) ‖ q(· | context)) in nats, in the mean over contexts."""
    return float(np.sum(joint.sum(axis=-1, keepdims=True) * rel_entr(conditional(joint), model)))


def ngrams(x: np.ndarray, K: int, n: int) -> np.ndarray:
    """How often each n tokens follow one another in the rows of x, as an array of n axes."""
    code = sum(x[:, k : x.shape[1] - n + 1 + k] * K ** (n - 1 - k) for k in range(n))
    return np.bincount(np.ravel(code), minlength=K**n).reshape([K] * n).astype(float)


def sequences(table: np.ndarray, start: np.ndarray, chains: int, length: int, rng: Generator) -> np.ndarray:
    """So many sequences of this length: two tokens of the law of pairs `start`, then one after the other from the table."""
    K, steps, x = len(table), np.cumsum(table, axis=2), np.empty((chains, length), dtype=np.int64)
    x[:, 0], x[:, 1] = np.divmod(rng.choice(K * K, chains, p=start.ravel() / start.sum()), K)
    for t in range(2, length):
        x[:, t] = np.minimum((rng.random((chains, 1)) > steps[x[:, t - 2], x[:, t - 1]]).sum(axis=1), K - 1)
    return x
