"""One comparison of a measurement with what the theory says: the rows of every table.

    equal("C(4, 2)", count, 8)                            EXACT   the same, without tolerance (integers, fractions, booleans, arrays)
    close("ratio", value, 2 * pi)                         EXACT   |measured - expected| <= 1e-10 max(1, |expected|)
    monotone("error in m", errors, "falls")               EXACT   each value is below the one before
    counts("net", net, nodes=3, depth=1)                  EXACT   the size of a network, counted; several rows
    at_most("sup error, m = 14", error, bound)            BOUND   measured <= bound; of arrays and dicts the worst element is shown
    at_least("L1 error", error, 1 / 32)                   BOUND   measured >= bound
    within("mean", mean, expected, standard_error)        STAT    within 4 standard errors
    mean_is("E|w|", samples, expected)                    STAT    the same, from independent samples
    share_is("separable", hits, trials, probability)      STAT    the same, for a binomial share
    slope("error in m", m, error, -1, 0.1)                RATE    slope of log y against log x, R² >= 0.98, at least 4 points
    linear_slope("|w| in log t", x, y, 2.0, 0.1)          RATE    the same, of y against x
    published("digit 5", value, 12, 2)                    TABLE   within a tolerance of a printed number
    table({0.1: 0.0999}, {0.1: e}, 1e-4, "ε = {:g}")      TABLE   the same for those of several that were measured; several rows

    headline(at_most(...))                                the row that is the claim; its slack is that of the verdict
    because("W is not symmetric", at_most(...))           for `control`: which assumption is broken, so that it must fail
    printed(at_most(...), "C2")                           REFUTE  for `control`: the claim as it was printed, which must fail
    vacuous(at_least(...), "A10")                         for `control`: a printed generality that fails to say anything, but is not false

A number that is not finite never holds, and a control that fails only because of one is no evidence.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np

Value = int | float | str | bool
Checks = Iterator["Check"]


@dataclass(frozen=True)
class Check:
    name: str
    kind: str  # EXACT, BOUND, STAT, RATE, TABLE or REFUTE
    measured: Value
    relation: str  # "=", "≈", "≤" or "≥"
    reference: Value
    holds: bool
    tolerance: float | None = None  # of "≈"
    slack: float | None = None  # how many times the bound is larger than the measurement, where both are positive
    note: str = ""
    erratum: str = ""
    seed: int | None = None
    headline: bool = False  # the row that is the claim
    why: str = ""  # of a control: the assumption that is broken

    @property
    def defined(self) -> bool:
        """Whether both sides are finite numbers."""
        return all(math.isfinite(value) for value in (self.measured, self.reference) if isinstance(value, float))

    def of_seed(self, seed: int) -> "Check":
        return dataclasses.replace(self, seed=seed)


def plain(value: Any) -> Value:
    """A number as Python and JSON know it; a fraction as text."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, bool | int | float | str):
        return value
    return repr(value)


def equal(name: str, measured: Any, expected: Any) -> Check:
    """The same: integers, booleans, fractions, text. Of an array (or a list beside an array or a number) those that differ are counted."""
    if isinstance(measured, list) and not isinstance(expected, list):
        measured = np.array(measured)
    if isinstance(measured, np.ndarray) and measured.ndim:
        same = np.shape(expected) in ((), measured.shape)
        wrong = int(np.sum(measured != np.asarray(expected))) if same else measured.size
        return Check(name, "EXACT", wrong, "=", 0, wrong == 0, note=f"entries that differ, of {measured.size}")
    return Check(name, "EXACT", plain(measured), "=", plain(expected), bool(measured == expected))


def close(name: str, measured: Any, expected: Any, tolerance: float = 1e-10) -> Check:
    """Equal up to rounding: `tolerance` times the largest expected value (or 1). Of arrays the largest difference is shown."""
    m, e = np.asarray(measured, dtype=float), np.asarray(expected, dtype=float)
    if m.shape != e.shape and e.ndim:
        raise ValueError(f"`{name}` compares {m.shape} with {e.shape}")  # (n, 1) beside (n,) would compare all with all
    allowed = tolerance * max(1.0, float(np.max(np.abs(e), initial=0.0)))
    error = float(np.max(np.abs(m - e), initial=0.0))
    if m.ndim == 0 and e.ndim == 0:
        return Check(name, "EXACT", float(m), "≈", float(e), bool(error <= allowed), float(allowed))
    return Check(name, "EXACT", error, "≤", float(allowed), bool(error <= allowed), note=f"largest difference of {max(m.size, e.size)}")


def at_most(name: str, measured: Any, bound: Any, rounding: float = 0.0, kind: str = "BOUND") -> Check:
    """measured <= bound, up to `rounding` times the bound. Of arrays the element closest to its bound is shown."""
    return _bounded(name, measured, bound, rounding, kind, "≤")


def at_least(name: str, measured: Any, bound: Any, rounding: float = 0.0, kind: str = "BOUND") -> Check:
    """measured >= bound, up to `rounding` times the bound. Of arrays the element closest to its bound is shown."""
    return _bounded(name, measured, bound, rounding, kind, "≥")


def _bounded(name: str, measured: Any, bound: Any, rounding: float, kind: str, relation: str) -> Check:
    note, names = "", []
    if isinstance(measured, Mapping):
        bound = list(bound.values()) if isinstance(bound, Mapping) else bound
        rows = np.broadcast_arrays(*map(np.asarray, measured.values()))
        names = [str(key) for key, row in zip(measured, rows, strict=True) for _ in range(row.size)]
        measured = np.stack(rows)
    if np.ndim(measured) or np.ndim(bound):
        m, b = (a.ravel() for a in np.broadcast_arrays(np.asarray(measured, dtype=float), np.asarray(bound, dtype=float)))
        if not m.size:
            return Check(name, kind, math.nan, relation, math.nan, False, note="nothing was measured")
        excess = (m - b if relation == "≤" else b - m) / np.maximum(np.abs(b), 1e-300)
        worst = int(np.argmax(np.where(np.isnan(excess), np.inf, excess)))
        measured, bound, note = m[worst], b[worst], f"worst of {m.size}" if m.size > 1 else ""
        note += f": {names[worst]}" if names else ""
    room = rounding * abs(bound) if rounding else 0
    holds = measured <= bound + room if relation == "≤" else measured >= bound - room
    slack = None
    if measured > 0 and bound > 0:
        try:
            slack = float(bound / measured if relation == "≤" else measured / bound)
        except OverflowError:
            slack = None
    return Check(name, kind, plain(measured), relation, plain(bound), bool(holds), slack=slack, note=note)


def within(name: str, measured: float, expected: float, standard_error: float, times: float = 4) -> Check:
    """Within so many standard errors of what is expected."""
    allowed = times * float(standard_error)
    holds = bool(abs(measured - expected) <= allowed)
    away = abs(measured - expected) / standard_error if standard_error > 0 else 0.0 if measured == expected else math.inf
    return Check(name, "STAT", float(measured), "≈", float(expected), holds, allowed, note=f"{away:.1f} standard errors away")


def mean_is(name: str, samples: Any, expected: float, times: float = 4) -> Check:
    """The mean of independent samples; the standard error is theirs."""
    samples = np.asarray(samples, dtype=float).ravel()
    return within(name, float(samples.mean()), expected, float(samples.std(ddof=1)) / math.sqrt(samples.size), times)


def share_is(name: str, hits: int, trials: int, probability: float, times: float = 4) -> Check:
    """The share of hits among independent trials; the standard error is sqrt(p (1 - p) / trials)."""
    return within(name, hits / trials, probability, math.sqrt(probability * (1 - probability) / trials), times)


def line_fit(x: Any, y: Any) -> tuple[float, float]:
    """The least-squares slope of y against x, and R²; NaN where a value is not finite or all x are the same."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.size < 2 or not (np.all(np.isfinite(x)) and np.all(np.isfinite(y)) and np.ptp(x) > 0):
        return math.nan, math.nan
    u, v = x - x.mean(), y - y.mean()
    fitted = float(u @ v / (u @ u))
    return fitted, 1 - float(np.sum((v - fitted * u) ** 2)) / max(float(v @ v), 1e-300)


def loglog_slope(x: Any, y: Any) -> tuple[float, float]:
    """The least-squares slope of log y against log x, and R²; NaN where a logarithm does not exist."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return line_fit(np.log(x), np.log(y)) if np.all(x > 0) and np.all(y > 0) else (math.nan, math.nan)


def slope(name: str, x: Any, y: Any, expected: float, tolerance: float, r2: float = 0.98) -> Check:
    """A rate: y ~ x^expected over at least four points, on a straight line in log-log."""
    return _rate(name, loglog_slope(x, y), np.size(x), expected, tolerance, r2)


def linear_slope(name: str, x: Any, y: Any, expected: float, tolerance: float, r2: float = 0.98) -> Check:
    """y ~ expected x + constant over at least four points, on a straight line."""
    return _rate(name, line_fit(x, y), np.size(x), expected, tolerance, r2)


def _rate(name: str, fit: tuple[float, float], points: int, expected: float, tolerance: float, r2: float) -> Check:
    holds = abs(fit[0] - expected) <= tolerance and fit[1] >= r2 and points >= 4
    return Check(name, "RATE", fit[0], "≈", expected, bool(holds), tolerance, note=f"R² = {fit[1]:.4f}, {points} points")


def monotone(name: str, values: Any, way: Literal["falls", "rises"]) -> Check:
    """Each value is below (or above) the one before; the step that comes closest to failing is shown."""
    steps = np.diff(np.asarray(values, dtype=float))
    worst = float(np.max(steps) if way == "falls" else np.min(steps)) if steps.size else math.nan
    holds = worst < 0 if way == "falls" else worst > 0
    return Check(name, "EXACT", worst, "<" if way == "falls" else ">", 0.0, bool(holds), note=f"the flattest of {steps.size} steps")


class Sized(Protocol):
    """What `counts` counts: a network that knows its size."""

    @property
    def nodes(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def weights(self) -> int: ...


def counts(name: str, net: Sized, nodes: int | None = None, depth: int | None = None, weights: int | None = None) -> Checks:
    """Hidden units, layers and non-zero weights of a network, each where a number is expected."""
    for what, expected in (("nodes", nodes), ("depth", depth), ("weights", weights)):
        if expected is not None:
            yield equal(f"{name}: {what}", getattr(net, what), expected)


def published(name: str, measured: float, value: float, tolerance: float) -> Check:
    """A number of the literature, within a tolerance."""
    return Check(name, "TABLE", plain(measured), "≈", plain(value), bool(abs(measured - value) <= tolerance), float(tolerance))


def table(reference: Mapping[Any, float], measured: Mapping[Any, float], tolerance: float, name: str = "{}") -> Checks:
    """Published numbers by key, each within a tolerance; a key that was not measured is left out."""
    for key, value in reference.items():
        if key in measured:
            yield published(name.format(key), measured[key], value, tolerance)


def headline(check: Check) -> Check:
    """The row that is the claim itself."""
    return dataclasses.replace(check, headline=True)


def because(why: str, check: Check) -> Check:
    """A control with the assumption that it breaks, in a clause."""
    return dataclasses.replace(check, why=why)


def printed(check: Check, erratum: str = "") -> Check:
    """The claim as it was printed: a control (it must fail) that makes the verdict `REFUTED AS PRINTED, CONFIRMED AS CORRECTED`."""
    return dataclasses.replace(check, kind="REFUTE", erratum=erratum)


def vacuous(check: Check, erratum: str) -> Check:
    """A control that shows an erratum without refuting the statement: where the printed form claims more, the argument says nothing."""
    return dataclasses.replace(check, erratum=erratum)
