"""The best lines: uniformly on an interval, and in L1 on the parts of a grid by a dynamic program.

The restriction to the grid makes the L1 error an upper bound on the best one: it shows how tight a lower bound is, and
proves nothing.
"""

import numpy as np

from headway.lab.pwl1d import Pwl, l1_distance
from headway.lab.tools.curves import Function
from headway.lab.tools.programs import minimax

GRID, LONGEST = 128, 24  # cells of [0, 1]; intervals that are longer get the line ½


def best_uniform_line(f: Function, a: float, b: float, points: int = 41) -> float:
    """The least max |f - line| over points of [a, b], ends and middle included, by a linear program.

    The tolerance of the program is absolute, so it sees f minus its chord, times a number, on [0, 1].
    """
    u = np.linspace(0, 1, points)
    y = f(a + (b - a) * u)
    y = y - (1 - u) * y[0] - u * y[-1]
    size = float(np.max(np.abs(y))) or 1.0
    return minimax(np.stack([np.ones(points), u], axis=1), y / size)[0] * size


def best_lines(f: Pwl) -> tuple[np.ndarray, np.ndarray]:
    """Near-best lines (value at 0, slope) and their L1 errors, by start modulo 4 and length: f has period 4."""
    from scipy.optimize import linprog

    cost = np.arange(GRID + 1) * np.full((4, 1), 0.25 / GRID)  # the line ½ errs by ¼ on average
    lines = np.full((4, GRID + 1, 2), [0.5, 0.0])
    for start in range(4):
        for length in range(1, LONGEST + 1):
            x = (start + (np.arange(4 * length) + 0.5) / 4) / GRID  # the linear program sees four points of each cell
            A, eye, b = np.stack([np.ones(x.size), x], axis=1), np.eye(x.size), f(x)
            both = np.block([[A, -eye], [-A, -eye]])
            fit = linprog(
                np.append([0, 0], np.ones(x.size)),
                both,
                np.append(b, -b),
                bounds=[(None, None)] * 2 + [(0, None)] * x.size,
            )
            line = Pwl(np.zeros(1), fit.x[:1], fit.x[1], fit.x[1])  # measured exactly, whatever the program saw
            error = l1_distance(f, line, start / GRID, (start + length) / GRID)
            if error < cost[start, length]:
                cost[start, length], lines[start, length] = error, fit.x[:2]
    return cost, lines


def best_fit(cost: np.ndarray, lines: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """From `best_lines`: least L1 errors of 1 … `most` of them with jumps, and the ends of the best 16, x and y, in rows."""
    errors, ends = best_by_pieces(cost, most)
    start, stop = np.array(ends[:-1]), np.array(ends[1:])
    a, b = lines[start % 4, stop - start].T
    shift = np.stack([start % 4, start % 4 + stop - start], axis=1) / GRID  # f repeats after four cells
    return errors, np.stack([start, stop], axis=1) / GRID, a[:, None] + b[:, None] * shift


def best_by_pieces(cost: np.ndarray, most: int) -> tuple[np.ndarray, list[int]]:
    """Least total cost of 1 … `most` intervals that cover the grid, and the ends of the best 16."""
    steps = np.full((GRID, GRID + 1), np.inf)
    for i in range(GRID):
        steps[i, i + 1 :] = cost[i % 4, 1 : GRID + 1 - i]
    total, choice = [steps[0]], [np.zeros(GRID + 1, dtype=int)]
    for _ in range(most - 1):
        every = total[-1][:GRID, None] + steps
        total.append(every.min(axis=0))
        choice.append(every.argmin(axis=0))
    ends = [GRID]
    for k in range(min(most, 16) - 1, 0, -1):
        ends.append(int(choice[k][ends[-1]]))
    return np.array([t[GRID] for t in total]), [0, *ends[::-1]]


def best_at_random_knots(g: Function, m: int, rng: np.random.Generator) -> float:
    """The error of the best continuous function with m pieces at random knots, from below: five points of each."""
    t = np.concatenate([[0.0], np.sort(rng.random(m - 1)), [1.0]])
    x = np.append((t[:-1, None] + np.diff(t)[:, None] * np.arange(4) / 4).ravel(), 1.0)
    return minimax(np.column_stack([np.ones(x.size), np.maximum(x[:, None] - t[:-1], 0)]), g(x))[0]
