from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, np, param, printed
from headway.lab.tools.layers import shallow_net
from headway.lab.tools.quadratics import Smooth, descend, hidden_layer, logistic_loss, quadratic

QUARTIC = Smooth("x⁴", lambda x: (x**4).sum(-1), 12.0)  # 12 is f''(1); no L is valid for all x


class GDSufficientDecrease(Experiment):
    """A step of gradient descent with rate 1/L lowers a function with an L-Lipschitz gradient by at least ‖∇h‖²/(2L).

    If ‖∇h(θ) - ∇h(θ')‖ <= L‖θ - θ'‖, that is ‖∇²h‖ <= L, then for θ⁺ = θ - η∇h(θ) and every η

        h(θ⁺) <= h(θ) - η (1 - Lη/2) ‖∇h(θ)‖²,      at η = 1/L:   h(θ⁺) <= h(θ) - ‖∇h(θ)‖² / (2L).

    The curvature on the way to θ⁺ is at most L; where it is less, h falls by more: they are equal only along the steepest direction of a
    quadratic. For rates above 2/L the inequality bounds how much h may grow. Nothing is assumed of convexity.

    Notes: C, E. Source: Nesterov 2004, Introductory Lectures on Convex Optimization, section 1.2.3
    Assumes: the gradient is Lipschitz with the constant L on the way from θ to θ⁺.
    Deviates: of the network the hidden layer alone is trained, because then an L is known that is valid everywhere.
    Also: descent lemma; sufficient decrease.
    """

    d = param(6, "eigenvalues of the quadratic, and variables of the data", least=2, most=20)
    condition = param(50.0, "L/μ of the quadratic", least=2.0, most=1e4)
    points = param(60, "examples of the data", least=20, most=1000)
    steps = param(30, "steps of a run", least=5, most=100)

    def measure(self, rng: Generator) -> Checks:
        X, labels = rng.normal(size=(self.points, self.d)), rng.choice([-1.0, 1.0], self.points)
        net = shallow_net(self.d, 1, 4, "tanh", rng)
        self.bowl = quadratic(4 * np.geomspace(1 / self.condition, 1, self.d), rng)
        h = [self.bowl, logistic_loss(X, labels), hidden_layer(net, X, np.sin(X.sum(axis=1)))]
        starts = [rng.normal(size=size) * 2 for size in (self.d, self.d, 4 * (self.d + 1))]
        ends, most = dict[str, np.ndarray](), dict[str, np.ndarray]()
        for r, (f, start) in ((r, pair) for r in (0.3, 1.9, 3.0, 1.0) for pair in zip(h, starts, strict=True)):
            path = descend(f, start, self.steps, r / f.L)
            ends[f"{f.name}, η = {r:g}/L"] = path.values[1:]
            most[f"{f.name}, η = {r:g}/L"] = path.values[:-1] - r / f.L * (1 - r / 2) * path.slopes[:-1]
        yield at_most("h after each step, every η", ends, most, rounding=1e-12)
        paths = {f.name: descend(f, start, self.steps) for f, start in zip(h, starts, strict=True)}
        least = {f.name: paths[f.name].slopes[:-1] / (2 * f.L) for f in h}
        seen = min(int(np.sum(least[name] > 1e-6 * path.values[1:])) for name, path in paths.items())  # not rounded away
        self.ratios = {name: (-np.diff(path.values) / least[name])[:seen] for name, path in paths.items()}
        yield headline(at_least("η = 1/L: decrease · 2L/‖∇h‖²", self.ratios, 1.0, rounding=1e-9))
        bends = {f.name: [abs(f.curvature(x)).max() / f.L for x in paths[f.name].points[:30:6]] for f in h}
        yield at_most("‖∇²h‖ / L at iterates", bends, 1.0, rounding=1e-12)
        values, self.least = paths["quadratic"].values, least["quadratic"]
        yield at_most("quadratic: h after a step, (1 - μ/L) h", values[1:], (1 - 1 / self.condition) * values[:-1])
        self.fall = -np.diff(values)
        axis = quadratic(4 * np.geomspace(1 / self.condition, 1, self.d))
        self.top = {r: descend(axis, np.eye(self.d)[-1], 1, r / axis.L) for r in (0.3, 1.0, 1.9, 2.0)}
        fall = [path.values[0] - path.values[1] for path in self.top.values()]
        yield close("steepest direction: decrease, η (1 - Lη/2) ‖∇h‖²", fall, [r * (1 - r / 2) * 4 for r in self.top], 1e-12)

    def control(self, rng: Generator) -> Checks:
        yield printed(close("quadratic: decrease = ‖∇h‖²/(2L)", self.fall, self.least), "C10")
        yield printed(at_least("quadratic: decrease, L/μ ‖∇h‖²", self.fall, self.condition * 8 * self.least), "E2")
        half, quartic = ((-np.diff(p.values)[0], p.slopes[0]) for p in (self.top[2.0], descend(QUARTIC, np.array([2.0]), 1)))
        yield because("L is taken to be half of what it is", at_least("steepest direction: decrease", half[0], half[1] / 4))
        yield because("x⁴ has no L", at_least("x⁴ from 2, L = f''(1): decrease", quartic[0], quartic[1] / 24))

    def plots(self) -> list[Panel]:
        panel = Panel("Every step falls by more than it must", "step", "decrease · 2L/‖∇h‖²")
        return [panel.series(np.arange(1, 1 + len(self.ratios["logistic"])), self.ratios).level(1.0, "at least")]
