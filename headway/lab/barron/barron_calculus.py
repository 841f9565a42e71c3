from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param
from headway.lab.tools.gaussians import barron_constant
from headway.lab.tools.spectrum import BOX, Function, Mixture, bump, combined, constant, mixture, plateau, ridge, spectrum

TIGHT = 8.0  # side of the box for functions of compact support, whose spectrum reaches further
LINE: dict[str, Function] = {  # functions of the line, from the smoothest to a jump
    "smooth bump": bump,
    "cubic, extended": lambda x: (x[..., 0] ** 3 - 2 * x[..., 0]) * plateau(x),
    "(1 - x²/4)³₊": lambda x: np.maximum(1 - x[..., 0] ** 2 / 4, 0) ** 3,
    "e^(-|x|): a kink": lambda x: np.exp(-np.abs(x[..., 0])),
    "box: two jumps": lambda x: (np.abs(x[..., 0]) < 1.0001).astype(float),
}
PLANE: tuple[Function, ...] = (bump, lambda x: x[..., 0] * x.sum(axis=-1) * plateau(x))  # and x² + xy on the disc


class BarronCalculus(Experiment):
    """The Barron constant obeys simple rules, and it bounds the steepest slope.

    With C(f) = ∫ ‖w‖ |f̂(w)| dw and ‖f̂‖₁ = ∫ |f̂(w)| dw,

        C(f(·/s)) = C(f)/s,    C(f(· - c)) = C(f),    C(g(<a,x>)) = ‖a‖ C(g),    C(f + g) <= C(f) + C(g),
        C(f g) <= ‖f̂‖₁ C(g) + ‖ĝ‖₁ C(f),     ‖∇f‖_∞ <= C(f).

    The last one is the triangle inequality under the integral of ∇f. C is finite for smooth functions of compact support, polynomials on a
    ball (extended smoothly) and ⌊d/2⌋ + 2 continuous derivatives; on the line C(f)² <= (‖f'‖² + ‖f''‖²)/2, and a kink or jump makes it ∞.

    Notes: A. Source: Barron 1993, section IX, https://doi.org/10.1109/18.256500
    Assumes: f has an integrable transform; numerically f has decayed at the border of a periodic box and is resolved by its grid.
    Deviates: on a grid equalities hold to 1 % where ‖w‖ |f̂| has a kink. Also: calculus of Barron constants; Barron functions.
    """

    bits = param(12, "the line is sampled at 2^bits points", least=11, most=16)
    side = param(256, "the plane is sampled at side² points, and at (2 side)²", least=192, most=512, small=192)
    bumps = param(24, "the largest number of Gaussians in a mixture", least=2, most=100, small=6)
    pairs = param(8, "random pairs of mixtures, on the line and in the plane", least=2, most=50, small=3)

    def measure(self, rng: Generator) -> Checks:
        scaled, shifted, sums, products = [], [], [], []
        for d, n in ((1, 2**self.bits), (2, self.side)):
            f, one = mixture(4, d, rng), Mixture(np.ones(1), np.full((1, d), 0.3), np.full(1, 0.5))
            scaled.append(constant(one, d, n) / barron_constant(d, 0.5))
            scaled += [constant(f.stretched(s), d, n) * s / constant(f, d, n) for s in (0.7, 1.3)]
            shifted.append(constant(f.moved(rng.uniform(-1, 1, d)), d, n) / constant(f, d, n))
            for f, g in [(mixture(3, d, rng), mixture(3, d, rng)) for _ in range(self.pairs)]:
                (norm, u), (_, v) = spectrum(f, d, n), spectrum(g, d, n)
                a, b = np.sum(norm * u), np.sum(norm * v)
                sums.append((constant(combined(f, g, np.add), d, n), a + b))
                products.append((constant(combined(f, g, np.multiply), d, n), u.sum() * b + v.sum() * a))
        yield close("C of a Gaussian / closed form, and C(f(·/s)) s / C(f), d = 1, 2", scaled, 1.0, 0.01)
        yield close("C(f(· - c)) / C(f), d = 1, 2", shifted, 1.0, 1e-8)
        yield at_most("C(f + g), C(f) + C(g), d = 1, 2", *np.array(sums).T)
        yield at_most("C(fg), ‖f̂‖₁ C(g) + ‖ĝ‖₁ C(f), d = 1, 2", *np.array(products).T)
        g = Mixture(np.array([1.0, -0.6]), np.array([[0.0], [1.5]]), np.array([0.8, 1.0]))
        a, base = np.array([[1, 2], [3, -1], [2, 2]]), constant(g, 1, 2**self.bits, BOX[2])  # whole: the box is periodic
        ratios = [constant(ridge(g, row), 2, self.side) / base for row in a]
        yield close("ridges: C(g(<a,x>)) / C(g) is ‖a‖, three a", ratios, np.linalg.norm(a, axis=1), 1e-5)
        self.counts = np.unique(np.linspace(1, self.bumps, 8).astype(int))
        line, plane = [mixture(int(k), 1, rng) for k in self.counts], [mixture(k, 2, rng) for k in (1, 4)]
        self.sums = [float(np.abs(f.a) @ (1 / f.s)) * barron_constant(1) for f in line]
        self.C = [*(constant(f, 1, 2**self.bits) for f in line), *(constant(f, 2, self.side) for f in plane)]
        self.slopes = [f.steepest() for f in (*line, *plane)]
        yield headline(at_most("mixtures, d = 1, 2: ‖∇f‖_∞, C", self.slopes, self.C))
        yield at_most("mixtures on the line: C, Σ |a_k| C_k", self.C[:-2], self.sums, rounding=1e-9)
        sizes = 2 ** np.arange(self.bits - 5, self.bits + 1)
        self.radii = np.pi * sizes / (3 * TIGHT)
        self.growth = {name: [constant(f, 1, int(n), 3 * TIGHT) for n in sizes] for name, f in LINE.items()}
        settled = [self.growth[name][-1] / self.growth[name][-2] for name in list(LINE)[:3]]
        settled += [constant(f, 2, 2 * self.side, TIGHT) / constant(f, 2, self.side, TIGHT) for f in PLANE]
        yield close("five smooth functions: C at twice the points / C", settled, 1.0, 0.01)
        p = np.polynomial.Polynomial([1, 0, -0.25]) ** 3
        energy = (p.deriv() ** 2 + p.deriv(2) ** 2).integ()(2)  # half of that over [-2, 2]
        yield at_most("(1 - x²/4)³₊: C, ((‖f'‖² + ‖f''‖²)/2)^½", self.growth["(1 - x²/4)³₊"][-1], energy**0.5)

    def control(self, rng: Generator) -> Checks:
        for name in list(LINE)[3:]:
            ratio = self.growth[name][-1] / self.growth[name][-2]
            yield because(f"f̂ falls too slowly, {name}", close("C at twice the points / C", ratio, 1.0, 0.01))

    def plots(self) -> list[Panel]:
        left = Panel("C lies between the slope and the sum", "Gaussians in the mixture", "value")
        left.bound(self.counts, self.sums, "Σ |aₖ| Cₖ")
        left.series(self.counts, {"C": self.C[:-2], "‖∇f‖∞": self.slopes[:-2]})
        right = Panel("A kink or a jump makes C infinite", "highest frequency of the grid", "C on the grid", log="xy")
        for i, (name, values) in enumerate(self.growth.items()):
            (right.series if i < 3 else right.control)(self.radii, values, name)
        return [left, right]
