from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, np, param
from headway.lab.tools.layers import shallow_net
from headway.lab.tools.quadratics import CORNER, Path, Smooth, descend, hidden_layer, quadratic, robust_regression, wells


def least_slopes(path: Path) -> np.ndarray:
    """min_{t<T} ‖∇h(θ_t)‖ for T = 1, 2, ..."""
    return np.minimum.accumulate(np.sqrt(path.slopes[:-1]))


def bound(h: Smooth, path: Path) -> np.ndarray:
    """√(2L (h_0 - h*) / T) for the same T."""
    return np.sqrt(2 * h.L * (path.values[0] - h.least) / np.arange(1, len(path.values)))


class GDCritical(Experiment):
    """Gradient descent finds a nearly critical point of any smooth function: 2L (h_0 - h*)/ε² steps make the gradient as small as ε.

    For an L-Lipschitz gradient, h >= h* and η = 1/L,

        min_{t<T} ‖∇h(θ_t)‖ <= √(2L (h_0 - h*) / T),        because   Σ_{t<T} ‖∇h(θ_t)‖² <= 2L (h_0 - h_T).

    Each step lowers h by ‖∇h‖²/(2L) at least, and only h_0 - h* is there to be spent. The point may be a local minimum far above h*.

    Notes: C. Source: Nesterov 2004, Introductory Lectures on Convex Optimization, section 1.2.3
    Assumes: the gradient is Lipschitz with constant L; h is bounded below; η = 1/L.
    Deviates: of the network the hidden layer alone is trained, because then an L is known that is valid everywhere; h* is taken as 0.
    Also: convergence to a critical point; iterations of gradient descent without convexity.
    """

    d = param(10, "variables of the wells; of the data there are 4", least=2, most=100)
    points = param(60, "examples of the data", least=20, most=500)
    steps = param(400, "T, steps of a run", least=50, most=3000, small=200)

    def measure(self, rng: Generator) -> Checks:
        X = rng.normal(size=(self.points, 4))
        y = X @ rng.normal(size=4) + np.where(rng.random(self.points) < 0.2, 10.0, 0.1) * rng.normal(size=self.points)
        net = shallow_net(4, 1, 4, "tanh", rng)
        far = rng.uniform(7, 12, self.d) * rng.choice([-1, 1], self.d)
        waves = hidden_layer(net, X, np.sin(X.sum(axis=1)))
        cases = ((wells(self.d), far), (robust_regression(X, y), np.zeros(4)), (waves, rng.normal(size=20)))
        paths = {h.name: descend(h, start, self.steps) for h, start in cases}
        self.found = {name: least_slopes(path) for name, path in paths.items()}
        self.bounds = {h.name: bound(h, paths[h.name]) for h, _ in cases}
        yield headline(at_most("min ‖∇h‖ of the first T points, every T", self.found, self.bounds))
        spent = {h.name: np.cumsum(paths[h.name].slopes[:-1]) / (2 * h.L) for h, _ in cases}
        fallen = {name: path.values[0] - path.values[1:] for name, path in paths.items()}
        yield at_most("Σ ‖∇h‖²/(2L), h_0 - h_T", spent, fallen, rounding=1e-9)
        yield at_least("wells: h at the end, in a local minimum", paths["wells"].values[-1], float(self.d))
        bowl = quadratic([0.1, 1.0])
        top = descend(bowl, np.array([0.0, 1.0]), 2)
        yield close("steepest direction: the bound at T = 1, 0 after a step", np.sqrt(top.slopes[:2]), [bound(bowl, top)[0], 0.0])

    def control(self, rng: Generator) -> Checks:
        bowl = quadratic([0.1, 1.0])
        path = descend(bowl, np.ones(2), 100, 2.1)
        yield because("η = 2.1/L", at_most("quadratic: min ‖∇h‖, every T", least_slopes(path), bound(bowl, path)))
        path = descend(CORNER, np.array([1.03]), 100, 0.1)
        yield because("|x| has no L", at_most("|x|, η = 0.1: min ‖∇h‖", least_slopes(path), bound(CORNER, path)))

    def plots(self) -> list[Panel]:
        t = np.arange(1, self.steps + 1)
        panel = Panel("The smallest gradient so far falls at least like 1/√T", "steps T", "min ‖∇h‖ / bound at T = 1", "xy")
        panel.curve(t, {name: found / self.bounds[name][0] for name, found in self.found.items()})
        return [panel.bound(t, t**-0.5, "bound, 1/√T").limits(y=(1e-4, 2.0))]
