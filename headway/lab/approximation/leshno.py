"""Which activations can approximate everything."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal, printed, slope
from headway.lab.old import Experiment


@dataclass(frozen=True)
class Config:
    units: int = 200  # random units in the feature matrix
    points: int = 100  # where they are evaluated
    sizes: tuple[int, ...] = (4, 8, 16, 32, 64, 128)  # units of the nets that are fitted
    scale: float = 6.0  # the standard deviation of the weights a, biases are uniform on [-scale, scale]

    def __post_init__(self) -> None:
        require((self.units >= 40 and self.points >= 40, "units and points are at least 40"), (self.scale > 0, "scale > 0"))
        require((min(self.sizes) >= 4 and list(self.sizes) == sorted(set(self.sizes)), "sizes are increasing and at least 4"))


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "z²": lambda z: z**2,
    "z³": lambda z: z**3,
    "tanh": np.tanh,
    "ReLU": lambda z: np.maximum(z, 0),
    "sin": np.sin,
    "exp": lambda z: np.exp(z / 2),
}
DEGREE = {"z²": 2, "z³": 3}
TARGETS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"|x|": np.abs, "sin 9x": lambda x: np.sin(9 * x)}


def features(name: str, x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """φ(<a_j,x> + b_j) at the rows of x, every column of length 1."""
    columns = ACTIVATIONS[name](x @ a.T + b)
    return columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-12)


def rank(columns: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(columns, tol=1e-9 * np.linalg.norm(columns, 2)))


def residuals(columns: np.ndarray, y: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """The root mean square error of the least-squares fit with the first M columns, for every M."""
    fits = (columns[:, :m] @ np.linalg.lstsq(columns[:, :m], y, rcond=1e-11)[0] for m in sizes)
    return np.array([math.sqrt(np.mean((fit - y) ** 2)) for fit in fits])


def difference(k: int, h: float, x: np.ndarray, b: float) -> np.ndarray:
    """The k-th central difference of tanh(b + ax) in a at 0: k + 1 hidden units, divided by h^k it tends to x^k tanh^{(k)}(b)."""
    return sum((-1) ** j * math.comb(k, j) * np.tanh(b + (k / 2 - j) * h * x) for j in range(k + 1)) / h**k


def derivative(k: int, y: float) -> float:
    """The k-th derivative of tanh where it is y: y' = 1 - y², so each derivative is a polynomial in y."""
    p = np.polynomial.Polynomial([0, 1])
    for _ in range(k):
        p = p.deriv() * np.polynomial.Polynomial([1, 0, -1])
    return float(p(y))


class Leshno(Experiment):
    """One hidden layer approximates every continuous function exactly if its activation is not a polynomial.

    The span of φ(ax + b) is dense in C(R) if and only if φ (locally bounded, continuous almost everywhere) is not a polynomial. A φ of
    degree k spans on R^n at most the polynomials of degree k, of dimension binomial(n + k, k). Why a smooth φ succeeds: differences in
    the weight a at a = 0 give every power,

        Σ_j (-1)^j binomial(k, j) φ(b + (k/2 - j) h x) / h^k  =  x^k φ^{(k)}(b) + O(h²).

    Only continuous targets on compact sets are meant: at a jump a net with continuous φ errs by half of it.
    """

    lecture = "C, D"
    kinds = ("EXACT", "STAT")
    cost = "S"
    source = "Leshno, Lin, Pinkus and Schocken 1993, https://doi.org/10.1016/S0893-6080(05)80131-5; Pinkus 1999, https://doi.org/10.1017/S0962492900002919"
    assumptions = ("φ is locally bounded and continuous almost everywhere", "the target is continuous, the set compact")
    errata = ("D1",)
    aliases = ("Leshno's theorem", "universal approximation needs a non-polynomial activation")
    panels = 2
    small = {"sizes": (4, 16, 64)}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.fits: dict[tuple[str, str], list[np.ndarray]] = {(t, name): [] for t in TARGETS for name in ACTIVATIONS}
        self.x = np.linspace(-1, 1, 401)
        self.floor = {}
        for name, k in DEGREE.items():
            for t, g in TARGETS.items():
                best = np.polynomial.Legendre.fit(self.x, g(self.x), k)(self.x)
                self.floor[t, name] = math.sqrt(np.mean((best - g(self.x)) ** 2))
        h, x, b = np.array([0.2, 0.1, 0.05, 0.025]), np.linspace(-1, 1, 201), 0.6
        for k in (1, 2, 3):
            errors = [np.max(np.abs(difference(k, step, x, b) / derivative(k, math.tanh(b)) - x**k)) for step in h]
            yield slope(f"x^{k} from {k + 1} tanh units: error against h", h, errors, 2.0, 0.1)
        y = np.polynomial.Polynomial([0, 16, 0, -40, 0, 24])  # the fourth derivative of tanh, a polynomial in y = tanh
        turns = [t.real for t in y.deriv().roots() if abs(t.imag) < 1e-9 and abs(t) <= 1]
        largest = max(abs(y(t)) for t in [*turns, 1.0])
        bound = largest * h**2 / (12 * abs(derivative(2, math.tanh(b))))
        errors = [np.max(np.abs(difference(2, step, x, b) / derivative(2, math.tanh(b)) - x**2)) for step in h]
        yield at_most("x² from tanh: error <= max|φ''''| h² / (12 |φ''(b)|)", errors, bound)

    def sample(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        for n in (1, 2):
            x = rng.uniform(-1, 1, (c.points, n))
            a, b = rng.normal(0, c.scale, (c.units, n)), rng.uniform(-c.scale, c.scale, c.units)
            ranks = {name: rank(features(name, x, a, b)) for name in ACTIVATIONS}
            for name, k in DEGREE.items():
                yield equal(f"rank of {c.units} units, {name}, {n} variables", ranks[name], math.comb(n + k, k))
            others = [value for name, value in ranks.items() if name not in DEGREE]
            yield at_least(f"rank of tanh, ReLU, sin, exp, {n} variables", others, math.comb(n + 8, 8), kind="STAT")  # as of degree 8
        a, b = rng.normal(0, c.scale, (c.sizes[-1], 1)), rng.uniform(-c.scale, c.scale, c.sizes[-1])
        for t, g in TARGETS.items():
            for name in ACTIVATIONS:
                self.fits[t, name].append(residuals(features(name, self.x[:, None], a, b), g(self.x), c.sizes))
            for name in DEGREE:
                found, best = self.fits[t, name][-1], np.full(len(c.sizes), self.floor[t, name])
                yield close(f"{t} by {name}: residual is that of the best polynomial", found, best, 1e-7)
            last = [self.fits[t, name][-1][-1] for name in ACTIVATIONS if name not in DEGREE]
            yield at_most(f"{t}: last residual of the others / that of z³", np.array(last) / self.floor[t, "z³"], 0.25, kind="STAT")

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        first, *_, last = self.fits["|x|", "z²"][0]
        yield at_most("z²: more units halve the residual for |x|", last, first / 2)
        a, b = rng.normal(0, c.scale, (c.sizes[-1], 1)), rng.uniform(-c.scale, c.scale, c.sizes[-1])
        step = (self.x >= 0).astype(float)
        columns = ACTIVATIONS["tanh"](self.x[:, None] @ a.T + b)
        weights = np.linalg.lstsq(columns, step, rcond=1e-11)[0]
        at_zero = float(np.tanh(b) @ weights)  # the net is continuous, the target jumps from 0 to 1 there
        name = f'"any function": sup error of {c.sizes[-1]} tanh units for a step'
        yield printed(at_most(name, max(abs(at_zero), abs(1 - at_zero)), 0.49), "D1")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for panel, t in zip(axes, TARGETS, strict=True):
            for i, name in enumerate(ACTIVATIONS):
                look = style.series(i) if i < 5 else style.series(0) | {"color": style.VERMILION, "marker": "P"}
                look |= {"linestyle": "--"} if name in DEGREE else {}
                panel.loglog(c.sizes, np.maximum(np.mean(self.fits[t, name], axis=0), 1e-9), **look, label=name)
            panel.set(title=f"Fits of {t}", xlabel="hidden units", ylabel="root mean square residual")
            panel.legend(ncols=2, loc="lower left")
