"""Activation regions of a ReLU net, exactly: the sets of inputs on which every unit keeps its sign.

Inside a region of the layers below, layer (W, b) is affine, x -> G x + g, so each of its units splits the region by one
hyperplane; after the layer, M = diag(s) W M and v = diag(s) (W v + b) with the signs s (Montúfar et al. 2014,
https://arxiv.org/abs/1402.1869). A region is kept if it has an interior:

    Interval     one input
    Polyhedron   any number of inputs: max t  subject to  A x + ‖A_i‖ t <= c,  t <= 1  (the Chebyshev radius)
    Polygon      two inputs: clipping of its corners; no program to solve, and corners may lie at infinity
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Protocol, Self, cast

import numpy as np
from scipy.optimize import linprog

from headway.lab.relu_net import ReluNet

RADIUS = 1e-7  # of a region that has an interior: HiGHS fulfils its constraints up to this
ON = 1e-11  # sine of the angle below which a corner lies on a line


class Part(Protocol):
    """A convex set with an interior."""

    @property
    def centre(self) -> np.ndarray: ...  # a point of the interior

    def split(self, a: np.ndarray, b: float) -> tuple[Self | None, Self | None]: ...  # where a·x + b > 0, and where < 0


@dataclass(frozen=True)
class Interval:
    """{x : low < x < high}."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def centre(self) -> np.ndarray:
        low, high = max(self.low, min(self.high - 1, 0.0)), min(self.high, max(self.low + 1, 0.0))
        return np.array([(low + high) / 2])

    def split(self, a: np.ndarray, b: float) -> "tuple[Interval | None, Interval | None]":
        slope = float(a[0])
        cut = -b / slope if abs(slope) > ON * abs(b) else math.inf
        room = ON * max(1.0, abs(cut))
        if not self.low + room < cut < self.high - room:
            up = float(self.centre[0]) * slope + b > 0
            return (self, None) if up else (None, self)
        left, right = Interval(self.low, cut), Interval(cut, self.high)
        return (right, left) if slope > 0 else (left, right)


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """{x : A x <= c}."""

    A: np.ndarray
    c: np.ndarray
    centre: np.ndarray

    @staticmethod
    def space(n: int) -> "Polyhedron":
        return Polyhedron(np.zeros((0, n)), np.zeros(0), np.zeros(n))

    def split(self, a: np.ndarray, b: float) -> "tuple[Polyhedron | None, Polyhedron | None]":
        norm = float(np.linalg.norm(a))
        if norm < ON * max(1.0, abs(b)):  # the unit is constant here
            return (self, None) if b > 0 else (None, self)
        above, below = self.half(-a / norm, b / norm), self.half(a / norm, -b / norm)
        return above, below

    def half(self, a: np.ndarray, c: float) -> "Polyhedron | None":
        """What has a·x <= c, for a unit vector a; the centre is kept where it can be."""
        A, b = np.vstack([self.A, a]), np.append(self.c, c)
        if a @ self.centre < c - RADIUS:
            return Polyhedron(A, b, self.centre)
        cost = np.append(np.zeros(len(a)), -1.0)
        limits = [(None, None)] * len(a) + [(None, 1.0)]
        found = linprog(cost, np.column_stack([A, np.ones(len(A))]), b, bounds=limits)
        if found.status:
            raise ArithmeticError(f"the linear program was not solved: {found.message}")
        return Polyhedron(A, b, found.x[:-1]) if -found.fun > RADIUS else None


@dataclass(frozen=True, eq=False)
class Polygon:
    """Corners (x, y, w) of length 1, in order, for the points (x/w, y/w); w = 0 is a direction at infinity."""

    corners: np.ndarray

    @staticmethod
    def plane() -> "Polygon":
        return Polygon(np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]))

    @staticmethod
    def square(low: float, high: float) -> "Polygon":
        return Polygon(_unit(np.array([[low, low, 1.0], [high, low, 1], [high, high, 1], [low, high, 1]])))

    @property
    def points(self) -> np.ndarray:
        """The corners in the plane, of a polygon without corners at infinity."""
        return self.corners[:, :2] / self.corners[:, 2:]

    @property
    def area(self) -> float:
        x, y = self.points.T
        return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2

    @property
    def centre(self) -> np.ndarray:
        middle = self.corners.sum(axis=0)
        return middle[:2] / middle[2]

    def split(self, a: np.ndarray, b: float) -> "tuple[Polygon | None, Polygon | None]":
        line = np.append(a, b)
        side = self.corners @ line / max(float(np.linalg.norm(line)), 1e-300)
        side[np.abs(side) < ON] = 0.0
        if not (side > 0).any():
            return None, self
        if not (side < 0).any():
            return self, None
        above, below = [], []
        for i, (p, s) in enumerate(zip(self.corners, side, strict=True)):
            q, t = self.corners[i - 1], side[i - 1]
            if s * t < 0:
                crossing = (s * q - t * p) / (s - t)
                above.append(crossing)
                below.append(crossing)
            if s >= 0:
                above.append(p)
            if s <= 0:
                below.append(p)
        cut = [i for i, p in enumerate(above) if abs(p @ line) < ON * np.linalg.norm(line)]
        if all(above[i][2] == 0 for i in cut):  # a whole line of the plane: opposite directions do not say which
            foot = np.append(-b * a, a @ a)
            above, below = _with(above, foot, line), _with(below, foot, line)
        return Polygon(_unit(np.array(above))), Polygon(_unit(np.array(below)))


def _unit(corners: np.ndarray) -> np.ndarray:
    return corners / np.linalg.norm(corners, axis=1, keepdims=True)


def _with(corners: list[np.ndarray], foot: np.ndarray, line: np.ndarray) -> list[np.ndarray]:
    """The corners with one more between the two neighbours that lie on the line."""
    on = [abs(p @ line) < ON * np.linalg.norm(line) for p in corners]
    after = next(i for i in range(len(corners)) if on[i - 1] and on[i])
    return [*corners[:after], foot, *corners[after:]]


@dataclass(frozen=True, eq=False)
class Cell:
    """A region: the signs of all units, the affine map x -> M x + v of the last layer on it, and where it is."""

    signs: np.ndarray  # one boolean for each hidden unit
    M: np.ndarray
    v: np.ndarray
    part: Part

    @property
    def polygon(self) -> Polygon:
        """Where it is, for two inputs."""
        return cast(Polygon, self.part)


def cells(net: ReluNet, where: Part | None = None, programs: bool = False) -> list[Cell]:
    """All activation regions, in all of space or in `where`; `programs` uses linear programs for few inputs, too."""
    n = net.inputs
    exact: dict[int, Part] = {} if programs else {1: Interval(), 2: Polygon.plane()}
    start = where or exact.get(n, Polyhedron.space(n))
    found = [Cell(np.zeros(0, dtype=bool), np.eye(n), np.zeros(n), start)]
    for w, b in net.layers[:-1]:
        found = [inner for cell in found for inner in _refined(cell, w, b)]
    w, b = net.layers[-1]
    return [Cell(c.signs, w @ c.M, w @ c.v + b, c.part) for c in found]


def _refined(cell: Cell, w: np.ndarray, b: np.ndarray) -> list[Cell]:
    G, g = w @ cell.M, w @ cell.v + b
    parts: list[tuple[Part, tuple[bool, ...]]] = [(cell.part, ())]
    for a, shift in zip(G, g, strict=True):
        halves = [(part.split(a, float(shift)), signs) for part, signs in parts]
        parts = [(p, (*s, up)) for both, s in halves for p, up in zip(both, (True, False), strict=True) if p]
    found = [(part, np.array(s)) for part, s in parts]
    return [Cell(np.append(cell.signs, s), s[:, None] * G, s * g, part) for part, s in found]


def signs_at(net: ReluNet, x: np.ndarray) -> np.ndarray:
    """Which hidden units are active at points x of shape (..., inputs), without any list of regions."""
    return np.concatenate([ReluNet(net.layers[: i + 1])(x) > 0 for i in range(net.depth - 1)], axis=-1)


def bends(net: ReluNet, found: list[Cell]) -> np.ndarray:
    """The points where the zero line of a unit of the last hidden layer bends, among the corners of polygons: "point 2"."""
    z, met = ReluNet(net.layers[:-1]), defaultdict(list)  # by unit and point: the edges of its zero line that end there
    for p in (cell.polygon.points for cell in found):
        for a, b in zip(p, np.roll(p, -1, axis=0), strict=True):
            if np.linalg.norm(b - a) > 1e-6:
                for unit in np.flatnonzero(np.abs(z(np.array([a, (a + b) / 2, b]))).max(axis=0) < 1e-9):
                    for end in (a, b):
                        met[unit, *np.round(end, 7)].append((end, (b - a) / np.linalg.norm(b - a)))
    turned = [v[0][0] for v in met.values() if max(abs(v[0][1][0] * w[1] - v[0][1][1] * w[0]) for _, w in v) > 1e-6]
    return np.reshape(turned, (-1, 2))


def arrangement(w: np.ndarray, b: np.ndarray, where: Part | None = None) -> list[Cell]:
    """The regions of the hyperplanes w_i·x + b_i = 0: those of one hidden layer."""
    return cells(ReluNet(((w, b), (np.ones((1, len(w))), [0.0]))), where)


def crossings(w: np.ndarray, b: np.ndarray) -> set[tuple[float, ...]]:
    """The different points of the plane where the last of the lines w_i·x + b_i = 0 meets the others."""
    pairs = [[i, -1] for i in range(len(w) - 1) if abs(np.linalg.det(w[[i, -1]])) > 1e-9]
    return {tuple(np.round(np.linalg.solve(w[pair], -b[pair]), 8) + 0.0) for pair in pairs}


def distinct_maps(found: list[Cell]) -> int:
    """How many different affine maps the regions have: fewer than regions, where neighbours share one."""
    maps = np.array([np.append(cell.M.ravel(), cell.v) for cell in found])
    scale = max(1.0, float(np.abs(maps).max()))
    return len(np.unique(np.round(maps / scale, 9) + 0.0, axis=0))


def zaslavsky(n: int, m: int) -> int:
    """Σ_{j<=n} C(m, j): the regions of m hyperplanes in general position in n dimensions (Zaslavsky 1975)."""
    return sum(math.comb(m, j) for j in range(n + 1))


def most_regions(n: int, widths: tuple[int, ...]) -> int:
    """∏_ℓ Σ_{j<=d_ℓ} C(n_ℓ, j) with d_ℓ = min(n, n_1, …, n_{ℓ-1}): no net has more (Montúfar 2017)."""
    return math.prod(zaslavsky(min((n, *widths[:i])), m) for i, m in enumerate(widths))
