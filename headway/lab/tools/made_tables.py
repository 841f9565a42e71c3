"""Made tables of the sizes of two public ones: credit defaults (ISL) and spam (ESL)."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from scipy.special import expit

Rows = tuple[np.ndarray, np.ndarray]  # columns "n f", standardised, and labels "n"
Table = tuple[Callable[[int, Generator], Rows], Callable[[np.ndarray], np.ndarray]]  # rows of a table, and p(1 | x) of them


def mean_error(yes: np.ndarray, p: np.ndarray) -> float:
    """Per cent of wrong answers, in the mean over the labels that p allows."""
    return 100 * float(np.mean(np.where(yes, 1 - p, p)))


def default_probability(columns: np.ndarray) -> np.ndarray:
    """p(1 | x) of `defaults`: the logistic model that ISL prints for its Default data (table 4.3)."""
    balance, income, student = (columns.astype(float) * (484, 13_337, 1) + (835, 33_517, 0.2944)).T
    return expit(-10.869 + 0.005737 * balance + 3.033e-6 * income - 0.6468 * student)


def defaults(n: int, rng: Generator) -> Rows:
    """Balance, income and student, and whether the credit is not paid back: 3 % of 1."""
    student = rng.random(n) < 0.2944
    balance = np.maximum(0, rng.normal(np.where(student, 988.0, 772.0), 477.0))
    income = rng.normal(np.where(student, 17_950.0, 40_012.0), np.where(student, 4_500.0, 10_000.0))
    columns = np.column_stack([(balance - 835) / 484, (income - 33_517) / 13_337, student - 0.2944])
    return columns.astype(np.float32), (rng.random(n) < default_probability(columns)).astype(int)


def spam_probability(x: np.ndarray) -> np.ndarray:
    """p(1 | x) of `spam`: the log-odds add ±3 for each word that occurs at all, however often."""
    return expit((x > 0) @ np.where(np.arange(57) % 2, 3.0, -3.0))


def spam(n: int, rng: Generator) -> Rows:
    """57 frequencies, four of five of them 0."""
    x = np.where(rng.random((n, 57)) < 0.8, 0.0, rng.exponential(size=(n, 57)) ** 2)
    return (x / np.sqrt(4.8)).astype(np.float32), (rng.random(n) < spam_probability(x)).astype(int)
