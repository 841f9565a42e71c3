"""What a scaling law says of runs that were not made: the next size, the best use of a budget, and how far to trust it.

The FLOPs of training are fitted as well: C = c N^p D (Kaplan et al. 2020 have c = 6 and p = 1, which leaves attention out). At a budget
C the best size makes the derivative of L(N, D) along C vanish (Hoffmann et al. 2022, equation 4, which is the case p = 1):

    alpha A N^-alpha = p beta B D^-beta          N = (alpha A / (p beta B))^(1 / (alpha + p beta)) (C / c)^(beta / (alpha + p beta))
    L = E + const C^-gamma                       gamma = alpha beta / (alpha + p beta)

Every interval is that of 90 % over the refits of a bootstrap over runs (`law.py`).
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headway.compare.scaling.law import LEAST, LEVELS, MOST, Law, bootstrap, fit_law
from headway.compare.scaling.points import MAKE, Point, Points, count_distinct
from headway.core.errors import UsageError

FAR = 10.5  # times the largest run: what is beyond is too far (ten times, with room for rounding)
REFITS = 500


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A number and its 90 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def over(cls, value: float, drawn: Float[np.ndarray, "m"]) -> "Estimate":
        low, high = np.quantile(drawn, [0.05, 0.95])
        return cls(float(value), float(low), float(high))

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclasses.dataclass(frozen=True)
class Prediction:
    """A run that was not made: how large, how long, and the loss it would have."""

    about: str
    parameters: float
    units: float
    flops: float
    loss: Estimate
    gain: Estimate  # how far below the law's loss at the largest run
    warnings: tuple[str, ...]
    best_size: Estimate | None = None  # the parameters, where they were chosen as the best for the FLOPs


@dataclasses.dataclass(frozen=True)
class HeldBack:
    """The largest run, predicted by a law that was fitted without it."""

    folder: str
    predicted: Estimate
    measured: float

    @property
    def error(self) -> float:
        return self.predicted.value / self.measured - 1


@dataclasses.dataclass(frozen=True)
class Cost:
    """C = factor N^power D."""

    factor: float
    power: float

    @classmethod
    def fit(cls, points: Sequence[Point]) -> "Cost":
        size = np.log([p.parameters for p in points])
        power, factor = np.polyfit(size, np.log([p.flops / p.units for p in points]), 1)
        return cls(float(np.exp(factor)), float(power))

    def __call__(self, parameters: float, units: float) -> float:
        return float(self.factor * parameters**self.power * units)

    def best_size(self, law: Law, flops: float) -> Float[np.ndarray, "*b"]:
        """The number of parameters that makes the most of a budget."""
        (alpha, beta), (a, b) = np.moveaxis(law.exponents, -1, 0), np.moveaxis(law.factors, -1, 0)
        powers = alpha + self.power * beta
        return np.asarray(
            (alpha * a / (self.power * beta * b)) ** (1 / powers) * (flops / self.factor) ** (beta / powers)
        )

    def best_exponent(self, law: Law) -> Float[np.ndarray, "*b"]:
        """Of the loss against FLOPs, if they are divided in the best way."""
        alpha, beta = np.moveaxis(law.exponents, -1, 0)
        return np.asarray(alpha * beta / (alpha + self.power * beta))


VARIABLES = {"parameters": "α", "units": "β", "flops": "γ"}  # and the usual names of their exponents


class Scaling:
    """The law of some runs, its refits, and what follows from it."""

    def __init__(self, points: Points, seed: int = 0) -> None:
        self.points = points
        self.variables = choose_variables(points.each)
        self.cost = Cost.fit(points.each)
        x, loss = arrays(points.each, self.variables)
        self.law = fit_law(x, loss)
        self.refits = bootstrap(self.law, x, loss, REFITS, seed)
        self.largest = points.each[-1]
        self.held_back = hold_back(points.each, self.variables, seed)

    @property
    def irreducible(self) -> Estimate:
        return Estimate.over(float(self.law.irreducible), self.refits.laws.irreducible)

    @property
    def exponents(self) -> dict[str, Estimate]:
        """By variable. That of FLOPs follows from those of parameters and units, where both were fitted."""
        pairs = enumerate(self.variables)
        found = {v: Estimate.over(self.law.exponents[i], self.refits.laws.exponents[:, i]) for i, v in pairs}
        if len(self.variables) == 2:
            found["flops"] = Estimate.over(
                float(self.cost.best_exponent(self.law)), self.cost.best_exponent(self.refits.laws)
            )
        return found

    @property
    def distances(self) -> Float[np.ndarray, "n"]:
        """How far each run lies above the law, as a share of the loss."""
        x, loss = arrays(self.points.each, self.variables)
        return np.asarray(loss / self.law(x) - 1)

    def predict(self, about: str, parameters: float, units: float) -> Prediction:
        """The loss of one run that was not made."""
        if self.variables == ("parameters",) and count_distinct([units, self.largest.units]) > 1:
            raise UsageError(
                f"all runs have one length, so they do not say what another would bring: {units:,.0f}", MAKE
            )
        flops = self.cost(parameters, units)
        ratios = {"parameters": parameters / max(p.parameters for p in self.points.each)}
        ratios |= {
            self.points.unit: units / max(p.units for p in self.points.each),
            "FLOPs": flops / self.largest.flops,
        }
        at = {"parameters": parameters, "units": units, "flops": flops}
        x = np.array([at[v] for v in self.variables])
        here, _ = arrays([self.largest], self.variables)
        loss = Estimate.over(float(self.law(x)), self.refits.laws(x))
        gain = Estimate.over(float(self.law(here[0]) - self.law(x)), self.refits.laws(here[0]) - self.refits.laws(x))
        name, most = max(ratios.items(), key=lambda pair: pair[1])
        warnings = [f"too far: {most:,.0f} times the {name} of the largest run"] if most > FAR else []
        if gain.low <= 0:
            warnings.append("perhaps no gain: the interval includes none")
        elif gain.high - gain.low > abs(gain.value):
            warnings.append("the interval is wider than the gain")
        return Prediction(about, parameters, units, flops, loss, gain, tuple(warnings))

    def next_sizes(self) -> list[Prediction]:
        """What doubling brings, and the best use of a larger budget, where the runs can say it."""
        n, d, unit = self.largest.parameters, self.largest.units, self.points.unit
        found = [self.predict("twice the parameters", 2 * n, d)]
        if self.variables != ("parameters",):
            found.append(self.predict(f"twice the {unit}", n, 2 * d))
        return (
            found
            if len(self.variables) == 1
            else [*found, self.predict("twice both", 2 * n, 2 * d), *map(self.best_use, (2, 10))]
        )

    def best_use(self, times: int) -> Prediction:
        """Of so many times the FLOPs of the largest run."""
        flops = times * self.largest.flops
        size = Estimate.over(float(self.cost.best_size(self.law, flops)), self.cost.best_size(self.refits.laws, flops))
        found = self.predict(f"best use of {times} x FLOPs", size.value, flops / self.cost(size.value, 1))
        return dataclasses.replace(found, best_size=size)

    def undetermined(self) -> list[str]:
        """The exponents whose interval reaches the ends of what the fit allows."""
        return [
            v
            for v, e in self.exponents.items()
            if v in self.variables and (e.low <= 1.01 * LEAST or e.high >= 0.99 * MOST)
        ]


def choose_variables(points: Sequence[Point]) -> tuple[str, ...]:
    """What the runs can tell apart: size and length, or size alone, or else FLOPs."""
    sizes, lengths = count_distinct(p.parameters for p in points), count_distinct(p.units for p in points)
    if sizes >= LEVELS and lengths >= LEVELS and len(points) > 1 + 2 * 2:
        return "parameters", "units"
    found = "parameters" if lengths == 1 else "flops"
    levels = count_distinct(getattr(p, found) for p in points)
    if levels < LEVELS:
        name = {"parameters": "sizes", "flops": "numbers of FLOPs"}[found]
        raise UsageError(f"the runs have {levels} different {name}, but a law needs at least {LEVELS}", MAKE)
    return (found,)


def hold_back(points: Sequence[Point], variables: tuple[str, ...], seed: int) -> HeldBack | None:
    """Predict the run with the most FLOPs from the others; None where they are too few for the same law."""
    rest, last = points[:-1], points[-1]
    enough = all(count_distinct(getattr(p, v) for p in rest) >= LEVELS for v in variables)
    if not enough or len(rest) <= 1 + 2 * len(variables):
        return None
    x, loss = arrays(rest, variables)
    law = fit_law(x, loss)
    refits = bootstrap(law, x, loss, REFITS, seed)
    place, _ = arrays([last], variables)
    noise = np.random.default_rng(seed + 1).choice(refits.distances, REFITS)  # a run of its own lies beside the law
    return HeldBack(last.folder, Estimate.over(float(law(place[0])), refits.laws(place[0]) * np.exp(noise)), last.loss)


def arrays(
    points: Sequence[Point], variables: tuple[str, ...]
) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "n"]]:
    return np.array([[float(getattr(p, v)) for v in variables] for p in points]), np.array([p.loss for p in points])
