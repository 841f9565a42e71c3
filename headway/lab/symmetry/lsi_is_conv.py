from torch import nn

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, equal, headline, np, param, printed
from headway.lab.tools.layers import applied, convolved, drawn
from headway.layers.convolutions.boundaries import Boundary, Circular, Same
from headway.layers.convolutions.convolution import Convolution, toeplitz


def shift(n: int) -> np.ndarray:
    """S with (S f)_t = f_{t-1}, on a circle."""
    return np.roll(np.eye(n), 1, 0)


def circulant(h: np.ndarray) -> np.ndarray:
    """Σ_k h_k S^k."""
    return np.sum([c * np.linalg.matrix_power(shift(len(h)), k) for k, c in enumerate(h)], 0)


class LsiIsConv(Experiment):
    """A linear map that commutes with the cyclic shift is a convolution with what it makes of a single impulse.

        M S = S M   <=>   M = Σ_k h_k S^k,   h = M e_0,      and then   F M F^{-1} = diag(F h)

    Because e_k = S^k e_0, the answer M e_k = S^k M e_0 to every impulse is the first one, shifted. Of n² numbers n are free.

    Notes: C. Source: Davis, Circulant Matrices, 1979, theorem 3.1.1, https://archive.org/details/circulantmatrice0000davi
    Assumes: the map is linear; it commutes with shifts; signals are periodic (or square summable, where the kernel is a sequence).
    Also: linear shift-equivariant maps; LSI systems; impulse response.
    """

    n = param(12, "positions on the circle", least=4, most=64)
    dimension = param(7, "the largest size whose commutant is found from MS = SM", least=3, most=12, small=5)
    kernel = param(3, "taps of each layer of the black box", least=2, most=4)

    def network(self, boundary: Boundary, rng: Generator, bend: bool = False, bias: float = 0.0) -> nn.Sequential:
        first, last = Convolution(1, 3, self.kernel, boundary), Convolution(3, 1, self.kernel, boundary)
        return drawn(nn.Sequential(first, nn.ReLU() if bend else nn.Identity(), last), rng, bias)

    def surprise(self, net: nn.Module, rng: Generator) -> tuple[np.ndarray, np.ndarray]:
        """What the map makes of random signals, and what its answer to one impulse says it should."""
        f, h = rng.normal(size=(20, self.n)), applied(net, np.eye(self.n)[:1, :, None])[0, :, 0]
        return applied(net, f[..., None])[..., 0], convolved(h, f, Circular())

    def measure(self, rng: Generator) -> Checks:
        n, S = self.n, shift(self.n)
        self.M = rng.normal(size=(n, n))
        self.P = np.mean([np.roll(self.M, (-k, -k), (0, 1)) for k in range(n)], 0)  # of S^{-k} M S^k, over k
        yield headline(close("M that commutes with S, from its first column", self.P, circulant(self.P[:, 0])))
        yield close("it does commute", self.P @ S, S @ self.P)
        yield close("F M F⁻¹ is diag(F h)", np.abs(np.fft.fft(np.fft.ifft(self.P, axis=1), axis=0) - np.diag(np.fft.fft(self.P[:, 0]))), 0)
        sizes = range(3, self.dimension + 1)
        ranks = [np.linalg.matrix_rank(np.kron(np.eye(k), shift(k)) - np.kron(shift(k).T, np.eye(k))) for k in sizes]
        yield equal("equations in MS = SM: n² - n", np.array(ranks), [k * k - k for k in sizes])
        yield close("a black box of two layers, from one impulse", *self.surprise(self.network(Circular(), rng), rng))
        found = applied(lambda w: toeplitz(w, n, Circular()), rng.normal(size=self.kernel))
        yield close("the matrix of a layer is a circulant", found, circulant(found[:, 0]))

    def control(self, rng: Generator) -> Checks:
        first = circulant(self.M[:, 0])
        yield because("it does not commute with S", close("a random matrix, from its first column", self.M, first, 1e-3))
        pair = self.surprise(self.network(Circular(), rng, bend=True, bias=1.0), rng)
        yield because("it is not linear", close("with ReLU and bias, from one impulse", *pair, 1e-3))
        pair = self.surprise(self.network(Same(), rng), rng)
        yield because("zeros at the ends tell places apart", close("zeros at the ends, from one impulse", *pair, 1e-3))
        t = (np.arange(1000) + 0.5) / 1000 - 0.5
        error = [1 - np.mean(np.cos(2 * np.pi / e * (e * t))) for e in (1, 0.1, 0.01)]  # a box of width e on cos(2πx/e), at 0
        yield printed(close("on ℝ: the identity, by boxes of width 1, 0.1, 0.01", error, np.zeros(3), 0.5), "C16")

    def plots(self) -> list[Panel]:
        top = float(np.abs(self.M).max())
        left = Panel("Any matrix ...", "column", "row").image(self.M, colours="RdBu", limits=(-top, top), stretch=False)
        right = Panel("... averaged over shifts is a convolution", "column", "row")
        return [left, right.image(self.P, colours="RdBu", limits=(-top / 3, top / 3), stretch=False)]
