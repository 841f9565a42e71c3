from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, mean_is, np, param, slope
from headway.lab.tools.features import (
    cosines, gaussian_draws, learnt_cosine, matching_pursuit, no_space_is_better, residuals, wave, worst_cosine,
)
from headway.lab.tools.gaussians import barron_constant

M = np.array([20, 40, 80, 160, 320, 640])  # dimensions of fixed spaces, and units of the Gaussian
NORM, SPREAD, WIDE = 10.0, 5.0, 10  # ‖w*‖ of the target, deviation of random frequencies, dimension of the Gaussian


class LinearVsNonlinear(Experiment):
    """Features that adapt to the target escape the curse of dimension; fixed features do not.

    Σ_j β_j φ(<w_j, x> + b_j) with fixed (w_j, b_j) is a linear space. For functions with Barron constant C the best M adapted units have

        squared error  O(C²/M)  in every dimension,
        any fixed M-dimensional space has the worst-case error  >=  κ (C/d) M^{-1/d}

    (not squared). One adapted cosine learns cos<w*, x> exactly; 200 random cosines explain nothing of it in ten dimensions, and the best of
    many little more. A Gaussian is the mean of cosines with frequencies from its spectrum: M of them err by O(1/M), in any dimension.

    Notes: D. Source: Barron 1993, theorems 1 and 6, https://doi.org/10.1109/18.256500
    Assumes: fixed features do not know the target; it has a random direction. Also: fixed versus adapted features; random features.
    """

    dimensions = param((1, 2, 5, 10), "the dimensions d, the last from 5 on", least=1, most=12, small=(1, 2, 10))
    features = param(200, "size M of the largest random-feature space", least=150, most=400)
    candidates = param(2000, "features that the greedy method chooses from", least=400, most=4000, small=400)
    chosen = param(60, "how many it chooses", least=20, most=100, small=30)
    points = param(4000, "of the cube [-1, 1]^d for least squares", least=1600, most=8000, small=1600)
    cost = "M"

    def conditions(self) -> list[tuple[bool, str]]:
        reach = self.dimensions[0] <= 2 and self.dimensions[-1] >= 5
        return [(reach, "`dimensions` must reach from 1 or 2 to 5 or more")]

    def measure(self, rng: Generator) -> Checks:
        self.curves: list[tuple[dict[int, np.ndarray], dict[int, np.ndarray]]] = []  # random, greedy, for each seed
        self.widths = {d: np.array([no_space_is_better(d, int(m)) for m in M]) for d in (1, 2, 3)}
        for d, width in self.widths.items():
            yield slope(f"no fixed space is better, d = {d}: bound in M", M, width, -1 / d, 0.1)
        found, bounds = [worst_cosine(m, SPREAD, rng) for m in (10, 20)], [no_space_is_better(2, m) for m in (10, 20)]
        yield at_least("d = 2: worst error of 10 and 20 random cosines, that bound", found, bounds)

    def sample(self, rng: Generator) -> Checks:
        random, best, learnt = {}, {}, {}
        for d in self.dimensions:
            x, w, y = wave(d, NORM, self.points, rng)
            columns = cosines(x, max(self.candidates, self.features), SPREAD, rng)
            learnt[f"d = {d}"] = learnt_cosine(w, x, rng) / y.var()
            random[d] = residuals(columns[:, : self.features], y) / y.var()
            best[d] = matching_pursuit(columns, y, self.chosen) / y.var()
        self.curves.append((random, best))
        yield headline(at_most("one adapted cosine, learnt: error / variance", learnt, 1e-12, kind="STAT"))
        shares = np.array([errors[-1] for errors in random.values()])
        yield at_least(f"{self.features} random cosines, d = {d}: error / variance", shares[-1], 0.5, kind="STAT")
        rising = np.diff(shares)[shares[:-1] < 0.5]  # until all of the variance is left
        yield at_least("random cosines: rise of the error with d", rising, 0.0, kind="STAT")
        greedy = {k: best[k][-1] / random[k][self.chosen - 1] for k in best if k > 1}  # on the line both reach rounding
        yield at_most(f"greedy over random choice of {self.chosen}, by d", greedy, 1.0, kind="STAT")
        errors, exact = gaussian_draws(rng.normal(size=(100, WIDE)) / WIDE**0.5, M, 40, rng)
        self.adapted = errors.mean(axis=1)
        yield mean_is(f"Gaussian, d = {WIDE}: M times the error of M units", errors * M[:, None], exact)

    def control(self, rng: Generator) -> Checks:
        x, _, y = wave(self.dimensions[-1], NORM, self.points, rng)
        told = residuals(np.append(y[:, None], cosines(x, 9, SPREAD, rng), axis=1), y)[-1] / y.var()
        yield because("the space was chosen after the target", at_least("ten features", told, 0.5))
        x, _, y = wave(1, NORM, self.points, rng)
        share = residuals(cosines(x, self.features, SPREAD, rng), y)[-1] / y.var()
        yield because("d = 1: all directions are the same", at_least(f"{self.features} random cosines", share, 0.5))

    def plots(self) -> list[Panel]:
        left = Panel("Fixed cosines fail in high dimension", "features M", "squared error / variance", log="xy")
        for d in self.dimensions:
            mean = np.mean([random[d] for random, _ in self.curves], axis=0)
            left.curve(np.arange(1, self.features + 1), np.maximum(mean, 1e-8), f"random, d = {d}")
        some = np.unique(np.geomspace(1, self.chosen, 9).astype(int))
        left.control(some, np.mean([best[d] for _, best in self.curves], axis=0)[some - 1], f"greedy, d = {d}")
        left.points([1], [1e-12], "one adapted unit: this or less", size=60)
        right = Panel("Adapted units do not feel d (C = 1)", "units or dimension M", "squared error", log="xy")
        right.series(M, {f"any space, d = {d}": width**2 for d, width in self.widths.items()})
        return [left, right.series(M, self.adapted / barron_constant(WIDE) ** 2, f"adapted, d = {WIDE}")]
