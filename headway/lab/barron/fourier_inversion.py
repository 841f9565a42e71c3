from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, linear_slope, math, np, param, printed
from headway.lab.tools.radial import there_and_back
from headway.lab.tools.transforms import Even

TURN = 2 * math.pi
RADII = 10.0 ** np.arange(1, 6)  # cut-offs R
X = np.array([0.0, 0.3003, 0.7777, 1.2345, 2.5])  # on the grids and between their points


def profile(r: np.ndarray) -> np.ndarray:
    """(1 + ‖x‖²) exp(-‖x‖²/2) by its radius: not a product of functions of the coordinates."""
    return (1 + r**2) * np.exp(-(r**2) / 2)


class FourierInversion(Experiment):
    """The Fourier transform and its inverse need one factor (2π)^{-d}; without it f comes back (2π)^d times too large.

        f̂(w) = (2π)^{-d} ∫ f(x) e^{-i<w,x>} dx,      f(x) = ∫ f̂(w) e^{i<w,x>} dw,      C = ∫ ‖w‖ |f̂(w)| dw

    It does not matter which of the two has it. The Barron constant C can be infinite: the kink of e^{-|x|} gives f̂ = 1/(π (1 + w²)), and

        C(R) = ∫_{|w|<R} |w| f̂ dw = log(1 + R²)/π ~ (2/π) log R.

    Notes: A. Source: Barron 1993, Universal approximation bounds, https://doi.org/10.1109/18.256500
    Assumes: f and f̂ are integrable. Also: Fourier inversion; inverse Fourier transform.
    """

    bits = param(18, "sinc² is sampled at 2^bits points", least=14, most=21, small=15)
    dimensions = param((1, 2, 3, 5), "dimensions d of (1 + ‖x‖²) exp(-‖x‖²/2)", least=1, most=8)

    def measure(self, rng: Generator) -> Checks:
        from scipy.integrate import quad

        root, cut = math.sqrt(TURN), 1e-6 + 4 / (TURN * 2**self.bits)
        self.pairs = {
            "Gaussian": Even(lambda x: np.exp(-(x**2) / 2), lambda w: np.exp(-(w**2) / 2) / root, 0.05, 2**10, 1e-12),
            "Laplace": Even(lambda x: np.exp(-np.abs(x)), lambda w: 1 / (math.pi * (1 + w**2)), 1e-3, 2**16, 1e-6),
            "sinc²": Even(lambda x: np.sinc(x / TURN) ** 2, lambda w: np.maximum(1 - w, 0), 2.0, 2**self.bits, cut),
        }
        gaps, allowed = {name: p.gap() for name, p in self.pairs.items()}, [p.tolerance for p in self.pairs.values()]
        yield at_most("f̂ by the trapezoid rule is the closed form", gaps, allowed, kind="EXACT")
        smooth = [self.pairs[name] for name in ("Gaussian", "Laplace")]
        off = [quad(p.f, 0, np.inf, weight="cos", wvar=2.0)[0] / math.pi - p.hat(np.array(2.0)) for p in smooth]
        yield close("f̂(2) of Gaussian and Laplace: scipy minus the closed form", off, 0.0, 1e-8)
        self.ratios = {name: p.there_and_back(X) / p.f(X) for name, p in self.pairs.items()}
        yield headline(close("there and back without a factor / f is 2π", [*self.ratios.values()], TURN, 1e-6))
        self.d = np.array(self.dimensions)
        self.factors = [there_and_back(profile, d, 0.7, 12.0) / profile(np.array(0.7)) for d in self.dimensions]
        yield close("in d dimensions, as a share of (2π)^d", self.factors / TURN**self.d, 1.0, 1e-8)
        self.growth = {name: [self.pairs[name].barron_constant(R) for R in RADII] for name in ("Gaussian", "Laplace")}
        yield linear_slope("Laplace: C(R) in log R", np.log(RADII), self.growth["Laplace"], 2 / math.pi, 1e-3)
        yield close("Laplace: C(R) is log(1 + R²)/π", self.growth["Laplace"], np.log1p(RADII**2) / math.pi, 1e-6)
        yield close("Gaussian: C(R) settles at √(2/π)", self.growth["Gaussian"], math.sqrt(2 / math.pi), 1e-6)

    def control(self, rng: Generator) -> Checks:
        from scipy.special import sici

        yield printed(close("rebuilt Gaussian / f, without a factor", self.ratios["Gaussian"], 1.0, 1e-6), "A3")
        box = (sici(2 * RADII - math.pi)[0] + sici(math.pi)[0]) / math.pi  # ∫_{|w|<R} f̂ e^{iwx} dw at x = 1 - π/R
        yield because("f̂ is not integrable", close("box on [-1, 1]: rebuilt beside the jump, |w| < R", box, 1.0, 0.01))
        slow = linear_slope("Gaussian: C(R) in log R", np.log(RADII), self.growth["Gaussian"], 2 / math.pi, 1e-3)
        yield because("it has no kink", slow)

    def plots(self) -> list[Panel]:
        x, pair = np.linspace(0, 3, 200), self.pairs["Laplace"]
        left = Panel("Without a factor: 2π times f", "x", "value").target(x, pair.f(x), "e^(-|x|)")
        back = self.ratios["Laplace"] * pair.f(X)
        left.series(X, back / TURN, "with (2π)⁻¹").control(X, back, "as printed")
        middle = Panel("The missing factor is (2π)^d", "dimension d", "printed pair / f", log="y")
        middle.series(self.d, self.factors, "measured").bound(self.d, TURN**self.d, "(2π)^d")
        middle.ticks(x={k: str(k) for k in self.d.tolist()})
        right = Panel("With a kink C is infinite", "cut-off R", "C(R)", log="x").series(RADII, self.growth)
        return [left, middle, right.bound(RADII, 2 / math.pi * np.log(RADII), "(2/π) log R")]
