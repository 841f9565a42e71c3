from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, math, mean_is, np, param, slope
from headway.lab.tools.features import (
    cosines, gaussian_draws, learnt_cosine, matching_pursuit, no_space_is_better, residuals, wave, worst_cosine,
)

M = np.array([20, 40, 80, 160, 320, 640])  # dimensions of fixed spaces, and units of the Gaussian
WIDE = 10  # dimension of the Gaussian


class LinearVsNonlinear(Experiment):
    """Features that adapt to the target escape the curse of dimension; fixed features do not.

    Σ_j β_j φ(<w_j, x> + b_j) with fixed (w_j, b_j) is a linear space. For functions with Barron constant C the best M adapted units have

        squared error  O(C²/M)  in every dimension,
        any fixed M-dimensional space has the worst-case error  >=  κ (C/d) M^{-1/d}

    (not squared). One adapted cosine learns cos<w*, x> exactly; 200 random cosines are not enough in ten dimensions, where they explain
    nothing, and choosing the best of many helps only a little. A Gaussian is the mean of cosines whose frequencies are drawn from its
    spectrum: M of them have squared error of order 1/M, in ten dimensions as in one.

    Notes: D. Source: Barron 1993, theorems 1 and 6, https://doi.org/10.1109/18.256500
    Assumes: fixed features do not depend on the target; the frequency of the target has a random direction.
    Also: fixed versus adapted features; random features.
    """

    dimensions = param((1, 2, 5, 10), "the dimensions d, the last from 5 on", least=1, most=12, small=(1, 2, 10))
    norm = param(10.0, "‖w*‖ of the target cos<w*, x>", least=8.0, most=12.0)
    spread = param(5.0, "standard deviation of the random frequencies", least=4.0, most=6.0)
    features = param(200, "size M of the largest random-feature space", least=150, most=400)
    candidates = param(2000, "features that the greedy method chooses from", least=400, most=4000, small=400)
    chosen = param(60, "how many it chooses", least=20, most=100, small=30)
    points = param(4000, "of the cube [-1, 1]^d for least squares", least=1600, most=8000, small=1600)
    cost = "M"

    def conditions(self) -> list[tuple[bool, str]]:
        d = self.dimensions
        return [(d[0] <= 2 and d[-1] >= 5, "`dimensions` must reach from 1 or 2 to 5 or more")]

    def measure(self, rng: Generator) -> Checks:
        self.curves: dict[tuple[str, int], list[np.ndarray]] = {}  # by strategy and dimension, one for each seed
        self.widths = {d: np.array([no_space_is_better(d, int(m)) for m in M]) for d in (1, 2, 3)}
        for d, width in self.widths.items():
            yield slope(f"no fixed space is better, d = {d}: bound in M", M, width, -1 / d, 0.1)
        found, bounds = zip(*[(worst_cosine(m, self.spread, rng), no_space_is_better(2, m)) for m in (10, 20)], strict=True)
        yield at_least("d = 2: worst error of 10 and 20 random cosines, that bound", found, bounds)

    def sample(self, rng: Generator) -> Checks:
        shares, learnt, greedy, last = [], {}, {}, self.dimensions[-1]
        for d in self.dimensions:
            x, w, y = wave(d, self.norm, self.points, rng)
            columns = cosines(x, max(self.candidates, self.features), self.spread, rng)
            learnt[f"d = {d}"] = learnt_cosine(w, x, rng) / y.var()
            random = residuals(columns[:, : self.features], y) / y.var()
            best = matching_pursuit(columns, y, self.chosen) / y.var()
            self.curves.setdefault(("random", d), []).append(random)
            self.curves.setdefault(("greedy", d), []).append(best)
            shares.append(random[-1])
            if d > 1:  # on the line both reach the rounding of single precision
                greedy[f"d = {d}"] = best[-1] / random[self.chosen - 1]
        yield headline(at_most("one adapted cosine, learnt: error / variance", learnt, 1e-12, kind="STAT"))
        yield at_least(f"{self.features} random cosines, d = {last}: error / variance", shares[-1], 0.5, kind="STAT")
        rising = np.diff(shares)[np.array(shares[:-1]) < 0.5]  # until all of the variance is left
        yield at_least("random cosines: rise of the error with d", rising, 0.0, kind="STAT")
        yield at_most(f"greedy over random choice of {self.chosen}", greedy, 1.0, kind="STAT")
        errors, exact = gaussian_draws(rng.normal(size=(100, WIDE)) / math.sqrt(WIDE), M, 40, rng)
        self.adapted = errors.mean(axis=1)
        yield mean_is(f"Gaussian, d = {WIDE}: M times the error of M units", errors * M[:, None], exact)

    def control(self, rng: Generator) -> Checks:
        d = self.dimensions[-1]
        x, _, y = wave(d, self.norm, self.points, rng)
        told = residuals(np.append(y[:, None], cosines(x, 9, self.spread, rng), axis=1), y)[-1] / y.var()
        check = at_least(f"ten features, d = {d}: error / variance", told, 0.5)
        yield because("the space was chosen after the target", check)
        x, _, y = wave(1, self.norm, self.points, rng)
        share = residuals(cosines(x, self.features, self.spread, rng), y)[-1] / y.var()
        check = at_least(f"{self.features} random cosines, d = 1: error / variance", share, 0.5)
        yield because("on a line all directions are the same", check)

    def plots(self) -> list[Panel]:
        left = Panel("Fixed cosines fail in high dimension", "features M", "squared error / variance", log="xy")
        mean = {key: np.maximum(np.mean(found, axis=0), 1e-8) for key, found in self.curves.items()}
        for d in self.dimensions:
            left.curve(np.arange(1, self.features + 1), mean["random", d], f"random, d = {d}")
        some = np.unique(np.geomspace(1, self.chosen, 9).astype(int))
        left.control(some, mean["greedy", d][some - 1], f"greedy, d = {d}")
        left.points([1], [1e-8], "one adapted unit: below 1e-12", size=60)
        right = Panel("Adapted units do not feel d (C = 1)", "units or dimension M", "squared error", log="xy")
        right.series(M, {f"any space, d = {d}": width**2 for d, width in self.widths.items()})
        C = math.sqrt(2) * math.gamma((WIDE + 1) / 2) / math.gamma(WIDE / 2)  # Barron's constant of the Gaussian
        return [left, right.series(M, self.adapted / C**2, f"adapted, d = {WIDE}")]
