from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, math, monotone, np, param,
    printed,
)
from headway.layers.positions.sinusoidal import Sinusoidal


class PosencRotation(Experiment):
    """Sinusoidal positions turn: a shift by k is one rotation, the same at every position.

        PE(p) = (sin ω_0 p, cos ω_0 p, sin ω_1 p, …),    ω_i = 10000^(-2i/d), i = 0 … d/2 - 1
        PE(p + k) = R_k PE(p),    PE(p)·PE(q) = Σ_i cos(ω_i (p - q)),    |PE(p)|² = d/2

    since each pair of a sine and a cosine has one frequency. So similarity depends on the distance only and is largest at 0. The
    encoding is defined for every p; whether a model works there is another question.

    Notes: A, C, D. Source: Vaswani et al. 2017, section 3.5, https://arxiv.org/abs/1706.03762
    Assumes: sine and cosine of a pair share a frequency; frequencies are at most 1.
    Also: sinusoidal positional encoding is a rotation; relative positions by rotation.
    """

    pairs = param(32, "of a sine and a cosine, d/2", least=16, most=64)
    n = param(400, "positions that are compared in pairs", least=300, most=1000)
    shifts = param((1, 7, 100, 4096), "shifts k", least=1, most=10**5)
    far = param(10_000, "distances that are told apart", least=100, most=20_000)

    def measure(self, rng: Generator) -> Checks:
        d = 2 * self.pairs
        layer = Sinusoidal(d, longest=0).double()
        self.pe = pe = layer(self.n).numpy()
        w = np.exp(-np.arange(0, d, 2) / d * math.log(1e4))
        z = pe[:, 1::2] + 1j * pe[:, ::2]  # e^{iωp}
        moved = {k: layer(self.n, offset=k).numpy() for k in self.shifts}
        gap = [np.abs(m[:, 1::2] + 1j * m[:, ::2] - z * np.exp(1j * w * k)).max() for k, m in moved.items()]
        yield headline(at_most("|PE(p + k) - R_k PE(p)| for each shift", gap, 1e-10))
        self.lags = np.arange(self.n)
        self.gram, cosines = pe @ pe.T, np.cos(np.outer(self.lags, w)).sum(1)
        yield close("PE(p)·PE(q) = Σ cos ω(p - q), |PE(p)|² = d/2", self.gram, cosines[np.abs(self.lags[:, None] - self.lags)])
        yield monotone("similarity at the distances 0, 1, 2, 3", cosines[:4], "falls")
        yield at_least("similarity of neighbours, over that at the distance 0", cosines[1] / cosines[0], 0.9)
        apart = d - 2 * np.cos(np.outer(np.arange(1, self.far + 1), w)).sum(1)
        yield at_least(f"|PE(p) - PE(q)|² for distances up to {self.far}: that of neighbours", apart, apart[0], rounding=1e-9)
        yield close("shortest wavelength 2π", 2 * math.pi / math.atan2(pe[1, 0], pe[1, 1]), 2 * math.pi)
        yield at_most("residual of the best linear map from PE(p) to PE(p + 1)", residual(pe), 1e-9)

    def control(self, rng: Generator) -> Checks:
        p, k, d = np.arange(self.n)[:, None], np.arange(2 * self.pairs), 2 * self.pairs
        self.wrong = np.where(k % 2 == 0, np.sin(p * 1e4 ** (k / d)), np.cos(p * 1e4 ** (k / d)))
        yield printed(at_most("ω_k = 10000^(k/d): residual of the best linear map", residual(self.wrong), 1e-9), "C22")
        apart = np.where(k % 2 == 0, np.sin(p * 1e4 ** (-k / d)), np.cos(p * 1e4 ** (-k / d)))
        yield because("sine and cosine of a pair have different frequencies", close("|PE(p)|² = d/2", (apart**2).sum(1), d / 2))
        fast = np.cos(1e4 ** (np.arange(0, d, 2) / d)).mean()
        check = at_least("similarity of neighbours, over that at the distance 0", fast, 0.9)
        yield because("frequencies 10000^(2i/d) of more than 1 wrap around between positions", check)
        yield printed(close("exponents 2i/d from i = 1: shortest wavelength", 2 * math.pi * 1e4 ** (2 / d), 2 * math.pi), "A15")

    def plots(self) -> list[Panel]:
        shown = 60
        one = Panel("Each pair has its own speed", "column", "position p").image(self.pe[:shown], colours="RdBu")
        two = Panel("Similarity PE(p)·PE(q)", "position q", "position p").image(self.gram[:shown, :shown])
        three = Panel("It depends on the distance", "distance p - q", "PE(p)·PE(q)")
        three.curve(self.lags[:shown], self.gram[0, :shown], "ω = 10000^(-2i/d)")
        return [one, two, three.control(self.lags[:shown], (self.wrong @ self.wrong.T)[0, :shown], "as printed in C")]


def residual(pe: np.ndarray) -> float:
    """The relative error of the best linear map from each row to the next."""
    R = np.linalg.lstsq(pe[:-1], pe[1:], rcond=None)[0]
    return float(np.linalg.norm(pe[:-1] @ R - pe[1:]) / np.linalg.norm(pe[1:]))
