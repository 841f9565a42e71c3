"""All inputs of a Boolean function."""

import numpy as np


def cube(n: int) -> np.ndarray:
    """All 2^n rows of n bits."""
    return (np.arange(2**n)[:, None] >> np.arange(n)) & 1
