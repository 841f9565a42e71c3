from scipy.special import pdtrc

from headway.lab.checks import loglog_slope
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param
from headway.lab.tools.curves import sine
from headway.lab.tools.features import residual
from headway.lab.tools.kernels import chebyshev, gaussian, gaussian_features, gaussian_ridge, gaussian_tail

GAMMA, RIDGE, SINE = 10.0, 1e-12, sine(5)  # γ and λ of the kernel ridge regression
SMOOTH = {10: 1.2e-2, 20: 9.6e-5, 30: 1.1e-7}  # its largest error for sin 5x, by number of nodes
KINK = {10: 0.127, 20: 0.048, 30: 0.033}  # for |x|


class GaussKernel(Experiment):
    """The Gaussian kernel has infinitely many features that die out fast; its spans approximate smooth functions fast.

        exp(-γ(x-z)²) = Σ_k φ_k(x) φ_k(z),      φ_k(x) = e^{-γx²} sqrt((2γ)^k / k!) x^k

    For |x|, |z| <= R and t = 2γR² the remainder after K is largest at x = z = R, where it is P(Poisson(t) > K), and

        P(Poisson(t) > K) <= t^{K+1} / (K+1)! * 1/(1 - t/(K+2)),      K + 2 > t.

    So the eigenvalues of a Gram matrix fall like that too. Ridge regression at n Chebyshev nodes of [-1, 1] approaches sin 5x faster than
    any power of 1/n, until rounding: the slope in log-log grows steeper. For |x|, which is not smooth, it is slow (no rate is claimed).

    Notes: A. Source: Steinwart, Hush, Scovel 2006, https://doi.org/10.1109/TIT.2006.881713; Micchelli, Xu, Zhang 2006, Universal Kernels
    Assumes: a compact interval; K + 2 > t; the target is smooth (for the fast rate).
    Deviates: errors are the largest on 4001 points; for sin 5x and n = 30, |u''| <= √12 γ ‖u‖ in the kernel's space certifies it.
    Also: Gaussian kernel; RBF kernel features; universal kernel.
    """

    truncations = param(20, "K = 0 … truncations", least=8, most=50)
    shapes = param((0.5, 1.0, 2.0), "γ of the truncated series on [-1, 1]", least=0.05, most=4.0)
    nodes = param((5, 10, 15, 20, 25, 30, 40, 60, 80), "Chebyshev nodes n", least=4, most=200, small=(10, 20, 30, 40))

    def measure(self, rng: Generator) -> Checks:
        K, x, series, rest, self.tails = np.arange(self.truncations + 1), rng.uniform(-1, 1, 60), [], {}, {}
        for g in self.shapes:
            terms, edge = gaussian_features(x, 90, g), gaussian_features(np.ones(1), 90, g)[0] ** 2
            series.append(terms @ terms.T - gaussian(x, x, g))
            self.tails[g] = np.array([edge[k + 1 :].sum() for k in K])  # at x = z = 1, without cancellation
            rest[f"γ = {g:g}"] = [np.max(np.abs(terms[:, k + 1 :] @ terms[:, k + 1 :].T)) for k in K]
        yield close("ninety features minus the kernel", series, 0.0)
        tails = [tail / pdtrc(K, 2 * g) for g, tail in self.tails.items()]
        yield close("remainder at x = z = 1 over scipy's Poisson tail", tails, 1.0, 1e-9)
        yield at_most("remainder at other points against that at x = z = 1", rest, self.tails)
        found, limits = {g: t[7:] for g, t in self.tails.items()}, [gaussian_tail(K[7:], 2 * g) for g in self.tails]
        yield headline(at_most(f"remainder against the bound, K = 7 … {K[-1]}, by γ", found, limits))
        x = chebyshev(40)
        self.spectrum = np.linalg.eigvalsh(gaussian(x, x, GAMMA))[::-1]
        size = np.sum(gaussian_features(x, 150, GAMMA) ** 2, axis=0)
        self.limit = np.array([size[j:].sum() for j in range(1, 40)])  # the trace of the rest after j features
        yield at_most("eigenvalue j + 1 of a Gram matrix against that rest", self.spectrum[1:], self.limit)
        sizes, fits = sorted({*self.nodes, 10, 20, 30}), {}
        for name, f, published in (("sin 5x", SINE, SMOOTH), ("|x|", np.abs, KINK)):
            fits[name] = {n: gaussian_ridge(f, n, GAMMA, RIDGE)[0] for n in sizes}
            ratio = [fits[name][n] / e for n, e in published.items()]
            yield close(f"{name}: errors over published ones, n = 10, 20, 30", ratio, 1.0, 0.05)
        self.errors = {name: [found[n] for n in self.nodes] for name, found in fits.items()}
        first, last = (loglog_slope(pair, [fits["sin 5x"][n] for n in pair])[0] for pair in ((10, 20), (20, 30)))
        yield at_most("sin 5x: slope from n = 20 to 30 against that from 10 to 20", last, first)
        error, norm = gaussian_ridge(SINE, 30, GAMMA, RIDGE, 80_001)
        certified = error + (2 / 80_000) ** 2 / 8 * (12**0.5 * GAMMA * norm + 25)
        yield at_most("sin 5x, n = 30: sup error, certified", certified, 1e-6)

    def control(self, rng: Generator) -> Checks:
        error = gaussian_ridge(np.abs, 30, GAMMA, RIDGE)[0]
        yield because("|x| is not smooth", at_most("n = 30: largest error", error, 1e-6))
        left = np.sqrt(residual(gaussian_features(chebyshev(30), 5, GAMMA), SINE(chebyshev(30))))
        yield because("six features are used", at_most("sin 5x: their best fit, root mean square error", left, 1e-6))

    def resolution(self, rng: Generator) -> Checks:
        g, K = self.shapes[-1], np.arange(7, self.truncations + 1)
        yield at_most("the bound with t = γR² in place of 2γR²", self.tails[g][7:], gaussian_tail(K, g))

    def plots(self) -> list[Panel]:
        left = Panel(f"Smooth is fast, γ = {GAMMA:g}", "nodes n", "largest error on 4001 points", log="xy")
        right = Panel("Eigenvalues of a Gram matrix die out", "number of the eigenvalue", "eigenvalue", log="y")
        right.series(np.arange(1, 41), np.where(self.spectrum > 1e-17, self.spectrum, np.nan), "eigenvalues, 40 nodes")
        right.bound(np.arange(2, 41), self.limit, "rest of the features").limits(y=(1e-18, 1e3))
        return [left.series(self.nodes, self.errors), right]
