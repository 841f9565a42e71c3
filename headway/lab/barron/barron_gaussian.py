from functools import partial

from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_most, because, close, headline, mean_is, monotone, np, param, printed, table,
)
from headway.lab.tools.gaussians import barron_constant, gauss
from headway.lab.tools.radial import fourier, mean_norm, radial_constant

PUBLISHED = {1: 0.79788, 2: 1.25331, 5: 2.12769, 10: 3.08433, 50: 7.03580}  # C at σ = 1, by d


class BarronGaussian(Experiment):
    """The Gaussian of height 1 has a Barron constant that grows only like √d / σ.

    f(x) = exp(-‖x‖²/2σ²) has as f̂ the density of N(0, σ^{-2} I). Hence ∫ |f̂| = 1 and

        C = ∫ ‖w‖ |f̂(w)| dw = E‖W‖ = √2 Γ((d+1)/2) / (Γ(d/2) σ),       √(d - 1/2) / σ <= C <= √d / σ.

    The upper bound is Jensen's inequality. The density is f times (2πσ²)^{-d/2}, and so is its C: tiny for large d if 2πσ² > 1, else huge.

    Notes: A. Source: Barron 1993, section IX, https://doi.org/10.1109/18.256500; Watson 1959 (the lower bound)
    Assumes: f has height 1 (not integral 1). Also: Barron constant of a Gaussian; Barron norm of a Gaussian.
    """

    dimensions = param((1, 2, 5, 10, 50), "the dimensions d", least=1, most=400)
    widths = param((0.3, 0.5, 1.0, 2.0), "the standard deviations σ", least=0.1, most=10.0)
    draws = param(10_000, "of W ~ N(0, I), for each seed and d", least=1000, most=1_000_000, small=2000, full=500_000)
    largest = param(400, "C/√d is followed up to this dimension", least=10, most=2000, small=50)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(self.draws * max(self.dimensions) <= 10**8, "draws times the largest dimension must be at most 10⁸")]

    def measure(self, rng: Generator) -> Checks:
        self.sampled: dict[int, float] = {}
        cases = [(d, s) for d in (1, 2, 3, 5) for s in self.widths]  # two quadratures: f̂ from f, and C from f̂
        C = [radial_constant(partial(gauss, sigma=s), d, 12 * s, 12 / s) / barron_constant(d, s) for d, s in cases]
        yield headline(close("C of f by quadrature / closed form, d = 1, 2, 3, 5, every σ", C, 1.0))
        rho = np.linspace(0, 3, 40)
        found = [fourier(gauss, d, rho, 12.0) / (2 * np.pi) ** (d / 2) for d in (1, 2, 3, 5)]
        yield close("(2π)^{d/2} f̂ is exp(-‖w‖²/2), d = 1, 2, 3, 5, σ = 1", found, np.tile(gauss(rho), (4, 1)))
        means = {d: mean_norm(d) for d in self.dimensions}
        yield close("E‖W‖ by quadrature / closed form, every d", [means[d] / barron_constant(d) for d in means], 1.0)
        yield from table(PUBLISHED, means, 6e-6, "C at σ = 1, d = {}")
        d = np.arange(1, self.largest + 1)
        self.C = np.array([barron_constant(int(k)) for k in d])
        yield monotone(f"C/√d, d <= {self.largest}", self.C / np.sqrt(d), "rises")
        between = {"C/√d": self.C / np.sqrt(d), "√(d - 1/2)/C": np.sqrt(d - 0.5) / self.C}
        yield at_most(f"C/√d and √(d - 1/2)/C, d <= {self.largest}", between, 1.0)

    def sample(self, rng: Generator) -> Checks:
        for d in sorted({min(self.dimensions), max(self.dimensions)}):
            norms = np.linalg.norm(rng.normal(size=(self.draws, d)), axis=1)
            self.sampled[d] = float(norms.mean())
            yield mean_is(f"E‖W‖ at σ = 1, d = {d}", norms, barron_constant(d))

    def control(self, rng: Generator) -> Checks:
        mass = fourier(lambda r: (2 * np.pi) ** 2.5 * gauss(r), 5, np.zeros(1), 12.0)[0]
        yield printed(close("integral of the density (2πσ²)^{+d/2} exp(-‖x‖²/2σ²), d = 5, σ = 1", mass, 1.0), "A6")
        C, most = mean_norm(5) / 0.3 * (2 * np.pi * 0.3**2) ** -2.5, 5**0.5 / 0.3
        yield because("its integral is 1, not its height", at_most("the density, d = 5, σ = 0.3: C, √d/σ", C, most))

    def plots(self) -> list[Panel]:
        d = np.arange(1, self.largest + 1)
        left = Panel("Height 1: C grows like √d (σ = 1)", "dimension d", "Barron constant C", log="xy")
        left.curve(d, self.C, "closed form").bound(d, np.sqrt(d), "√d")
        left.points([*self.sampled], [*self.sampled.values()], f"mean of {self.draws} draws", size=30)
        right = Panel("Integral 1: C explodes or vanishes", "dimension d", "C of the density", log="y")
        curves = {f"σ = {s:g}": self.C[:60] / s * (2 * np.pi * s * s) ** (-d[:60] / 2) for s in self.widths}
        return [left, right.curve(d[:60], curves)]
