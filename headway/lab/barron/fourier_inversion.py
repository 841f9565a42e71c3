from collections.abc import Callable
from dataclasses import dataclass

from headway.lab.kit import (
    Checks,
    Experiment,
    Generator,
    Panel,
    at_most,
    because,
    close,
    headline,
    linear_slope,
    math,
    np,
    param,
    printed,
)
from headway.lab.tools.radial import fourier

TURN = 2 * math.pi
RADII = 10.0 ** np.arange(1, 6)  # cut-offs R
X = np.array([0.0, 0.3003, 0.7777, 1.2345, 2.5])  # on the grids and between their points


@dataclass(frozen=True)
class Pair:
    """An even function with its transform in closed form, and the grid of the trapezoid rule."""

    f: Callable[[np.ndarray], np.ndarray]
    hat: Callable[[np.ndarray], np.ndarray]  # (2π)^{-1} ∫ f(x) cos(wx) dx
    step: float
    points: int
    tolerance: float  # of the transform: what the grid leaves out

    def integral(self) -> tuple[np.ndarray, np.ndarray]:
        """Frequencies w >= 0 and ∫ f e^{-iwx} dx there: no factor of 2π."""
        h, N = self.step, self.points
        x = (np.arange(N) - N // 2) * h
        return TURN * np.fft.rfftfreq(N, h), h * np.fft.rfft(np.fft.ifftshift(self.f(x))).real

    def twice(self) -> np.ndarray:
        """The transform and its inverse at X, both without a factor."""
        w, integral = self.integral()
        return np.array([2 * np.trapezoid(np.cos(w * x) * integral, w) for x in X])

    def barron_constant(self, radius: float) -> float:
        """C(R) = ∫_{|w|<R} |w| f̂(w) dw, with w = e^u - 1 so that a trapezoid rule serves every scale."""
        u = np.linspace(0, math.log1p(radius), 20001)
        w = np.expm1(u)
        return float(2 * np.trapezoid(w * self.hat(w) * (w + 1), u))


class FourierInversion(Experiment):
    """The Fourier transform and its inverse need one factor (2π)^{-d} between them; without it f comes back (2π)^d times too large.

        f̂(w) = (2π)^{-d} ∫ f(x) e^{-i<w,x>} dx,      f(x) = ∫ f̂(w) e^{i<w,x>} dw,      C = ∫ ‖w‖ |f̂(w)| dw

    It does not matter which of the two has it. The Barron constant C can be infinite for a continuous f: the kink of e^{-|x|}
    gives f̂ = 1/(π (1 + w²)), and

        C(R) = ∫_{|w|<R} |w| f̂ dw = log(1 + R²)/π ~ (2/π) log R.

    Notes: A. Source: Barron 1993, Universal approximation bounds, https://doi.org/10.1109/18.256500
    Assumes: f and f̂ are integrable.
    Also: Fourier inversion; inverse Fourier transform.
    """

    bits = param(18, "sinc² is sampled at 2^bits points", least=14, most=21, small=15)
    dimensions = param((1, 2, 3, 5), "dimensions d of (1 + ‖x‖²) exp(-‖x‖²/2)", least=1, most=8)

    def measure(self, rng: Generator) -> Checks:
        from scipy.integrate import quad

        root, cut = math.sqrt(TURN), 1e-6 + 4 / (TURN * 2**self.bits)
        self.pairs = {
            "Gaussian": Pair(lambda x: np.exp(-(x**2) / 2), lambda w: np.exp(-(w**2) / 2) / root, 0.05, 2**10, 1e-12),
            "Laplace": Pair(lambda x: np.exp(-np.abs(x)), lambda w: 1 / (math.pi * (1 + w**2)), 1e-3, 2**16, 1e-6),
            "sinc²": Pair(lambda x: np.sinc(x / TURN) ** 2, lambda w: np.maximum(1 - w, 0), 2.0, 2**self.bits, cut),
        }
        transforms = {name: (p, *p.integral()) for name, p in self.pairs.items()}
        gaps = {name: float(np.max(np.abs(y / TURN - p.hat(w)))) for name, (p, w, y) in transforms.items()}
        allowed = [p.tolerance for p in self.pairs.values()]
        yield at_most("f̂ by the trapezoid rule is the closed form", gaps, allowed, kind="EXACT")
        for name, w in (("Gaussian", 3.0), ("Laplace", 2.0)):
            f, hat = self.pairs[name].f, self.pairs[name].hat(np.array(w))
            yield close(f"{name}: f̂({w:g}), scipy", quad(f, 0, np.inf, weight="cos", wvar=w)[0] / math.pi, hat, 1e-8)
        self.ratios = {name: p.twice() / p.f(X) for name, p in self.pairs.items()}
        yield headline(close("there and back without a factor / f is 2π", [*self.ratios.values()], TURN, 1e-6))
        f = lambda r: (1 + r**2) * np.exp(-(r**2) / 2)  # noqa: E731  not a product of functions of the coordinates
        self.factors = [float(fourier(lambda w, d=d: fourier(f, d, w, 12.0), d, 0.7, 12.0) / f(0.7)) for d in self.dimensions]
        expected = TURN ** np.array(self.dimensions)
        yield close("in d dimensions, as a share of (2π)^d", self.factors / expected, np.ones(expected.size), 1e-8)
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

    def resolution(self, rng: Generator) -> Checks:
        yield close("the factor on both sides: rebuilt Gaussian / f", self.ratios["Gaussian"] / TURN**2, 1.0, 1e-6)

    def plots(self) -> list[Panel]:
        x, pair = np.linspace(0, 3, 200), self.pairs["Laplace"]
        left = Panel("Without a factor: 2π times f", "x", "value").target(x, pair.f(x), "e^(-|x|)")
        back = self.ratios["Laplace"] * pair.f(X)
        left.series(X, back / TURN, "with (2π)⁻¹").control(X, back, "as printed")
        middle = Panel("The missing factor is (2π)^d", "dimension d", "printed pair / f", log="y")
        d = sorted(self.dimensions)
        middle.series(d, sorted(self.factors), "measured").bound(d, [TURN**k for k in d], "(2π)^d").ticks(x={k: str(k) for k in d})
        right = Panel("With a kink C is infinite", "cut-off R", "C(R)", log="x").series(RADII, self.growth)
        return [left, middle, right.bound(RADII, 2 / math.pi * np.log(RADII), "(2/π) log R")]
