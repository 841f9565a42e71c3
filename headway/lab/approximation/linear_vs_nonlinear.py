from headway.lab.checks import at_least, at_most, because, headline, mean_is, slope
from headway.lab.kit import Checks, Experiment, Generator, Panel, math, np, param
from headway.lab.tools.features import cosines, learnt_cosine, matching_pursuit, no_space_is_better, residuals

M = np.array([20, 40, 80, 160, 320, 640])  # dimensions of fixed spaces, and units of the Gaussian
WIDE = 10  # dimension of the Gaussian


class LinearVsNonlinear(Experiment):
    """Features that adapt to the target escape the curse of dimension; fixed features do not.

    Σ_j β_j φ(<w_j, x> + b_j) with fixed (w_j, b_j) is a linear space. For functions with Barron constant C the best M
    adapted units have

        squared error  O(C²/M)  in every dimension,
        any fixed M-dimensional space has the worst-case error  >=  κ (C/d) M^{-1/d}

    (not squared). One adapted cosine learns cos<w*, x> exactly; 200 random cosines are not enough in ten dimensions,
    where they explain nothing, and choosing the best of many helps only a little. A Gaussian is the mean of cosines
    whose frequencies are drawn from its spectrum: M of them have squared error of order 1/M, in ten dimensions as in
    one.

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
        return [(list(d) == sorted(d) and d[0] <= 2 and d[-1] >= 5, "`dimensions` must increase from 1 or 2 to 5 or more")]

    def measure(self, rng: Generator) -> Checks:
        self.curves: dict[tuple[str, int], list[np.ndarray]] = {}
        self.widths = {d: np.array([no_space_is_better(d, int(m)) for m in M]) for d in (1, 2, 3)}
        for d, width in self.widths.items():
            yield slope(f"no fixed space is better, d = {d}: bound in M", M, width, -1 / d, 0.1)
        t = (np.arange(24) + 0.5) / 24  # on this grid the cosines below are orthogonal: the discrete cosine transform
        waves = np.cos(math.pi * np.outer(np.arange(12), t))
        family = np.kron(waves, waves)
        e = family / np.linalg.norm(family, axis=1, keepdims=True)
        x = np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2)
        spaces = {m: np.linalg.qr(cosines(x, m, 2 * self.spread, rng).astype(float))[0] for m in (20, 70)}
        kept = {f"M = {m}": float(np.max(1 - np.sum((e @ q) ** 2, axis=1))) for m, q in spaces.items()}
        yield at_least("N = 144 cosines: one keeps 1 - M/N", kept, [1 - m / len(e) for m in spaces])

    def sample(self, rng: Generator) -> Checks:
        shares, learnt, greedy = [], {}, {}
        for d in self.dimensions:
            x, w = rng.uniform(-1, 1, (self.points, d)), rng.normal(size=d)
            w *= self.norm / np.linalg.norm(w)
            y, columns = np.cos(x @ w), cosines(x, max(self.candidates, self.features), self.spread, rng)
            learnt[f"d = {d}"] = learnt_cosine(w, x, rng) / y.var()
            random = residuals(columns[:, : self.features], y) / y.var()
            best = matching_pursuit(columns, y, self.chosen) / y.var()
            self.curves.setdefault(("random", d), []).append(random)
            self.curves.setdefault(("greedy", d), []).append(best)
            shares.append(random[-1])
            if d > 1:  # on the line both reach the rounding of single precision
                greedy[f"d = {d}"] = best[-1] / random[self.chosen - 1]
        yield headline(at_most("one adapted cosine, learnt: error / variance", learnt, 1e-12, kind="STAT"))
        last = self.dimensions[-1]
        yield at_least(f"{self.features} random cosines, d = {last}: error / variance", shares[-1], 0.5, kind="STAT")
        rising = np.diff(shares)[np.array(shares[:-1]) < 0.5]  # until all of the variance is left
        yield at_least("random cosines: rise of the error with d", rising, 0.0, kind="STAT")
        yield at_most(f"greedy over random choice of {self.chosen}", greedy, 1.0, kind="STAT")
        x = rng.normal(size=(100, WIDE)) / math.sqrt(WIDE)
        square = np.sum(x**2, axis=1)
        errors = []
        for m in M:  # m cos(<w, x>), w ~ N(0, I), have the mean e^{-‖x‖²/2}
            draws = np.cos(rng.normal(size=(40, m, WIDE)) @ x.T).mean(axis=1)
            errors.append(np.mean((draws - np.exp(-square / 2)) ** 2, axis=1))
        self.adapted = np.mean(errors, axis=1)
        exact = float(np.mean((1 + np.exp(-2 * square)) / 2 - np.exp(-square)))
        yield mean_is(f"Gaussian, d = {WIDE}: M times the error of M units", np.array(errors) * M[:, None], exact)

    def control(self, rng: Generator) -> Checks:
        d = self.dimensions[-1]
        x, w = rng.uniform(-1, 1, (self.points, d)), rng.normal(size=d)
        y = np.cos(x @ w * (self.norm / np.linalg.norm(w)))
        told = residuals(np.append(y[:, None], cosines(x, 9, self.spread, rng), axis=1), y)[-1] / y.var()
        check = at_least(f"ten features, d = {d}: error / variance", told, 0.5)
        yield because("the space was chosen after the target", check)
        line = rng.uniform(-1, 1, (self.points, 1))
        y = np.cos(self.norm * line[:, 0])
        share = residuals(cosines(line, self.features, self.spread, rng), y)[-1] / y.var()
        check = at_least(f"{self.features} random cosines, d = 1: error / variance", share, 0.5)
        yield because("on a line all directions are the same", check)

    def plots(self) -> list[Panel]:
        left = Panel("Fixed cosines fail in high dimension", "features M", "squared error / variance", log="xy")
        for d in self.dimensions:
            random, greedy = (np.maximum(np.mean(self.curves[s, d], axis=0), 1e-8) for s in ("random", "greedy"))
            left.curve(np.arange(1, random.size + 1), random, f"random, d = {d}")
            if d == self.dimensions[-1]:
                some = np.unique(np.geomspace(1, greedy.size, 9).astype(int))
                left.control(some, greedy[some - 1], f"greedy, d = {d}")
        left.points([1], [1e-8], "one adapted unit: below 1e-12", size=60)
        right = Panel("Adapted units do not feel d (C = 1)", "units or dimension M", "squared error", log="xy")
        right.series(M, {f"any space, d = {d}": width**2 for d, width in self.widths.items()})
        C = math.sqrt(2) * math.gamma((WIDE + 1) / 2) / math.gamma(WIDE / 2)  # Barron's constant of the Gaussian
        return [left, right.series(M, self.adapted / C**2, f"adapted, d = {WIDE}")]
