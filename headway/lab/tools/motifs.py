"""Pictures whose class is a small pattern in one cell of a grid, among cells of random signs."""

import numpy as np
from numpy.random import Generator

CELL = 3  # pixels of a pattern along each side
ROWS = [["+++", "---", "+++"], ["+-+", "+-+", "+-+"], ["+--", "-+-", "--+"], ["-+-", "+++", "-+-"]]
PATTERNS = np.array([[[1 if sign == "+" else -1 for sign in row] for row in rows] for rows in ROWS], dtype=np.float32)


def motifs(grid: int, n: int, rng: Generator, order: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Pictures "n 1 y x" of grid x grid cells and their classes: the pattern of the class in a random cell, random signs in all others.

    order   one of all pixels, in which they stand in every picture; None: as they are
    """
    labels, rows = rng.integers(0, len(PATTERNS), n), np.arange(n)
    cells = rng.choice(np.array([-1, 1], dtype=np.float32), (n, grid**2, CELL, CELL))
    cells[rows, rng.integers(0, grid**2, n)] = PATTERNS[labels]
    side = grid * CELL
    flat = cells.reshape(n, grid, grid, CELL, CELL).swapaxes(2, 3).reshape(n, side**2)
    return (flat if order is None else flat[:, order]).reshape(n, 1, side, side), labels


def mean_distance(kept: np.ndarray, side: int) -> float:
    """The distance of two kept pixels of one row of "unit pixel", in pixels; the mean of all rows with at least two."""
    places = np.stack(np.divmod(np.arange(side**2), side), axis=1)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    kept = kept[kept.sum(1) > 1].astype(float)
    sums = np.einsum("up,pq,uq->u", kept, apart, kept, optimize=True)
    return float(np.mean(sums / (kept.sum(1) * (kept.sum(1) - 1)))) if len(kept) else float("nan")


def as_local(kept: np.ndarray, side: int, rng: Generator, masks: int = 200) -> float:
    """The share of random masks, with as many pixels in each row, whose pixels are as close together."""
    found = mean_distance(kept, side)
    return float(np.mean([mean_distance(rng.permuted(kept, axis=1), side) <= found for _ in range(masks)]))
