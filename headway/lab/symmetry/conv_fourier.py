from scipy.signal import convolve as direct

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, because, close, equal, headline, np, param, printed
from headway.lab.tools.layers import applied, convolved, correlated, drawn
from headway.lab.tools.transforms import by_halves
from headway.layers.convolutions.boundaries import Causal, Circular, Full, Same, Valid
from headway.layers.convolutions.convolution import by_fft
from headway.layers.convolutions.convolution_2d import Convolution2d, by_fft_2d

fft, ifft = np.fft.fft, np.fft.ifft
BOUNDARIES = (Valid(), Same(), Circular(), Causal(), Full())


class ConvFourier(Experiment):
    """The Fourier transform turns a convolution on a circle into a product, number by number.

        F(h ∗ f) = F(h) F(f),      F(h ⋆ f) = conj(F(h)) F(f),      (F f)_k = Σ_t f_t e^{-2πikt/n}

    Each wave e^{2πikt/n} is only multiplied by a number when it is convolved. With zeros up to n + m - 1 values nothing goes round the
    circle, and the product gives the linear convolution, for n log n instead of n m. A Gaussian filter has a Gaussian transform.

    Notes: C, D. Source: Cooley and Tukey 1965, https://doi.org/10.1090/S0025-5718-1965-0178586-1
    Assumes: the signal is periodic, or padded with zeros to n + m - 1 values; convolution turns the filter around, correlation does not.
    Deviates: multiplications are counted, not timed, so that the figure is the same on every machine.
    Also: convolution theorem; Fourier transform of a convolution.
    """

    n = param(64, "values of the signal", least=64, most=2048)
    m = param(9, "taps of the filter", least=2, most=64)
    width = param(2.0, "standard deviation s of the Gaussian filter, in positions", least=0.3, most=20.0)
    power = param(12, "log2 of the longest transform that is counted", least=8, most=14, small=8)

    def measure(self, rng: Generator) -> Checks:
        n, m = self.n, self.m
        self.f, self.h = f, h = rng.normal(size=n), rng.normal(size=m)
        circle, self.slid = convolved(h, f, Circular()), correlated(h, f, Circular())
        yield headline(close("F(h ∗ f) - F(h) F(f), on a circle", np.abs(fft(circle) - fft(h, n) * fft(f)), 0))
        yield close("F(h ⋆ f) - conj(F(h)) F(f)", np.abs(fft(self.slid) - fft(h, n).conj() * fft(f)), 0)
        size = n + m - 1
        yield close("h ∗ f from n + m - 1 values", ifft(fft(h, size) * fft(f, size)).real, direct(h, f, method="direct"))
        through = [applied(lambda a, b, e=e: by_fft(b, a, e), h, f) for e in BOUNDARIES]
        sums = [correlated(h, f, e) for e in BOUNDARIES]
        yield close("five boundaries, by transforms and by sums", np.concatenate(through), np.concatenate(sums))
        layer, picture = drawn(Convolution2d(1, 1, 3, Same()), rng, bias=0), rng.normal(size=(1, 1, 9, 12))
        found = applied(lambda x: by_fft_2d(x, layer.weight[0], Same()), picture)
        yield close("a layer for pictures, by transforms", found, applied(layer, picture))
        t, k = np.arange(n), np.arange(n) / n
        copies = np.arange(-200, 201)[:, None]  # of the Gaussian around the circle, and of its transform
        gauss = np.exp(-((t + n * copies) ** 2) / (2 * self.width**2)).sum(0) / (self.width * np.sqrt(2 * np.pi))
        self.gain = np.exp(-2 * (np.pi * self.width * (k + copies)) ** 2).sum(0)
        self.before, self.after = np.abs(fft(f)), np.abs(fft(convolved(gauss, f, Circular())))
        yield close("a Gaussian filter multiplies by a Gaussian", self.after, self.gain * self.before)
        self.sizes = 2 ** np.arange(3, self.power + 1)
        x = rng.normal(size=self.sizes[-1]) + 0j
        values, counts = zip(*(by_halves(x[:s]) for s in self.sizes), strict=True)
        self.products = np.array(counts)
        yield close("the transform by halves", np.abs(values[-1] - fft(x)), 0)
        yield equal("multiplications of a transform: ½ n log₂ n", self.products, self.sizes * np.log2(self.sizes).astype(int) // 2)
        ratio = (self.sizes[-2] ** 2) / (4 * (3 * self.products[-1] + self.sizes[-1]))
        yield at_least(f"saved by transforms, n = m = {self.sizes[-2]}", ratio, 1)

    def control(self, rng: Generator) -> Checks:
        short = ifft(fft(self.h, self.n) * fft(self.f)).real
        yield because("too few zeros: the end goes round", close("h ∗ f from n values", short, np.convolve(self.h, self.f)[: self.n]))
        yield printed(close("F(h ⋆ f) = F(h) F(f)", np.abs(fft(self.slid) - fft(self.h, self.n) * fft(self.f)), 0, 1e-3), "D5")

    def plots(self) -> list[Panel]:
        half = np.arange(self.n // 2 + 1)
        left = Panel(f"A Gaussian filter (s = {self.width:g}) keeps low frequencies", "frequency k", "|F f|")
        left.curve(half, self.before[half], "signal").curve(half, self.after[half], "smoothed")
        right = Panel("Transforms are cheaper for long filters", "n = m", "real multiplications", log="xy")
        right.bound(self.sizes[:-1], self.sizes[:-1] ** 2, "sums: n m")
        return [left, right.series(self.sizes[:-1], 4 * (3 * self.products[1:] + self.sizes[1:]), "three transforms")]
