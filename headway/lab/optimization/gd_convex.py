from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param
from headway.lab.tools.convex_losses import chain, huber, overlapping_classes
from headway.lab.tools.quadratics import CORNER, descend, wells


class GdConvex(Experiment):
    """On a smooth convex function the gap of gradient descent falls at least like 1/T, and for some function no faster.

        h convex and L-smooth,  η = 1/L      =>      h(θ^T) - h* <= L‖θ^0 - θ*‖²/(4T + 2) <= L‖θ^0 - θ*‖²/(2T),

    that is O(1/ε) steps for a gap of ε. The first bound is the best one: a function that is flat almost everywhere,
    with the slope δ = ‖θ^0 - θ*‖/(2T + 1), attains it, because T steps of that slope come only half of the way.

    Notes: D. Source: Nesterov 2004, https://doi.org/10.1007/978-1-4419-8853-9; Drori and Teboulle 2014, https://arxiv.org/abs/1206.3209
    Assumes: h is convex and L-smooth; a minimum θ* exists; the rate is 1/L.
    Also: sublinear rate of gradient descent; convergence of gradient descent for convex functions.
    """

    steps = param(600, "T, steps", least=64, most=5000, small=200)
    samples = param(100, "examples of the logistic regression, whose classes overlap", least=50, most=2000)
    dimension = param(40, "coordinates of the chain", least=4, most=400)

    def measure(self, rng: Generator) -> Checks:
        self.t = np.arange(1, self.steps + 1)
        logistic = overlapping_classes(self.samples, rng)
        problems = {"logistic": logistic, "chain": chain(self.dimension), "Huber": (huber(0.01), np.zeros(1))}
        starts = {"logistic": 3 * rng.normal(size=3), "chain": np.zeros(self.dimension), "Huber": np.ones(1)}
        self.scaled = {}
        for name, (h, least) in problems.items():
            gap = descend(h, starts[name], self.steps).values[1:] - h.least
            self.scaled[name] = gap / (h.L * np.sum((starts[name] - least) ** 2))
        yield headline(at_most("gap / L‖θ^0 - θ*‖² at every step T, 1/(2T)", self.scaled, 1 / (2 * self.t)))
        yield at_most("the same, 1/(4T + 2)", self.scaled, 1 / (4 * self.t + 2), rounding=1e-9)
        self.times = 2 ** np.arange(int(np.log2(self.steps)) + 1)
        self.worst = np.array([descend(huber(1 / (2 * T + 1)), np.ones(1), int(T)).values[-1] for T in self.times])
        yield close("the worst function for each T: 1/(4T + 2)", self.worst * (4 * self.times + 2), 1.0)

    def control(self, rng: Generator) -> Checks:
        h = wells(1)
        self.stuck = descend(h, np.array([6.0]), self.steps).values[1:] / (h.L * 6.0**2)
        bound = 1 / (2 * self.steps)
        yield because("it is not convex", at_most("wells from 6: gap / L‖θ^0 - θ*‖² at T", self.stuck[-1], bound))
        edge = descend(CORNER, np.array([0.4]), self.steps).values[1:] / 0.4**2
        yield because("|x| is not smooth", at_most("|x| from 0.4: gap / L‖θ^0 - θ*‖² at T", edge[-1], bound))

    def plots(self) -> list[Panel]:
        panel = Panel("No gap is above 1/(2T)", "steps T", "gap / L‖θ⁰ - θ*‖²", log="xy")
        panel.bound(self.t, 1 / (2 * self.t), "1/(2T)").series(self.times, self.worst, "worst for each T")
        panel.curve(self.t, self.scaled)
        left, x = Panel("The worst function is flat", "x", "h"), np.linspace(-1.1, 1.1, 300)
        for T in (1, 4, 16):
            h = huber(1 / (2 * T + 1))
            path = descend(h, np.ones(1), T)
            left.curve(x, h(x[:, None]), f"T = {T}").points(path.points, path.values, size=9, colour="black")
        return [panel.control(self.t, self.stuck, "not convex").limits(y=(1e-6, 1)), left]
