"""How the Barron constant behaves under scaling, shifts, sums, products and ridges."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.barron.barron_gaussian import barron_constant
from headway.lab.barron.spectrum import BOX, Function, Mixture, bump, constant, mixture, plateau, spectrum
from headway.lab.checks import Check, at_most, close
from headway.lab.old import Experiment

TIGHT = 8.0  # side of the box for functions of compact support, whose spectrum reaches further


@dataclass(frozen=True)
class Config:
    bits: int = 12  # the line is sampled at 2^bits points
    side: int = 256  # the plane is sampled at side² points, and at (2 side)² to see that C has settled
    bumps: int = 24  # the largest number of Gaussians in a mixture
    pairs: int = 20  # random pairs of mixtures on the line for sums and products; a fifth of them in the plane

    def __post_init__(self) -> None:
        require((10 <= self.bits <= 18, "bits is 10 to 18"), (128 <= self.side <= 1024, "side is 128 to 1024"))
        require((self.bumps >= 1 and self.pairs >= 5, "bumps >= 1 and pairs >= 5"))


LINE: dict[str, Function] = {  # functions of the line, from the smoothest to a jump
    "smooth bump": bump,
    "x³ - 2x on [-1, 1], extended": lambda x: (x[..., 0] ** 3 - 2 * x[..., 0]) * plateau(x),
    "(1 - x²/4)³₊": lambda x: np.maximum(1 - x[..., 0] ** 2 / 4, 0) ** 3,
    "e^(-|x|), a kink": lambda x: np.exp(-np.abs(x[..., 0])),
    "indicator of [-1, 1], jumps": lambda x: (np.abs(x[..., 0]) < 1.0001).astype(float),
}
PLANE: dict[str, Function] = {"smooth bump": bump, "x² + xy on the disc, extended": lambda x: x[..., 0] * x.sum(axis=-1) * plateau(x)}


class BarronCalculus(Experiment):
    """The Barron constant obeys simple rules, and it bounds the steepest slope.

    With C(f) = ∫ ‖w‖ |f̂(w)| dw and ‖f̂‖₁ = ∫ |f̂(w)| dw,

        C(f(·/s)) = C(f)/s,    C(f(· - c)) = C(f),    C(g(<a,x>)) = ‖a‖ C(g),    C(f + g) <= C(f) + C(g),
        C(f g) <= ‖f̂‖₁ C(g) + ‖ĝ‖₁ C(f),     ‖∇f‖_∞ <= C(f).

    It is finite for smooth functions of compact support, for polynomials on a ball (extended smoothly) and from ⌊d/2⌋ + 2 continuous
    derivatives on; on the line C(f)² <= (‖f'‖² + ‖f''‖²)/2. A kink or a jump on the line makes it infinite. Equalities hold to 1 % here:
    ‖w‖ |f̂| has kinks, which a sum over a grid of frequencies sees with an error of the second order.
    """

    lecture = "A"
    kinds = ("BOUND",)
    cost = "S"
    source = "Barron 1993, section IX, https://doi.org/10.1109/18.256500"
    assumptions = ("f has an integrable transform", "numerically: f has decayed at the border of the box and is resolved by the grid")
    aliases = ("calculus of Barron constants", "Barron functions")
    panels = 2
    small = {"side": 128, "bumps": 6, "pairs": 5}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        n = 2**c.bits
        for d, size, pairs in ((1, n, c.pairs), (2, c.side, c.pairs // 5)):
            f, shift = mixture(4, d, rng), rng.uniform(-1, 1, d)
            one, base = Mixture(np.ones(1), np.full((1, d), 0.3), np.full(1, 0.5)), constant(f, d, size)
            yield close(f"C of a Gaussian, closed form, d = {d}", constant(one, d, size), barron_constant(d, 0.5), 0.01)
            scaled = [constant(lambda x, f=f, s=s: f(x / s), d, size) * s for s in (0.7, 1.3)]
            yield close(f"C(f(·/s)) s = C(f), d = {d}", scaled, np.full(2, base), 0.01)
            yield close(f"C(f(· - c)) = C(f), d = {d}", constant(lambda x, f=f, t=shift: f(x - t), d, size), base, 1e-8)
            rows = []
            for f, g in [(mixture(3, d, rng), mixture(3, d, rng)) for _ in range(pairs)]:
                (norm, u), (_, v) = spectrum(f, d, size), spectrum(g, d, size)
                a, b = float(np.sum(norm * u)), float(np.sum(norm * v))
                both = [constant(lambda x, f=f, g=g, op=op: op(f(x), g(x)), d, size) for op in (np.add, np.multiply)]
                rows.append([both[0], a + b, both[1], float(u.sum() * b + v.sum() * a)])
            sums, sum_bounds, products, product_bounds = np.array(rows).T
            yield at_most(f"C(f + g) <= C(f) + C(g), d = {d}", sums, sum_bounds)
            yield at_most(f"C(fg) <= ‖f̂‖₁ C(g) + ‖ĝ‖₁ C(f), d = {d}", products, product_bounds)
        ridge = Mixture(np.array([1.0, -0.6]), np.array([[0.0], [1.5]]), np.array([0.8, 1.0]))
        periodic = lambda x: ridge((x + BOX[2] / 2) % BOX[2] - BOX[2] / 2)  # noqa: E731  a lattice direction a keeps the box periodic
        directions = np.array([[1, 2], [3, -1], [2, 2]])
        ridges = [constant(lambda x, a=a: periodic((x @ a)[..., None]), 2, c.side) for a in directions]
        expected = np.linalg.norm(directions, axis=1) * constant(periodic, 1, n, BOX[2])
        yield close("ridge: C(g(<a,x>)) = ‖a‖ C(g), three a", ridges, expected, 1e-5)
        self.counts = np.unique(np.linspace(1, c.bumps, 8).astype(int))
        mixtures = [mixture(int(k), 1, rng) for k in self.counts]
        self.sums = np.array([sum(abs(f.a) * barron_constant(1) / f.s) for f in mixtures])
        self.constants, self.slopes = np.array([constant(f, 1, n) for f in mixtures]), np.array([f.steepest() for f in mixtures])
        yield at_most("mixtures: C <= Σ |a_k| C_k", self.constants, self.sums)
        yield at_most("mixtures: ‖∇f‖_∞ <= C, d = 1", self.slopes, self.constants)
        planar = [mixture(k, 2, rng) for k in (1, 4)]
        yield at_most("mixtures: ‖∇f‖_∞ <= C, d = 2", [f.steepest() for f in planar], [constant(f, 2, c.side) for f in planar])
        sizes = 2 ** np.arange(c.bits - 5, c.bits + 1)
        self.radii, self.growth = math.pi * sizes / (3 * TIGHT), {k: [constant(f, 1, m, 3 * TIGHT) for m in sizes] for k, f in LINE.items()}
        for name in list(LINE)[:3]:
            yield close(f"{name}: C at 2n points is C at n, d = 1", self.growth[name][-1], self.growth[name][-2], 0.01)
        for name, f in PLANE.items():
            yield close(f"{name}: C at 2n points is C at n, d = 2", constant(f, 2, 2 * c.side, TIGHT), constant(f, 2, c.side, TIGHT), 0.01)
        p = np.polynomial.Polynomial([1, 0, -0.25]) ** 3
        norms = [float((q**2).integ()(2) - (q**2).integ()(-2)) for q in (p.deriv(), p.deriv(2))]
        yield at_most("(1 - x²/4)³₊: C <= ((‖f'‖² + ‖f''‖²)/2)^½", self.growth["(1 - x²/4)³₊"][-1], math.sqrt(sum(norms) / 2))

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        n, wide = 2**c.bits, Mixture(np.ones(1), np.zeros((1, 1)), np.full(1, 5.0))
        for name in list(LINE)[3:]:
            yield close(f"{name}: C at 2n points is C at n", self.growth[name][-1], self.growth[name][-2], 0.01)
        yield at_most("C(fg) <= C(f) C(g) for wide Gaussians", constant(lambda x: wide(x) ** 2, 1, n), constant(wide, 1, n) ** 2)
        yield close("C(f(x/2)) = C(f)", constant(lambda x: wide(x / 2), 1, n), constant(wide, 1, n), 0.01)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        axes[0].plot(self.counts, self.constants, **style.MEASURED, label="C of the mixture")
        axes[0].plot(self.counts, self.sums, **style.BOUND, label="Σ |a_k| C_k")
        axes[0].plot(self.counts, self.slopes, **style.series(2), label="‖∇f‖_∞")
        axes[0].set(title="Mixtures of Gaussians on the line", xlabel="number of bumps", ylabel="Barron constant")
        for i, (name, values) in enumerate(self.growth.items()):
            axes[1].loglog(self.radii, values, **(style.series(i) if i < 3 else style.CONTROL | {"marker": "x+"[i - 3]}), label=name)
        axes[1].set(
            title="Infinite with a kink or a jump", xlabel="highest frequency of the grid", ylabel="C on the grid", ylim=(0.5, 9000)
        )
        for panel in axes:
            panel.legend(loc="upper left")
