from collections.abc import Callable

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, monotone, np, param
from headway.lab.tools import intrinsic_dimension as dim
from headway.lab.tools import manifolds

TOYS = {
    "sinusoid": (1, manifolds.sinusoid(5, 1.0)),
    "Swiss roll": (2, manifolds.swiss_roll),
    "Möbius strip": (2, manifolds.moebius),
    "cube": (10, manifolds.cube(10)),
}
ESTIMATORS: dict[str, Callable[[dim.Distances], float]] = {
    "Hein-Audibert": dim.hein_audibert,
    "correlation": dim.correlation,
    "Takens": dim.takens,
    "Levina-Bickel": dim.levina_bickel,
    "TwoNN": dim.two_nn,
}
FEW = 3  # dimensions in which 600 points are dense


class HeinAudibert(Experiment):
    """Distances between random points of a manifold tell its dimension, whatever the space around it.

    On a manifold of dimension m the share of pairs at a distance below h grows like h^m, so that for small h

        U_l(h) = 2/(n (n - 1)) Σ_{i<j} h^{-l} k(|x_i - x_j|²/h²)  ~  h^{m - l},      k(t) = (1 - t)_+ .

    The estimate is the l for which U_l does not change when the sample is cut in two to five parts, and h grows accordingly. In many
    dimensions no sample is dense: 600 points on S¹² have their nearest neighbours almost as far as all others, and every estimate is low.

    Notes: B. Source: Hein, Audibert 2005, Intrinsic dimensionality estimation of submanifolds, https://doi.org/10.1145/1102351.1102388
    Assumes: independent points of a smooth manifold; a density that is bounded away from 0 and infinity; no noise across it.
    Deviates: one sample of 600 points misses dimension 5 in one case of five, so the mean of several samples is compared from there on.
    Also: intrinsic dimension; correlation dimension; Takens estimator; Levina-Bickel; TwoNN.
    """

    cost = "M"
    dimensions = param((1, 2, 3, 5, 7, 9, 12), "of the spheres S^d", least=1, most=15, count=4, small=(1, 2, 3, 5, 7))
    points = param(600, "of each sample", least=500, most=3000)
    repeats = param(8, "samples of each manifold", least=8, most=30)

    def conditions(self) -> list[tuple[bool, str]]:
        several = sum(d >= FEW for d in self.dimensions) > 1
        return [(min(self.dimensions) <= FEW and several, f"dimensions need one that is at most {FEW} and two from {FEW} on")]

    def measure(self, rng: Generator) -> Checks:
        self.d = np.array(sorted(self.dimensions))
        drawn = {f"S{d}": (int(d), manifolds.sphere(int(d))) for d in self.d} | TOYS
        times = range(self.repeats)
        seen = {name: [dim.survey(draw(self.points, rng)) for _ in times] for name, (_, draw) in drawn.items()}
        self.found = {e: {name: np.array([f(s) for s in seen[name]]) for name in drawn} for e, f in ESTIMATORS.items()}
        self.slopes = {f"S{d}": np.mean([dim.slopes(s, 12) for s in seen[f"S{d}"]], axis=0) for d in self.d[1:5:2]}
        ours = self.found["Hein-Audibert"]
        few = np.array([np.median(ours[name]) - d for name, (d, _) in drawn.items() if d <= FEW])
        yield headline(equal("Hein-Audibert, d ≤ 3, median of the samples: error", few, np.zeros(few.size)))
        means = {name: ours[name].mean() / d for name, (d, _) in drawn.items() if d > FEW}
        yield at_least("d > 3: mean estimate / d", means, 0.77)
        yield at_most("d > 3: mean estimate / d, from above", means, 1.08)
        errors = {e: [abs(found[f"S{d}"].mean() / d - 1) for d in self.d if d <= FEW] for e, found in self.found.items()}
        yield at_most("all five, spheres with d ≤ 3: relative error", errors, 0.12)
        missing = [d - self.found["Levina-Bickel"][f"S{d}"].mean() for d in self.d if d >= FEW]
        yield monotone("Levina-Bickel: what is missing, from d = 3 on", missing, "rises")
        x = manifolds.sphere(FEW)(self.points, rng)
        wide = dim.survey(manifolds.into(x, 100, rng))
        error = [abs(f(wide) / f(dim.survey(x)) - 1) for f in ESTIMATORS.values()]
        yield at_most("S3 in 100 dimensions instead of 4: relative change", error, 2e-3)

    def control(self, rng: Generator) -> Checks:
        x = manifolds.into(manifolds.sphere(2)(self.points, rng), 20, rng)
        noisy = dim.hein_audibert(dim.survey(x + 0.1 * rng.standard_normal(x.shape)))
        yield because("noise leaves the manifold in 20 directions", equal("S2 with noise 0.1: Hein-Audibert", noisy, 2))
        folded = dim.levina_bickel(dim.survey(manifolds.sinusoid(150, 0.1)(self.points, rng)))
        check = at_most("150 waves on a circle: Levina-Bickel", folded, 1.12)
        yield because("the curve turns back within the distance of neighbours", check)

    def plots(self) -> list[Panel]:
        left = Panel("In many dimensions all estimates are low", "dimension d of the sphere", "mean estimate")
        left.bound(self.d, self.d, "d")
        left.series(self.d, {e: [found[f"S{d}"].mean() for d in self.d] for e, found in self.found.items()})
        right = Panel("The estimate is where the slope is zero", "candidate l", "slope of log U in log h")
        return [left, right.level(0, "0").series(np.arange(1, 13), self.slopes).limits(y=(-8, 8))]
