from scipy.spatial.distance import cdist

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, headline, np, param, slope
from headway.lab.tools.manifolds import features, hidden


class ManifoldRate(Experiment):
    """How fast nearest neighbours learn depends on the dimension d of the data, not on the number n of coordinates.

    For N points of a d-dimensional manifold in n dimensions and a Lipschitz label, the label of the nearest of them errs by

        E|y - y_{NN}|  ~  N^{-1/d},

    because N balls of radius r cover the manifold when N r^d is constant: the distance to the nearest point is N^{-1/d}.

    Notes: B, E. Source: Kpotufe 2011, k-NN regression adapts to local intrinsic dimension, https://arxiv.org/abs/1110.4300
    Assumes: the label is a Lipschitz function of the latent point, without noise; the manifold is compact and smooth.
    Also: learning on a hidden manifold; intrinsic dimension and sample size.
    """

    cost = "M"
    latent = param((1, 2, 4), "dimensions d of the manifold", least=1, most=4, small=(1, 2))
    spaces = param((10, 100), "dimensions n of the space", least=8, most=300, count=2)
    sizes = param((50, 200, 800, 3200, 6400), "training points N", least=20, most=10_000, count=4, small=(50, 200, 800, 3200))
    tests = param(1000, "test points", least=500, most=5000)

    def errors(self, rng: Generator, d: int, n: int, noise: float = 0.0, fill: bool = False) -> np.ndarray:
        """Mean error of the nearest neighbour for each N. `fill` spreads the points over all n dimensions."""
        count, top = max(self.sizes), self.tests
        c = rng.uniform(-1, 1, (top + count, d))
        x = rng.uniform(-1, 1, (top + count, n)) if fill else hidden(c, features(d, n, rng))
        y = (np.abs(x - 0.1) if fill else np.abs(c - 0.1)).sum(axis=1) + noise * rng.standard_normal(top + count)
        away = cdist(x[:top], x[top:], "sqeuclidean")
        nearest = [np.argmin(away[:, :size], axis=1) for size in sorted(self.sizes)]
        return np.array([np.mean(np.abs(y[:top] - y[top + i])) for i in nearest])

    def measure(self, rng: Generator) -> Checks:
        self.found = {(d, n): self.errors(rng, d, n) for d in sorted(self.latent) for n in sorted(self.spaces)}
        for d, n in self.found:
            check = slope(f"d = {d}, n = {n}: error in N", sorted(self.sizes), self.found[d, n], -1 / d, min(0.1, 0.2 / d))
            yield headline(check) if (d, n) == (max(self.latent), max(self.spaces)) else check
        few, many = min(self.spaces), max(self.spaces)
        ratio = [self.found[d, many] / self.found[d, few] for d in self.latent]
        yield at_most(f"error in {many} dimensions / in {few}", np.array(ratio), 2)

    def control(self, rng: Generator) -> Checks:
        d, n, sizes = 2, min(self.spaces), sorted(self.sizes)
        self.filled, self.noisy = self.errors(rng, d, n, fill=True), self.errors(rng, d, n, noise=0.5)
        yield because("the points fill the whole space", slope(f"all {n} coordinates free: error in N", sizes, self.filled, -1 / d, 0.1))
        yield because("labels are noisy", slope("labels with noise ½: error in N", sizes, self.noisy, -1 / d, 0.1))

    def plots(self) -> list[Panel]:
        sizes, few = np.array(sorted(self.sizes)), min(self.spaces)
        panel = Panel("The slope is -1/d, whatever n", "training points N", "mean error of the nearest neighbour", log="xy")
        panel.series(sizes, {f"d = {d}, n = {n}": errors for (d, n), errors in self.found.items()})
        return [panel.control(sizes, self.filled, f"fills {few} dimensions").control(sizes, self.noisy, "d = 2, noisy labels")]
