from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, math, mean_is, np, param, printed
from headway.lab.tools.gaussians import Gaussian, gauss
from headway.lab.tools.radial import cap, fourier, sphere, wave

X, LENGTH = np.linspace(-3, 3, 61), 0.5  # points of the line, and ‖x‖ of the point in five dimensions
ROOT = math.sqrt(2 * math.pi)


def net(w: np.ndarray, mass: np.ndarray, b: np.ndarray | float) -> np.ndarray:
    """∫ |f̂(w)| (cos(b_w + wx) - cos b_w) dw at X, on a grid of frequencies; `mass` is |f̂(w)| dw."""
    return (np.cos(b + X[:, None] * w) - np.cos(b)) @ mass


class BarronInfinite(Experiment):
    """A function with an integrable transform is an infinitely wide net of cosines.

    For real f with f, f̂ ∈ L¹ and f̂ = |f̂| e^{i b_w},

        f(x) - f(0) = ∫ |f̂(w)| (cos(b_w + <w,x>) - cos b_w) dw,

    the real part of Fourier's integral. The Gaussian around c has |f̂| = density of N(0, σ^{-2} I) and b_w = -<w,c>. Continuity is not
    enough: (1 - ‖x‖²)_+ is Lipschitz, but in five dimensions |f̂| ~ ‖w‖^{-4}, and its integral over ‖w‖ < R swings for ever.

    Notes: A. Source: Barron 1993, https://doi.org/10.1109/18.256500; Pinsky 1994, Comm. Pure Appl. Math. 47 (why the integral swings)
    Assumes: f is real; f and f̂ are integrable. Also: Barron's theorem, step 1; infinite cosine network.
    """

    widths = param((0.5, 1.0, 2.0), "the standard deviations σ of the Gaussians on the line", least=0.2, most=5.0)
    d = param(5, "dimension of the Gaussian that is integrated by chance", least=1, most=100)
    sigma = param(1.0, "its standard deviation σ", least=0.2, most=5.0)
    draws = param(100_000, "of w ~ N(0, σ^{-2} I), for each seed", least=1000, most=200_000, small=5000)
    radius = param(400.0, "how far the transform of (1 - ‖x‖²)_+ is integrated", least=50.0, most=5000.0, small=100.0)

    def measure(self, rng: Generator) -> Checks:
        w, found, expected = np.arange(-4000, 4001) / 400 / min(1.0, *self.widths), [], []
        step = (w[1] - w[0]) / ROOT
        for s, c in [(s, c) for s in self.widths for c in rng.uniform(-2, 2, 3)]:
            found.append(net(w, s * gauss(s * w) * step, -w * c))
            expected.append(gauss((X - c) / s) - gauss(c / s))
        yield headline(close("Gaussians around three c, every σ, on [-3, 3]", found, expected, 1e-8))
        odd = net(w, np.abs(w) * gauss(w) * step, -np.sign(w) * math.pi / 2)
        yield close("x exp(-x²/2), whose f̂ is imaginary", odd, X * gauss(X), 1e-8)
        few = [rng.normal(size=n) for n in (10, 100, 1000)]
        self.nets = {f"{v.size} cosines": net(v, np.full(v.size, 1 / v.size), -v) for v in few}
        rho = np.array([0.5, 3.0, 12.0])
        ratio = fourier(lambda r: 1 - r * r, 5, rho, 1.0) / (2 * math.pi) ** 5 / cap(rho)
        yield close("f̂ of (1 - ‖x‖²)_+, d = 5 / closed form", ratio, 1.0, 1e-8)
        self.R = np.arange(1, round(self.radius * 20) + 1) / 20  # the Gaussian is done long before the end
        kernel = sphere(5) * self.R**4 * (wave(5, self.R * LENGTH) - 1) / 20
        self.rough = np.cumsum(kernel * cap(self.R)) + LENGTH**2
        self.smooth = np.cumsum(kernel * ROOT**-5 * gauss(self.R)) + 1 - gauss(LENGTH)
        yield close("Gaussian, d = 5, over ‖w‖ < R: the error at the end", self.smooth[-1], 0.0, 1e-8)

    def sample(self, rng: Generator) -> Checks:
        f, w = Gaussian(self.d, self.sigma, shift=0.6), rng.normal(size=(self.draws, self.d)) / self.sigma
        for length in (0.5, 2.0):
            x = rng.normal(size=self.d)
            x *= length / np.linalg.norm(x)
            units = np.cos(w @ (x - f.centre)) - np.cos(w @ f.centre)
            yield mean_is(f"mean of {self.draws} units, d = {self.d}, ‖x‖ = {length:g}", units, float(f.rise(x)))

    def control(self, rng: Generator) -> Checks:
        late = self.rough[self.radius - 10 < self.R]  # two or three swings at the end
        name = f"any continuous f: error of (1 - ‖x‖²)_+, d = 5, R near {self.radius:g}"
        yield printed(at_most(name, np.max(np.abs(late)), 0.05), "A7")
        w = np.linspace(-12, 12, 8001)
        mass = gauss(w) / ROOT * (w[1] - w[0])
        gap = np.abs(net(w, np.roll(mass, 1000), 0.0) - (gauss(X) * np.exp(3j * X) - 1))  # f̂ moved by 3 is positive
        yield because("f is not real", close("exp(-x²/2 + 3ix): error on [-3, 3]", gap, 0.0, 1e-8))
        yield because("b_w = 0", close("Gaussian around 1", net(w, mass, 0.0), gauss(X - 1) - gauss(1), 1e-8))

    def plots(self) -> list[Panel]:
        left, seen = Panel("Cosines of random frequencies", "x", "f(x) - f(0)"), self.R <= 100
        left.target(X, gauss(X - 1) - gauss(1), "Gaussian around 1").curve(X, self.nets)
        right = Panel("Without ∫ |f̂| it swings for ever", "frequencies ‖w‖ < R", "error at ‖x‖ = ½, d = 5")
        right.control(self.R[seen], self.rough[seen], "(1 - ‖x‖²)₊").curve(self.R[seen], self.smooth[seen], "Gaussian")
        return [left, right]
