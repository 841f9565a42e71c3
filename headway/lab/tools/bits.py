"""Inputs of 0 and 1: all of them, and Boolean functions as truth tables and as whole numbers."""

import numpy as np


def cube(n: int) -> np.ndarray:
    """All 2^n inputs, one in each row; the first input is the lowest bit of the row's number."""
    return (np.arange(2**n)[:, None] >> np.arange(n)) & 1


def tables(n: int) -> np.ndarray:
    """All 2^(2^n) truth tables over the rows of `cube(n)`, one in each row, in the order of their codes."""
    return cube(2**n).astype(np.int8)


def codes(values: np.ndarray) -> np.ndarray:
    """Truth tables (last axis) as whole numbers; exact for up to 32 rows."""
    return np.rint(values.astype(float) @ 2.0 ** np.arange(values.shape[-1])).astype(np.int64)
