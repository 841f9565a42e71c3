import torch
from scipy.linalg import circulant
from scipy.linalg import toeplitz as reference
from scipy.optimize import linear_sum_assignment

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, equal, headline, np, param
from headway.lab.tools.layers import applied, convolved, drawn
from headway.layers.convolutions.boundaries import Boundary, Circular, Full, Same, Valid
from headway.layers.convolutions.convolution import Convolution, toeplitz
from headway.layers.convolutions.convolution_2d import Convolution2d, toeplitz_2d
from headway.layers.convolutions.local import Local, dense


def matrix(w: np.ndarray, n: int, boundary: Boundary) -> np.ndarray:
    return applied(lambda taps: toeplitz(taps, n, boundary), w)


def spread(T: np.ndarray) -> np.ndarray:
    """Largest minus smallest entry of every diagonal, those that go round the edge joined."""
    return np.ptp([np.roll(row, -i) for i, row in enumerate(T)], axis=0)


class ConvToeplitz(Experiment):
    """A convolution is a matrix with one number along each diagonal: m free numbers, not n².

        f ∗ h = H f,   H_ts = h_{t-s}  (n + m - 1 rows),      on a circle:  H = circulant(h),  H v_k = (F h)_k v_k

    Whatever is true of matrices holds: waves v_k = e^{2πikt/n} are eigenvectors on a circle, and the transpose, which carries gradients
    back, is the correlation with the same filter. A layer slides its filter without turning it, so its eigenvalues are conj(F w).

    Notes: C, D. Source: Gray, Toeplitz and Circulant Matrices: A Review, 2006, https://doi.org/10.1561/0100000006
    Assumes: the same filter at every place; for eigenvectors that are waves, a periodic signal.
    Also: Toeplitz matrix of a convolution; circulant matrix; transposed convolution.
    """

    n = param(12, "positions of the signal", least=5, most=128)
    m = param(4, "taps of the filter", least=2, most=5)

    def measure(self, rng: Generator) -> Checks:
        n, m = self.n, self.m
        self.w, f = rng.normal(size=m), rng.normal(size=n)
        self.H = matrix(self.w[::-1], n, Full())  # a layer slides the filter: turned around, it convolves
        yield headline(close("H f is the sum f ∗ h", self.H @ f, np.convolve(f, self.w)))
        column, row = np.r_[self.w, np.zeros(n - 1)], np.r_[self.w[0], np.zeros(n - 1)]
        yield equal("H is scipy's Toeplitz matrix", self.H, reference(column, row))
        yield equal("free numbers of H", int(np.linalg.matrix_rank(matrix(np.eye(m), n, Full()).reshape(m, -1))), m)
        rows = [[2, 3, 5, 0, 0], [0, 2, 3, 5, 0], [0, 0, 2, 3, 5], [5, 0, 0, 2, 3], [3, 5, 0, 0, 2]]
        yield equal("the 5 × 5 matrix of w = (2, 3, 5) in the notes", matrix(np.array([2.0, 3, 5]), 5, Circular()), np.array(rows))
        self.circle, waves = matrix(self.w, n, Circular()), np.fft.fft(self.w, n).conj()
        yield equal("on a circle: scipy's circulant", self.circle, circulant(np.r_[self.w, np.zeros(n - m)]).T)
        distance = np.abs(np.linalg.eigvals(self.circle)[:, None] - waves)
        yield close("eigenvalues are conj(F w)", distance[linear_sum_assignment(distance)], 0)
        layer = drawn(Convolution(1, 1, m, Valid()), rng, bias=0)
        x, g = torch.zeros(1, n, 1, dtype=torch.double, requires_grad=True), rng.normal(size=n - m + 1)
        back = torch.autograd.grad(layer(x)[0, :, 0] @ torch.from_numpy(g), x)[0][0, :, 0].numpy()
        taps = layer.weight.detach().numpy()[0, 0]
        yield close("backpropagation is the transposed matrix", back, matrix(taps, n, Valid()).T @ g)
        yield close("which turns the filter around", back, convolved(taps, g))
        picture, flat = rng.normal(size=(1, 1, 6, 5)), drawn(Convolution2d(1, 1, 3, Same()), rng, bias=0)
        T = applied(lambda v: toeplitz_2d(v[0, 0], (6, 5), Same()), flat.weight.detach().numpy())
        yield close("pictures: blocks of Toeplitz matrices", T @ picture.ravel(), applied(flat, picture).ravel())

    def control(self, rng: Generator) -> Checks:
        local = dense(drawn(Local(1, 1, (1, self.n), 1, Full()), rng)).weight.detach().numpy()
        yield because("each place has a filter of its own", close("a locally connected layer: diagonals", spread(local), 0, 1e-3))
        self.same = matrix(self.w, self.n, Same())
        waves = np.fft.ifft(np.fft.fft(self.same, axis=1), axis=0)
        off = np.abs(waves - np.diag(np.diag(waves)))
        yield because("zeros stand beyond the ends", close("zeros at the ends: waves are eigenvectors", off, 0, 1e-3))

    def plots(self) -> list[Panel]:
        top = float(np.abs(self.w).max())
        shown = {"All values": self.H, "On a circle: circulant": self.circle, "Zeros at the ends": self.same}
        return [Panel(name, "input s", "output t").image(T, stretch=False, colours="RdBu", limits=(-top, top)) for name, T in shown.items()]
