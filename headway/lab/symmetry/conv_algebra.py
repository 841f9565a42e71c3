from scipy.signal import convolve2d

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, equal, headline, np, param
from headway.lab.tools.layers import applied, convolved, correlated, one_filter
from headway.layers.convolutions.boundaries import Full, Same

F, H = np.array([1, 2, 3]), np.array([1, 0, 0])


def times(f: np.ndarray, h: np.ndarray) -> np.ndarray:
    """f ∗ h of integers; of pictures through the layer, with the filter turned around."""
    if f.ndim == 1:
        return convolved(f, h)
    return applied(one_filter(f[::-1, ::-1], Full()), h[None, None].astype(float))[0, 0].astype(int)


class ConvAlgebra(Experiment):
    """Convolution is a product: commutative, associative, bilinear, with the unit δ; lengths n and m give n + m - 1.

        (f ∗ h)[u] = Σ_t f[t] h[u - t],      f ∗ h = h ∗ f,      (f ∗ h) ∗ g = f ∗ (h ∗ g),      δ ∗ f = f

    The sum runs over all pairs of indices that add up to u, which is how polynomials are multiplied: f and h are lists of coefficients.
    Cross-correlation, Σ_t f[t] h[u + t], pairs indices by their difference and loses both laws.

    Notes: C, D. Source: Oppenheim and Schafer, Discrete-Time Signal Processing, section 2.4, https://dsp-book.narod.ru/DSPMW/02.PDF
    Assumes: the filter is turned around; the whole result is kept (n + m - 1 values).
    Also: algebra of convolution; convolution is commutative and associative.
    """

    n = param(12, "values of the first signal", least=2, most=200)
    m = param(5, "values of the second", least=2, most=200)
    side = param(4, "rows and columns of the pictures", least=2, most=24)
    trials = param(20, "triples of random signals", least=1, most=200, small=5)

    def measure(self, rng: Generator) -> Checks:
        n, m, s = self.n, self.m, self.side
        self.triples = [[rng.integers(-9, 10, size) for size in (n, m, m + 1)] for _ in range(self.trials)]
        pictures = [list(rng.integers(-9, 10, (3, s, s))) for _ in range(self.trials)]
        for name, cases in (("signals", self.triples), ("pictures", pictures)):
            ab, ba = (np.stack([times(t[i], t[1 - i]) for t in cases]) for i in (0, 1))
            row = equal(f"f ∗ h = h ∗ f, {name}", ab, ba)
            yield headline(row) if name == "signals" else row
            left = np.stack([times(times(f, h), g) for f, h, g in cases])
            yield equal(f"(f ∗ h) ∗ g = f ∗ (h ∗ g), {name}", left, np.stack([times(f, times(h, g)) for f, h, g in cases]))
        f, h = np.array([t[0] for t in self.triples]), self.triples[0][1]
        sums = np.stack([3 * times(a, h) - 2 * times(b, h) for a, b in zip(f, f[::-1], strict=True)])
        mixed = np.stack([times(3 * a - 2 * b, h) for a, b in zip(f, f[::-1], strict=True)])
        yield equal("(3 f - 2 g) ∗ h = 3 f ∗ h - 2 g ∗ h", mixed, sums)
        yield equal("δ ∗ f = f", np.stack([times(np.array([1]), a) for a in f]), f)
        found = np.stack([times(a, h) for a in f])
        yield equal("n + m - 1 values, as numpy convolves signals", found, np.stack([np.convolve(a, h) for a in f]))
        found = np.stack([times(a, b) for a, b, _ in pictures])
        yield equal("as scipy convolves pictures", found, np.stack([convolve2d(a, b) for a, b, _ in pictures]))

    def control(self, rng: Generator) -> Checks:
        flip = "the filter is not turned around"
        yield because(flip, equal("f ⋆ h = h ⋆ f for [1, 2, 3] and [1, 0, 0]", correlated(F, H), correlated(H, F)))
        f, h, g = self.triples[0]
        both = correlated(correlated(f, h), g), correlated(f, correlated(h, g))
        yield because(flip, equal("(f ⋆ h) ⋆ g = f ⋆ (h ⋆ g)", *both))
        cut = convolved(h, convolved(g, f, Same()), Same()), convolved(times(h, g), f, Same())
        yield because("only the n values in the middle are kept", equal("h ∗ (g ∗ f) = (h ∗ g) ∗ f", *cut))

    def plots(self) -> list[Panel]:
        u = np.arange(5)
        left = Panel("Convolution: the order does not matter", "u", "value").target(u, times(F, H), "f ∗ h")
        right = Panel("Cross-correlation: it does", "u", "value").series(u, correlated(F, H), "f ⋆ h")
        return [left.series(u, times(H, F), "h ∗ f"), right.control(u, correlated(H, F), "h ⋆ f")]
