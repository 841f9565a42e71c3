"""How many patterns a Hopfield net keeps without a single error."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, equal, printed, within
from headway.lab.classical.hopfield_crosstalk import crosstalk, exact, formula, patterns, unstable
from headway.lab.old import Experiment

REFERENCE = {36: (1.0, 1.0), 51: (0.998, 0.9), 73: (0.92, 0.0)}  # n = 1024, twenty nets: fixed patterns, nets with all fixed


@dataclass(frozen=True)
class Config:
    sizes: tuple[int, ...] = (256, 1024)  # neurons n
    repetitions: int = 20  # nets for each size, number of patterns and seed
    most: int = 85  # per cent of the patterns that count as most

    def __post_init__(self) -> None:
        require((bool(self.sizes) and min(self.sizes) >= 100, "sizes of at least 100"), (self.repetitions >= 10, "repetitions >= 10"))
        require((list(self.sizes) == sorted(self.sizes), "sizes grow"), (50 <= self.most <= 90, "most is 50 to 90"))


def all_of(n: int) -> int:
    return int(n / (4 * math.log(n)))


def most_of(n: int) -> int:
    return int(n / (2 * math.log(n)))


def as_printed(n: int) -> int:
    return int(n / (2 * math.log2(n)))


def fixed(s: int, n: int, rng: np.random.Generator) -> int:
    """How many of s random patterns sgn(W x) leaves exactly as they are."""
    x = patterns(s, n, rng)
    return int(np.sum(~unstable(x, crosstalk(x)).any(axis=1)))


def expected(s: int, n: int) -> tuple[float, float]:
    """P(a pattern is fixed) and P(all are), if bits were independent: (1 - p)^n and (1 - p)^{ns} with the exact p of one bit."""
    stays = math.log1p(-exact(s, n))
    return math.exp(n * stays), math.exp(n * s * stays)


class HopfieldCapacityLog(Experiment):
    """Most patterns are exact fixed points up to n/(2 ln n), all of them up to n/(4 ln n).

    A pattern of n bits is fixed if none of its bits is unstable, so with P = ½ erfc √(n/2s) for one bit

        n P → 0   for s <= n / (2 ln n)   (a given pattern),        n s P → 0   for s <= n / (4 ln n)   (all s of them).

    The logarithm is the natural one. With log₂, n/(2 log₂ n) = 0.347 n/ln n lies between the two: too few for "most", too many for "all".

    Asserted are the specified shares (0.9, 0.85, 0.5) and the union bound 1 - np. Of the printed n/(2 log₂ n) the specification asserts
    nothing; its s = 51 still keeps all patterns in nine of ten nets of n = 1024, so "too many for all" is shown by the formula at n = 10⁸.
    The reference numbers hold within four standard errors of two samples of twenty nets, since they come from twenty nets themselves.
    """

    lecture = "C"
    kinds = ("STAT",)
    cost = "M"
    source = "McEliece, Posner, Rodemich, Venkatesh 1987, https://doi.org/10.1109/TIT.1987.1057328"
    assumptions = (
        "independent patterns of independent fair signs",
        "w_ii = 0",
        "large n: at s = n/(2 ln n) the misses are still 1/√(4π ln n)",
    )
    errata = ("C5",)
    aliases = ("error-free Hopfield capacity", "n over 2 log n")
    panels = 2
    small = {"sizes": (256,), "repetitions": 10}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.found: dict[tuple[int, int], list[tuple[float, float]]] = {}
        if 1024 in c.sizes:
            yield equal(
                "n/(4 ln n), n/(2 log₂ n), n/(2 ln n) for n = 1024", str((all_of(1024), as_printed(1024), most_of(1024))), "(36, 51, 73)"
            )
        n = 10 ** np.arange(2, 13, dtype=float)
        for name, k in (("n P at s = n/(2 ln n)", 2), ("n s P at s = n/(4 ln n)", 4)):
            s = n / (k * np.log(n))
            misses = n * formula(s / n) * (s if k == 4 else 1)
            yield at_most(f"{name} falls, n = 10² … 10¹²", float(np.max(misses[1:] / misses[:-1])), 1, kind="EXACT")

    def sample(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        """Standard errors: of the shares in independent nets, but not below the binomial one (where no net had a miss)."""
        for n in c.sizes:
            for s in (all_of(n), as_printed(n), most_of(n)):
                counts = np.array([fixed(s, n, rng) for _ in range(c.repetitions)])
                share, whole, (p, q) = float(counts.mean()) / s, int(np.sum(counts == s)), expected(s, n)
                self.found.setdefault((n, s), []).append((share, whole / c.repetitions))
                error = max(math.sqrt(p * (1 - p) / (s * c.repetitions)), float(counts.std(ddof=1)) / s / math.sqrt(c.repetitions))
                # the union bound holds whether or not bits are independent
                least = 1 - n * exact(s, n) - 4 * error
                yield at_least(f"share of fixed patterns against 1 - np, n = {n}, s = {s}", share, least, kind="STAT")
                if s == all_of(n):
                    yield at_least(f"nets with all fixed at n/(4 ln n), n = {n}", whole / c.repetitions, 0.9, kind="STAT")
                if s == most_of(n):
                    yield at_least(f"share of fixed patterns at n/(2 ln n), n = {n}", share, c.most / 100, kind="STAT")
                    if n >= 1024:
                        yield at_most(f"nets with all fixed at n/(2 ln n), n = {n}", whole / c.repetitions, 0.5, kind="STAT")
                if n == 1024 and c.repetitions >= 20:  # twenty nets stand behind the reference as well; half its last digit for rounding
                    both = math.sqrt(c.repetitions / 20 + 1)
                    yield within(f"share of fixed patterns, s = {s}, reference", share, REFERENCE[s][0], math.hypot(error * both, 5e-4))
                    spread = math.sqrt(q * (1 - q) / c.repetitions) * both
                    yield within(
                        f"nets with all fixed, s = {s}, reference", whole / c.repetitions, REFERENCE[s][1], math.hypot(spread, 0.05)
                    )

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        n = c.sizes[-1]
        beyond = float(np.mean([fixed(most_of(n), n, rng) for _ in range(10)])) / most_of(n)
        yield printed(at_most(f"beyond n/(2 log₂ n), at s = {most_of(n)}: fixed patterns are no longer most", beyond, c.most / 100), "C5")
        s, large = as_printed(10**8), 10**8
        every = math.exp(-large * s * float(formula(s / large)))
        yield printed(at_least("n/(2 log₂ n) keeps all, n = 10⁸: P(all fixed) by the formula", every, 0.9), "C5")
        twice = 2 * most_of(n)
        share = float(np.mean([fixed(twice, n, rng) for _ in range(5)])) / twice
        yield at_least(f"share of fixed patterns at n/ln n, s = {twice}, n = {n}", share, c.most / 100, kind="STAT")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        names = ("n/(4 ln n): all", "n/(2 log₂ n): as printed", "n/(2 ln n): most")
        n = c.sizes[-1]
        marks, s = (all_of(n), as_printed(n), most_of(n)), np.arange(all_of(n) // 2, 2 * most_of(n))
        theory = np.array([expected(int(k), n) for k in s])
        for i, title in enumerate(("A pattern is fixed", "All patterns of a net are fixed")):
            axes[i].plot(s, theory[:, i], **style.CURVE, label="(1 - p)^n" if i == 0 else "(1 - p)^(ns)")
            for (size, k), seeds in self.found.items():
                if size == n:
                    shares = [pair[i] for pair in seeds]
                    look = style.series(1) | {"linestyle": "none", "label": "measured, each seed" if k == marks[0] else None}
                    axes[i].plot([k] * len(shares), shares, **look)
            for k, name, colour in zip(marks, names, (style.GREEN, style.VERMILION, style.INK), strict=True):
                axes[i].axvline(k, **style.BOUND | {"color": colour}, label=name)
            axes[i].set(title=title, xlabel=f"patterns s, n = {n}", ylabel="probability", ylim=(-0.03, 1.05))
        lines, labels = axes[0].get_legend_handles_labels()
        axes[0].legend(lines[:2], labels[:2], loc="upper right")
        axes[1].legend(loc="upper right", fontsize=8.5)
