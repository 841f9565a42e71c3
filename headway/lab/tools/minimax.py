"""The best uniform fit by linear programming.

    min_v max_i |y_i - (A v)_i|      =      min e   with   -e <= y - A v <= e

At finitely many points it is a lower bound of the best uniform error on the whole set.
"""

import numpy as np


def minimax(A: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """The smallest error e, and the coefficients v (any size, any sign) that have it."""
    from scipy.optimize import linprog

    one, count = np.ones((y.size, 1)), A.shape[1]
    both = np.block([[A, -one], [-A, -one]])
    limits = [(None, None)] * count + [(0, None)]
    found = linprog(np.append(np.zeros(count), 1.0), both, np.append(y, -y), bounds=limits)
    return float(found.fun), found.x[:-1]
