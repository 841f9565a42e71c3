"""Problems whose answer is a sequence of the given points, drawn at random with their exact solutions.

    sort            numbers in [0, 1]                     from the smallest to the largest
    convex_hull     points of the unit square             the corners of the hull
    tsp             points of the unit square             the shortest closed tour through all of them

Corners and tours begin at the point with the lowest x and run counter-clockwise, so every problem has one answer. The hull is Qhull's; the
tour is found by dynamic programming over subsets (Held & Karp 1962, https://doi.org/10.1137/0110015), of 2^n n^2 steps:

    D(S, j) = min over i in S of D(S - j, i) + |p_i p_j|        the shortest way from the first point through S that ends at j

Vinyals et al. 2015, https://arxiv.org/abs/1506.03134, section 4.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import ConvexHull

Points = Float[np.ndarray, "n c"]
Order = Int[np.ndarray, "_"]  # numbers of points, from 0


@dataclass(frozen=True)
class Problem:
    """What is asked of the points."""

    coordinates: int
    every: bool  # whether the answer holds every point
    most: int  # points up to which an exact answer is found
    solve: Callable[[Float[np.ndarray, "b n c"]], Sequence[Order]]


def draw(
    kind: str, count: int, size: int, random: np.random.Generator
) -> tuple[Float[np.ndarray, "b n c"], Sequence[Order]]:
    """`count` sets of `size` points, and the answer of each."""
    points = random.random((count, size, PROBLEMS[kind].coordinates))
    return points, PROBLEMS[kind].solve(points)


def sort(points: Float[np.ndarray, "b n c"]) -> Sequence[Order]:
    return list(points[..., 0].argsort(1, kind="stable"))


def convex_hull(points: Float[np.ndarray, "b n c"]) -> Sequence[Order]:
    return [turned(ConvexHull(some).vertices, some) for some in points]


def tsp(points: Float[np.ndarray, "b n c"]) -> Sequence[Order]:
    """All sets at once: each table of the dynamic program has the batch as its first axis."""
    count, n = points.shape[:2]
    apart = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
    best = np.full((count, 1 << (n - 1), n - 1), np.inf)  # of subsets of the points 1 .. n-1, and where the way ends
    before = np.zeros(best.shape, dtype=np.int64)
    for j in range(n - 1):
        best[:, 1 << j, j] = apart[:, 0, j + 1]
    for subset in range(1, 1 << (n - 1)):
        inside = [j for j in range(n - 1) if subset >> j & 1]
        for j in inside if len(inside) > 1 else ():
            ways = best[:, subset ^ (1 << j), :] + apart[:, 1:, j + 1]
            before[:, subset, j] = ways.argmin(1)
            best[:, subset, j] = ways.min(1)
    rows, left = np.arange(count), np.full(count, (1 << (n - 1)) - 1)
    last = (best[:, -1] + apart[:, 1:, 0]).argmin(1)
    tours = np.zeros((count, n), dtype=np.int64)
    for place in range(n - 1, 0, -1):
        tours[:, place] = last + 1
        last, left = before[rows, left, last], left ^ (1 << last)
    return [turned(tour, some) for tour, some in zip(tours, points, strict=True)]


def turned(order: Order, points: Points) -> Order:
    """The same closed way, counter-clockwise from the lowest x."""
    order = order if signed_area(points[order]) >= 0 else order[::-1]
    return np.roll(order, -int(points[order, 0].argmin())).astype(np.int64)


def signed_area(corners: Points) -> float:
    """The area inside a closed way that does not cross itself, positive if it runs counter-clockwise. Also called shoelace formula.

    A = 1/2 sum_i x_i y_{i+1} - x_{i+1} y_i
    """
    (x, y), (x_next, y_next) = corners.T, np.roll(corners, -1, axis=0).T
    return float((x * y_next - x_next * y).sum() / 2)


def length(corners: Points) -> float:
    """Of the closed way through these points."""
    return float(np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1).sum())


def crosses_itself(corners: Points) -> bool:
    """Whether two sides of the closed way cross that are no neighbours."""
    sides = list(zip(corners, np.roll(corners, -1, axis=0), strict=True))
    n = len(sides)
    pairs = ((sides[i], sides[j]) for i in range(n) for j in range(i + 2, n) if (j + 1) % n != i)
    return any(side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0 for (a, b), (c, d) in pairs)


def side(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Positive if c is to the left of the line from a to b."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


PROBLEMS: dict[str, Problem] = {
    "convex_hull": Problem(2, False, 10_000, convex_hull),
    "sort": Problem(1, True, 10_000, sort),
    "tsp": Problem(2, True, 9, tsp),
}
