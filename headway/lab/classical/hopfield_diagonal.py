"""Why a Hopfield net has no self-coupling."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, close, equal, printed, published
from headway.lab.classical.hopfield_capacity_0138 import settle
from headway.lab.classical.hopfield_crosstalk import hebb, patterns
from headway.lab.old import Experiment

CURVES = ("stored, w_ii = s/n", "random, w_ii = s/n", "stored, w_ii = 0", "random, w_ii = 0")
NOISE = (0.05, 0.15, 0.25, 0.35, 0.45)  # shares of flipped bits that recall starts from


@dataclass(frozen=True)
class Config:
    n: int = 200  # neurons
    ratios: tuple[float, ...] = (0.1, 0.5, 2.0, 5.0)  # patterns for each neuron α = s/n
    nets: int = 20  # for each ratio and seed, with 40 stored and 40 random states each
    recalls: int = 8  # nets whose patterns are recalled, α = 0.1

    def __post_init__(self) -> None:
        require((50 <= self.n <= 1000, "n is 50 to 1000"), (all(5 / self.n <= a <= 20 for a in self.ratios), "ratios are 5/n to 20"))
        require((self.nets >= 10 and self.recalls >= 2, "nets >= 10 and recalls >= 2"))


def theory(a: np.ndarray) -> np.ndarray:
    """The shares of stable bits, in the order of CURVES."""
    return np.stack([ndtr((1 + a) / np.sqrt(a)), ndtr(np.sqrt(a)), ndtr(1 / np.sqrt(a)), np.full_like(a, 0.5)])


def stable(field: np.ndarray, x: np.ndarray) -> float:
    """The share of bits with x = sgn(field), sgn 0 = +1."""
    return float(np.mean((field < 0) == (x < 0)))


def shares(s: int, n: int, nets: int, rng: np.random.Generator) -> np.ndarray:
    found = []
    for _ in range(nets):
        x, other = patterns(s, n, rng), patterns(40, n, rng)
        w, x = hebb(x), x[:40]
        both = [(w_x, state) for w_x, state in ((x @ w, x), (other @ w, other))]
        found.append([stable(h + s * z, z) for h, z in both] + [stable(h, z) for h, z in both])
    return np.mean(found, axis=0)


def recall(n: int, nets: int, rng: np.random.Generator) -> np.ndarray:
    """Final overlap with the pattern in nets with s = n/10: "w_ii = 0 or s/n, share of flipped bits, pattern"."""
    s = n // 10
    x = [patterns(s, n, rng) for _ in range(nets)]
    starts = [np.where(rng.random(z.shape) < p, -z, z) for z in x for p in NOISE]
    w = [hebb(z) for z in x]
    w += [m + s * np.eye(n, dtype=np.float32) for m in w]  # the same patterns and starts for both
    owner = np.repeat(np.arange(2 * nets), len(NOISE) * s)
    end = settle(np.stack(w), owner, np.concatenate(starts + starts), rng).reshape(2, nets, len(NOISE), s, n)
    return (end * np.stack(x)[:, None]).mean(axis=-1).swapaxes(1, 2).reshape(2, len(NOISE), nets * s)


class HopfieldDiagonal(Experiment):
    """With self-coupling w_ii = s/n every state looks stable, stored or not, and exact recall does not improve.

    Hebb's rule gives w_ii = s/n, which adds (s/n) x_i to the field of each bit. The share of stable bits at α = s/n is then

        stored pattern: Φ((1+α)/√α), least at α = 1 (0.977),      random state: Φ(√α) → 1,

    while with w_ii = 0 it is Φ(1/√α) and ½: only without the diagonal does stability say that something was stored. Recall of every bit
    from 15 % noise at α = 0.1 is not better with the diagonal (by 0.000 ± 0.011 over 800 patterns, n = 200; from 25 % noise and n = 500 by
    -0.13 ± 0.02). Ending near the pattern, at most 5 % wrong, is a little better (0.014 ± 0.005): self-coupling also slows the avalanche.
    """

    lecture = "C"
    kinds = ("STAT",)
    cost = "S"
    source = "Folli, Leonetti, Ruocco 2017, https://doi.org/10.3389/fncom.2016.00144; Hopfield 1982, https://doi.org/10.1073/pnas.79.8.2554"
    assumptions = ("independent patterns of independent fair signs", "large n, for the Gaussian crosstalk")
    errata = ("C3",)
    aliases = ("self-coupling in Hopfield networks", "zero diagonal")
    panels = 2
    small = {"nets": 12, "recalls": 2, "ratios": (0.1, 2.0)}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.found: list[np.ndarray] = []
        self.success: list[np.ndarray] = []
        a = np.exp(np.linspace(-3, 3, 2001))
        yield published("least share of a stored pattern, w_ii = s/n", float(theory(a)[0].min()), 0.977, 5e-4)
        yield close("the α of that", float(a[theory(a)[0].argmin()]), 1.0)
        for ratio, value in ((2.0, 0.921), (5.0, 0.987)):
            yield published(f"Φ(√α) at α = {ratio:g}", float(ndtr(math.sqrt(ratio))), value, 5e-4)
        x = patterns(round(0.1 * c.n), c.n, rng)
        self.printed = float(np.mean(np.diagonal(x.T @ x))) / c.n
        yield equal("w_ii of Hebb's rule, α = 0.1", self.printed, len(x) / c.n)
        yield equal("w_ii that is used", float(np.abs(np.diagonal(hebb(x))).max()), 0.0)

    def sample(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        """A random state's share scatters by 0.053 (n = 200; half of it the common σᵀWσ), so 800 of them by 0.0019: 0.01 is 5 of those."""
        ratios = np.array(c.ratios)
        found = np.array([shares(round(a * c.n), c.n, c.nets, rng) for a in ratios])
        self.found.append(found)
        for i, name in enumerate(CURVES):
            yield at_most(f"{name}: stable share off the formula", np.abs(found[:, i] - theory(ratios)[i]), 0.01, kind="STAT")
        overlap = recall(c.n, c.recalls, rng)
        right = (overlap == 1).astype(float)
        self.success.append(np.stack([right.mean(axis=2), (overlap >= 0.9).mean(axis=2)]))
        gain = right[1, 1] - right[0, 1]  # for each pattern; where no pattern differs, one of them is the resolution
        error = max(float(gain.std(ddof=1)) / math.sqrt(gain.size), 1 / gain.size)
        yield at_most("exact recall from 15 % noise, gain by the diagonal", float(gain.mean()), 4 * error, kind="STAT")

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield printed(equal("w_ii = 0 with W = (1/n) Σ x xᵀ", self.printed, 0.0), "C3")
        top = int(np.argmax(c.ratios))
        spurious = float(np.mean([found[top, 1] for found in self.found]))
        yield at_most(f"with w_ii = s/n, random states have unstable bits: share at α = {c.ratios[top]:g}", spurious, 0.6, kind="STAT")
        drop = float(np.mean([found[top, 0] - found[0, 0] for found in self.found]))
        yield at_most(f"with w_ii = s/n, α = {c.ratios[top]:g} costs stored patterns their stability", drop, -0.1, kind="STAT")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        a = np.exp(np.linspace(math.log(min(c.ratios) / 1.3), math.log(max(c.ratios) * 1.3), 200))
        mean = np.mean(self.found, axis=0)
        for i, (name, curve) in enumerate(zip(CURVES, theory(a), strict=True)):
            axes[0].semilogx(a, curve, **style.CURVE | {"color": style.SERIES[i]})
            axes[0].semilogx(c.ratios, mean[:, i], **style.series(i) | {"linestyle": "none"}, label=name)
        axes[0].set(title="Stable bits", xlabel="patterns per neuron α = s/n", ylabel="share of stable bits", ylim=(0.2, 1.03))
        axes[0].legend(loc="lower left", ncols=2, fontsize=8.5)
        exact, near = 100 * np.mean(self.success, axis=0)
        for i, name in enumerate(("w_ii = 0", "w_ii = s/n")):
            axes[1].plot(100 * np.array(NOISE), exact[i], **style.series(2 - 2 * i), label=f"{name}, no bit wrong")
            axes[1].plot(100 * np.array(NOISE), near[i], **style.series(2 - 2 * i) | {"linestyle": ":"}, label=f"{name}, at most 5 % wrong")
        axes[1].set(title=f"Recall at α = 0.1, n = {c.n}", xlabel="flipped bits at first (%)", ylabel="recalled (%)", ylim=(-3, 105))
        axes[1].legend(loc="lower left", fontsize=8)
